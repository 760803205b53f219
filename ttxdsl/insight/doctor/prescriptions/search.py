"""The search among candidates: estimated, compiled alone, then on top of each other.

It goes in rounds whose sizes depend on the program alone. In each, some more candidates
are estimated from their shardings after propagation, the most promising of all are
compiled alone, and what helps is compiled on top of the best. Time ends it between two
compilations, so that a longer search goes the same way, only further.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from math import inf
from time import monotonic

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.insight.doctor.prescriptions.answers import Prescription, Trial
from ttxdsl.insight.doctor.prescriptions.candidates.changes import Candidate
from ttxdsl.insight.doctor.prescriptions.candidates.lines import SourcePlace
from ttxdsl.insight.doctor.prescriptions.clock import TimeIsOverError
from ttxdsl.insight.doctor.prescriptions.ranking import Ranking, dominates
from ttxdsl.insight.doctor.prescriptions.trials import (
    Estimate,
    Meter,
    Packer,
    run_elsewhere,
)
from ttxdsl.insight.why.answers import Figures
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.loading.processes import processes, results_of
from ttxdsl.loading.program import program_text
from ttxdsl.sharding.devices.mesh import Mesh

MOST_PRESCRIPTIONS = 7
_WORTH_PROCESSES = 0.25
"""Seconds of one compilation from which other processes are started."""
_AT_ONCE = 4
"""Candidates that are compiled on top of the same others before the best is taken."""


@dataclass(frozen=True, slots=True)
class MeasuredChange:
    """A candidate that was compiled, alone or on top of others."""

    candidate: Candidate
    after: Figures


@dataclass(slots=True)
class _Pending:
    """A candidate that waits to be compiled, with its place in the order of likelihood."""

    candidate: Candidate
    number: int
    estimate: Estimate | None


class TrialRunner:
    """A runner that estimates and compiles changed programs, in one process or several.

    Args:
        end: when no further one is begun.
        jobs: processes to start if a compilation takes long enough.
        executor: does all of it instead.
    """

    def __init__(
        self,
        module: ModuleOp,
        meter: Meter,
        end: float,
        jobs: int = 1,
        executor: Executor | None = None,
    ):
        self._module, self.meter, self._end = module, meter, end
        self._jobs, self._executor = jobs, executor
        self._text = ""
        self._packer: Packer | None = None

    @contextmanager
    def running(self, seconds: float) -> Generator[None]:
        """Start processes if a compilation takes so many seconds; they end with this.

        This process is one of those that work.
        """
        if self._executor is None and self._jobs > 1 and seconds > _WORTH_PROCESSES:
            with processes(self._jobs - 1) as self._executor:
                yield
        else:
            yield

    def run(
        self, work: Sequence[tuple[Edit, ...]], *, compiles: bool
    ) -> Iterator[Figures | Estimate | None]:
        """Yield the costs of programs with changes, in their order.

        Raises:
            TimeIsOverError: before it is done with all.
        """
        futures = self._submitted(work, compiles=compiles) if self._executor else []
        known: dict[int, Figures | Estimate | None] = {}
        try:
            for at in range(len(work)):
                while at not in known:
                    if monotonic() >= self._end:
                        raise TimeIsOverError
                    if futures and futures[at].done():
                        known[at] = next(results_of(futures[at : at + 1]))
                    elif (free := self._last_free(futures, known, len(work))) is None:
                        wait(futures[at : at + 1], self._end - monotonic())
                    else:
                        known[free] = self._run_here(work[free], compiles=compiles)
                yield known[at]
        finally:
            for future in futures:
                future.cancel()

    def _run_here(
        self, edits: tuple[Edit, ...], *, compiles: bool
    ) -> Figures | Estimate | None:
        do = self.meter.compile if compiles else self.meter.estimate
        return do(self._module, edits)

    def _last_free(
        self,
        futures: Sequence[Future[Figures | Estimate | None]],
        known: Mapping[int, object],
        count: int,
    ) -> int | None:
        """Return the last piece of work that nobody has begun; the others begin in front."""
        if not futures:
            return next(at for at in range(count) if at not in known)
        for at in range(count - 1, -1, -1):
            if at not in known and futures[at].cancel():
                return at
        return None

    def _submitted(
        self, work: Sequence[tuple[Edit, ...]], *, compiles: bool
    ) -> list[Future[Figures | Estimate | None]]:
        assert self._executor is not None
        if self._packer is None:
            self._packer = Packer(self._module)
            self._text = program_text(self._module)
        return [
            self._executor.submit(
                run_elsewhere,
                *(self._text, self._packer.pack(edits), self.meter),
                compiles=compiles,
            )
            for edits in work
        ]


class Search:
    """A search among candidates, which keeps all that it measured.

    Args:
        ops: of the program, which say how many candidates a round has.
        on_step: called with the number of changes that were compiled, and that help.
    """

    def __init__(
        self,
        runner: TrialRunner,
        ranking: Ranking,
        before: Figures,
        ops: int,
        on_step: Callable[[int, int], None] | None,
    ):
        self._runner, self._ranking, self._before = runner, ranking, before
        self._screened = max(8, min(24, 30_000 // max(1, ops)))
        self._compiled_a_round = max(3, min(8, 12_000 // max(1, ops)))
        self._on_step = on_step
        self._alone: list[MeasuredChange] = []
        self._refused: list[Candidate] = []
        self._chain: list[MeasuredChange] = []
        self._pending: list[_Pending] = []
        self._rejected: set[tuple[tuple[int, ...], int]] = set()
        """Candidates that did not help on top of others, by their ids."""
        self._compiled = self._asked = 0
        self._is_asking = False
        self.untried = 0

    @property
    def mesh(self) -> Mesh | None:
        """The prescribed mesh, if it is another than the program's."""
        edits = [edit for link in self._chain for edit in link.candidate.edits]
        return next((edit.mesh for edit in edits if edit.mesh is not None), None)

    @property
    def after(self) -> Figures:
        """The costs of the program with all prescriptions that belong together."""
        return self._chain[-1].after if self._chain else self._before

    def run(self, candidates: Callable[[], Iterator[Candidate]]) -> None:
        """Search until no candidate is left.

        Raises:
            TimeIsOverError: there is no time; what was found until then is kept.
        """
        numbered = enumerate(candidates())
        try:
            while self._round(numbered):
                pass
        finally:
            self._begin_chain()
            if self._is_asking:  # the time came while a candidate was made
                numbered = islice(candidates(), self._asked, None)
            self.untried = len(self._pending) + sum(1 for _ in numbered)

    def _round(self, numbered: Iterator[tuple[int, Candidate]]) -> bool:
        """Estimate some candidates, compile the most promising; False if none is left."""
        self._is_asking = True
        new = [
            _Pending(candidate, number, None)
            for number, candidate in islice(numbered, self._screened)
        ]
        self._pending += new
        self._asked += len(new)
        self._is_asking = False
        if not self._pending:
            return False
        edits = [pending.candidate.edits for pending in new]
        estimates = self._runner.run(edits, compiles=False)
        for pending, estimate in zip(new, estimates, strict=True):
            assert estimate is None or isinstance(estimate, Estimate)
            pending.estimate = estimate
        chosen = self._promising()
        edits = [pending.candidate.edits for pending in chosen]
        results = self._runner.run(edits, compiles=True)
        for pending, after in zip(chosen, results, strict=True):
            assert after is None or isinstance(after, Figures)
            self._pending.remove(pending)
            if after is None:
                self._refused.append(pending.candidate)
            else:
                self._alone.append(MeasuredChange(pending.candidate, after))
            self._report_step()
        self._combine()
        return True

    def _promising(self) -> list[_Pending]:
        """Return candidates to compile, by estimated time, by memory, by likelihood.

        What is estimated alike is likely the same program, of which one is enough in a
        round.
        """
        by_seconds = iter(sorted(self._pending, key=_seconds))
        by_memory = iter(sorted(self._pending, key=_held))
        turns = cycle((by_seconds, by_seconds, by_memory, iter(self._pending)))
        chosen: dict[tuple[float, float], _Pending] = {}
        for queue in islice(turns, 4 * len(self._pending)):
            if len(chosen) == self._compiled_a_round:
                break
            if (pending := next(queue, None)) is not None:
                key = _seconds(pending)[0], _held(pending)[0]
                chosen.setdefault(key, pending)
        return [*chosen.values()]

    def _begin_chain(self) -> list[MeasuredChange]:
        """Begin again with the best candidate if that is better; return all that help."""
        ranked = self._ranked(self._alone)
        helping = [trial for trial in ranked if self._helps(self._before, trial.after)]
        if helping and (
            not self._chain or self._ranking.is_better(helping[0].after, self.after)
        ):
            self._chain = helping[:1]
        return helping

    def _combine(self) -> None:
        """Extend the best candidate by changes that help on top of it."""
        helping = self._begin_chain()
        if not helping:
            return
        ranked = self._ranked(self._alone)
        # changes that help alone come first; the others may help on top of a change
        others = [
            trial for trial in ranked if not self._helps(self._before, trial.after)
        ]
        queue = self._to_add([*helping, *others])
        tries = self._compiled_a_round
        while queue and tries > 0 and len(self._chain) < MOST_PRESCRIPTIONS:
            batch, queue = queue[:_AT_ONCE], queue[_AT_ONCE:]
            tries -= len(batch)
            given = [link.candidate for link in self._chain]
            edits = [
                tuple(
                    edit
                    for candidate in (*given, link.candidate)
                    for edit in candidate.edits
                )
                for link in batch
            ]
            key = tuple(map(id, given))
            better: list[MeasuredChange] = []
            results = self._runner.run(edits, compiles=True)
            for link, after in zip(batch, results, strict=True):
                assert after is None or isinstance(after, Figures)
                if after is not None and self._helps(self.after, after):
                    better.append(MeasuredChange(link.candidate, after))
                else:
                    self._rejected.add((key, id(link.candidate)))
                self._report_step()
            if better:
                best = self._ranked(better)[0]
                self._chain.append(best)
                again = [trial.candidate for trial in better if trial is not best]
                queue = self._to_add(
                    [*(trial for trial in batch if trial.candidate in again), *queue]
                )

    def _to_add(self, links: Sequence[MeasuredChange]) -> list[MeasuredChange]:
        """Return those that can be tried on top of the chain, of equal ones the first."""
        key = tuple(id(link.candidate) for link in self._chain)
        taken = {target for link in self._chain for target in link.candidate.target}
        alone = {id(link.candidate): link.after for link in self._alone}
        seen = {alone[at] for at in key}
        fresh: list[MeasuredChange] = []
        for link in links:
            if (
                link.after in seen
                or link.after == self._before
                or (key, id(link.candidate)) in self._rejected
                or taken.intersection(link.candidate.target)
            ):
                continue
            seen.add(link.after)
            fresh.append(link)
        return fresh

    def _helps(self, before: Figures, after: Figures) -> bool:
        return self._ranking.helps(before, after)

    def _ranked(self, measured: Sequence[MeasuredChange]) -> list[MeasuredChange]:
        by_extent = sorted(measured, key=lambda trial: len(trial.candidate.edits))
        return self._ranking.ranked(by_extent, _after)

    def _report_step(self) -> None:
        self._compiled += 1
        if self._on_step is not None:
            helping = sum(
                self._helps(self._before, trial.after) for trial in self._alone
            )
            self._on_step(self._compiled, helping)

    # The answer

    def prescriptions(self) -> tuple[list[Prescription], tuple[int, ...]]:
        """Return what helps, the best first, and the numbers of those together."""
        ranked = self._ranked(self._alone)
        helping = [trial for trial in ranked if self._helps(self._before, trial.after)]
        in_chain = {id(link.candidate) for link in self._chain}
        shown = [trial for trial in helping if id(trial.candidate) in in_chain]
        later = [
            link
            for link in self._chain
            if all(link.candidate is not trial.candidate for trial in shown)
        ]
        for trial in helping:
            if len(shown) + len(later) >= MOST_PRESCRIPTIONS:
                break
            if not any(dominates(other.after, trial.after) for other in shown):
                shown.append(trial)
        shown = self._ranked(shown)
        numbers = {
            id(trial.candidate): at for at, trial in enumerate((*shown, *later), 1)
        }
        answers = [
            Prescription(
                *(trial.candidate.kind, trial.candidate.write, trial.candidate.places),
                *(self._before, trial.after),
                instead=self._instead(trial, helping),
            )
            for trial in shown
        ]
        for link in later:
            at = self._chain.index(link)
            given = tuple(sorted(numbers[id(x.candidate)] for x in self._chain[:at]))
            candidate = link.candidate
            answers.append(
                Prescription(
                    *(candidate.kind, candidate.write, candidate.places),
                    *(self._chain[at - 1].after, link.after),
                    on_top_of=given,
                )
            )
        return answers, tuple(sorted(numbers[at] for at in in_chain))

    @staticmethod
    def _instead(
        measured: MeasuredChange, others: Sequence[MeasuredChange]
    ) -> tuple[SourcePlace, ...]:
        """Return other places where the same constraint does the same."""
        candidate = measured.candidate
        if candidate.kind != "constraint":
            return ()
        return tuple(
            place
            for other in others
            if other.after == measured.after
            and other.candidate is not candidate
            and other.candidate.write == candidate.write
            for place in other.candidate.places
        )

    def tried(self, prescriptions: Sequence[Prescription]) -> list[Trial]:
        """Return what was compiled and is not prescribed, the best first."""
        shown = {
            (prescription.write, prescription.places) for prescription in prescriptions
        }
        measured = [
            (trial.candidate, trial.after) for trial in self._ranked(self._alone)
        ]
        return [
            Trial(candidate.kind, candidate.write, candidate.places, after)
            for candidate, after in (
                *measured,
                *((refused, None) for refused in self._refused),
            )
            if (candidate.write, candidate.places) not in shown
        ]


def _after(measured: MeasuredChange) -> Figures:
    return measured.after


def _seconds(pending: _Pending) -> tuple[float, ...]:
    """Return the key to sort changes by: time, memory, extent; without estimate last."""
    extent = len(pending.candidate.edits), pending.number
    if pending.estimate is None:
        return inf, inf, *extent
    return pending.estimate.seconds, pending.estimate.held, *extent


def _held(pending: _Pending) -> tuple[float, ...]:
    seconds, held, *extent = _seconds(pending)
    return held, seconds, *extent
