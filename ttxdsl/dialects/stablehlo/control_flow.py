"""Ops that choose, repeat and end computations.

Source: StableHLO specification, sections "if", "case", "while", "optimization_barrier",
"after_all", "async_start", "async_done".
"""

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import ArrayAttr, TensorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    BaseAttr,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    ReturnLike,
)
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects.stablehlo import _syntax as syntax
from ttxdsl.dialects.stablehlo._base import PurePrettyOp, StableHLOOp
from ttxdsl.dialects.stablehlo._infer import require_type, types_fit
from ttxdsl.dialects.stablehlo._regions import block_of, check_predicate, returned_types
from ttxdsl.dialects.stablehlo._shapes import require
from ttxdsl.dialects.stablehlo.types import (
    PRED_TENSOR,
    REGION_VALUE,
    TENSOR,
    TENSOR_OR_TOKEN,
    TENSOR_PER_AXIS_OR_TOKEN,
    FutureType,
    Kind,
    TensorOf,
    TokenType,
    shape_of,
)
from ttxdsl.dialects.traits import MovesData, SameBytes
from ttxdsl.ir.compat.speed.definitions import irdl_op_definition
from ttxdsl.ir.data_flow import PositionalDataFlow


@irdl_op_definition
class ReturnOp(StableHLOOp):
    """The end of a region of a StableHLO op, with the values it yields."""

    name = "stablehlo.return"

    values = var_operand_def(REGION_VALUE)

    traits = traits_def(IsTerminator(), ReturnLike(), Pure(), MovesData())

    def __init__(self, values: Sequence[SSAValue] = ()):
        super().__init__(operands=[values])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `%a, %b : type, type`."""
        operands, _ = syntax.parse_operands(parser)
        attributes = parser.parse_optional_attr_dict()
        position = parser.pos
        types = syntax.parse_types_of(parser, operands)
        return cls.create(
            operands=parser.resolve_operands(operands, types, position),
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            syntax.print_values(printer, self.operands)
        syntax.print_attr_dict(printer, self)
        if self.operands:
            printer.print_string(" : ")
            syntax.print_type_list(printer, (value.type for value in self.operands))


def require_same_types(
    got: Sequence[Attribute], expected: Sequence[Attribute], label: str
) -> None:
    """Refuse types that do not fit others, one by one."""
    fits = len(got) == len(expected) and all(map(types_fit, got, expected))
    require(
        fits,
        f"{label} must be ({', '.join(map(str, expected))}), got "
        f"({', '.join(map(str, got))})",
    )


def check_branches(op: "IfOp | CaseOp", constraints: tuple[str, str, str]) -> None:
    """Check that branches take nothing and return the op's results."""
    no_arguments, same, results = constraints
    first = returned_types(op.regions[0])
    for index, region in enumerate(op.regions):
        block = block_of(region, f"branch {index}")
        if block.args:
            raise VerifyException(
                f"{no_arguments}: branch {index} must take no arguments"
            )
        require_same_types(
            returned_types(region), first, f"{same}: what branch {index} returns"
        )
    require_same_types(op.result_types, first, f"{results}: results")


@irdl_op_definition
class IfOp(StableHLOOp):
    """One of two computations by a truth value. Spec section "if"."""

    name = "stablehlo.if"

    pred = operand_def(PRED_TENSOR)
    true_branch = region_def()
    false_branch = region_def()
    outputs = var_result_def(TENSOR_PER_AXIS_OR_TOKEN)

    traits = traits_def(RecursiveMemoryEffect(), MovesData())

    def verify_(self) -> None:
        """C1, C2: branches; C3: results."""
        if shape_of(self.pred.type):
            raise VerifyException(f"pred must be a scalar, got {self.pred.type}")
        check_branches(self, ("C1", "C2", "C3"))


@irdl_op_definition
class CaseOp(StableHLOOp):
    """One of several computations by an index. Spec section "case"."""

    name = "stablehlo.case"

    index = operand_def(TensorOf(Kind.SINT))
    branches = var_region_def()
    outputs = var_result_def(TENSOR_PER_AXIS_OR_TOKEN)

    traits = traits_def(RecursiveMemoryEffect(), PositionalDataFlow(), MovesData())

    def verify_(self) -> None:
        """C1 to C3: branches; C4: results."""
        if self.index.type != TensorType(i32, ()):
            raise VerifyException(f"index must be a tensor<i32>, got {self.index.type}")
        require(bool(self.branches), "C1: there must be a branch")
        check_branches(self, ("C2", "C3", "C4"))


@irdl_op_definition
class WhileOp(StableHLOOp):
    """A computation repeated while a condition holds. Spec section "while"."""

    name = "stablehlo.while"

    operand = var_operand_def(REGION_VALUE)
    cond = region_def()
    body = region_def()
    outputs = var_result_def(REGION_VALUE)

    traits = traits_def(
        RecursiveMemoryEffect(),
        PositionalDataFlow(first_operand=0, first_argument=0, returning=(1,)),
        MovesData(),
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `(%name = %init, …) : types cond { … } do { … }`."""
        names: list[Parser.UnresolvedArgument] = []
        operands: list[UnresolvedOperand] = []

        def parse_pair() -> None:
            names.append(parser.parse_argument(expect_type=False))
            parser.parse_punctuation("=")
            operands.append(parser.parse_unresolved_operand())

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_pair)
        position = parser.pos
        types = syntax.parse_types_of(parser, operands)
        values = parser.resolve_operands(operands, types, position)
        dictionary = parser.parse_optional_attr_dict_with_keyword()
        arguments = [
            name.resolve(type) for name, type in zip(names, types, strict=True)
        ]
        parser.parse_keyword("cond")
        cond = parser.parse_region(arguments)
        parser.parse_keyword("do")
        body = parser.parse_region(arguments)
        return cls.create(
            operands=values,
            result_types=types,
            attributes={} if dictionary is None else dictionary.data,
            regions=(cond, body),
        )

    def print(self, printer: Printer) -> None:
        """Print with the body's names of the arguments, which `cond` shares.

        The generic form is for loops that break a constraint and are only printed to
        say so.
        """
        blocks = (self.cond.blocks.first, self.body.blocks.first)
        if any(
            block is None or len(block.args) != len(self.operands) for block in blocks
        ):
            printer.print_op_with_default_format(self)
            return
        arguments = self.body.blocks[0].args

        def print_pair(pair: tuple[SSAValue, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])

        with printer.in_parens():
            printer.print_list(zip(arguments, self.operands, strict=True), print_pair)
        if self.operands:
            printer.print_string(" : ")
            syntax.print_type_list(printer, (value.type for value in self.operands))
        syntax.print_attr_dict(printer, self, keyword=True)
        for own, shared in zip(self.cond.blocks[0].args, arguments, strict=True):
            syntax.NamedPrinter.share_name(printer, own, shared)
        printer.print_string("\ncond ")
        printer.print_region(self.cond, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        """C1: the condition; C2: the body; C3: results."""
        types = tuple(value.type for value in self.operand)
        for region, name, constraint in (
            (self.cond, "cond", "C1"),
            (self.body, "body", "C2"),
        ):
            block = block_of(region, name)
            require_same_types(
                tuple(block.arg_types), types, f"{constraint}: arguments of {name}"
            )
        require_same_types(returned_types(self.body), types, "C2: what body returns")
        check_predicate(self.cond, "C1", "cond")
        require_same_types(self.result_types, types, "C3: results")


@irdl_op_definition
class OptimizationBarrierOp(StableHLOOp):
    """Values that no optimization may look through. Spec: "optimization_barrier"."""

    name = "stablehlo.optimization_barrier"

    operand = var_operand_def(TENSOR_OR_TOKEN)
    result = var_result_def(TENSOR_OR_TOKEN)

    traits = traits_def(
        Pure(), PositionalDataFlow(first_operand=0), MovesData(), SameBytes()
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `%a, %b : type, type`, or `()`."""
        attributes = parser.parse_optional_attr_dict()
        operands, _ = syntax.parse_operands(parser)
        position = parser.pos
        types = syntax.parse_types_of(parser, operands)
        if not operands and parser.parse_optional_punctuation("(") is not None:
            parser.parse_punctuation(")")
        return cls.create(
            operands=parser.resolve_operands(operands, types, position),
            result_types=types,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Print `%a, %b : type, type`, or `()`."""
        syntax.print_attr_dict(printer, self)
        if not self.operands:
            printer.print_string(" ()")
            return
        printer.print_string(" ")
        syntax.print_values(printer, self.operands)
        printer.print_string(" : ")
        syntax.print_type_list(printer, (value.type for value in self.operands))

    def verify_(self) -> None:
        """C1: each result has its operand's type."""
        require(
            tuple(self.result_types) == tuple(self.operand_types),
            "C1: operands and results must have the same types",
        )


@irdl_op_definition
class AfterAllOp(PurePrettyOp):
    """A token that joins its operands. Spec section "after_all"."""

    name = "stablehlo.after_all"

    SHORTHAND: ClassVar[bool] = True

    inputs = var_operand_def(BaseAttr(TokenType))
    result = result_def(BaseAttr(TokenType))


_ASYNC = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "collective_permute",
        "collective_reduce",
        "dynamic_slice",
        "dynamic_update_slice",
        "reduce_scatter",
        "slice",
    )
)
"""The ops that can run beside others."""


@irdl_op_definition
class AsyncStartOp(StableHLOOp):
    """The start of a computation that runs beside others. Spec: "async_start"."""

    name = "stablehlo.async_start"

    inputs = var_operand_def(TENSOR)
    body = region_def()
    result = result_def(BaseAttr(FutureType))

    traits = traits_def(IsolatedFromAbove())

    def verify_(self) -> None:
        """C1, C2: the body's op; C3: arguments; C4: the result."""
        block = block_of(self.body, "body")
        op = block.first_op
        require(
            op is not None and op.next_op is block.last_op,
            "C1: body must have exactly one op and a return",
        )
        if op is None or op.name not in _ASYNC:
            raise VerifyException(
                "C2: body must have a collective or a slice, not "
                f"{None if op is None else op.name}"
            )
        require(
            tuple(block.arg_types) == tuple(value.type for value in self.inputs),
            "C3: arguments of body must have the operands' types",
        )
        expected = FutureType(ArrayAttr(returned_types(self.body)))
        require_type(self.result.type, expected, "result (C4)")


@irdl_op_definition
class AsyncDoneOp(StableHLOOp):
    """The result of an `async_start`, waited for. Spec section "async_done"."""

    name = "stablehlo.async_done"

    operand = operand_def(BaseAttr(FutureType))
    result = result_def(TENSOR)

    traits = traits_def(SameBytes())

    def verify_(self) -> None:
        """C1: the types of the results are those that the future holds."""
        (held, *more) = cast(FutureType, self.operand.type).types.data
        require(not more, "C1: the future holds more than one value")
        require_type(self.result.type, held, "result (C1)")
