"""What a compiled program costs one device in a run: collectives, bytes, time, memory."""

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.runs import Runs
from ttxdsl.analysis.work import operations_of
from ttxdsl.dialects.replica_groups import devices_of
from ttxdsl.errors import CompileError
from ttxdsl.explaining.answers import Figures
from ttxdsl.reporting.collectives import (
    counts_of,
    device_runs,
    guesses_text,
    list_collectives,
)
from ttxdsl.reporting.memory import memory_profile
from ttxdsl.reporting.timeline import timeline
from ttxdsl.sharding.machines import Machine


def measure(
    module: ModuleOp,
    whole: ModuleOp,
    machine: Machine,
    trip_count: int | None = None,
) -> Figures:
    """The figures of a program of one device, as stage 13 leaves it.

    Args:
        module: the program.
        whole: what it was made of.
        machine: what it runs on.
        trip_count: how often loops turn of which the program does not say it.
    """
    runs = device_runs(module, trip_count)
    collectives = list_collectives(module, runs=runs)
    time = timeline(module, machine, runs=runs, collectives=collectives)
    try:
        peak = memory_profile(module).peak_bytes
    except CompileError:
        peak = None  # a value without a size, which other commands tell of
    operations = operations_of(module, runs)
    shared = operations_of(whole, Runs(whole, trip_count))
    return Figures(
        collectives=tuple(counts_of(collectives).items()),
        bytes=sum(collective.bytes_per_device for collective in collectives),
        seconds=time.link_seconds,
        program_seconds=time.seconds,
        peak_bytes=peak,
        operations=operations,
        repeated=operations - shared // max(1, devices_of(module)),
        guessed=guesses_text(collectives),
    )
