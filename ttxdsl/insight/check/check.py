"""Checking a whole compilation: run the program after every step, stop at the first
that changes a result, and cut the program down to what shows it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.costs.units import number_ranges
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.remarks import Remark, collect_remarks
from ttxdsl.insight.check.failure import Failure
from ttxdsl.insight.check.judge import Judge
from ttxdsl.insight.check.minimize import Minimizer, pipeline_text
from ttxdsl.insight.check.steps import Step
from ttxdsl.insight.check.trials import Trial, trials_of
from ttxdsl.interpreters.compare import Special, special_numbers
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits
from ttxdsl.ir.collector import without_collections
from ttxdsl.loading.program import make_context, program_text


@dataclass(frozen=True)
class Reproducer:
    """A small program that shows a failure, with its RUN line."""

    text: str
    failure: Failure


@dataclass(frozen=True)
class CheckReport(Displayed):
    """The result of a check.

    Attributes:
        steps: the steps that were taken; the last one failed if any did.
        trials: the inputs that were tried, by name.
        failure: the first step that is wrong and how, None if all are right.
        reproducer: a small program that shows it.
        undecided: what was not held against the program, since rounding alone changes
            it by as much as a step did: results by number, and the trial.
        special: which results hold NaN or infinities, and on which trial.
        not_compared: results that are mostly NaN or infinite on all trials.
        remarks: what the steps said.
    """

    steps: tuple[Step, ...]
    trials: tuple[str, ...]
    failure: Failure | None = None
    reproducer: Reproducer | None = None
    undecided: tuple[str, ...] = ()
    special: tuple[str, ...] = ()
    not_compared: tuple[int, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every step leaves every result as it is, and each was compared."""
        return self.failure is None and not self.not_compared

    def few_words(self) -> str:
        """The failure, or what was tried."""
        if self.failure is not None:
            return str(self.failure)
        lines = [
            f"{len(self.steps)} steps compute what the program does, on"
            f" {' and '.join(self.trials)}",
            *(f"rounding decides {text}" for text in self.undecided),
            *(f"not finite: {text}" for text in self.special),
        ]
        if self.not_compared:
            results = number_ranges(self.not_compared)
            lines.append(f"nothing compared of result {results}")
        return "\n".join(lines)


def check_steps(
    module: ModuleOp,
    steps: Sequence[Step],
    *,
    inputs: Sequence[ArrayLike] | None = None,
    seeds: Sequence[int] = (0,),
    minimize: bool = True,
    seconds: float = 60.0,
    limits: Limits = NO_LIMITS,
    on_step: Callable[[Step], None] | None = None,
) -> CheckReport:
    """Take steps with a program as long as they leave its results as they are.

    Args:
        module: the program, which stays as it is; it has to run.
        steps: see `pipeline_steps` and `steps_of`.
        inputs: global arrays to try before all others.
        seeds: of random inputs; index-tagged inputs are tried besides.
        minimize: whether to look for a small program that shows a failure.
        seconds: how long to look for it.

    Raises:
        CompileError: the program cannot be run as it is, or a step refuses it.
    """
    trials = trials_of(module, seeds, given=inputs, limits=limits)
    names = tuple(trial.name for trial in trials)
    special, not_compared = _special(trials)
    judge = Judge(trials, make_context(), limits)
    current = module.clone()
    before: list[ModuleOp] = []
    remarks: list[Remark] = []
    for count, step in enumerate(steps, 1):
        if on_step is not None:
            on_step(step)
        if minimize:
            before.append(current.clone())
        with collect_remarks() as told, without_collections():
            failure = judge.take(step, current)
        remarks.extend(told)
        if failure is None:
            continue
        taken = tuple(steps[:count])
        reproducer = None
        if minimize:
            blamed = taken.index(failure.step)
            minimizer = Minimizer(taken[blamed:], failure, seconds, limits)
            reproducer = _reproducer(before[blamed], minimizer)
        steps = taken
        break
    else:
        failure = reproducer = None
    return CheckReport(
        tuple(steps),
        names,
        failure,
        reproducer,
        judge.undecided,
        special,
        not_compared,
        tuple(remarks),
    )


def _special(trials: Sequence[Trial]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return texts on non-finite elements, and the results that are mostly such."""
    texts: list[str] = []
    compared: set[int] = set()
    results: set[int] = set()
    for trial in trials:
        counts = [special_numbers(array) for array in trial.expected]
        results.update(range(len(counts)))
        compared.update(
            at for at, special_count in enumerate(counts) if not special_count.is_most
        )
        if special := [
            at for at, special_count in enumerate(counts) if special_count.is_any
        ]:
            total = Special(
                *map(sum, zip(*(counts[at] for at in special), strict=True))
            )
            noun = "results" if len(special) > 1 else "result"
            where = f"{noun} {number_ranges(special)} on {trial.name}"
            texts.append(f"{where}: {total} elements")
    return tuple(texts), tuple(sorted(results - compared)) if trials else ()


def _reproducer(module: ModuleOp, minimizer: Minimizer) -> Reproducer:
    small, shown = minimizer.minimize(module)
    lines = [f"RUN: ttxdsl check %s -p '{pipeline_text(minimizer.steps)}'", ""]
    text = "".join(
        f"// {line}".rstrip() + "\n" for line in (*lines, *str(shown).splitlines())
    )
    return Reproducer(f"{text}\n{program_text(small)}", shown)
