"""From a program on its own mesh to the few lines that would make it cheaper.

    answer = prescribe(module)
    answer.prescriptions[0].write  # x = jax.lax.with_sharding_constraint(x, P("data"))

Candidates (`candidates.py`) are compiled one by one, then on top of the best of them, until
the time is over. What is prescribed was compiled and measured.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import monotonic

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.boundary import require_structured, require_tensors
from ttxdsl.insight.doctor.prescriptions.candidates import (
    Candidate,
    Candidates,
    Kind,
    SourcePlace,
)
from ttxdsl.insight.why.answers import Figures
from ttxdsl.insight.why.costs import measure
from ttxdsl.insight.why.trials.compiling import compile_plainly
from ttxdsl.insight.why.trials.edits import changed
from ttxdsl.ir.tensors import shape_of
from ttxdsl.loading.program import program_text
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

MOST_PRESCRIPTIONS = 7
SECONDS = 60.0
"""To search if nobody says how long."""
_ALONE = 0.6
"""The part of the time in which candidates are tried alone, before combinations."""
_TIME_ERROR = 0.02
"""Times that differ by less are equal: the model is not better than that."""
_TRUSTED = 0.1
"""The part of the time that more bytes and more memory have to save."""
_NOTICEABLE = 0.005
"""Bytes and memory that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Prescription:
    """Something to write, and what it changes.

    Attributes:
        kind: of change.
        write: the code; for arguments a line for each.
        places: where.
        before: what the program costs without it.
        after: what it costs with it, compiled.
        on_top_of: how many of the prescriptions listed first are in both.
        instead: other places where the same line does the same.
    """

    kind: Kind
    write: str
    places: tuple[SourcePlace, ...]
    before: Figures
    after: Figures
    on_top_of: int = 0
    instead: tuple[SourcePlace, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate that was compiled and is not prescribed; None: it does not compile."""

    kind: Kind
    write: str
    places: tuple[SourcePlace, ...]
    after: Figures | None


@dataclass(frozen=True, slots=True)
class Prescriptions(Displayed):
    """What `prescribe` finds.

    Attributes:
        mesh: the program's own.
        machine: what times are modelled with.
        before: what the program costs as it is.
        prescriptions: what helps, the best first.
        together: how many of the first were compiled together.
        after: what the program costs with those.
        tried: what was compiled and does not help, or less than what is prescribed.
        untried: how many candidates there was no time for.
        interrupted: whether the search was ended from outside.
        memory: of a device in bytes, None if any will do.
    """

    mesh: Mesh
    machine: Machine
    before: Figures
    prescriptions: tuple[Prescription, ...]
    together: int
    after: Figures
    tried: tuple[Trial, ...]
    untried: int
    interrupted: bool
    memory: int | None

    def fits(self, figures: Figures) -> bool:
        """Return True if a device has the memory."""
        peak = figures.peak_bytes
        return self.memory is None or peak is None or peak <= self.memory


def own_mesh(module: ModuleOp) -> tuple[str, Mesh]:
    """Return the mesh of a program that has one, and its name.

    Raises:
        CompileError: it has none of several devices, or several.
    """
    meshes = {
        name: mesh
        for name, mesh in sdy.mesh_table(module).items()
        if any(size > 1 for _, size in mesh.axes)
    }
    if not meshes:
        raise CompileError(
            "the program has no mesh of several devices: there is nothing to prescribe",
            module,
            hint="say how many devices there are: --devices N",
        )
    if len({mesh.axes for mesh in meshes.values()}) > 1:
        raise CompileError(
            f"the program has {len(meshes)} different meshes: which to prescribe for is"
            " not clear",
            module,
            hint="write all shardings for one mesh",
        )
    return next(iter(meshes.items()))


def prescribe(
    module: ModuleOp,
    *,
    text: str | None = None,
    source: str = "<module>",
    machine: Machine | None = None,
    memory: int | None = None,
    seconds: float = SECONDS,
    trip_count: int | None = None,
    pipeline: TTStableHLOPipelinePass | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Prescriptions:
    """Try changes of a program on its own mesh and return those that help.

    Args:
        module: a global StableHLO program with a mesh; not changed.
        text: what it was read from, for the names of values.
        source: what to call it.
        machine: speeds for the modelled time.
        memory: bytes that a device has; what fits comes before what does not.
        seconds: after so many no further change is compiled.
        trip_count: iterations of loops of which the program does not say it.
        pipeline: options of the thirteen stages.
        on_step: called with the number of changes that were compiled, and that help.

    Raises:
        CompileError: the program has no mesh, or cannot be compiled or measured.
    """
    end = monotonic() + seconds
    require_structured(module)
    require_tensors(entry_functions(module))
    _require_sizes(module)
    if is_solved(module):
        raise CompileError(
            "the program is partitioned already: its shardings are decided",
            module,
            hint="give the program before it was partitioned",
        )
    mesh = own_mesh(module)
    search = _Search(
        module,
        pipeline or TTStableHLOPipelinePass(),
        machine or GENERIC,
        memory,
        trip_count,
        on_step,
    )
    candidates = Candidates(
        module, text or program_text(module), source, search.pipeline, mesh
    )
    search.before = search.measured(candidates.recorded.compiled, module)
    interrupted = False
    try:
        search.run(candidates.all(), end, seconds)
    except KeyboardInterrupt:
        interrupted = True
    return search.answer(mesh[1], interrupted=interrupted)


def _require_sizes(module: ModuleOp) -> None:
    """Refuse programs whose bytes nobody can count.

    Raises:
        CompileError: a value has a dimension of unknown size.
    """
    hint = "export the program with sizes, or give them: --shapes NAME=SIZE"
    values: list[tuple[str, SSAValue, Operation]] = [
        (f"argument {argument.index}", argument, function)
        for function in entry_functions(module)
        for argument in function.body.block.args
    ]
    values += (("a result", one, op) for op in module.walk() for one in op.results)
    for name, value, op in values:
        if any(size < 0 for size in shape_of(value)):
            raise CompileError(
                f"{name} is of type {value.type}: without its sizes there is nothing to"
                " measure",
                op,
                hint=hint,
            )


@dataclass(frozen=True, slots=True)
class _Measured:
    candidate: Candidate
    after: Figures


class _Search:
    """A greedy search among candidates, which keeps all that it measured."""

    def __init__(
        self,
        module: ModuleOp,
        pipeline: TTStableHLOPipelinePass,
        machine: Machine,
        memory: int | None,
        trip_count: int | None,
        on_step: Callable[[int, int], None] | None,
    ):
        self._module, self.pipeline = module, pipeline
        self._machine, self._memory = machine, memory
        self._trip_count, self._on_step = trip_count, on_step
        self.before: Figures
        self._alone: list[_Measured] = []
        self._refused: list[Candidate] = []
        self._chain: list[_Measured] = []
        self._untried: list[Candidate] = []
        self._compiled = 0

    def measured(self, compiled: ModuleOp, whole: ModuleOp) -> Figures:
        """Return what a compiled program costs."""
        return measure(compiled, whole, self._machine, self._trip_count)

    def _figures(self, candidates: Iterable[Candidate]) -> Figures | None:
        """Compile the program with changes; None if the compiler refuses it."""
        edits = [edit for candidate in candidates for edit in candidate.edits]
        try:
            module = changed(self._module, edits)
            module.verify()
            figures = self.measured(compile_plainly(module, self.pipeline), module)
        except DiagnosticException:
            figures = None
        self._compiled += 1
        if self._on_step is not None:
            helping = sum(self._helps(self.before, one.after) for one in self._alone)
            self._on_step(self._compiled, helping)
        return figures

    # What is better

    def _fits(self, figures: Figures) -> bool:
        peak = figures.peak_bytes
        return self._memory is None or peak is None or peak <= self._memory

    def _helps(self, before: Figures, after: Figures) -> bool:
        """Return True if a change is worth writing.

        It fits into the memory, which the program did not; or the step takes less time,
        and the part saved is that of the memory it adds (unless the memory is given); or
        it takes as long, and less bytes or memory, and no more of the other.
        """
        if self._fits(before) != self._fits(after):
            return self._fits(after)
        if not self._fits(before) and _less(after.peak_bytes, before.peak_bytes):
            return True
        faster = before.program_seconds - after.program_seconds
        sent = after.bytes, before.bytes
        held = after.peak_bytes, before.peak_bytes
        error = _TIME_ERROR * before.program_seconds
        if faster < -error:
            return False
        if faster > error:
            saved = faster / before.program_seconds
            if _less(*sent[::-1]) and _less(*held[::-1]) and saved < _TRUSTED:
                return False
            return self._memory is not None or saved >= _growth(before, after)
        return (_less(*sent) and not _less(*held[::-1])) or (
            _less(*held) and not _less(*sent[::-1])
        )

    def _ranked(self, measured: Iterable[_Measured]) -> list[_Measured]:
        """Sort by time; those that take the same, by bytes, memory and extent."""
        rest = sorted(measured, key=lambda one: self._key(one)[:2])
        ranked: list[_Measured] = []
        while rest:
            fastest = rest[0]
            limit = fastest.after.program_seconds * (1 + _TIME_ERROR)
            fits = self._fits(fastest.after)
            equal = [
                one
                for one in rest
                if one.after.program_seconds <= limit and self._fits(one.after) == fits
            ]
            equal.sort(key=lambda one: self._key(one)[2:])
            ranked += equal
            rest = [one for one in rest if one not in equal]
        return ranked

    def _key(self, one: _Measured) -> tuple[float, ...]:
        after = one.after
        over = 0 if self._fits(after) else after.peak_bytes or 0
        extent = len(one.candidate.edits)
        return (
            over,
            after.program_seconds,
            after.bytes,
            after.peak_bytes or 0,
            extent,
        )

    # Searching

    def run(self, candidates: Iterator[Candidate], end: float, seconds: float) -> None:
        """Try candidates alone, then on top of the best; stop when the time is over."""
        alone_until = end - seconds * (1 - _ALONE)
        for candidate in candidates:
            if monotonic() >= alone_until:
                self._untried = [candidate, *candidates]
                break
            after = self._figures([candidate])
            if after is None:
                self._refused.append(candidate)
            else:
                self._alone.append(_Measured(candidate, after))
        self._combine(end)

    def _combine(self, end: float) -> None:
        """Extend the best candidate by what helps on top of it."""
        ranked = self._ranked(self._alone)
        helping = [one for one in ranked if self._helps(self.before, one.after)]
        if not helping:
            return
        self._chain = helping[:1]
        # what helps alone first; what did nothing alone may help once another is there
        others = [one for one in ranked if one not in helping]
        seen: set[Figures] = {helping[0].after}
        for one in (*helping[1:], *others):
            if one.after == self.before or one.after in seen:
                continue
            if monotonic() >= end or len(self._chain) == MOST_PRESCRIPTIONS:
                return
            taken = {t for link in self._chain for t in link.candidate.target}
            if taken.intersection(one.candidate.target):
                continue
            seen.add(one.after)
            links = [link.candidate for link in self._chain]
            after = self._figures([*links, one.candidate])
            if after is not None and self._helps(self._chain[-1].after, after):
                self._chain.append(_Measured(one.candidate, after))

    # The answer

    def answer(self, mesh: Mesh, *, interrupted: bool) -> Prescriptions:
        """Return what was found so far."""
        ranked = self._ranked(self._alone)
        helping = [one for one in ranked if self._helps(self.before, one.after)]
        chain = self._chain or helping[:1]
        prescriptions: list[Prescription] = []
        before = self.before
        for number, link in enumerate(chain):
            prescriptions.append(
                self._prescription(link, before, helping if not number else [], number)
            )
            before = link.after
        shown = [link.candidate for link in chain]
        seen = {one.after for one in helping if one.candidate in shown}
        for one in helping:
            if len(prescriptions) == MOST_PRESCRIPTIONS:
                break
            alone = [p.after for p in prescriptions if not p.on_top_of]
            if one.after not in seen and not any(
                _dominates(other, one.after) for other in alone
            ):
                seen.add(one.after)
                shown.append(one.candidate)
                prescriptions.append(self._prescription(one, self.before, helping, 0))
        tried = [
            *(one for one in ranked if one.candidate not in shown),
            *(_Refused(candidate) for candidate in self._refused),
        ]
        return Prescriptions(
            mesh=mesh,
            machine=self._machine,
            before=self.before,
            prescriptions=tuple(prescriptions),
            together=len(chain),
            after=before,
            tried=tuple(
                Trial(c.candidate.kind, c.candidate.write, c.candidate.places, c.after)
                for c in tried
            ),
            untried=len(self._untried),
            interrupted=interrupted,
            memory=self._memory,
        )

    @staticmethod
    def _prescription(
        measured: _Measured, before: Figures, others: Iterable[_Measured], given: int
    ) -> Prescription:
        candidate = measured.candidate
        instead = tuple(
            place
            for one in others
            if one.after == measured.after
            and one.candidate is not candidate
            and one.candidate.write == candidate.write
            for place in one.candidate.places
        )
        return Prescription(
            candidate.kind,
            candidate.write,
            candidate.places,
            before,
            measured.after,
            given,
            instead if candidate.kind == "constraint" else (),
        )


@dataclass(frozen=True, slots=True)
class _Refused:
    candidate: Candidate
    after: None = None


def _dominates(one: Figures, other: Figures) -> bool:
    """Return True if a program costs no more than another in anything."""
    return (
        one.program_seconds <= other.program_seconds
        and one.bytes <= other.bytes
        and (one.peak_bytes or 0) <= (other.peak_bytes or 0)
    )


def _growth(before: Figures, after: Figures) -> float:
    """Return the part by which the memory grows."""
    if not before.peak_bytes or after.peak_bytes is None:
        return 0.0
    return after.peak_bytes / before.peak_bytes - 1


def _less(one: int | None, other: int | None) -> bool:
    """Return True if a size is noticeably smaller."""
    return one is not None and other is not None and one < other * (1 - _NOTICEABLE)
