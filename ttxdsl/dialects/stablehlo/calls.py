"""Calls of what is defined elsewhere: custom calls and composites.

Source: StableHLO specification, one section an op.
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    UnrankedTensorType,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo import _syntax as syntax
from ttxdsl.dialects.stablehlo._base import (
    Array,
    Bool,
    IntegerOf,
    Layouts,
    StableHLOOp,
    String,
    Tilings,
)
from ttxdsl.dialects.stablehlo._shapes import require
from ttxdsl.dialects.stablehlo.attributes import OutputOperandAliasAttr
from ttxdsl.dialects.stablehlo.types import COMPOSITE_VALUE, CUSTOM_CALL_VALUE
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition
from ttxdsl.ir.compat.speed.verify_once import looks_around

_FALSE = BoolAttr.from_bool(False)
_NO_ITEMS = ArrayAttr[Attribute](())
_EMPTY_DICT = DictionaryAttr({})
ORIGINAL_API = IntegerAttr(1, i32)
"""`API_VERSION_ORIGINAL`; 2 returns a status, 3 the same unified, 4 is the typed FFI."""


_COMPOSITE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+")


class CallEffects(MemoryEffect):
    """A call has every effect if it says `has_side_effect`, and none otherwise."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance] | None:
        """Return no effects, or None for unknown ones."""
        has_effect = op.properties.get("has_side_effect", _FALSE)
        return set() if has_effect == _FALSE else None


@irdl_op_definition
class CustomCallOp(StableHLOOp):
    """A call of code outside the program. Spec section "custom_call"."""

    name = "stablehlo.custom_call"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "has_side_effect": _FALSE,
        "api_version": ORIGINAL_API,
        "called_computations": _NO_ITEMS,
        "output_operand_aliases": _NO_ITEMS,
    }

    inputs = var_operand_def(CUSTOM_CALL_VALUE)
    call_target_name = prop_def(String)
    has_side_effect = opt_prop_def(Bool, _FALSE)
    # bytes are a string that is no UTF-8, such as a kernel that JAX compiled
    backend_config = opt_prop_def(
        AnyOf((BaseAttr(StringAttr), BaseAttr(BytesAttr), BaseAttr(DictionaryAttr)))
    )
    api_version = opt_prop_def(IntegerOf(32, 0, 4), ORIGINAL_API)
    called_computations = opt_prop_def(Array, _NO_ITEMS)
    operand_layouts = opt_prop_def(Layouts)
    result_layouts = opt_prop_def(Layouts)
    output_operand_aliases = opt_prop_def(Array, _NO_ITEMS)
    result_tilings = opt_prop_def(Tilings)
    outputs = var_result_def(CUSTOM_CALL_VALUE)

    traits = traits_def(CallEffects())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `@target(%a, %b) {…} : (…) -> …`."""
        properties: dict[str, Attribute] = {
            "call_target_name": parser.parse_symbol_name()
        }
        parser.parse_punctuation("(")
        operands, _ = syntax.parse_operands(parser)
        parser.parse_punctuation(")")
        return cls.parse_end(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.call_target_name.data)
        with printer.in_parens():
            syntax.print_values(printer, self.operands)
        syntax.print_attr_dict(printer, self, ("call_target_name",), self.DEFAULTS)
        printer.print_string(" : ")
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        """Layouts, aliases and the backend's configuration fit the call."""
        check_layouts(self)
        check_aliases(self)
        if self.backend_config is not None:
            version = self.api_version.value.data
            if isinstance(self.backend_config, DictionaryAttr) != (version == 4):
                raise VerifyException(
                    "backend_config must be a dictionary with api_version 4, else a "
                    f"string, got {self.backend_config} with {version}"
                )


@irdl_op_definition
class CompositeOp(StableHLOOp):
    """An op made of other ops, which a function defines. Spec section "composite"."""

    name = "stablehlo.composite"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "composite_attributes": _EMPTY_DICT,
        "version": IntegerAttr(0, i32),
    }

    inputs = var_operand_def(COMPOSITE_VALUE)
    composite_name = prop_def(String, prop_name="name")
    composite_attributes = opt_prop_def(BaseAttr(DictionaryAttr), _EMPTY_DICT)
    decomposition = prop_def(BaseAttr(SymbolRefAttr))
    version = opt_prop_def(IntegerOf(32), IntegerAttr(0, i32))
    composite_regions = var_region_def()
    outputs = var_result_def(COMPOSITE_VALUE)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `"name" %a, %b ({…}) {…} : (…) -> …`."""
        properties: dict[str, Attribute] = {
            "name": StringAttr(parser.parse_str_literal())
        }
        operands, _ = syntax.parse_operands(parser)
        regions = parser.parse_region_list()
        return cls.parse_end(parser, operands, properties, regions)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.composite_name.data)
        if self.operands:
            printer.print_string(" ")
            syntax.print_values(printer, self.operands)
        printer.print_regions(self.regions)
        syntax.print_attr_dict(printer, self, ("name",), self.DEFAULTS)
        printer.print_string(" : ")
        syntax.print_signature(printer, self)

    def verify_(self) -> None:
        """C1: the name; C2 to C4: the decomposition."""
        name = self.composite_name.data
        if _COMPOSITE_NAME.fullmatch(name) is None:
            raise VerifyException(
                f"C1: the name must be that of an op with its namespace, got '{name}'"
            )
        looks_around()
        function = SymbolTable.lookup_symbol(self, self.decomposition)
        if not isinstance(function, FuncOp):
            raise VerifyException(f"C2: {self.decomposition} is no function")
        signature = function.function_type
        for label, got, expected, constraint in (
            ("operands", self.operand_types, signature.inputs.data, "C3"),
            ("results", self.result_types, signature.outputs.data, "C4"),
        ):
            require(
                tuple(got) == tuple(expected),
                f"{constraint}: {label} are ({', '.join(map(str, got))}), but those of "
                f"{self.decomposition} are ({', '.join(map(str, expected))})",
            )


def check_layouts(call: CustomCallOp) -> None:
    """Layouts are said for all values or none, and order each one's dimensions."""
    operands, results = call.operand_layouts, call.result_layouts
    require(
        (operands is None) == (results is None),
        "layouts must be said for both operands and results, or for neither",
    )
    result_types: Sequence[Attribute] = call.result_types
    if len(result_types) == 1 and isinstance(result_types[0], TupleType):
        result_types = cast("Sequence[Attribute]", result_types[0].types.data)
    for name, types, layouts in (
        ("operand", call.operand_types, operands),
        ("result", result_types, results),
    ):
        if layouts is None:
            continue
        require(
            len(types) == len(layouts.data),
            f"{len(types)} {name}s, but {len(layouts.data)} {name} layouts",
        )
        for type, layout in zip(types, layouts.data, strict=True):
            order = cast("DenseIntOrFPElementsAttr[IntegerType]", layout).get_values()
            if isinstance(type, TupleType):
                raise VerifyException(f"{name} {type} can have no layout")
            if isinstance(type, UnrankedTensorType):
                continue
            rank = len(type.get_shape()) if isinstance(type, ShapedType) else 0
            require(
                sorted(order) == list(range(rank)),
                f"layout {list(order)} does not order the dimensions of {name} {type}",
            )


def check_aliases(call: CustomCallOp) -> None:
    """An alias joins an operand and a result of one type."""

    def part(whole: Attribute, path: Sequence[int], label: str) -> Attribute:
        for index in path:
            parts = whole.types.data if isinstance(whole, TupleType) else ()
            require(
                0 <= index < len(parts), f"{label} {list(path)} leads out of the tuple"
            )
            whole = parts[index]
        return whole

    for attribute in call.output_operand_aliases.data:
        if not isinstance(attribute, OutputOperandAliasAttr):
            raise VerifyException(f"{attribute} is no alias")
        alias = attribute.data
        require(
            0 <= alias.operand_index < len(call.inputs),
            f"operand_index {alias.operand_index} is not in [0, {len(call.inputs)})",
        )
        operand = part(
            call.inputs[alias.operand_index].type,
            alias.operand_tuple_indices,
            "operand_tuple_indices",
        )
        results = call.result_types
        types = ArrayAttr(cast("Sequence[TypeAttribute]", results))
        whole = results[0] if len(results) == 1 else TupleType(types)
        result = part(whole, alias.output_tuple_indices, "output_tuple_indices")
        if operand != result:
            raise VerifyException(
                f"an alias joins operand {operand} and result {result}"
            )
