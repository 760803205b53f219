"""Tuples, and tokens that order effects.

Source: StableHLO specification, one section an op.
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, TupleType, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    BaseAttr,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ttxdsl.dialects.stablehlo._base import IntegerOf, PrettyNullaryOp, PrettyOp
from ttxdsl.dialects.stablehlo._infer import require_type
from ttxdsl.dialects.stablehlo._shapes import require
from ttxdsl.dialects.stablehlo._syntax import Types
from ttxdsl.dialects.stablehlo.types import TUPLE_PART, TokenType
from ttxdsl.dialects.traits import MovesData, SameBytes
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition


@irdl_op_definition
class TupleOp(PrettyOp):
    """A tuple of values. Spec section "tuple"."""

    name = "stablehlo.tuple"

    val = var_operand_def(TUPLE_PART)
    result = result_def(BaseAttr(TupleType))

    traits = traits_def(Pure(), MovesData(), SameBytes())

    @classmethod
    def parse_types(cls, parser: Parser, operands: int) -> tuple[Types, Types]:
        """Parse the tuple's type; the parts have its element types."""
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, TupleType):
            parser.raise_error("expected a tuple type", position)
        return cast(Types, tuple(type.types.data)), (type,)

    def print_types(self, printer: Printer) -> None:
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

    traits = traits_def(Pure(), MovesData(), SameBytes())

    @classmethod
    def parse_fields(cls, parser: Parser, comma: bool) -> dict[str, Attribute]:
        """Parse `[0]`."""
        with parser.in_square_brackets():
            return {"index": IntegerAttr(parser.parse_integer(), i32)}

    def print_fields(self, printer: Printer) -> None:
        printer.print_string(f"[{self.index.value.data}]")

    @classmethod
    def printed_properties(cls) -> tuple[str, ...]:
        """Return the index."""
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
class CreateTokenOp(PrettyNullaryOp):
    """A token without predecessors. Deprecated: `after_all` without operands."""

    name = "stablehlo.create_token"

    output = result_def(BaseAttr(TokenType))
