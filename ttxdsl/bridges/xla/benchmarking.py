"""Our per-device program and XLA's own partitioning of the same program, both measured.

    measured = benchmark(program, rounds=20)
    print(measured.time, measured.bytes)          # ratios, ours to XLA's

Both are compiled by XLA in one process and run in turn on the same inputs, so that only
the partitioning differs. Nothing is donated, since the inputs are used again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from statistics import median
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
    set_argument_attributes,
)
from ttxdsl.analysis.usage.memory import MemoryParts
from ttxdsl.analysis.values.reductions import summed_numbers
from ttxdsl.analysis.values.state import DONATED
from ttxdsl.api.forms import ProgramForm
from ttxdsl.bridges.export import annotated_module
from ttxdsl.bridges.jax.manual_sharding_export import export_manual_sharding
from ttxdsl.bridges.xla.execute import XlaRun, run_with_xla, whole_of
from ttxdsl.bridges.xla.hlo.collectives import list_hlo_collectives
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.dialects.sdy import mesh_table
from ttxdsl.insight.check.rounding import RoundedRuns, hold_both
from ttxdsl.interpreters.compare import Comparison
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import program_text

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """One executable: its time, what a device sends, and what memory it needs.

    `seconds` is the median of the runs, `cpu_seconds` that of the host's work in them
    (which is all work where devices are virtual), `collectives` and `bytes_per_device` are read off
    the executable (each collective once, by the ring model), `memory` is that of one
    device, as XLA plans it.
    """

    seconds: float
    cpu_seconds: float
    collectives: int
    bytes_per_device: int
    memory: MemoryParts


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A program through both partitioners, compiled by XLA and run `rounds` times."""

    source: str
    devices: int
    rounds: int
    ours: Measured
    xla: Measured
    results: tuple[Comparison, ...]
    """Ours against XLA's, or both against one device; see `hold_both`."""
    runs: tuple[XlaRun, ...] = field(default=(), repr=False)
    """The runs of our program and of XLA's."""
    remarks: tuple[Remark, ...] = ()
    """What our compiler said."""

    @property
    def agree(self) -> bool:
        """Whether all results are the same numbers."""
        return all(result.ok for result in self.results)


def ratio(ours: float, theirs: float) -> float | None:
    """Return ours divided by theirs, None where only theirs is zero."""
    if theirs:
        return ours / theirs
    return None if ours else 1.0


def benchmark(
    program: ProgramForm,
    inputs: Sequence[Array] | None = None,
    *,
    rounds: int = 20,
    virtual: int | None = None,
    **partition: Any,
) -> Benchmark:
    """Measure a program as we partition it beside XLA's own partitioning.

    Args:
        program: as it was loaded, not partitioned.
        inputs: global arrays, one an argument; random ones if not given.
        rounds: runs that count; one more warms up.
        virtual: how many virtual CPU devices to make, see `run_with_xla`.
        partition: options of `ProgramForm.partition`.

    Raises:
        CompileError: JAX is not installed or has too few devices, or one of the two
            refuses the program.
    """
    if program.stages:
        raise CompileError(
            f"'{program.source}' is partitioned already: XLA cannot partition it too",
            hint="measure the program that it was made of",
        )
    arrays = list(program.random_inputs() if inputs is None else inputs)
    device = program.partition(**partition)
    ours = export_manual_sharding(device.module)
    theirs = _without_donations(annotated_module(program, partition))
    devices = max(
        (prod(size for _, size in mesh.axes) for mesh in mesh_table(theirs).values()),
        default=1,
    )
    ours_run, their_run = runs = run_with_xla(
        [program_text(module, locations=True) for module in (ours.module, theirs)],
        entry_function(theirs),
        arrays,
        devices,
        rounds=rounds + 1,
        virtual=virtual,
    )
    summed = summed_numbers(program.module)
    results, expected = (
        [whole_of(at, shards) for at, shards in enumerate(run.results)] for run in runs
    )
    reference = RoundedRuns(Runner(program.module), arrays)
    pairs = enumerate(zip(results, expected, strict=True))
    return Benchmark(
        program.source,
        devices,
        rounds,
        _measured(ours_run, devices),
        _measured(their_run, devices),
        tuple(hold_both(*pair, summed, reference, at) for at, pair in pairs),
        (ours_run, their_run),
        device.remarks,
    )


def _without_donations(module: ModuleOp) -> ModuleOp:
    function = entry_function(module)
    entries = argument_attributes(function)
    for entry in entries:
        for name in DONATED:
            entry.pop(name, None)
    set_argument_attributes(function, entries)
    return module


def _measured(run: XlaRun, devices: int) -> Measured:
    collectives = list_hlo_collectives(run.hlo, devices)
    return Measured(
        median(run.seconds),
        median(run.cpu_seconds),
        len(collectives),
        sum(collective.bytes_per_device for collective in collectives),
        run.memory,
    )
