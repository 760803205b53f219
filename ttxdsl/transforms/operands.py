"""Uses of values as objects, and those on which data flows into regions and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects import sdy
from ttxdsl.dialects.stablehlo import CaseOp, OptimizationBarrierOp, WhileOp
from ttxdsl.errors import CompileError
from ttxdsl.sharding.manual import without_manual_axes
from ttxdsl.sharding.spec import TensorSharding


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of one op, to read and replace."""

    op: Operation
    index: int

    @property
    def value(self) -> SSAValue:
        """The value used here."""
        return self.op.operands[self.index]

    def replace(self, value: SSAValue) -> None:
        """Use another value here."""
        self.op.operands[self.index] = value


def data_flow_edges(
    op: Operation,
) -> Iterator[tuple[TensorSharding | None, list[Operand]]]:
    """The edges on which data flows into results and block arguments of an op.

    Yields for each edge the sharding that its sources are expected to have, seen from
    where they stand, and the sources: operands of the op or of its regions' ends.
    """
    ends = [region.block.last_op for region in op.regions if region.blocks]
    match op:
        case sdy.ManualComputationOp() | sdy.NamedComputationOp():
            end = _terminator(op, ends[0])
            manual = (
                op.manual_axes.data if isinstance(op, sdy.ManualComputationOp) else ()
            )
            for index in range(len(op.results)):
                outer = op.out_shardings and op.out_shardings.data[index]
                inner = outer and without_manual_axes(outer, manual)
                yield inner, [Operand(end, index)]
            for index in range(len(op.operands)):
                outer = op.in_shardings and op.in_shardings.data[index]
                yield outer, [Operand(op, index)]
        case WhileOp():
            body = _terminator(op, ends[1])
            for index, sharding in enumerate(_result_shardings(op)):
                yield sharding, [Operand(op, index), Operand(body, index)]
        case CaseOp():
            branches = [_terminator(op, end) for end in ends]
            for index, sharding in enumerate(_result_shardings(op)):
                yield sharding, [Operand(end, index) for end in branches]
        case OptimizationBarrierOp():
            for index, sharding in enumerate(_result_shardings(op)):
                yield sharding, [Operand(op, index)]
        case _:
            return


DATA_FLOW_OPS = (
    sdy.ManualComputationOp,
    sdy.NamedComputationOp,
    WhileOp,
    CaseOp,
    OptimizationBarrierOp,
)
"""The ops that have data flow edges."""


def _terminator(op: Operation, end: Operation | None) -> Operation:
    if end is None:
        raise CompileError("a region of this op has no end", op)
    return end


def _result_shardings(op: Operation) -> list[TensorSharding | None]:
    """What the op itself says of its results, whatever data flow edges say."""
    shardings = op.attributes.get(sdy.SHARDING)
    if isinstance(shardings, sdy.TensorShardingPerValueAttr):
        return list(shardings.data)
    return [None] * len(op.results)
