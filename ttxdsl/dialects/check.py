"""The check dialect: assertions about tensors, for programs that the interpreter runs.

Each op also exists as a custom call, `stablehlo.custom_call @check.expect_eq(…)`.

Source: StableHLO's CheckOps, the op descriptions.
"""

from abc import ABC
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f64,
)
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

DEFAULT_TOLERANCE = 1e-4
"""What `almost equal` allows when the op does not say."""

_UI64 = IntegerType(64, Signedness.UNSIGNED)
_UI32 = IntegerType(32, Signedness.UNSIGNED)
_Number = BaseAttr(IntegerAttr)
_Tolerance = BaseAttr(FloatAttr)
_TENSOR = AnyAttr()


class CheckOp(IRDLOperation, ABC):
    """An assertion; it has operands and no results."""

    NUMBERS: ClassVar[dict[str, Attribute]] = {}
    """The types of the numbers that may follow the operands, by property."""

    def _print_numbers(self, printer: Printer) -> None:
        for name in self.NUMBERS:
            value = self.properties.get(name)
            if isinstance(value, IntegerAttr):
                printer.print_string(f", {name} = {value.value.data}")
            elif isinstance(value, FloatAttr):
                printer.print_string(f", {name} = {value.value.data:e}")

    @classmethod
    def _parse_numbers(cls, parser: Parser) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        while parser.parse_optional_punctuation(",") is not None:
            name = parser.parse_identifier()
            if name not in cls.NUMBERS:
                parser.raise_error(f"unexpected field {name}")
            parser.parse_punctuation("=")
            if cls.NUMBERS[name] == f64:
                found[name] = FloatAttr(float(parser.parse_number()), f64)
            else:
                number = parser.parse_integer(allow_boolean=False)
                found[name] = IntegerAttr(number, cast(IntegerType, cls.NUMBERS[name]))
        return found

    @classmethod
    def _parse_attributes(
        cls, parser: Parser, properties: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """An attribute dictionary, whose inherent entries become properties."""
        attributes = parser.parse_optional_attr_dict()
        for name in cls.NUMBERS:
            if name in attributes:
                properties[name] = attributes.pop(name)
        return attributes


class _PairOp(CheckOp, ABC):
    """Two tensors of one type, written `%a, %b, field = 1 : type`."""

    BOTH_TYPES: ClassVar[bool] = False
    """Whether the type is written for each operand."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the operands, the numbers and the type."""
        start = parser.pos
        first = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        second = parser.parse_unresolved_operand()
        properties = cls._parse_numbers(parser)
        attributes = cls._parse_attributes(parser, properties)
        parser.parse_punctuation(":")
        attributes |= cls._parse_attributes(parser, properties)
        type_: Attribute = parser.parse_type()
        if not cls.BOTH_TYPES and not isinstance(type_, TensorType):
            # the type of a number that precedes: `tolerance = 0.1 : f64 : tensor<…>`
            parser.parse_punctuation(":")
            type_ = parser.parse_type()
        types: list[Attribute] = [type_, type_]
        if cls.BOTH_TYPES:
            parser.parse_punctuation(",")
            types[1] = parser.parse_type()
        operands = parser.resolve_operands([first, second], types, start)
        return cls.create(
            operands=operands, properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Print the operands, the numbers and the type."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        self._print_numbers(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        shown = self.operands if self.BOTH_TYPES else self.operands[:1]
        printer.print_list(shown, lambda value: printer.print_attribute(value.type))

    def verify_(self) -> None:
        """The operands have one type."""
        if self.operands[0].type != self.operands[1].type:
            raise VerifyException(
                f"compares {self.operands[0].type} with {self.operands[1].type}"
            )


class _ConstOp(CheckOp, ABC):
    """A tensor and a constant, written `%a, dense<…> : type, field = 1`."""

    lhs = operand_def(_TENSOR)
    value = prop_def(DenseIntOrFPElementsAttr)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the operand, the constant and the numbers."""
        start = parser.pos
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error("expected a dense constant", start, parser.pos)
        properties = cls._parse_numbers(parser)
        attributes = cls._parse_attributes(parser, properties)
        dense = cast("DenseIntOrFPElementsAttr", value)
        operands = parser.resolve_operands([operand], [dense.type], start)
        return cls.create(
            operands=operands,
            properties={"value": dense, **properties},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print the operand, the constant and the numbers."""
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(", ")
        printer.print_attribute(self.value)
        self._print_numbers(printer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        """The constant has the operand's type."""
        if self.operands[0].type != self.value.type:
            raise VerifyException(
                f"compares {self.operands[0].type} with {self.value.type}"
            )


@irdl_op_definition
class ExpectEqOp(_PairOp):
    """The tensors are equal to the bit (NaN equals NaN)."""

    name = "check.expect_eq"

    lhs = operand_def(_TENSOR)
    rhs = operand_def(_TENSOR)


@irdl_op_definition
class ExpectEqConstOp(_ConstOp):
    """The tensor is equal to a constant."""

    name = "check.expect_eq_const"


@irdl_op_definition
class ExpectAlmostEqOp(_PairOp):
    """The tensors of floats differ by at most a tolerance."""

    name = "check.expect_almost_eq"

    lhs = operand_def(_TENSOR)
    rhs = operand_def(_TENSOR)
    tolerance = opt_prop_def(_Tolerance)

    NUMBERS: ClassVar = {"tolerance": f64}


@irdl_op_definition
class ExpectAlmostEqConstOp(_ConstOp):
    """The tensor of floats differs from a constant by at most a tolerance."""

    name = "check.expect_almost_eq_const"

    value = prop_def(DenseIntOrFPElementsAttr)  # as in the base, before the tolerance
    tolerance = opt_prop_def(_Tolerance)

    NUMBERS: ClassVar = {"tolerance": f64}


@irdl_op_definition
class ExpectCloseOp(_PairOp):
    """So many floats lie between actual and expected value, at least and at most."""

    name = "check.expect_close"

    actual = operand_def(_TENSOR)
    expected = operand_def(_TENSOR)
    max_ulp_difference = opt_prop_def(_Number)
    min_ulp_difference = opt_prop_def(_Number)

    BOTH_TYPES: ClassVar = True
    NUMBERS: ClassVar = {"max_ulp_difference": _UI64, "min_ulp_difference": _UI64}


@irdl_op_definition
class ExpectSerializedEqOp(CheckOp):
    """The tensor is what a probe wrote to its file."""

    name = "check.expect_serialized_eq"

    expected = operand_def(_TENSOR)
    probe_id = prop_def(StringAttr)
    iteration = opt_prop_def(_Number)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `%a, probe_id = "name", iter = 1 : type`."""
        start = parser.pos
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("probe_id")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {
            "probe_id": StringAttr(parser.parse_str_literal())
        }
        if parser.parse_optional_punctuation(",") is not None:
            parser.parse_keyword("iter")
            parser.parse_punctuation("=")
            number = parser.parse_integer(allow_boolean=False)
            properties["iteration"] = IntegerAttr(number, _UI32)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operands = parser.resolve_operands([operand], [parser.parse_type()], start)
        return cls.create(
            operands=operands, properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Print `%a, probe_id = "name", iter = 1 : type`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.expected)
        printer.print_string(", probe_id = ")
        printer.print_string_literal(self.probe_id.data)
        if self.iteration is not None:
            printer.print_string(f", iter = {self.iteration.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.expected.type)


Check = Dialect(
    "check",
    [
        ExpectAlmostEqConstOp,
        ExpectAlmostEqOp,
        ExpectCloseOp,
        ExpectEqConstOp,
        ExpectEqOp,
        ExpectSerializedEqOp,
    ],
)
"""The dialect object that a context registers."""
