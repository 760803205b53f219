"""The bytes that each device sends in one run of a per-device program."""

from operator import attrgetter

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.costs.links import DEFAULT_LINK
from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.traits import Collective
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.single_ops import MOVED

_RINGS: dict[type[Operation], Ring] = {
    op: fact.ring for op in MOVED if (fact := op.get_trait(Collective)) is not None
}

_GROUPS = "replica_groups"
_type_of = attrgetter("type")


def bytes_sent(module: ModuleOp) -> int:
    """Return the bytes that a device sends; in a loop, times its iterations.

    A loop of which the program does not say it counts once; groups are taken to be as
    large as the first.
    """
    runs = Runs(module)
    return sum(_sent(op)[0] * runs.of(op).count for op in ops_of_type(module, *MOVED))


def body_sends(program: DeviceProgram) -> tuple[int, float]:
    """Return the bytes that a device sends in one run of a body, and how long they take.

    Loops count as in `bytes_sent`, branches all; collectives follow one another.
    """
    total, seconds = 0, 0.0
    alike: dict[tuple[int | type[Operation], ...], tuple[int, float]] = {}
    for block in program.nesting.blocks():
        times, inner = 1, block
        while inner is not program.block:
            around = inner.parent_op()
            assert around is not None and around.parent is not None, "in a body that is"
            if isinstance(around, stablehlo.WhileOp):
                iterations = program.trip_counts.of(around)
                times *= 1 if iterations is None else iterations
            inner = around.parent
        for op in program.sending(block):
            if type(op) not in _RINGS:
                continue
            groups, types = op.properties.get(_GROUPS), map(_type_of, op.operands)
            key = type(op), id(groups), *map(id, types)
            if key not in alike:
                alike[key] = _sent(op)[0], _seconds(program, op)
            sent, taken = alike[key]
            total += times * sent
            seconds += times * taken
    return total, seconds


def _seconds(program: DeviceProgram, op: Operation) -> float:
    """Return the seconds of a collective; a gather runs along its axes one by one."""
    ring, (sent, size) = _RINGS[type(op)], _sent(op)
    axes = program.axes_of_groups(op) if ring is Ring.ALL_GATHER else None
    if not axes or len(axes) == 1:
        return DEFAULT_LINK.seconds_of_bytes(ring, sent, size)
    seconds, held = 0.0, sent // (size - 1)
    for axis in reversed(axes):
        size = program.size((axis,))
        seconds += DEFAULT_LINK.seconds_of_bytes(ring, held * (size - 1), size)
        held *= size
    return seconds


def is_mostly_latency(op: Operation) -> bool:
    """Return whether at least half the time of a collective is latency."""
    ring, (sent, size) = _RINGS[type(op)], _sent(op)
    whole, empty = (
        DEFAULT_LINK.seconds_of_bytes(ring, count, size) for count in (sent, 0)
    )
    return 2 * empty >= whole


def _sent(op: Operation) -> tuple[int, int]:
    """Return the bytes that a device sends for a collective, and the size of its groups."""
    ring = _RINGS[type(op)]
    size = 2
    if ring is not Ring.COLLECTIVE_PERMUTE:
        groups = op.properties[_GROUPS]
        if isinstance(groups, DenseIntOrFPElementsAttr):
            size = groups.get_shape()[-1]
    sent = sum(ring_bytes(ring, value_bytes(value), size) for value in op.operands)
    return sent, size
