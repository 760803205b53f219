"""All that a program takes of a device, for everybody who tells it.

`run`, `diff`, `doctor`, `why`, `report` and `plan` show these figures; on the same chip they
are the same.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.libraries.library_fusion import LibraryFusion
from ttxdsl.analysis.libraries.program import LibraryProgram, library_program
from ttxdsl.analysis.usage.buffers.fusion import TOGETHER, Fusion
from ttxdsl.analysis.usage.buffers.host import transfers
from ttxdsl.analysis.usage.buffers.order import FEWEST_TOGETHER
from ttxdsl.analysis.usage.collectives import (
    CountedCollective,
    device_runs,
    list_collectives,
)
from ttxdsl.analysis.usage.memory import MemoryProfile, memory_profile
from ttxdsl.analysis.usage.moved.traffic import HbmTraffic
from ttxdsl.analysis.usage.timeline import Event, Timeline, timeline
from ttxdsl.analysis.usage.work import flops
from ttxdsl.analysis.values.simplified import Simplified, simplified
from ttxdsl.costs.chips import CHIPS, Chip, ChipMachine, chip_named
from ttxdsl.costs.compilers import Compiler
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.costs.schedule import Lane
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.hints import near_hint
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.replica_groups import devices_of
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import all_ops
from ttxdsl.rules.registry import Signatures

_FILLED = 0.96
"""The part of a chip's memory that gradients which wait may fill: libtpu 0.0.52 lets those of 24 and
30 of 36 layers wait where all would not fit, and then needs 0.97 of v5p's and 0.93 of v6e's."""

UNFUSED = "nothing fused; --chip NAME counts as `plan` does"
"""The note beside a figure of memory where no chip is named."""


def counted_as(compiler: Compiler | None) -> str:
    """Return how a device's memory is counted, in a few words beside the figure."""
    return UNFUSED if compiler is None else f"fused as by {compiler.name}, as in a plan"


def counted_on(machine: Machine) -> str:
    """Return the same by the machine that times are modelled with."""
    chip = machine.chip if isinstance(machine, ChipMachine) else None
    return counted_as(None if chip is None else chip.compiler)


@dataclass(frozen=True)
class DeviceUsage:
    """The traffic, time and memory of one device of a program, each computed on first access.

    Attributes:
        module: StableHLO behind stage 13, or a program of one device.
        machine: what times are modelled with.
        compiler: whose fusions time and memory have; without one nothing is fused.
        trip_count: iterations of loops whose number the program does not say.
    """

    module: ModuleOp
    machine: Machine = GENERIC
    compiler: Compiler | None = None
    trip_count: int | None = None

    @cached_property
    def runs(self) -> Runs:
        """The execution counts of the ops."""
        return device_runs(self.module, self.trip_count)

    @cached_property
    def collectives(self) -> list[CountedCollective]:
        """The collectives in program order."""
        return list_collectives(self.module, runs=self.runs)

    @property
    def bytes_sent(self) -> int:
        """The bytes that a device sends in a step, by the ring model."""
        return sum(each.bytes_per_device for each in self.collectives)

    @cached_property
    def timeline(self) -> Timeline:
        """The schedule of a step."""
        module, runs = self._counted
        program = self._simplified
        return timeline(
            *(module, self.machine, self.trip_count),
            runs=runs,
            collectives=self.collectives if program is None else None,
            traffic=self._traffic,
            originals=None if program is None else program.ops,
        )

    @cached_property
    def bounds(self) -> tuple[tuple[Event, str], ...]:
        """The events of the timeline, loops left out, each with what it waits for.

        That is `network`, `compute` or `memory`.
        """
        speed, signatures = self.machine.operations_per_second, Signatures()
        bounds: list[tuple[Event, str]] = []
        for event in self.timeline.events:
            if event.lane is Lane.BOTH or not event.ops or not event.times:
                continue
            bound = "network"
            if event.lane is not Lane.LINK:
                compute = flops(event.ops[0], signatures) / 2 / speed
                bound = "compute" if compute > 0.5 * event.seconds else "memory"
            bounds.append((event, bound))
        return tuple(bounds)

    @cached_property
    def seconds_by_bound(self) -> dict[str, float]:
        """The seconds of a step by what they wait for, `host` too; others may hide some."""
        seconds = {"compute": 0.0, "memory": 0.0, "network": 0.0}
        for event, bound in self.bounds:
            seconds[bound] += event.seconds * event.times
        return {**seconds, "host": self.host_seconds()}

    @cached_property
    def _traffic(self) -> HbmTraffic | None:
        """The bytes that the program whose work counts moves; None without a compiler."""
        if self.compiler is None:
            return None
        return HbmTraffic(self._counted[0], self._fusion)

    @cached_property
    def _counted(self) -> tuple[ModuleOp, Runs]:
        """The program whose work counts, with no value twice, and how often its ops run."""
        program = self._simplified
        if program is None:
            return self.module, self.runs
        return program.module, device_runs(program.module, self.trip_count)

    @cached_property
    def flops(self) -> int:
        """The floating-point operations of a step; of a fused op in each kernel that makes it."""
        traffic = self._traffic
        assert traffic is not None, "what is fused is a compiler's"
        module, runs = self._counted
        times = traffic.times
        return sum(runs.of(op).count * times[op] * flops(op) for op in all_ops(module))

    @cached_property
    def hbm_bytes(self) -> int:
        """The bytes of its memory that a device reads and writes, but for collectives."""
        traffic = self._traffic
        assert traffic is not None, "what is fused is a compiler's"
        module, runs = self._counted
        return sum(runs.of(op).count * traffic.bytes(op) for op in all_ops(module))

    @cached_property
    def memory(self) -> MemoryProfile:
        """The buffers of a step.

        Raises:
            CompileError: see `memory_profile`.
        """
        return self.memory_with()

    def memory_with(self, **changed: Any) -> MemoryProfile:
        """Return the buffers of a step with other values `offloaded` or arguments `donated`.

        Args:
            changed: these, as of `memory_profile`.

        Raises:
            CompileError: see `memory_profile`.
        """
        if self.compiler is None:
            return memory_profile(self.module, **changed)
        compiler, chip = self.compiler, self._chip
        fusion = self._fusion
        first = self._memory(changed, fusion)
        if chip is None or self._library or first.peak_bytes <= chip.memory_bytes:
            return first

        # a compiler whose first order of ops takes more looks for another
        def in_order(**order: Any) -> MemoryProfile:
            return self._memory(changed, Fusion(compiler, **order))

        if "together" in fusion.depends_on:
            for together in range(TOGETHER - 1, FEWEST_TOGETHER - 1, -1):
                fewer = in_order(together=together)
                if fewer.peak_bytes <= chip.memory_bytes:
                    return fewer
        if "waiting" in fusion.depends_on:
            fewer, waiting, slope = first, 1.0, first.peak_bytes
            while waiting > 0 and slope > 0:
                waiting -= (fewer.peak_bytes - _FILLED * chip.memory_bytes) / slope
                fewer = in_order(waiting=max(0.0, waiting))
                if fewer.peak_bytes <= chip.memory_bytes:
                    return fewer
                slope = (first.peak_bytes - fewer.peak_bytes) / (1 - waiting)
        second = in_order(saves_memory=True)
        return min(first, second, key=lambda profile: profile.peak_bytes)

    @cached_property
    def _library(self) -> LibraryProgram | None:
        """The program as a compiler that calls libraries has it; None for others."""
        calls = self.compiler is not None and self.compiler.calls_libraries
        return library_program(self.module) if calls else None

    @cached_property
    def _simplified(self) -> Simplified | None:
        if self._library is not None:
            return self._library.program
        return None if self.compiler is None else simplified(self.module)

    @cached_property
    def _fusion(self) -> Fusion:
        assert self.compiler is not None, "what is fused is a compiler's"
        if self._library is not None:
            return LibraryFusion(self.compiler, self._library.kernels)
        return Fusion(self.compiler)

    def _memory(self, changed: Mapping[str, Any], fusion: Fusion) -> MemoryProfile:
        """Return the buffers in an order of ops that the compiler has."""
        module, program = self.module, self._simplified
        if program is not None:
            module = program.module
            offloaded = changed.get("offloaded", ())
            offloaded = {program.values[value] for value in offloaded}
            changed = {**changed, "offloaded": offloaded}
        profile = memory_profile(
            module, compiler=self.compiler, fusion=fusion, **changed
        )
        return profile if program is None else _in_terms_of(program, profile)

    @property
    def _chip(self) -> Chip | None:
        return self.machine.chip if isinstance(self.machine, ChipMachine) else None

    @property
    def seconds(self) -> float:
        """The time of a step; its ops run while data goes to the host and back."""
        return self.seconds_with()

    def seconds_with(self, offloaded: Collection[SSAValue] = ()) -> float:
        """Return that time with more values in the host's memory."""
        return max(self.timeline.seconds, self.host_seconds(offloaded))

    def host_seconds(self, offloaded: Collection[SSAValue] = ()) -> float:
        """Return the time of the busier way, to the host's memory or back.

        Both go on at once. 0 on a machine whose way to the host nobody knows.

        Args:
            offloaded: values that are in the host's memory, as the program does not say.
        """
        if self._chip is None:
            return 0.0
        saved = sum(
            value_bytes(value)
            for value in offloaded
            if isinstance(value.owner, stablehlo.WhileOp)
        )
        moved = transfers(self.module)
        busier = max(
            sum(self.runs.of(op).count * value_bytes(op.results[0]) for op in way)
            for way in (moved.there, moved.back)
        )
        return (saved + busier) / self._chip.host_bytes_per_second


def _in_terms_of(program: Simplified, profile: MemoryProfile) -> MemoryProfile:
    """Return a profile of a simplified program with the ops and values of the given one."""
    values = {new: value for value, new in reversed(program.values.items())}

    def given(value: SSAValue) -> SSAValue:
        if value in values or not isinstance(value, OpResult):
            return values[value]
        return program.ops[value.op].results[0]  # of what the compiler made for it

    points = (replace(point, op=program.ops[point.op]) for point in profile.points)
    peak = (replace(live, value=given(live.value)) for live in profile.peak_values)
    return replace(profile, points=tuple(points), peak_values=tuple(peak))


def known_chip(chip: Chip | str) -> Chip:
    """Return a chip; one by name if it has one.

    Raises:
        CompileError: nobody knows it.
    """
    try:
        return chip_named(chip) if isinstance(chip, str) else chip
    except ValueError as error:
        hint = near_hint([str(chip)], CHIPS, "chips")
        raise CompileError(str(error), hint=hint) from error


def machine_on(chip: Chip, devices: int, slices: int = 1) -> Machine:
    """Return chips as times are modelled with them.

    Raises:
        CompileError: the devices are no equal slices.
    """
    try:
        return chip.machine(devices, slices)
    except ValueError as error:
        raise CompileError(str(error)) from error


def compiler_on(chip: Chip | None, machine: Machine) -> Compiler | None:
    """Return what compiles for a chip as part of a machine; None without a chip."""
    if chip is None or not isinstance(machine, ChipMachine):
        return None if chip is None else chip.compiler
    return machine.compiler


def usage_on(
    module: ModuleOp,
    chip: Chip | str | None,
    slices: int = 1,
    trip_count: int | None = None,
) -> DeviceUsage:
    """Return what a program takes of a chip; without one nothing is fused.

    Raises:
        CompileError: the devices of the mesh are no equal slices; nobody knows the chip.
    """
    if chip is None:
        return DeviceUsage(module, trip_count=trip_count)
    chip = known_chip(chip)
    machine = machine_on(chip, devices_of(module), slices)
    compiler = compiler_on(chip, machine)
    return DeviceUsage(module, machine, compiler, trip_count)
