"""The check dialect: assertions about tensors, for programs that the interpreter runs.

Each op also exists as a custom call, `stablehlo.custom_call @check.expect_eq(…)`.

Source: StableHLO's CheckOps, the op descriptions.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    f64,
)
from xdsl.irdl import (
    AnyAttr,
    EqAttrConstraint,
    IRDLOperation,
    ParamAttrConstraint,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttxdsl.dialects.definitions import dialect_of

DEFAULT_TOLERANCE = 1e-4
"""The default tolerance of `almost equal`."""

_TOLERANCE = ParamAttrConstraint(FloatAttr, (AnyAttr(), EqAttrConstraint(f64)))


def _unsigned(width: int) -> ParamAttrConstraint[IntegerAttr]:
    type_ = EqAttrConstraint(IntegerType(width, Signedness.UNSIGNED))
    return ParamAttrConstraint(IntegerAttr, (AnyAttr(), type_))


_ULPS, _ITERATION = _unsigned(64), _unsigned(32)


class CheckOp(IRDLOperation, ABC):
    """An assertion about tensors of one type; it has no results."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    def __post_init__(self) -> None:
        super().__post_init__()
        # what the syntax has a place for may stand in the dictionary, as in MLIR
        for name in self.get_irdl_definition().properties.keys() & self.attributes:
            self.properties[name] = self.attributes.pop(name)


_VALUE = ParamAttrConstraint(DenseIntOrFPElementsAttr, (CheckOp.T, AnyAttr()))
"""A constant of the operand's type."""


@irdl_op_definition
class ExpectEqOp(CheckOp):
    """The tensors are equal to the bit (NaN equals NaN)."""

    name = "check.expect_eq"

    lhs = operand_def(CheckOp.T)
    rhs = operand_def(CheckOp.T)

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs)"


@irdl_op_definition
class ExpectEqConstOp(CheckOp):
    """The tensor is equal to a constant."""

    name = "check.expect_eq_const"

    lhs = operand_def(CheckOp.T)
    value = prop_def(_VALUE)

    assembly_format = "$lhs `,` $value attr-dict"


@irdl_op_definition
class ExpectAlmostEqOp(CheckOp):
    """The tensors of floats differ by at most a tolerance."""

    name = "check.expect_almost_eq"

    lhs = operand_def(CheckOp.T)
    rhs = operand_def(CheckOp.T)
    tolerance = opt_prop_def(_TOLERANCE)

    assembly_format = (
        "$lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)"
    )


@irdl_op_definition
class ExpectAlmostEqConstOp(CheckOp):
    """The tensor of floats differs from a constant by at most a tolerance."""

    name = "check.expect_almost_eq_const"

    lhs = operand_def(CheckOp.T)
    value = prop_def(_VALUE)
    tolerance = opt_prop_def(_TOLERANCE)

    assembly_format = "$lhs `,` $value (`,` `tolerance` `=` $tolerance^)? attr-dict"


@irdl_custom_directive
class _Ulps(CustomDirective):
    """`, name = number` of those limits that are given: a format has no two such groups."""

    maximum: AttributeVariable
    minimum: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        limits = {limit.name: limit for limit in (self.maximum, self.minimum)}
        while parser.parse_optional_punctuation(",") is not None:
            limit = limits[parser.parse_keyword_in(limits)]
            parser.parse_punctuation("=")
            number = parser.parse_integer(allow_boolean=False)
            limit.set(state, IntegerAttr(number, IntegerType(64, Signedness.UNSIGNED)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for limit in (self.maximum, self.minimum):
            if isinstance(number := limit.get(op), IntegerAttr):
                printer.print_string(f", {limit.name} = {number.value.data}")
        state.should_emit_space = True
        state.last_was_punctuation = False


@irdl_op_definition
class ExpectCloseOp(CheckOp):
    """So many floats lie between actual and expected value, at least and at most."""

    name = "check.expect_close"

    actual = operand_def(CheckOp.T)
    expected = operand_def(CheckOp.T)
    max_ulp_difference = opt_prop_def(_ULPS)
    min_ulp_difference = opt_prop_def(_ULPS)

    custom_directives = (_Ulps,)
    assembly_format = (
        "$actual `,` $expected custom<_Ulps>($max_ulp_difference, $min_ulp_difference)"
        " attr-dict `:` type($actual) `,` type($expected)"
    )


@irdl_op_definition
class ExpectSerializedEqOp(CheckOp):
    """A comparison of a tensor with the file that a probe wrote."""

    name = "check.expect_serialized_eq"

    expected = operand_def(CheckOp.T)
    probe_id = prop_def(StringAttr)
    iteration = opt_prop_def(_ITERATION)

    assembly_format = (
        "$expected `,` `probe_id` `=` $probe_id (`,` `iter` `=` $iteration^)?"
        " attr-dict `:` type($expected)"
    )


Check = dialect_of("check", __name__, globals().values())
"""The dialect object that a context registers."""
