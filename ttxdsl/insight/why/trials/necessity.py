"""The annotations that a collective depends on: each is taken away to see.

A chain leads to the annotation from which an axis came first. That need not be the one
that counts: where another would have brought the axis a step later, taking the first
away changes nothing. So annotations are taken away, one by one, then several, and the
program is compiled as far as stage 8, which decides what is sent.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.insight.why.answers import Change
from ttxdsl.insight.why.causes.collectives import TracedCollective
from ttxdsl.insight.why.trials.compiling import Demands, demands_of
from ttxdsl.insight.why.trials.counterfactuals import Counterfactuals
from ttxdsl.insight.why.trials.edits import Edit
from ttxdsl.insight.why.trials.recording import Moved
from ttxdsl.ir.traversal import all_ops


@dataclass(frozen=True, slots=True)
class Annotation:
    """An axis in an annotation, whose that is, and the change that takes it away."""

    axis: str
    name: str
    edit: Edit


class Necessities:
    """Takes annotations of one program away and remembers what came of it.

    Args:
        trials: compile changes for their costs; what is moved with those is known.
        tries: how often to compile it with changes, at most.
    """

    def __init__(self, trials: Counterfactuals, tries: int):
        self.recorded, self.annotations = trials.recorded, trials.annotations
        self.pipeline, self._measured = trials.pipeline, trials.demands
        self.left, self.budget = tries, trials.budget
        self._ops = len(all_ops(self.recorded.original))
        self._known: dict[frozenset[Change], Demands | None] = {}
        self._proven: dict[Change, Annotation] = {}

    def of(
        self, traced: TracedCollective, *, others: bool = True
    ) -> tuple[tuple[Annotation, ...], ...] | None:
        """The annotations without which a collective is not there.

        Args:
            others: whether to look through hundreds of parameters too, and not only at
                what chains lead to, what other collectives hang on, and small trees.

        Returns:
            Those that are necessary by themselves, each alone; or one set of several, of
            which any brings it; empty if it is there without all of them; None if it is
            not known, for no stage up to 8 made it or too many had to be tried.
        """
        axes = self._axes(traced)
        if not axes:
            return None
        blamed = self._blamed(traced)
        try:
            fitting = [
                annotation
                for annotation in self._proven.values()
                if annotation not in blamed
            ]
            for candidates in (blamed, fitting):
                alone = [
                    annotation
                    for annotation in candidates
                    if self._gone(traced, axes, [annotation])
                ]
                if alone:
                    self._proven.update((each.edit.change, each) for each in alone)
                    return tuple((annotation,) for annotation in alone)
            least = self._least(traced, axes, blamed, others=others)
        except _Enough:
            return None
        if len(least) == 1:
            self._proven[least[0].edit.change] = least[0]
        if not least:
            return () if others else None
        return (tuple(least),)

    # What is asked about

    @cached_property
    def _base(self) -> frozenset[Moved] | None:
        """The moves of the unchanged program; compiled again if stage 8 took no notes."""
        if self.recorded.demands is not None:
            return self.recorded.demands
        demands = self._moved(())
        return None if demands is None else demands.chosen

    def _axes(self, traced: TracedCollective) -> frozenset[str]:
        """The axes along which stage 8 has something to send for the collective."""
        collective = frozenset(
            name.partition(":")[0] for name in traced.answer.axes.split(", ")
        )
        op = self._op(traced)
        if op is None or self._base is None:
            return frozenset()
        moved = frozenset(axis for known, axis in self._base if known == op)
        return moved & collective or moved  # its groups may follow no axis

    def _op(self, traced: TracedCollective) -> tuple[int, ...] | None:
        """The op that it is for, as `Moved` has it."""
        if traced.op is None or (traced.inserted is None and traced.constraint is None):
            return None
        chain = self.recorded.numbered.chain(traced.op)
        return tuple(number for number in chain if number < self._ops)

    def _blamed(self, traced: TracedCollective) -> list[Annotation]:
        """The annotations that chains lead to."""
        blamed: dict[Change, Annotation] = {}
        for side in traced.answer.sides:
            for cause in side.causes:
                first = cause.steps[0].axis if cause.steps else cause.axis
                for edit in self.annotations.of_origin(cause.origin, first):
                    annotation = Annotation(first, cause.origin.name, edit)
                    blamed.setdefault(edit.change, annotation)
                    break
        return list(blamed.values())

    # Compiling

    def _moved(self, annotations: Sequence[Annotation]) -> Demands | None:
        """Return the moves without some annotations; None if it cannot be compiled."""
        changes = tuple(annotation.edit.change for annotation in annotations)
        if (measured := self._measured.get(changes)) is not None:
            return measured
        key = frozenset(changes)
        if key not in self._known:
            budget = self.budget
            if annotations and (
                self.left <= 0 or (budget and not budget.allows(_PART))
            ):
                raise _Enough
            self.left -= 1 if annotations else 0
            with budget.spending(_PART) if budget else nullcontext():
                self._known[key] = self._compiled(annotations)
        return self._known[key]

    def _compiled(self, annotations: Sequence[Annotation]) -> Demands | None:
        edits = self.annotations.together(
            [annotation.edit for annotation in annotations]
        )
        try:
            return demands_of(self.recorded.original, edits, self.pipeline)
        except DiagnosticException:
            return None

    def _gone(
        self,
        traced: TracedCollective,
        axes: frozenset[str],
        annotations: Sequence[Annotation],
    ) -> bool:
        """Whether nothing is sent any more for the op along one of the axes."""
        moved = self._moved(annotations)
        return moved is not None and moved.lack(self._op(traced), axes)

    def _least(
        self,
        traced: TracedCollective,
        axes: frozenset[str],
        blamed: Sequence[Annotation],
        *,
        others: bool,
    ) -> list[Annotation]:
        """Annotations without which it is gone, and of which none can be left out."""
        rest = [*blamed, *self._others(axes, blamed, None if others else _SMALL)]
        if not rest or (not others and not self._gone(traced, axes, rest)):
            return []
        kept: list[Annotation] = []

        def gone(count: int) -> bool:
            return self._gone(traced, axes, [*kept, *rest[:count]])

        while not (kept and gone(0)):
            count = _first(gone, len(rest), exact=len(rest) > _FEW)
            if count is None:
                return []
            rest = rest[:count]
            if count <= _FEW:  # leaving each out asks less often than halving
                for annotation in list(rest):
                    fewer = [other for other in rest if other is not annotation]
                    if self._gone(traced, axes, [*kept, *fewer]):
                        rest = fewer
                return [*kept, *rest]
            kept.append(rest.pop())
        return kept

    def _others(
        self, axes: frozenset[str], blamed: Sequence[Annotation], most: int | None
    ) -> list[Annotation]:
        """Return other annotations with the axes: results, constraints, arguments.

        Those of small trees come first, a batch before hundreds of parameters, and of one
        tree those that are near to what is blamed; trees with more than `most` not at all.
        """
        named = {annotation.edit.change for annotation in blamed}
        near = [
            annotation.edit.index
            for annotation in blamed
            if annotation.edit.value is not None
        ]
        # a constraint with several of the axes is taken away once
        known: dict[Change, Annotation] = {}
        for axis in sorted(axes):
            for name, edit in self.annotations.with_axis(axis):
                if edit.change not in named:
                    known.setdefault(edit.change, Annotation(axis, name, edit))
        candidates = list(known.values())
        sizes = Counter(
            _root(annotation.name)
            for annotation in candidates
            if annotation.edit.value is not None
        )

        def rank(annotation: Annotation) -> tuple[int, int]:
            own = annotation.edit.index or 0
            distance = min((abs(own - (other or 0)) for other in near), default=0)
            return sizes[_root(annotation.name)], distance

        return [
            annotation
            for annotation in sorted(candidates, key=rank)
            if most is None or rank(annotation)[0] <= most
        ]


def _root(name: str) -> str:
    """The argument of the Python function that a leaf of a pytree is of.

    Arguments that differ in a number, as `%arg3` and `%arg4` of a text without names, may
    all be leaves of one.
    """
    return "params" if "." in name else name.partition("[")[0].rstrip("0123456789")


_PART = 0.6
"""Of a whole compilation that which ends with stage 8, with what it costs besides."""

_SMALL = 4
"""Annotated arguments that are no tree of parameters."""

_FEW = 8
"""Of annotations each is left out in turn."""


class _Enough(Exception):
    """No more is to be compiled."""


def _first(holds: Callable[[int], bool], most: int, *, exact: bool) -> int | None:
    """The smallest number from 1 for which something holds that then holds for larger.

    Up to `_FEW`, and unless it shall be exact, it may be a larger one.
    """
    high = 1
    while high < most and not holds(high):
        high *= 2
    high = min(high, most)
    if not holds(high):
        return None
    if high <= _FEW or not exact:
        return high
    low = high // 2  # does not hold
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
