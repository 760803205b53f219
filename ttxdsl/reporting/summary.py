"""What the collectives of a program are for, in a line each: FSDP, data parallelism, …

Read off the per-device program: what is gathered straight from an argument is a parameter
if gradients are summed along the same axis; what is summed up and only goes on to the results is a
gradient if an argument of its size is updated by it; everything else is on the way between
layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.facts import Elementwise
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import all_ops
from ttxdsl.reporting.collectives import COLLECTIVE_OPS, CountedCollective
from ttxdsl.sharding.units import bytes_text

_MOVES = (
    stablehlo.BroadcastInDimOp,
    stablehlo.ConvertOp,
    stablehlo.DynamicSliceOp,
    stablehlo.OptimizationBarrierOp,
    stablehlo.ReshapeOp,
    stablehlo.SliceOp,
    stablehlo.TransposeOp,
)
_FARTHEST = 32
"""Ops between a sum and the results that it goes to."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """Collectives of one kind along the same axes that are there for the same.

    Attributes:
        why: `FSDP`, `data parallel`, `partial sums`, `gathered`, `moved`.
        kind: which collective.
        of: what is sent: parameters, gradients, arguments, results, activations.
        axes: along which axes.
        count: how often they run.
        bytes: that a device sends for them.
    """

    why: str
    kind: str
    of: str
    axes: str
    count: int
    bytes: int

    def __str__(self) -> str:
        """`FSDP: 48 all_gathers of parameters over data, 6.1 MiB`."""
        kinds = f"{self.kind}s" if self.count != 1 else self.kind
        size = bytes_text(self.bytes)
        return f"{self.why}: {self.count} {kinds} of {self.of} over {self.axes}, {size}"


def purposes(
    module: ModuleOp, collectives: Sequence[CountedCollective]
) -> tuple[Purpose, ...]:
    """What the collectives of a program are for, those that send most first.

    Args:
        module: of one device.
        collectives: all of it, in program order.
    """
    ops = [op for op in all_ops(module) if op.name in COLLECTIVE_OPS]
    found: dict[tuple[str, str, str, str], list[CountedCollective]] = {}
    known = [_purpose(op) for op in ops]
    # it is FSDP where gradients are summed along the axis that parameters are split by
    trained = {
        one.axes_text
        for one, (_, of) in zip(collectives, known, strict=True)
        if of == "gradients"
    }
    for (why, of), one in zip(known, collectives, strict=True):
        if of == "parameters" and one.axes_text not in trained:
            why, of = "gathered", "arguments"
        found.setdefault((why, one.kind, of, one.axes_text), []).append(one)
    lines = [
        Purpose(
            *key,
            sum(one.count for one in alike),
            sum(one.bytes_per_device for one in alike),
        )
        for key, alike in found.items()
    ]
    return tuple(sorted(lines, key=lambda line: -line.bytes))


def _size(value: SSAValue) -> object:
    """Its dimensions in any order, for gradients are transposed where products end."""
    return tuple(sorted(shape_of(value))), element_of(value)


def _purpose(op: Operation) -> tuple[str, str]:
    gathers = isinstance(op, stablehlo.AllGatherOp)
    if gathers and _from_argument(op.operands[0]):
        return "FSDP", "parameters"
    sums = isinstance(op, stablehlo.AllReduceOp | stablehlo.ReduceScatterOp)
    if not sums:
        return "moved", "activations"
    ends = [_to_results(result, _FARTHEST) for result in op.results]
    if None in ends:
        return "partial sums", "activations"
    if not any(ends):
        return "partial sums", "results"
    shared = isinstance(op, stablehlo.ReduceScatterOp)
    return ("FSDP" if shared else "data parallel"), "gradients"


def _from_argument(value: SSAValue) -> bool:
    """Whether a value is an argument of the function, or a piece of one."""
    while True:
        if isinstance(value, BlockArgument):
            owner = value.block.parent_op()
            if isinstance(owner, FuncOp):
                return True
            if not isinstance(owner, sdy.ManualComputationOp | stablehlo.WhileOp):
                return False
            value = owner.operands[value.index]
        elif isinstance(value, OpResult) and isinstance(value.op, _MOVES):
            value = value.op.operands[0]
        else:
            return False


def _to_results(value: SSAValue, left: int) -> bool | None:
    """Whether arguments of its size are updated by a value that only goes to results.

    Returns:
        None if anything but elementwise work is between it and the results.
    """
    updates = False
    for use in value.uses if left else ():
        user = use.operation
        if isinstance(user, ReturnOp):
            continue
        if isinstance(user, sdy.ReturnOp) and (owner := user.parent_op()) is not None:
            behind = [_to_results(owner.results[use.index], left - 1)]
        elif user.get_trait(Elementwise) is not None or isinstance(user, _MOVES):
            behind = [_to_results(one, left - 1) for one in user.results]
            updates |= any(
                other is not value
                and _size(other) == _size(value)
                and _from_argument(other)
                for other in user.operands
            )
        else:
            return None
        if None in behind:
            return None
        updates |= any(behind)
    return updates if left else None
