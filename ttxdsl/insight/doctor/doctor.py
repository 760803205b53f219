"""From a program and a number of devices to a ranked table of meshes.

    diagnosis = diagnose(module, 8)
    diagnosis.rows[0].candidate  # the mesh that is fastest by the model, and fits

Candidates are put in order by an estimate from the sharding rules, and then compiled, as
many as `limit` says; every row was really compiled and counted.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from time import monotonic
from typing import Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
    entry_functions,
    result_attributes,
)
from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.analysis.usage.device import compiler_on, machine_on
from ttxdsl.analysis.usage.memory import argument_name, type_bytes
from ttxdsl.analysis.usage.work import operations_of
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.costs.chips import Chip
from ttxdsl.costs.compilers import Compiler
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.boundary import require_structured, require_tensors
from ttxdsl.insight.doctor.groups import Analysis, analyze, divisors
from ttxdsl.insight.doctor.measure import (
    Measurement,
    compile_candidate,
    require_sizes,
)
from ttxdsl.insight.doctor.meshes import (
    Axis,
    Candidate,
    all_assignments,
    apply_candidate,
    argument_bytes,
    candidate_of,
    parts_of,
    remove_shardings,
    resized,
    written_meshes,
)
from ttxdsl.insight.doctor.prescriptions.clock import TimeIsOverError, ending_at
from ttxdsl.insight.doctor.schemes import schemes, trains_parameters
from ttxdsl.insight.doctor.solving.candidates import AXIS_NAMES, solved_candidates
from ttxdsl.ir.tensors import shape_of
from ttxdsl.loading.processes import spread
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.sharding.devices.mesh import MOST_DEVICES
from ttxdsl.transforms.stages.inline import InlinePass
from ttxdsl.transforms.stages.supply_sharding_rules import SupplyShardingRulesPass
from ttxdsl.transforms.stages.unify_meshes import UnifyMeshesPass

_SHARDING = "sdy.sharding"

Ended = Literal["time", "interrupt"]

_FIRST_SCHEMES = 3
"""The number of schemes that are compiled before the solver's choices."""
_SOLVING = 20.0
"""Seconds for all that the solver chooses at most."""
_MOST_SOLVING = 0.25
"""Of the time that there is."""


@dataclass(frozen=True, slots=True)
class Row:
    """A mesh that was compiled, and what it costs.

    A row is on the `front` if no other takes less time and less memory; of several
    with the same, the first is.
    """

    candidate: Candidate
    measurement: Measurement
    fits: bool
    front: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """A mesh that the compiler refuses, and why."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class Diagnosis(Displayed):
    """The result of `diagnose`.

    Attributes:
        keeps_shardings: whether the program has shardings, which are kept.
        shapes: the shapes of meshes, largest axis first.
        operations: of the program on one device.
        rows: compiled, the best first: those that fit, then by time, memory, bytes.
        untried: candidates that were not compiled, in the order of the estimate.
        arguments: the name and the rank of each argument.
        becomes: the result that an argument becomes, which is split as it is.
        memory: the memory of a device in bytes, None if any will do.
        most_axes: how many axes a mesh may have; None where shardings are kept.
        ended: what ended it before all that were chosen were compiled.
    """

    devices: int
    machine: Machine
    analysis: Analysis
    keeps_shardings: bool
    shapes: tuple[tuple[int, ...], ...]
    operations: int
    rows: tuple[Row, ...]
    refused: tuple[Refusal, ...]
    untried: tuple[Candidate, ...]
    arguments: tuple[tuple[str, int], ...]
    becomes: dict[int, int]
    memory: int | None
    most_axes: int | None
    ended: Ended | None = None

    def of_shape(self, shape: tuple[int, ...]) -> tuple[Row, ...]:
        """The rows whose mesh has this shape, the best first."""
        return tuple(row for row in self.rows if row.candidate.shape == shape)

    def share(self, row: Row) -> float:
        """Return the number of devices' worth of work shared; all of them at best."""
        return self.operations / max(1, row.measurement.operations)


def mesh_shapes(devices: int) -> tuple[tuple[int, ...], ...]:
    """All shapes of a mesh of that many devices, largest axis first: 8, 4x2, 2x2x2."""
    shapes = _shapes(devices, devices)
    return tuple(sorted(shapes, key=lambda shape: (len(shape), shape[::-1])))


def _shapes(devices: int, largest: int) -> Iterator[tuple[int, ...]]:
    """The shapes whose axes are at most so large, the largest first."""
    if devices == 1:
        yield ()
    for size in divisors(devices):
        if 1 < size <= largest:
            for rest in _shapes(devices // size, size):
                yield size, *rest


def has_shardings(module: ModuleOp) -> bool:
    """Whether somebody wrote a mesh or a sharding in the program."""
    return bool(written_meshes(module)) or any(map(_carries_sharding, module.walk()))


def _carries_sharding(op: Operation) -> bool:
    if isinstance(op, FuncOp):
        entries = (*argument_attributes(op), *result_attributes(op))
        if any(_SHARDING in entry for entry in entries):
            return True
    return _SHARDING in op.attributes or isinstance(
        op, sdy.ShardingConstraintOp | sdy.ReshardOp | sdy.ManualComputationOp
    )


def default_limit(ops: int) -> int:
    """Return how many meshes to compile: 48 of a small program, 8 of a large one."""
    return max(8, min(48, 16_000 // max(1, ops)))


def _ordered(
    candidates: Sequence[tuple[Candidate, float, int]],
    always: Sequence[Candidate],
    limit: int,
    excess: Callable[[int], int],
) -> tuple[list[Candidate], list[Candidate]]:
    """Return the candidates to compile, in order, and the rest.

    First come the layouts that are always tried, then most by estimated time and a
    quarter by memory. Candidates whose arguments alone fit the memory precede others.
    """
    always = list(dict.fromkeys(always))[:limit]
    limit -= len(always)
    known = set(always)
    by_time = sorted(
        (candidate for candidate in candidates if candidate[0] not in known),
        key=lambda candidate: (excess(candidate[2]), candidate[1], candidate[2]),
    )
    first = by_time[: limit - limit // 4]
    taken = {id(candidate) for candidate in first}
    others = [candidate for candidate in by_time if id(candidate) not in taken]
    lightest = sorted(others, key=lambda candidate: (candidate[2], candidate[1]))[
        : limit - len(first)
    ]
    taken |= {id(candidate) for candidate in lightest}
    rest = [candidate[0] for candidate in by_time if id(candidate) not in taken]
    return [*always, *(candidate[0] for candidate in (*first, *lightest))], rest


def _candidates(
    module: ModuleOp,
    analysis: Analysis,
    devices: int,
    machine: Machine,
    limit: int | None,
    *,
    all_axes: bool,
    memory: int | None,
    solved: Callable[[], Sequence[Candidate]],
) -> tuple[list[Candidate], list[Candidate], int | None]:
    """Return candidates to compile, those left out, and the most axes considered."""
    most = limit or default_limit(analysis.ops)
    if has_shardings(module):
        resized_candidates = resized(module, devices, all_axes=all_axes)
        return resized_candidates[:most], resized_candidates[most:], None
    function = entry_function(module)
    sizes = [
        type_bytes(argument.type, argument) for argument in function.body.block.args
    ]

    def seconds(axes: Sequence[Axis]) -> float:
        estimate = analysis.estimate(parts_of(axes))
        return (
            machine.seconds(estimate.operations, estimate.bytes_touched)
            + estimate.bytes_sent / machine.link.bytes_per_second
            + estimate.rounds * machine.link.latency
        )

    estimated: list[tuple[Candidate, float, int]] = []
    meshes, most_axes = all_assignments(analysis, devices)
    for axes in meshes:
        candidate = candidate_of(analysis, axes)
        estimated.append((candidate, seconds(axes), argument_bytes(candidate, sizes)))

    def excess(held: int) -> int:
        return 0 if memory is None else max(0, held - memory)

    trains = trains_parameters(analysis, results_of_arguments(function), sizes)
    known = list(schemes(analysis, devices, sizes, seconds, trains=trains))
    known[_FIRST_SCHEMES:_FIRST_SCHEMES] = solved()
    always = sorted(known, key=lambda scheme: excess(argument_bytes(scheme, sizes)))
    if limit is None:
        most += len(always)
    return *_ordered(estimated, always, most, excess), most_axes


# Compiling elsewhere


@lru_cache(maxsize=1)
def _parsed(text: str) -> ModuleOp:
    """The program that all candidates are of, read once in a process."""
    return parse_program(text)


def _compiled_anew(
    text: str,
    candidate: Candidate,
    machine: Machine,
    trip_count: int | None,
    compiler: Compiler | None,
) -> Measurement | str:
    return compile_candidate(
        _parsed(text), candidate, machine, trip_count, compiler=compiler
    )


# The answer


def _rank(
    measured: Sequence[tuple[Candidate, Measurement]],
    memory: int | None,
) -> tuple[Row, ...]:
    rows = [
        Row(
            candidate,
            measurement,
            memory is None or measurement.peak_bytes <= memory,
            False,
        )
        for candidate, measurement in measured
    ]
    ranked: list[Row] = []
    for row in sorted(rows, key=lambda row: rank_of(row)[1:]):
        measurement = row.measurement
        least = min((r.measurement.peak_bytes for r in ranked if r.front), default=None)
        front = least is None or measurement.peak_bytes < least
        ranked.append(replace(row, front=front))
    return tuple(sorted(ranked, key=rank_of))


def _add(
    measured: list[tuple[Candidate, Measurement]],
    candidate: Candidate,
    measurement: Measurement,
) -> None:
    """Add what was measured; constraints that change nothing are not worth writing."""
    for at, (other, known) in enumerate(measured):
        alike = known == measurement and other.splits is not None
        if alike and other.parts == candidate.parts:
            named = min(other, candidate, key=_plainness)
            if not (other.constraints and candidate.constraints):
                named = replace(named, note="", constraints=())
            measured[at] = named, measurement
            return
    measured.append((candidate, measurement))


def _plainness(candidate: Candidate) -> tuple[int, bool, str]:
    """Return the key by which of two candidates that are alike the plainer is told."""
    name, _ = candidate.axes[0]
    return len(candidate.axes), name in AXIS_NAMES, candidate.note


def rank_of(row: Row) -> tuple[bool, float, int, int, int]:
    """Return the sort key of a row: fitting first, then time, memory, bytes, axes.

    Rows with equal keys stay in the order of the groups.
    """
    measurement = row.measurement
    return (
        not row.fits,
        measurement.seconds,
        measurement.peak_bytes,
        measurement.bytes_sent,
        len(row.candidate.axes),
    )


def with_mesh(
    module: ModuleOp, candidate: Candidate, *, ignore_shardings: bool = False
) -> ModuleOp:
    """Return a copy of the program with a mesh of a diagnosis, and what it splits."""
    copy = module.clone()
    if ignore_shardings:
        remove_shardings(copy)
    if candidate.splits is not None:
        InlinePass().apply(make_context(), copy)
    else:
        UnifyMeshesPass().apply(make_context(), copy)
    apply_candidate(copy, entry_function(copy), candidate)
    return copy


def diagnose(
    module: ModuleOp,
    devices: int,
    *,
    machine: Machine | None = None,
    memory: int | None = None,
    limit: int | None = None,
    ignore_shardings: bool = False,
    all_axes: bool = False,
    trip_count: int | None = None,
    chip: Chip | None = None,
    slices: int = 1,
    jobs: int = 1,
    executor: Executor | None = None,
    on_step: Callable[[int, int], None] | None = None,
    until: float | None = None,
) -> Diagnosis:
    """Try meshes of that many devices for a program and rank them.

    Args:
        module: a global StableHLO program, with or without shardings; not changed.
        devices: at least 2.
        machine: speeds for the modelled time; see `Machine` for what is assumed.
        memory: bytes that a device has; what needs more is ranked last.
        limit: how many candidates to compile at most; by the program's size if None.
        ignore_shardings: whether to remove the program's own shardings first.
        all_axes: whether axes of size one of the program's own mesh get other sizes, too.
        chip: what each device is: then time and memory are a plan's, and its memory is
            the limit.
        slices: of the mesh with a network of chips each.
        jobs: processes to compile in when that pays.
        executor: compiles them instead; what is found is the same.
        on_step: called with the number of candidates that are done, and of all.
        until: when to stop, by the monotonic clock, with the meshes compiled so far.

    Raises:
        CompileError: the program cannot be analyzed, is partitioned already, or no mesh
            can be tried.
    """
    require_structured(module)
    require_tensors(entry_functions(module))
    require_sizes(module)
    if devices < 2:
        raise CompileError(f"there is no mesh to choose for {devices} device(s)")
    if devices > MOST_DEVICES:
        raise CompileError(f"{devices} devices: at most {MOST_DEVICES} are supported")
    if limit is not None and limit < 1:
        raise CompileError(f"at least 1 mesh has to be compiled, not {limit}")
    if chip is not None:
        machine = machine_on(chip, devices, slices)
        memory = memory or chip.memory_bytes
    machine = machine or GENERIC
    compiler = compiler_on(chip, machine)
    module = module.clone()
    if is_solved(module):
        raise CompileError(
            "the program is partitioned for its mesh already: no other mesh fits it",
            module,
            hint="give the program before it was partitioned",
        )
    if ignore_shardings:
        remove_shardings(module)
    else:
        UnifyMeshesPass().apply(make_context(), module)
    keeps = has_shardings(module)
    _, flat = InlinePass().apply_to_clone(make_context(), module)
    if not keeps:
        module = flat
    _, with_rules = SupplyShardingRulesPass().apply_to_clone(make_context(), flat)
    analysis = analyze(entry_function(with_rules), trip_count)

    def solved() -> list[Candidate]:
        seconds = _SOLVING if until is None else until - monotonic()
        seconds = min(_SOLVING, _MOST_SOLVING * seconds)
        return list(
            solved_candidates(
                entry_function(with_rules),
                mesh_shapes(devices),
                machine,
                memory=memory,
                trip_count=trip_count,
                seconds=seconds,
            )
        )

    chosen, untried, most_axes = _candidates(
        module,
        analysis,
        devices,
        machine,
        limit,
        all_axes=all_axes,
        memory=memory,
        solved=solved,
    )
    if not chosen:
        raise CompileError(
            f"no argument's dimension can be split over {devices} devices or a part of"
            " them",
            entry_function(module),
            hint="choose a number of devices that shares a divisor with a dimension",
        )
    entry = entry_function(module)
    text = cache(lambda: program_text(module))
    measured: list[tuple[Candidate, Measurement]] = []
    refused: list[Refusal] = []

    done = 0

    def here(candidate: Candidate) -> Measurement | str:
        return compile_candidate(
            module, candidate, machine, trip_count, compiler=compiler
        )

    def note(answer: Measurement | str) -> None:
        nonlocal done
        candidate = chosen[done]
        if isinstance(answer, str):
            refused.append(Refusal(candidate, answer))
        else:
            _add(measured, candidate, answer)
        done += 1
        if on_step is not None:
            on_step(done, len(chosen))

    ended: Ended | None = None
    try:
        while done < len(chosen) and not measured:  # one there has to be, to answer
            note(here(chosen[done]))
        rest = spread(
            chosen[done:],
            here,
            lambda tried: partial(
                _compiled_anew, text(), tried, machine, trip_count, compiler
            ),
            jobs=jobs,
            executor=executor,
        )
        with nullcontext() if until is None else ending_at(until):
            for answer in rest:
                note(answer)
                if until is not None and monotonic() >= until:
                    raise TimeIsOverError
    except TimeIsOverError:
        ended = "time"
    except KeyboardInterrupt:
        if not measured:
            raise
        ended = "interrupt"
    untried = [*chosen[done:], *untried]
    if not measured and keeps:
        raise CompileError(
            f"no mesh of {devices} devices fits the shardings that the program has:"
            f" ({refused[0].candidate}) {refused[0].reason}",
            entry_function(module),
            hint="choose the shardings anew, too: --ignore-shardings",
        )
    return Diagnosis(
        devices=devices,
        machine=machine,
        analysis=analysis,
        keeps_shardings=keeps,
        shapes=tuple(
            shape
            for shape in mesh_shapes(devices)
            if not keeps or len(shape) <= len(chosen[0].axes)
        ),
        operations=operations_of(flat, Runs(flat, trip_count)),
        rows=_rank(measured, memory),
        refused=tuple(refused),
        untried=tuple(untried),
        arguments=tuple(
            (argument_name(entry, index), len(shape_of(argument)))
            for index, argument in enumerate(entry.body.block.args)
        ),
        becomes=results_of_arguments(entry),
        memory=memory,
        most_axes=most_axes,
        ended=ended,
    )
