"""A program run in its per-device form, held against the same program on one device."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import ArrayLike, NDArray

from ttxdsl.analysis.attribution.locations import row_names
from ttxdsl.analysis.attribution.purposes import Purpose, purposes
from ttxdsl.analysis.calls.function_attributes import result_names
from ttxdsl.analysis.usage.collectives import CountedCollective
from ttxdsl.analysis.usage.device import DeviceUsage, known_chip, usage_on
from ttxdsl.analysis.usage.reasons import with_arguments
from ttxdsl.analysis.values.reductions import summed_numbers
from ttxdsl.api.forms import ProgramForm
from ttxdsl.costs.chips import Chip
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.check.rounding import RoundedRuns, hold
from ttxdsl.insight.run.engines import VIRTUAL, EngineKind, ProcessUse, Team
from ttxdsl.interpreters.compare import Comparison
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.limits import Limits
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import require_stablehlo

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class RunResult:
    """A result by its path or number, and how it compares with that of one device."""

    name: str
    array: Array
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class RunOutcome(Displayed):
    """The outcome of a run.

    Attributes:
        lowered: the program that was run, in ttnn.
        results: with their comparisons; none if nothing was compared.
        reference_seconds: of the run on one device.
        simulation_seconds: of the engine.
        purposes: what is sent, by what for.
        peak_bytes: memory that a device needs; None where a value has no size.
        chip: with whose fusions; None: nothing is fused.
        step_seconds: of the program on such chips.
        by: what makes one row of collectives.
        collectives: in program order.
        row_keys: for each collective what all of its row share.
    """

    engine: EngineKind
    lowered: ProgramForm
    results: list[RunResult]
    reference_seconds: float
    simulation_seconds: float
    trip_count: int | None
    processes: Sequence[ProcessUse]
    purposes: Sequence[Purpose]
    peak_bytes: int | None
    by: str | None
    collectives: Sequence[CountedCollective]
    row_keys: Sequence[object]
    chip: Chip | None = None
    step_seconds: float | None = None

    @property
    def ok(self) -> bool:
        """Whether all results are those of one device, or none was compared."""
        return all(result.comparison.ok for result in self.results)


def _peak_bytes(usage: DeviceUsage) -> int | None:
    try:
        return usage.memory.peak_bytes
    except CompileError:
        return None


@dataclass
class Run:
    """A program on one device, and then per device on an engine."""

    program: ProgramForm
    inputs: Sequence[ArrayLike]
    runner: Runner
    engine: EngineKind = VIRTUAL

    def __post_init__(self) -> None:
        self.expected: Sequence[Array] = ()
        self.reference_seconds = 0.0

    def reference(self) -> None:
        """Run the program on one device."""
        start = time.perf_counter()
        self.expected = self.runner.run(self.inputs)
        self.reference_seconds = time.perf_counter() - start

    def outcome(
        self,
        device: ProgramForm,
        lowered: ProgramForm,
        call: Callable[[], Sequence[Array]],
        *,
        trip_count: int | None = None,
        team: Team | None = None,
        by: str | None = None,
        chip: Chip | str | None = None,
        slices: int = 1,
    ) -> RunOutcome:
        """Run the per-device program and compare its results.

        Args:
            device: the per-device program in StableHLO.
            lowered: the same in ttnn.
            call: runs one of them.
            team: the processes that `call` had run it.
        """
        start = time.perf_counter()
        results = call()
        seconds = time.perf_counter() - start
        processes = () if team is None else team.uses
        if processes:
            seconds = max(use.seconds for use in processes)
        rounded = RoundedRuns(self.runner, self.inputs)
        summed = summed_numbers(self.program.module)
        names = result_names(self.runner.function)
        module = device.module
        chip = None if chip is None else known_chip(chip)
        usage = usage_on(module, chip, slices, trip_count)
        sent = with_arguments(usage.module, usage.collectives)
        return RunOutcome(
            self.engine,
            lowered,
            [
                RunResult(
                    names[at] or str(at),
                    pair[0],
                    hold(*pair, summed, partial(rounded.result, at)),
                )
                for at, pair in enumerate(zip(results, self.expected, strict=True))
            ],
            self.reference_seconds,
            seconds,
            trip_count,
            processes,
            purposes(module, sent),
            _peak_bytes(usage),
            by,
            sent,
            [collective.row for collective in sent]
            if by is None
            else row_names(module, sent, by),
            chip,
            None if chip is None else usage.seconds,
        )


def run_program(
    program: ProgramForm,
    arrays: Sequence[ArrayLike],
    seed: int,
    by: str | None,
    trip_count: int | None,
    limits: Limits,
    chip: Chip | str | None = None,
    slices: int = 1,
) -> RunOutcome:
    """Run a program, compiled on a virtual mesh, beside the program on one device.

    Args:
        program: in any form; it is run from what it was loaded as.
        arrays: one an argument; random ones if there are none.
        seed: of these.
        by: what makes one row of collectives.
        slices: of chips with a network each.

    Raises:
        CompileError: it does not compile, the arrays do not fit, or an op cannot be run.
    """
    start = program.loaded
    require_stablehlo(start.form)
    runner = Runner(start.module, limits=limits)
    if arrays:
        inputs = runner.arguments(arrays)
    else:
        limits.require_inputs(runner.function)
        inputs = random_inputs(runner.function, seed)
    run = Run(start, inputs, runner)
    run.reference()
    device = program.per_device()
    lowered = device.lower("ttnn")

    def simulate() -> Sequence[Array]:
        return Runner(lowered.module, limits=limits).run(inputs)

    return run.outcome(
        *(device, lowered, simulate),
        trip_count=trip_count,
        by=by,
        chip=chip,
        slices=slices,
    )
