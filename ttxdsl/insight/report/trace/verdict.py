"""The verdict on a report's first page: does it fit, a step's time, the largest costs.

Costs are by line of the author's program: the ops of one line and function, of all
layers together, apart for computing and sending.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttxdsl.analysis.attribution.authored import (
    GET_DEBUG_INFO,
    PHASES,
    AuthorScope,
    author_path,
    path_text,
)
from ttxdsl.analysis.attribution.words import Words
from ttxdsl.analysis.calls.call_graph import callers
from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.usage.memory import MemoryProfile
from ttxdsl.analysis.usage.needs import other_lines_of, place_of
from ttxdsl.analysis.usage.timeline import Event
from ttxdsl.costs.chips import CHIPS, Chip
from ttxdsl.costs.units import others
from ttxdsl.diagnostics.errors import Frame, line_text, place_text
from ttxdsl.insight.why.layers import largest_buffers
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import all_ops

_COSTS = 3
_LARGEST = 3


@dataclass(slots=True)
class _Cost:
    """The time that the ops of one line take in a step."""

    bound: str
    seconds: float = 0.0
    longest: float = 0.0
    op: Operation | None = None
    ops: Counter[str] = field(default_factory=Counter[str])
    layers: set[AuthorScope] = field(default_factory=set[AuthorScope])
    phases: dict[str, None] = field(default_factory=dict[str, None])


def verdict(
    usage: DeviceUsage,
    profile: MemoryProfile | None,
    order: Mapping[Operation, int],
    chip: Chip | None,
    words: Words,
) -> dict[str, Any]:
    """Return the verdict on a program of one device, as plain data.

    Args:
        usage: of the program: when its ops run, and on what.
        profile: what it holds, None where that is not known.
        order: the place of each op in the program, which stands for its node.
        chip: the chip that is asked about; all that are known if None.
    """
    time, seconds = usage.timeline, usage.seconds_by_bound
    costs: defaultdict[tuple[str, str], _Cost] = defaultdict(lambda: _Cost(""))
    texts: dict[Frame | None, str] = {}
    calls = callers(usage.module)
    for event, bound in usage.bounds:
        for op, spent in _parts(event, bound):
            frame = place_of(op, calls)
            if frame not in texts:
                texts[frame] = _where(frame)
            where = texts[frame]
            if bound == "network" and (more := other_lines_of(op)):
                where = f"{where} and {others(more)}"
            key = ("network" if bound == "network" else "compute"), where
            cost = costs[key]
            cost.bound = cost.bound or bound
            cost.seconds += spent
            cost.ops[op.name.rpartition(".")[2]] += event.times
            if cost.op is None or spent > cost.longest:
                cost.longest, cost.op = spent, op
            path = author_path(op.location)
            cost.layers.update([scope for scope in path if scope.calls > 1][:1])
            if path and path[0].name in PHASES:
                cost.phases.setdefault(path[0].name)
    largest = sorted(costs.items(), key=lambda item: -item[1].seconds)[:_COSTS]
    total = sum(seconds.values()) - usage.host_seconds()
    return {
        "seconds": usage.seconds,
        "bound": max(seconds, key=lambda name: seconds[name]),
        "parts": seconds,
        "exposed_seconds": max(0.0, time.link_seconds - time.hidden_seconds),
        "costs": [
            _cost_data(where, cost, total, order) for (_, where), cost in largest
        ],
        "memory": None
        if profile is None
        else _memory_data(profile, [chip] if chip else [*CHIPS.values()], words),
        "no_lines": None if _names_lines(usage.module) else GET_DEBUG_INFO,
    }


def _where(frame: Frame | None) -> str:
    """Return a line in words, or where it is if nobody knows its function."""
    if frame is None:
        return ""
    return line_text(frame) if frame.function else place_text(frame.position)


def _parts(event: Event, bound: str) -> list[tuple[Operation, float]]:
    """Return the ops of an event with their shares of its time.

    Collectives that are sent together are of different lines: each has a share by its bytes.
    """
    spent = event.seconds * event.times
    if bound != "network" or len(event.ops) == 1:
        return [(event.ops[0], spent)]
    sizes = [sum(map(value_bytes, op.operands)) for op in event.ops]
    total = sum(sizes) or 1
    return [
        (op, spent * size / total) for op, size in zip(event.ops, sizes, strict=True)
    ]


def _names_lines(module: ModuleOp) -> bool:
    return any(author_path(op.location) for op in all_ops(module))


def _cost_data(
    where: str, cost: _Cost, total: float, order: Mapping[Operation, int]
) -> dict[str, Any]:
    op = cost.op
    assert op is not None
    frame = place_of(op)
    path = [scope for scope in author_path(op.location) if scope.name not in PHASES]
    return {
        "where": where,
        "place": place_text(frame.position, frame.function) if frame else "",
        "ops": [f"{count} {name}" for name, count in cost.ops.most_common(2)],
        "bound": cost.bound,
        "seconds": cost.seconds,
        "share": cost.seconds / total if total else 0.0,
        "scope": path_text(path),
        "layers": len(cost.layers),
        "phases": list(cost.phases),
        "node": order[op],
    }


def _memory_data(
    profile: MemoryProfile, chips: list[Chip], words: Words
) -> dict[str, Any]:
    peak = profile.peak_bytes
    return {
        "peak_bytes": peak,
        "chips": [
            {
                "name": chip.name,
                "bytes": chip.memory_bytes,
                "fits": peak <= chip.memory_bytes,
            }
            for chip in sorted(chips, key=lambda chip: chip.memory_bytes)
        ],
        "largest": [
            asdict(buffers)
            for buffers in largest_buffers(profile.peak_values, words, _LARGEST)
        ],
    }
