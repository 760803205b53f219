"""Figures of the program of one device: collectives, times, memory, the verdict.

It is plain data without the graph, so that a copy of the process may count while this
one draws. `node` and `key` are an op's place in program order there, or an argument's
name, for which `Trace` puts what the graph and the listing have.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttxdsl.analysis.attribution.locations import Home, homes
from ttxdsl.analysis.attribution.purposes import purposes
from ttxdsl.analysis.attribution.roles import collective_roles
from ttxdsl.analysis.attribution.words import Words
from ttxdsl.analysis.usage.collectives import (
    CountedCollective,
    collective_ops,
    collective_seconds,
    guesses_text,
)
from ttxdsl.analysis.usage.device import DeviceUsage, compiler_on, counted_as
from ttxdsl.analysis.usage.memory import MemoryProfile
from ttxdsl.analysis.usage.reasons import reason_of, with_arguments
from ttxdsl.analysis.usage.timeline import Event, Timeline
from ttxdsl.costs.chips import Chip
from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.report.trace.verdict import verdict
from ttxdsl.ir.traversal import all_ops
from ttxdsl.sharding.axes import AxisRef


@dataclass(slots=True)
class Counts:
    """The figures; see `ttxdsl.insight.report.trace.data` for the keys of the data."""

    collectives: list[dict[str, Any]]
    axes: list[AxisRef]
    """Along which they send, each once."""
    guessed: str | None
    purposes: list[str]
    timeline: dict[str, Any]
    memory: dict[str, Any] | None
    no_memory: str | None
    verdict: dict[str, Any]


def count_program(
    module: ModuleOp,
    machine: Machine,
    chip: Chip | None,
    trip_count: int | None,
    words: Words,
) -> Counts:
    """Count the program of one device, its memory as the chip's compiler, if given."""
    usage = DeviceUsage(module, machine, compiler_on(chip, machine), trip_count)
    collectives = usage.collectives
    roles = collective_roles(module)
    order = {op: at for at, op in enumerate(all_ops(module))}
    shown = [
        _collective(collective, machine, order[op], at)
        for collective, op, at in zip(
            with_arguments(module, collectives),
            collective_ops(module),
            homes(module, roles),
            strict=True,
        )
    ]
    profile = memory = no_memory = None
    try:
        profile = usage.memory
        memory = _memory(profile, order, chip, words)
    except CompileError as error:
        no_memory = error.message
    return Counts(
        shown,
        [*dict.fromkeys(axis for each in collectives for axis in each.axes or ())],
        guesses_text(collectives),
        [str(purpose) for purpose in purposes(module, collectives, roles)],
        _timeline(usage.timeline, order, machine, words),
        memory,
        no_memory,
        verdict(usage, profile, order, chip, words),
    )


def _collective(
    collective: CountedCollective, machine: Machine, order: int, home: Home
) -> dict[str, Any]:
    return {
        "kind": collective.kind,
        "axes": collective.axes_text,
        "group_size": collective.group_size,
        "tensor": collective.tensor,
        "bytes": collective.bytes_per_device,
        "seconds": collective_seconds(collective, machine),
        "count": collective.count,
        "why": -1,
        "times": str(collective.times),
        "reason": reason_of([collective]),
        "position": collective.position,
        "function": collective.function,
        "place": collective.place,
        "order": order,
        "key": order,
        "node": order,
        "scope": home.scope,
        "layer": home.layer,
    }


def _timeline(
    time: Timeline, order: Mapping[Operation, int], machine: Machine, words: Words
) -> dict[str, Any]:
    return {
        "seconds": time.seconds,
        "compute_seconds": time.compute_seconds,
        "link_seconds": time.link_seconds,
        "hidden_seconds": time.hidden_seconds,
        "overlaps": machine.overlap,
        "events": [
            [
                *(event.lane.value, _event_name(event, words)),
                *(event.start, event.seconds, event.times, event.depth),
                order[event.ops[0]],
            ]
            for event in time.events
            # the body of a device is no loop
            if not isinstance(event.ops[0], sdy.ManualComputationOp)
        ],
    }


def _event_name(event: Event, words: Words) -> str:
    op = event.ops[0]
    return words.loop(op) if isinstance(op, stablehlo.WhileOp) else event.name


def _memory(
    profile: MemoryProfile,
    order: Mapping[Operation, int],
    chip: Chip | None,
    words: Words,
) -> dict[str, Any]:
    return {
        "points": [[point.bytes, order[point.op]] for point in profile.points],
        "names": [point.op.name.rpartition(".")[2] for point in profile.points],
        "counted": counted_as(None if chip is None else chip.compiler),
        "peak": profile.peak,
        "peak_bytes": profile.peak_bytes,
        "argument_bytes": profile.argument_bytes,
        "donated_bytes": profile.donated_bytes,
        "constant_bytes": profile.constant_bytes,
        "result_bytes": profile.result_bytes,
        "live": [
            {
                "name": words.value(value.value) or value.name,
                "type": value.type,
                "bytes": value.bytes,
                "kind": value.kind,
                "position": value.position,
                "node": order[owner]
                if isinstance(owner := value.value.owner, Operation)
                else value.name,
            }
            for value in profile.peak_values
        ],
    }
