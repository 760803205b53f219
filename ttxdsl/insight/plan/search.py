"""The batch, checkpoints and mesh with which a step fits a number of chips and is fastest.

Every candidate is the program with another batch (`ttxdsl.insight.plan.batch`), other
checkpoints (`ttxdsl.insight.plan.remat`) and its mesh with other sizes, compiled and
planned; nothing is estimated first.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
)
from ttxdsl.costs.chips import Chip
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.insight.doctor.meshes import Candidate, apply_candidate, nearest_first
from ttxdsl.insight.plan.batch import scale_batch
from ttxdsl.insight.plan.plan import Variant
from ttxdsl.insight.plan.remat import POLICIES, with_policy
from ttxdsl.insight.plan.variants import Origin
from ttxdsl.insight.plan.xla import usage_as_xla
from ttxdsl.loading.processes import spread
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.unify_meshes import UnifyMeshesPass

_MOST_AXES = 4
"""Of a mesh that get other sizes."""

BATCHES = (Fraction(1), Fraction(2), Fraction(1, 2), Fraction(4), Fraction(1, 4))
"""Times the program's own batch."""

AS_WRITTEN = "as written"

REMATS: Mapping[str, str | None] = {
    AS_WRITTEN: None,
    **dict(zip(("all", "all but products"), POLICIES, strict=True)),
}
"""The checkpoints that are tried, each with its name among the policies of variants."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate that was compiled.

    Attributes:
        mesh: the axes with more than one device.
        batch: times the program's own.
        remat: what layers compute again (`REMATS`).
        peak_bytes: of a device.
        fits: whether the chip holds it.
        step_s: seconds of a step.
        tokens_per_second: of one device, if the program has tokens.
        on_frontier: whether no other that fits is both smaller and faster.
    """

    mesh: str
    batch: Fraction
    remat: str
    peak_bytes: int
    fits: bool
    step_s: float
    tokens_per_second: float | None
    on_frontier: bool = False

    @property
    def speed(self) -> float:
        """The program's own batches in a second."""
        return float(self.batch) / self.step_s

    def data(self) -> dict[str, Any]:
        """The choice as JSON."""
        return {
            "mesh": self.mesh,
            "batch": float(self.batch),
            "remat": self.remat,
            "peak_bytes": self.peak_bytes,
            "fits": self.fits,
            "step_s": self.step_s,
            "tokens_per_second": self.tokens_per_second,
            "batches_per_second": self.speed,
            "on_frontier": self.on_frontier,
        }


@dataclass(frozen=True, slots=True)
class Search(Displayed):
    """The compiled candidates, best first: those that fit, by speed, then by memory.

    Attributes:
        chip: what each device is.
        devices: of each mesh.
        choices: what compiles.
        refused: the candidates that do not, each with the reason.
    """

    chip: Chip
    devices: int
    choices: tuple[Choice, ...]
    refused: tuple[tuple[str, str], ...]

    def data(self) -> dict[str, Any]:
        """The search as JSON."""
        return {
            "chip": self.chip.name,
            "devices": self.devices,
            "limit_bytes": self.chip.memory_bytes,
            "choices": [choice.data() for choice in self.choices],
            "refused": [
                {"candidate": name, "reason": reason} for name, reason in self.refused
            ],
        }


@dataclass(frozen=True, slots=True)
class _Job:
    """A candidate, and how to plan it."""

    candidate: Candidate
    batch: Fraction
    remat: str
    pipeline: TTStableHLOPipelinePass
    chip: Chip
    slices: int
    trip_count: int | None

    def __str__(self) -> str:
        text = f"{_mesh_text(self.candidate)}, batch x {self.batch}"
        return (
            text if self.remat == AS_WRITTEN else f"{text}, computes {self.remat} again"
        )


def _mesh_text(candidate: Candidate) -> str:
    sizes = [f"{name}={size}" for name, size in candidate.axes if size > 1]
    return " x ".join(sizes) or "one device"


def search(
    origin: Origin,
    chip: Chip,
    *,
    devices: int | None = None,
    slices: int = 1,
    trip_count: int | None = None,
    batches: Sequence[Fraction] = BATCHES,
    limit: int = 40,
    jobs: int = 1,
    on_step: Callable[[int, int], None] | None = None,
) -> Search:
    """Compile a step with several meshes of so many chips, batches and checkpoints; rank them.

    Args:
        origin: the program as loaded, and its pipeline.
        devices: of each mesh; as many as the program's own if None.
        slices: with a network of chips each.
        trip_count: iterations of loops whose number the program does not say.
        batches: to try, times the program's own.
        limit: candidates to compile at most; those nearest to the program come first.
        jobs: processes to compile in when that pays.
        on_step: called with the number of candidates that are done, and of all.

    Raises:
        CompileError: the program has no mesh, or no candidate compiles.
    """
    _, module = UnifyMeshesPass().apply_to_clone(make_context(), origin.module)
    meshes = sdy.mesh_table(module).values()
    count = devices or max((mesh.total_size for mesh in meshes), default=1)
    programs = _with_remats(module)
    candidates = [
        (mesh, batch, remat)
        for mesh in enumerate(_meshes(module, count))
        for batch in enumerate(batches)
        for remat in enumerate(programs)
    ]
    candidates.sort(key=lambda change: sum(at for at, _ in change))
    jobs_to_do = [
        _Job(mesh, batch, remat, origin.pipeline, chip, slices, trip_count)
        for (_, mesh), (_, batch), (_, remat) in candidates[:limit]
    ]

    @cache
    def text(remat: str) -> str:
        return program_text(programs[remat])

    answers = spread(
        jobs_to_do,
        lambda job: _choose(programs[job.remat], job),
        lambda job: partial(_choose_anew, text(job.remat), job),
        jobs=jobs,
    )
    choices: list[Choice] = []
    refused: list[tuple[str, str]] = []
    for done, (job, answer) in enumerate(zip(jobs_to_do, answers, strict=True), 1):
        if isinstance(answer, str):
            refused.append((str(job), answer))
        else:
            choices.append(answer)
        if on_step is not None:
            on_step(done, len(jobs_to_do))
    if not choices:
        raise CompileError(f"no candidate compiles; {refused[0][0]}: {refused[0][1]}")
    return Search(chip, count, tuple(_ranked(choices)), tuple(refused))


def _with_remats(module: ModuleOp) -> dict[str, ModuleOp]:
    """Return the program with each of the checkpoints that change it, its own first."""
    programs = {AS_WRITTEN: module}
    texts: set[str] = set()
    for remat, name in REMATS.items():
        if name is None:
            continue
        try:
            changed = with_policy(module, POLICIES[name])
        except CompileError:
            continue
        if (text := program_text(changed)) not in texts:
            texts.add(text)
            programs[remat] = changed
    return programs


def _meshes(module: ModuleOp, devices: int) -> list[Candidate]:
    """Return the mesh with other sizes, those nearest to its own first.

    Axes that no sharding names would only repeat the work; of many those that most name.
    """
    meshes = {mesh for mesh in sdy.mesh_table(module).values() if mesh.axes}
    if len(meshes) != 1:
        raise CompileError(
            f"the program has {len(meshes)} meshes with axes: which to change is not clear",
            module,
            hint="write all shardings for one mesh",
        )
    (mesh,) = meshes
    named = Counter(
        axis.name
        for sharding in _shardings(module)
        for dim in sharding.dims
        for axis in dim.axes
    )
    most = {name for name, _ in named.most_common(_MOST_AXES)}
    names = [name for name, size in mesh.axes if size > 1 or name in most]
    return nearest_first(mesh, names, devices)


def _shardings(module: ModuleOp) -> Iterator[TensorSharding]:
    function = entry_function(module)
    for entry in argument_attributes(function):
        if isinstance(attribute := entry.get("sdy.sharding"), sdy.TensorShardingAttr):
            yield attribute.data
    for op in module.walk():
        if isinstance(op, sdy.ShardingConstraintOp):
            yield op.sharding.data


def _choose_anew(text: str, job: _Job) -> Choice | str:
    return _choose(_parsed(text), job)


@lru_cache(maxsize=len(REMATS))
def _parsed(text: str) -> ModuleOp:
    return parse_program(text)


def _choose(module: ModuleOp, job: _Job) -> Choice | str:
    """Return what a candidate costs, or why it does not compile."""
    try:
        changed = module.clone() if job.batch == 1 else scale_batch(module, job.batch)
        apply_candidate(changed, entry_function(changed), job.candidate)
        changed.verify()
        origin = Origin(changed, job.pipeline)
        usage, *_ = usage_as_xla(None, origin, job.chip, job.slices, job.trip_count)
        figures = Variant.of(job.remat, usage, job.chip)
        return Choice(
            _mesh_text(job.candidate),
            job.batch,
            job.remat,
            figures.peak_bytes,
            figures.fits,
            figures.step_s,
            figures.tokens_per_second,
        )
    except CompileError as error:
        return error.message.partition("\n")[0]
    except (DiagnosticException, ValueError) as error:
        return str(error).strip().partition("\n")[0]


def _ranked(choices: Sequence[Choice]) -> list[Choice]:
    """Return what fits first, the fastest first; mark the frontier of speed and memory."""
    ranked: list[Choice] = []
    least: int | None = None
    for choice in sorted(choices, key=lambda c: (not c.fits, -c.speed, c.peak_bytes)):
        is_smaller = least is None or choice.peak_bytes < least
        if choice.fits and is_smaller:
            least = choice.peak_bytes
        ranked.append(replace(choice, on_frontier=choice.fits and is_smaller))
    return ranked
