"""The differences between two per-device programs: collectives, bytes, memory.

Collectives are matched in steps, each in program order among what the step before left:
of the same line of the source those that are alike in everything, then those of the same
kind, axes and op, then without the axes. Then those that are alike in everything but the
line, and the other two again for lines that only one program has. Op means what the
collective is there for, as `CountedCollective.use` says it.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.attribution.authored import lines_hint
from ttxdsl.analysis.usage.collectives import (
    CountedCollective,
    launches_of,
    sub_axes_texts,
)
from ttxdsl.analysis.usage.device import usage_on
from ttxdsl.analysis.usage.memory import MemoryProfile
from ttxdsl.analysis.usage.reasons import with_arguments
from ttxdsl.costs.chips import Chip
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.insight.why.causes.aligned import (
    Line,
    SourceLines,
    aligned,
    line_of,
    source_lines,
)
from ttxdsl.insight.why.causes.lines import annotations_of
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

Key = Callable[[CountedCollective], tuple[Hashable, ...]]
Place = tuple[Line | None, str]
"""A line and a column in it."""

Names = tuple[str, ...]

_LARGEST_TRACED = 20_000
"""Ops of a program that is compiled again for the annotations of its collectives."""

_STEPS: tuple[Key, ...] = (
    lambda c: (c.kind, c.axes_text, c.tensor, c.use),
    lambda c: (c.kind, c.axes_text, c.use),
    lambda c: (c.kind, c.use),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A collective of the left program with its match in the right one, either alone."""

    left: CountedCollective | None
    right: CountedCollective | None
    annotations: tuple[str, ...] = ()
    """Those that it comes from, in the right program where that has it."""

    @property
    def is_equal(self) -> bool:
        """Whether both do the same: kind, axes, tensor and bytes."""
        return (
            self.left is not None
            and self.right is not None
            and _does(self.left) == _does(self.right)
        )

    @property
    def sign(self) -> str:
        """`=`, `~` for changed, `-` for only left, `+` for only right."""
        if self.left is None:
            return "+"
        if self.right is None:
            return "-"
        return "=" if self.is_equal else "~"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the programs, as far as it is compared."""

    name: str
    collectives: tuple[CountedCollective, ...]
    memory: MemoryProfile
    seconds: float | None = None
    """The modelled time of a step on the given chip, None without one."""
    source: SourceLines = field(default_factory=dict[str, Any])
    """The source lines of the program that it was compiled from."""
    parts: tuple[str, ...] = ()
    """A line on each part of an axis that collectives run along."""
    hint: str | None = None
    """A line on getting the source's lines and names; None where the text has them."""
    original: ModuleOp | None = field(default=None, compare=False)
    """The program as it was loaded; `pipeline` has the options that it was compiled with."""
    pipeline: TTStableHLOPipelinePass | None = None

    @property
    def bytes_sent(self) -> int:
        """The bytes that one device sends."""
        return sum(collective.bytes_per_device for collective in self.collectives)

    @property
    def launches(self) -> int:
        """The number of collectives that run."""
        return launches_of(self.collectives)

    def count(self, kind: str) -> int:
        """Return the number of collectives of a kind that run."""
        return sum(
            collective.count
            for collective in self.collectives
            if collective.kind == kind
        )


@dataclass(frozen=True, slots=True)
class Difference(Displayed):
    """Two programs side by side; `pairs` are in the left program's order, then added."""

    left: Side
    right: Side
    pairs: tuple[Pair, ...]

    @property
    def is_equal(self) -> bool:
        """Whether they send the same and need the same memory."""
        memories = [
            (side.memory.peak_bytes, side.memory.argument_bytes)
            for side in (self.left, self.right)
        ]
        return memories[0] == memories[1] and all(pair.is_equal for pair in self.pairs)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of collectives that either has."""
        counts = Counter(
            collective.kind
            for side in (self.left, self.right)
            for collective in side.collectives
        )
        return tuple(sorted(counts))


def _does(collective: CountedCollective) -> tuple[object, ...]:
    return (
        collective.kind,
        collective.axes_text,
        collective.group_size,
        collective.tensor,
        collective.bytes_per_device,
        collective.times,
    )


def match(
    left: Sequence[CountedCollective],
    right: Sequence[CountedCollective],
    lines: Mapping[Line, Line] = MappingProxyType({}),
) -> list[Pair]:
    """Pair the collectives of two programs; see the module.

    Args:
        lines: which line of the one is which of the other, see `aligned_lines`.
    """
    partner: dict[int, int] = {}
    free_right = list(range(len(right)))
    ours = [_place(collective, lines) for collective in left]
    theirs = [_place(collective, {}) for collective in right]
    known = set(lines.values())

    def pair(key_of: Callable[[int, CountedCollective, Place], Hashable]) -> None:
        nonlocal free_right
        waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for at in free_right:
            waiting[key_of(at, right[at], theirs[at])].append(at)
        for at, collective in enumerate(left):
            partners = waiting.get(key_of(-1 - at, collective, ours[at]))
            if at not in partner and partners:
                partner[at] = partners.popleft()
        taken = set(partner.values())
        free_right = [at for at in free_right if at not in taken]

    for step in _STEPS:
        pair(lambda _, collective, place, step=step: (place, step(collective)))
        pair(lambda _, collective, place, step=step: (place[0], step(collective)))
    pair(lambda _, collective, place: _STEPS[0](collective))
    for step in _STEPS[1:]:
        # a line that both programs have is paired with itself only
        pair(
            lambda at, collective, place, step=step: (
                at if place[0] in known else None,
                step(collective),
            )
        )
    pairs = [
        Pair(collective, right[partner[at]] if at in partner else None)
        for at, collective in enumerate(left)
    ]
    return [*pairs, *(Pair(None, right[at]) for at in free_right)]


def _place(collective: CountedCollective, lines: Mapping[Line, Line]) -> Place:
    """Return the line of a collective, as the right program has it, and its column."""
    line = line_of(collective.position)
    column = (collective.position or "").rpartition(":")[2]
    return (lines.get(line, line) if line else None), column


def side_of(
    name: str,
    module: ModuleOp,
    trip_count: int | None = None,
    chip: Chip | str | None = None,
    slices: int = 1,
    original: ModuleOp | None = None,
    pipeline: TTStableHLOPipelinePass | None = None,
) -> Side:
    """Return what is compared of a per-device program.

    Args:
        chip: whose memory and time; without one nothing is fused, and time is left out.
        slices: of chips with a network each.
        original: what it was compiled from, whose lines are compared.
        pipeline: with which options; None: with none.

    Raises:
        CompileError: its memory is not known, see `memory_profile`.
    """
    usage = usage_on(module, chip, slices, trip_count)
    seconds = None if chip is None else usage.seconds
    collectives = tuple(with_arguments(module, usage.collectives))
    parts = tuple(sub_axes_texts(collectives, sdy.mesh_table(module).values()))
    source: SourceLines = {} if original is None else source_lines(original)
    hint = lines_hint(module)
    return Side(
        *(name, collectives, usage.memory, seconds, source, parts, hint),
        *(original, pipeline),
    )


def difference(left: Side, right: Side) -> Difference:
    """Two programs side by side."""
    lines = aligned(left.source, right.source)
    pairs = match(left.collectives, right.collectives, lines)
    if not all(pair.is_equal for pair in pairs):
        pairs = _with_annotations(pairs, _annotations(left), _annotations(right))
    return Difference(left, right, tuple(pairs))


def _with_annotations(
    pairs: Sequence[Pair], before: Mapping[int, Names], after: Mapping[int, Names]
) -> list[Pair]:
    """Return pairs with what they come from; collectives are known by their identity."""
    told: list[Pair] = []
    for pair in pairs:
        sides = after.get(id(pair.right), ()) or before.get(id(pair.left), ())
        told.append(pair if pair.is_equal else replace(pair, annotations=sides))
    return told


def _annotations(side: Side) -> dict[int, Names]:
    """Return for each collective of a side, by its identity, the annotations it comes from.

    The program is compiled once more, with notes; a large one is not.
    """
    original = side.original
    if original is None or sum(1 for _ in original.walk()) > _LARGEST_TRACED:
        return {}
    try:
        traced = Explainer(original, pipeline=side.pipeline, tries=0).collectives()
    except CompileError:
        return {}  # it came as another form
    kinds = [(reason.kind, reason.axes, reason.tensor) for reason in traced]
    if kinds != [
        (reason.kind, reason.axes_text, reason.tensor) for reason in side.collectives
    ]:
        return {}  # it was compiled otherwise than is known here
    return {
        id(collective): tuple(dict.fromkeys(annotations_of([reason])))
        for collective, reason in zip(side.collectives, traced, strict=True)
    }
