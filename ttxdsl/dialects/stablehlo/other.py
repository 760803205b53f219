"""Calls, tuples, tokens, normalization and random numbers.

Source: StableHLO specification, one section an op.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BoolAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ShapedType,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    UnrankedTensorType,
    f32,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    AnyOf,
    BaseAttr,
    VerificationContext,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, Pure, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._verify_once import looks_around
from ttxdsl.dialects.stablehlo._base import (
    Array,
    Bool,
    Field,
    IntegerOf,
    Layouts,
    NotNegative,
    PrettyOp,
    StableHLOOp,
    String,
    Tilings,
    enum_codec,
)
from ttxdsl.dialects.stablehlo._infer import (
    constant_ints,
    require_element,
    require_results,
    require_shape,
    require_sizes,
    require_type,
)
from ttxdsl.dialects.stablehlo._shapes import require
from ttxdsl.dialects.stablehlo._syntax import (
    Types,
    parse_attr_dict,
    parse_operands,
    parse_signature,
    parse_type,
    print_attr_dict,
    print_signature,
    print_type,
    print_values,
)
from ttxdsl.dialects.stablehlo.attributes import (
    OutputOperandAliasAttr,
    RngAlgorithm,
    RngAlgorithmAttr,
    RngDistribution,
    RngDistributionAttr,
)
from ttxdsl.dialects.stablehlo.types import (
    COMPOSITE_VALUE,
    CUSTOM_CALL_VALUE,
    FLOAT_OR_QUANT_TENSOR,
    FLOAT_OR_QUANT_VECTOR,
    STATIC_DIMENSION_TENSOR,
    TUPLE_PART,
    FixedConstraint,
    Kind,
    TensorOf,
    TokenType,
    element_kind,
    element_of,
    shape_of,
    with_shape,
)

# --- calls -------------------------------------------------------------------------

_FALSE = BoolAttr.from_bool(False)
_NO_ITEMS = ArrayAttr[Attribute](())
_EMPTY_DICT = DictionaryAttr({})
ORIGINAL_API = IntegerAttr(1, i32)
"""`API_VERSION_ORIGINAL`; 2 returns a status, 3 the same unified, 4 is the typed FFI."""


class CallEffects(MemoryEffect):
    """A call has every effect if it says `has_side_effect`, and none otherwise."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance] | None:
        """No effects, or unknown ones."""
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

    def __init__(
        self,
        call_target_name: str,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
    ):
        named = {"call_target_name": StringAttr(call_target_name), **(properties or {})}
        super().__init__(
            operands=[inputs],
            result_types=[result_types],
            properties={name: named[name] for name in sorted(named)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `@target(%a, %b) {…} : (…) -> …`."""
        properties: dict[str, Attribute] = {
            "call_target_name": parser.parse_symbol_name()
        }
        parser.parse_punctuation("(")
        operands, _ = parse_operands(parser)
        parser.parse_punctuation(")")
        attributes = parse_attr_dict(parser, cls, properties)
        parser.parse_punctuation(":")
        position = parser.pos
        operand_types, result_types = parse_signature(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, operand_types, position),
            result_types=result_types,
            properties={name: properties[name] for name in sorted(properties)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `@target(%a, %b) {…} : (…) -> …`."""
        printer.print_string(" ")
        printer.print_symbol_name(self.call_target_name.data)
        with printer.in_parens():
            print_values(printer, self.operands)
        print_attr_dict(printer, self, ("call_target_name",), self.DEFAULTS)
        printer.print_string(" : ")
        print_signature(printer, self)

    def verify_(self) -> None:
        """Layouts, aliases and the backend's configuration fit the call."""
        check_layouts(self)
        check_aliases(self)
        if self.backend_config is not None:
            version = self.api_version.value.data
            require(
                isinstance(self.backend_config, DictionaryAttr) == (version == 4),
                "backend_config must be a dictionary with api_version 4, else a "
                "string, got {} with {}",
                self.backend_config,
                version,
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

    def __init__(
        self,
        composite_name: str,
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        decomposition: str,
        composite_attributes: Mapping[str, Attribute] | None = None,
        version: int | None = None,
        regions: Sequence[Region] = (),
    ):
        super().__init__(
            operands=[inputs],
            result_types=[result_types],
            properties={
                "composite_attributes": (
                    None
                    if composite_attributes is None
                    else DictionaryAttr(composite_attributes)
                ),
                "decomposition": SymbolRefAttr(decomposition),
                "name": StringAttr(composite_name),
                "version": None if version is None else IntegerAttr(version, i32),
            },
            regions=[regions],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `"name" %a, %b ({…}) {…} : (…) -> …`."""
        properties: dict[str, Attribute] = {
            "name": StringAttr(parser.parse_str_literal())
        }
        operands, _ = parse_operands(parser)
        regions = parser.parse_region_list()
        attributes = parse_attr_dict(parser, cls, properties)
        parser.parse_punctuation(":")
        position = parser.pos
        operand_types, result_types = parse_signature(parser)
        return cls.create(
            operands=parser.resolve_operands(operands, operand_types, position),
            result_types=result_types,
            properties={name: properties[name] for name in sorted(properties)},
            attributes=attributes,
            regions=regions,
        )

    def print(self, printer: Printer) -> None:
        """Print `"name" %a, %b ({…}) {…} : (…) -> …`."""
        printer.print_string(" ")
        printer.print_string_literal(self.composite_name.data)
        if self.operands:
            printer.print_string(" ")
            print_values(printer, self.operands)
        printer.print_regions(self.regions)
        print_attr_dict(printer, self, ("name",), self.DEFAULTS)
        printer.print_string(" : ")
        print_signature(printer, self)

    def verify_(self) -> None:
        """C1: the name; C2 to C4: the decomposition."""
        name = self.composite_name.data
        require(
            _COMPOSITE_NAME.fullmatch(name) is not None,
            "C1: the name must be that of an op with its namespace, got '{}'",
            name,
        )
        looks_around()
        function = SymbolTable.lookup_symbol(self, self.decomposition)
        require(
            isinstance(function, FuncOp),
            "C2: {} is no function",
            self.decomposition,
        )
        signature = cast(FuncOp, function).function_type
        for what, got, expected, constraint in (
            ("operands", self.operand_types, signature.inputs.data, "C3"),
            ("results", self.result_types, signature.outputs.data, "C4"),
        ):
            require(
                tuple(got) == tuple(expected),
                f"{constraint}: {what} are ({', '.join(map(str, got))}), but those of "
                f"{self.decomposition} are ({', '.join(map(str, expected))})",
            )


_COMPOSITE_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+")


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
        for one, layout in zip(types, layouts.data, strict=True):
            order = cast("DenseIntOrFPElementsAttr[IntegerType]", layout).get_values()
            require(
                not isinstance(one, TupleType), "{} {} can have no layout", name, one
            )
            if isinstance(one, UnrankedTensorType):
                continue
            rank = len(one.get_shape()) if isinstance(one, ShapedType) else 0
            require(
                sorted(order) == list(range(rank)),
                f"layout {list(order)} does not order the dimensions of {name} {one}",
            )


def check_aliases(call: CustomCallOp) -> None:
    """An alias joins an operand and a result of one type."""

    def part(whole: Attribute, path: Sequence[int], what: str) -> Attribute:
        for index in path:
            parts = whole.types.data if isinstance(whole, TupleType) else ()
            require(
                0 <= index < len(parts), f"{what} {list(path)} leads out of the tuple"
            )
            whole = parts[index]
        return whole

    for one in call.output_operand_aliases.data:
        require(isinstance(one, OutputOperandAliasAttr), "{} is no alias", one)
        alias = cast(OutputOperandAliasAttr, one).data
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
        whole = results[0] if len(results) == 1 else TupleType(tuple_types(results))
        result = part(whole, alias.output_tuple_indices, "output_tuple_indices")
        require(
            operand == result,
            "an alias joins operand {} and result {}",
            operand,
            result,
        )


def tuple_types(types: Sequence[Attribute]) -> ArrayAttr[TypeAttribute]:
    """Types as a tuple type holds them."""
    return ArrayAttr(cast("Sequence[TypeAttribute]", types))


# --- tuples and tokens -------------------------------------------------------------


@irdl_op_definition
class TupleOp(PrettyOp):
    """A tuple of values. Spec section "tuple"."""

    name = "stablehlo.tuple"

    val = var_operand_def(TUPLE_PART)
    result = result_def(BaseAttr(TupleType))

    traits = traits_def(Pure())

    def __init__(self, val: Sequence[SSAValue]):
        super().__init__(
            operands=[val],
            result_types=[TupleType(tuple_types([one.type for one in val]))],
        )

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> tuple[Types, Types]:
        """Parse the tuple's type, which says the parts'."""
        position = parser.pos
        found = parser.parse_type()
        if not isinstance(found, TupleType):
            parser.raise_error("expected a tuple type", position)
        return cast(Types, tuple(found.types.data)), (found,)

    def print_types(self, printer: Printer) -> None:
        """Print the tuple's type."""
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        """C1: the tuple holds the operands' types."""
        parts = tuple(cast(Sequence[Attribute], self.result.type.types.data))
        require(
            parts == tuple(self.operand_types),
            f"C1: operands are ({', '.join(map(str, self.operand_types))}), the result "
            f"{self.result.type}",
        )


@irdl_op_definition
class GetTupleElementOp(PrettyOp):
    """A value out of a tuple. Spec section "get_tuple_element"."""

    name = "stablehlo.get_tuple_element"

    operand = operand_def(BaseAttr(TupleType))
    index = prop_def(IntegerOf(32, 0))
    result = result_def(TUPLE_PART)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, index: int):
        parts = cast(TupleType, operand.type).types.data
        super().__init__(
            operands=[operand],
            result_types=[parts[index]],
            properties={"index": IntegerAttr(index, i32)},
        )

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse `[0]`."""
        with parser.in_square_brackets():
            return {"index": IntegerAttr(parser.parse_integer(), i32)}

    def print_fields(self, printer: Printer) -> None:
        """Print `[0]`."""
        printer.print_string(f"[{self.index.value.data}]")

    @classmethod
    def printed_properties(cls) -> tuple[str, ...]:
        """The index."""
        return ("index",)

    def verify_(self) -> None:
        """C1: the index; C2: the result's type."""
        parts = tuple(
            cast(Sequence[Attribute], cast(TupleType, self.operand.type).types.data)
        )
        index = self.index.value.data
        require(index < len(parts), f"C1: index {index} is not in [0, {len(parts)})")
        require_type(self.result.type, parts[index], "result (C2)")


@irdl_op_definition
class CreateTokenOp(PrettyOp):
    """A token that comes after nothing. Deprecated: `after_all` of none."""

    name = "stablehlo.create_token"

    output = result_def(BaseAttr(TokenType))

    traits = traits_def(Pure())

    def __init__(self):
        super().__init__(result_types=[TokenType()])

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> tuple[Types, Types]:
        """Parse the result's type."""
        return (), (parse_type(parser),)

    def print_types(self, printer: Printer) -> None:
        """Print the result's type."""
        print_type(printer, self.output.type)


# --- normalization -----------------------------------------------------------------


@dataclass(frozen=True)
class _Epsilon(FixedConstraint[FloatAttr]):
    """An f32."""

    def verify(
        self, attr: Attribute, constraint_context: VerificationContext | None = None
    ) -> None:
        """Refuse another type."""
        if not isinstance(attr, FloatAttr) or cast(FloatAttr, attr).type != f32:
            raise VerifyException(f"expected an f32, got {attr}")


EPSILON = _Epsilon()


def _norm_properties(epsilon: float, feature_index: int) -> dict[str, Attribute]:
    return {
        "epsilon": FloatAttr(epsilon, f32),
        "feature_index": IntegerAttr(feature_index, i64),
    }


def check_norm(
    op: BatchNormInferenceOp | BatchNormTrainingOp | BatchNormGradOp,
    batches: Sequence[SSAValue],
    features: Sequence[SSAValue],
) -> Attribute:
    """Check operands, and answer with the type of a value a feature."""
    operand = op.operand.type
    for one in (*batches, *features, *op.results):
        require_element(one.type, operand, "C2: an operand or result")
    for one in batches:
        require_shape(one.type, operand, "C3: grad_output")
    rank = len(shape_of(operand))
    index = op.feature_index.value.data
    require(index < rank, "C1: feature_index {} is not in [0, {})", index, rank)
    expected = with_shape(operand, (shape_of(operand)[index],))
    for one in features:
        require_shape(one.type, expected, "C3 to C6: a value for each feature")
        require_shape(one.type, features[0].type, "C3 to C6: a value for each feature")
    return expected


@irdl_op_definition
class BatchNormInferenceOp(StableHLOOp):
    """Normalization by given statistics. Spec section "batch_norm_inference"."""

    name = "stablehlo.batch_norm_inference"

    operand = operand_def(FLOAT_OR_QUANT_TENSOR)
    scale = operand_def(FLOAT_OR_QUANT_VECTOR)
    offset = operand_def(FLOAT_OR_QUANT_VECTOR)
    mean = operand_def(FLOAT_OR_QUANT_VECTOR)
    variance = operand_def(FLOAT_OR_QUANT_VECTOR)
    epsilon = prop_def(EPSILON)
    feature_index = prop_def(NotNegative)
    result = result_def(FLOAT_OR_QUANT_TENSOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        scale: SSAValue,
        offset: SSAValue,
        mean: SSAValue,
        variance: SSAValue,
        epsilon: float,
        feature_index: int,
    ):
        super().__init__(
            operands=[operand, scale, offset, mean, variance],
            result_types=[operand.type],
            properties=_norm_properties(epsilon, feature_index),
        )

    def verify_(self) -> None:
        """C1: the feature; C2 to C6: element types and sizes; C7: the result."""
        check_norm(
            self, (self.operand,), (self.scale, self.offset, self.mean, self.variance)
        )
        require_type(self.result.type, self.operand.type, "result (C7)")


@irdl_op_definition
class BatchNormTrainingOp(StableHLOOp):
    """Normalization by the batch's statistics. Spec section "batch_norm_training"."""

    name = "stablehlo.batch_norm_training"

    operand = operand_def(FLOAT_OR_QUANT_TENSOR)
    scale = operand_def(FLOAT_OR_QUANT_VECTOR)
    offset = operand_def(FLOAT_OR_QUANT_VECTOR)
    epsilon = prop_def(EPSILON)
    feature_index = prop_def(NotNegative)
    output = result_def(FLOAT_OR_QUANT_TENSOR)
    batch_mean = result_def(FLOAT_OR_QUANT_VECTOR)
    batch_var = result_def(FLOAT_OR_QUANT_VECTOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        scale: SSAValue,
        offset: SSAValue,
        epsilon: float,
        feature_index: int,
    ):
        super().__init__(
            operands=[operand, scale, offset],
            result_types=[operand.type, scale.type, scale.type],
            properties=_norm_properties(epsilon, feature_index),
        )

    def verify_(self) -> None:
        """C1: the feature; C2 to C4: element types and sizes; C5 to C7: results."""
        features = check_norm(self, (self.operand,), (self.scale, self.offset))
        require_results(self, [self.operand.type, features, features], "C5 to C7")


@irdl_op_definition
class BatchNormGradOp(StableHLOOp):
    """Gradients of `batch_norm_training`. Spec section "batch_norm_grad"."""

    name = "stablehlo.batch_norm_grad"

    operand = operand_def(FLOAT_OR_QUANT_TENSOR)
    scale = operand_def(FLOAT_OR_QUANT_VECTOR)
    mean = operand_def(FLOAT_OR_QUANT_VECTOR)
    variance = operand_def(FLOAT_OR_QUANT_VECTOR)
    grad_output = operand_def(FLOAT_OR_QUANT_TENSOR)
    epsilon = prop_def(EPSILON)
    feature_index = prop_def(NotNegative)
    grad_operand = result_def(FLOAT_OR_QUANT_TENSOR)
    grad_scale = result_def(FLOAT_OR_QUANT_VECTOR)
    grad_offset = result_def(FLOAT_OR_QUANT_VECTOR)

    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        scale: SSAValue,
        mean: SSAValue,
        variance: SSAValue,
        grad_output: SSAValue,
        epsilon: float,
        feature_index: int,
    ):
        super().__init__(
            operands=[operand, scale, mean, variance, grad_output],
            result_types=[operand.type, scale.type, scale.type],
            properties=_norm_properties(epsilon, feature_index),
        )

    def verify_(self) -> None:
        """C1: the feature; C2 to C5: element types and sizes, of results too."""
        features = check_norm(
            self,
            (self.operand, self.grad_output),
            (self.scale, self.mean, self.variance),
        )
        require_results(self, [self.operand.type, features, features], "C3, C4")


# --- random numbers ----------------------------------------------------------------

_RNG_BOUND = TensorOf(Kind.PRED | Kind.INT | Kind.FLOAT, rank=0)


@irdl_op_definition
class RngOp(PrettyOp):
    """Numbers of a distribution, from no state. Deprecated. Spec section "rng"."""

    name = "stablehlo.rng"

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("distribution", "rng_distribution", enum_codec(RngDistributionAttr)),
    )

    a = operand_def(_RNG_BOUND)
    b = operand_def(_RNG_BOUND)
    shape = operand_def(STATIC_DIMENSION_TENSOR)
    rng_distribution = prop_def(BaseAttr(RngDistributionAttr))
    result = result_def(TensorOf(Kind.PRED | Kind.INT | Kind.FLOAT))

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        shape: SSAValue,
        rng_distribution: RngDistribution,
        result_type: Attribute,
    ):
        super().__init__(
            operands=[a, b, shape],
            result_types=[result_type],
            properties={"rng_distribution": RngDistributionAttr(rng_distribution)},
        )

    def verify_(self) -> None:
        """C1: element types; C2: floats; C3: the shape."""
        element = element_of(self.result.type)
        for name, bound in (("a", self.a.type), ("b", self.b.type)):
            require(
                element_of(bound) == element,
                "C1: {} is {}, the result {}",
                name,
                bound,
                self.result.type,
            )
        require(
            self.rng_distribution.data is RngDistribution.UNIFORM
            or element_kind(element) is Kind.FLOAT,
            "C2: a normal distribution is of floats, got {}",
            element,
        )
        (rank,) = shape_of(self.shape.type)
        require_sizes(
            self.result.type,
            constant_ints(self.shape) or (DYNAMIC_INDEX,) * rank,
            "result (C3)",
        )


@irdl_op_definition
class RngBitGeneratorOp(PrettyOp):
    """Random bits and the generator's next state. Spec: "rng_bit_generator"."""

    name = "stablehlo.rng_bit_generator"

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("algorithm", "rng_algorithm", enum_codec(RngAlgorithmAttr)),
    )

    initial_state = operand_def(TensorOf(Kind.INT | Kind.FLOAT))
    rng_algorithm = prop_def(BaseAttr(RngAlgorithmAttr))
    output_state = result_def(TensorOf(Kind.INT | Kind.FLOAT))
    output = result_def(TensorOf(Kind.INT | Kind.FLOAT, static=True))

    traits = traits_def(Pure())

    def __init__(
        self,
        initial_state: SSAValue,
        rng_algorithm: RngAlgorithm,
        output_type: Attribute,
    ):
        super().__init__(
            operands=[initial_state],
            result_types=[initial_state.type, output_type],
            properties={"rng_algorithm": RngAlgorithmAttr(rng_algorithm)},
        )

    def verify_(self) -> None:
        """C1: the state keeps its shape."""
        require_shape(
            self.output_state.type, self.initial_state.type, "output_state (C1)"
        )
