"""What the collectives of a program are for, in a line each: FSDP, data parallelism, …

Read off the per-device program: what is gathered straight from an argument is a parameter
if gradients are summed along the same axis; what is summed up and only goes on to the results is a
gradient if an argument of its size is updated by it; everything else is on the way between
layers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import all_ops
from ttxdsl.reporting.arguments import source_argument, updated_arguments
from ttxdsl.reporting.collectives import COLLECTIVE_OPS, CountedCollective
from ttxdsl.sharding.units import bytes_text


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


def _purpose(op: Operation) -> tuple[str, str]:
    gathers = isinstance(op, stablehlo.AllGatherOp)
    if gathers and source_argument(op.operands[0]) is not None:
        return "FSDP", "parameters"
    sums = isinstance(op, stablehlo.AllReduceOp | stablehlo.ReduceScatterOp)
    if not sums:
        return "moved", "activations"
    ends = [updated_arguments(result) for result in op.results]
    if None in ends:
        return "partial sums", "activations"
    if not any(ends):
        return "partial sums", "results"
    shared = isinstance(op, stablehlo.ReduceScatterOp)
    return ("FSDP" if shared else "data parallel"), "gradients"
