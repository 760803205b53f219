"""The smallest program on which some steps still fail in the same way.

Delta debugging: cut results, then runs of ops, halving their length, and keep every
cut after which the failure is still there.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, InterpretationError

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.insight.check.cutting import cut_ops, cuttable_ops, keep_results
from ttxdsl.insight.check.failure import Failure, Mode
from ttxdsl.insight.check.judge import Judge
from ttxdsl.insight.check.steps import Step, pass_text
from ttxdsl.insight.check.trials import trials_of
from ttxdsl.interpreters.runtime.limits import NO_LIMITS, Limits
from ttxdsl.loading.program import make_context
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

_STATUS_STAGE = 3
"""The stage that gives every argument a shard status."""


def take_steps(
    module: ModuleOp,
    steps: Sequence[Step],
    like: Failure,
    limits: Limits = NO_LIMITS,
) -> Failure | None:
    """The failure of a program of its own under some steps, if it is like another.

    The program is run as it is to know what is right.

    Args:
        module: stays as it is.
        like: the failure to look for: the same kind at the same step.
    """
    try:
        module.verify()
        seeds = () if like.trial is None or like.tagged else (0,)
        trials = trials_of(module, seeds, tagged=like.tagged, limits=limits)
        judge = Judge(trials, make_context(), limits)
        taken = module.clone()
        for step in steps:
            failure = judge.take(step, taken)
            if failure is not None:
                return failure if _is_like(failure, like) else None
    except (DiagnosticException, InterpretationError):
        return None
    return None


_ITERATIONS = 1 << 16
"""Iterations that all loops of a program that is tried may take."""


def _is_like(failure: Failure, other: Failure) -> bool:
    if failure.kind is not other.kind or failure.step.name != other.step.name:
        return False
    if failure.kind is Mode.CRASHED:
        # the same exception, not any
        return failure.message.split(":")[0] == other.message.split(":")[0]
    return True


@dataclass
class Minimizer:
    """Looks for a smaller program, within limits of time and trials.

    Attributes:
        steps: those that fail on the program.
        seconds: when to stop and be content with what was found.
        limits: how far each run may go; as many iterations of loops as `_ITERATIONS` unless they
            say so, for without the op that ends a loop it goes on forever.
        tries: programs that were tried.
    """

    steps: Sequence[Step]
    failure: Failure
    seconds: float = 60.0
    limits: Limits = NO_LIMITS
    tries: int = 0
    _end: float = field(default=0.0, init=False)

    def minimize(self, module: ModuleOp) -> tuple[ModuleOp, Failure]:
        """The smallest failing program that was found, and how it fails.

        The failure is that of the smaller program: other elements, other inputs.
        """
        self._end = time.monotonic() + self.seconds
        if self.limits.steps is None:
            self.limits = replace(self.limits, steps=_ITERATIONS)
        failure = self._fails(module)
        if failure is None:
            # it needs what a program of its own does not have; show it whole
            return module, self.failure
        module, failure = self._fewer_results(module, failure)
        return self._fewer_ops(module, failure)

    def _fails(self, module: ModuleOp) -> Failure | None:
        self.tries += 1
        with collect_remarks():
            return take_steps(module, self.steps, self.failure, self.limits)

    def _in_time(self) -> bool:
        return time.monotonic() < self._end

    def _fewer_results(
        self, module: ModuleOp, failure: Failure
    ) -> tuple[ModuleOp, Failure]:
        count = len(entry_function(module).function_type.outputs)
        order = list(range(count))
        if failure.element is not None:
            order.sort(key=lambda at: at != failure.element.result)  # pyright: ignore[reportOptionalMemberAccess]
        for index in order if count > 1 else ():
            if not self._in_time():
                break
            candidate = keep_results(module, [index])
            smaller = self._fails(candidate)
            if smaller is not None:
                return candidate, smaller
        return module, failure

    def _fewer_ops(
        self, module: ModuleOp, failure: Failure
    ) -> tuple[ModuleOp, Failure]:
        first = self.steps[0].number
        with_status = first is None or first > _STATUS_STAGE
        length = max(1, len(cuttable_ops(module)) // 2)
        while self._in_time():
            start, cut_some = 0, False
            while start < len(cuttable_ops(module)) and self._in_time():
                count = len(cuttable_ops(module))
                chosen = range(start, min(start + length, count))
                candidate = cut_ops(module, chosen, with_status=with_status)
                smaller = self._fails(candidate)
                if smaller is not None and len(cuttable_ops(candidate)) < count:
                    module, failure, cut_some = candidate, smaller, True
                else:
                    start += length
            if length == 1 and not cut_some:
                break
            length = max(1, length // 2)
        return module, failure


def pipeline_text(steps: Sequence[Step]) -> str:
    """Steps as `-p` takes them; stages in a row as one pass."""
    texts: list[str] = []
    row: TTStableHLOPipelinePass | None = None
    for step in steps:
        compiler_pass = step.compiler_pass
        if isinstance(compiler_pass, TTStableHLOPipelinePass):
            if row is not None and row.last_stage + 1 == compiler_pass.first_stage:
                row = replace(row, last_stage=compiler_pass.last_stage)
                texts[-1] = pass_text(row)
                continue
            row = compiler_pass
        else:
            row = None
        texts.append(step.spec)
    return ",".join(texts)
