"""The costs of a compiled program for a device: collectives, bytes, time, memory."""

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.collectives import (
    counts_of,
    guesses_text,
)
from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.usage.work import operations_of
from ttxdsl.costs.chips import ChipMachine
from ttxdsl.costs.compilers import Compiler
from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects.replica_groups import devices_of
from ttxdsl.insight.why.answers import Figures


def measure(
    module: ModuleOp,
    whole: ModuleOp,
    machine: Machine,
    trip_count: int | None = None,
    *,
    compiler: Compiler | None = None,
) -> Figures:
    """The figures of a program of one device, as stage 13 leaves it.

    Args:
        whole: what it was made of.
        compiler: as of `usage_with`.
    """
    return figures_of(usage_with(module, machine, trip_count, compiler), whole)


def usage_with(
    module: ModuleOp,
    machine: Machine,
    trip_count: int | None = None,
    compiler: Compiler | None = None,
) -> DeviceUsage:
    """Return what a program of one device takes.

    Args:
        compiler: whose fusions time and memory have, as in a plan; that of a chip if the
            machine is one, else nothing is fused.
    """
    if compiler is None and isinstance(machine, ChipMachine) and machine.chip:
        compiler = machine.chip.compiler
    return DeviceUsage(module, machine, compiler, trip_count)


def figures_of(usage: DeviceUsage, whole: ModuleOp) -> Figures:
    """Return the figures of what a device takes of a program made of the whole one."""
    collectives = usage.collectives
    try:
        peak = usage.memory.peak_bytes
    except CompileError:
        peak = None  # a value without a size, which other commands tell of
    operations = operations_of(usage.module, usage.runs)
    shared = operations_of(whole, Runs(whole, usage.trip_count))
    return Figures(
        collectives=tuple(counts_of(collectives).items()),
        bytes=sum(collective.bytes_per_device for collective in collectives),
        seconds=usage.timeline.link_seconds,
        program_seconds=usage.seconds,
        peak_bytes=peak,
        operations=operations,
        repeated=operations - shared // max(1, devices_of(usage.module)),
        guessed=guesses_text(collectives),
        summed_bytes=sum(
            collective.bytes_per_device
            * (2 if collective.kind == "reduce_scatter" else 1)
            for collective in collectives
        ),
    )
