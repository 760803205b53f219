"""The costs of a program's lines in collectives, and the annotations they come from."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ttxdsl.insight.why.answers import (
    Between,
    LineCost,
    WhyCollective,
    WhyProgram,
)
from ttxdsl.insight.why.causes.aligned import Line, line_of
from ttxdsl.insight.why.layers import annotations_text

_MOST = 5


def line_costs(collectives: Sequence[WhyCollective]) -> tuple[LineCost, ...]:
    """Return what each line costs, the dearest first."""
    lines: dict[str, list[WhyCollective]] = {}
    for collective in collectives:
        where = collective.line or collective.op.shown or str(collective.op)
        lines.setdefault(where, []).append(collective)
    total = sum(collective.seconds for collective in collectives)
    costs = [_cost(where, group, total) for where, group in lines.items()]
    return tuple(sorted(costs, key=lambda cost: -cost.seconds))


def _cost(where: str, group: Sequence[WhyCollective], total: float) -> LineCost:
    kinds = Counter[str]()
    for collective in group:
        kinds[collective.kind] += collective.times.count
    seconds = sum(collective.seconds for collective in group)
    return LineCost(
        where,
        group[0].position or group[0].op.position,
        tuple(kinds.most_common()),
        tuple(dict.fromkeys(collective.axes for collective in group)),
        sum(collective.bytes for collective in group),
        seconds,
        seconds / total if total else 0.0,
        tuple(dict.fromkeys(annotations_of(group))),
    )


def annotations_of(group: Iterable[WhyCollective]) -> Iterator[str]:
    """Yield the annotations that collectives come from, those of the slowest first."""
    for collective in sorted(group, key=lambda collective: -collective.seconds):
        if collective.necessary:
            for need in collective.necessary:
                yield from need.annotations
        else:
            for names in collective.origins.values():
                yield from names
        for part in collective.joined:
            for names in part.origins.values():
                yield from names


def cost_text(cost: LineCost) -> str:
    """Return a cost in a line: `28 %  line 27 of block: 1.0 ms, …, from params['w2']`."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in cost.kinds)
    names = annotations_text(cost.annotations)
    origin = f", from {names}" if names else ""
    axes = dict.fromkeys(", ".join(cost.axes).split(", "))
    return f"{kinds} over {', '.join(axes)}{origin}"


def between(
    left: WhyProgram,
    right: WhyProgram,
    lines: Mapping[Line, Line] = MappingProxyType({}),
) -> Between:
    """Return what two programs cost and which lines make the difference, those first.

    Args:
        lines: which line of the one is which of the other, see `aligned_lines`; others
            are the same where they are called the same.
    """
    before = _by_line(line_costs(left.collectives), lines)
    after = _by_line(line_costs(right.collectives), {})
    pairs = [
        (where, before.get(where), after.get(where))
        for where in dict.fromkeys((*before, *after))
    ]
    changed = [pair for pair in pairs if _change(pair[1], pair[2])]
    changed.sort(key=lambda pair: -abs(_change(pair[1], pair[2])))
    return Between(
        left.source,
        right.source,
        left.figures,
        right.figures,
        tuple((old, new) for _, old, new in changed[:_MOST]),
        len(changed[_MOST:]),
    )


def _by_line(
    costs: Iterable[LineCost], lines: Mapping[Line, Line]
) -> dict[Hashable, LineCost]:
    """Return costs by what those of a line have in common in both programs."""
    by_line: dict[Hashable, LineCost] = {}
    counts: Counter[Hashable] = Counter()
    for cost in costs:
        line = line_of(cost.position)
        # what several lines cost together is apart from what the first of them costs
        key = lines.get(line, line) if line else cost.where, " and " in cost.where
        by_line[key, counts[key]] = cost
        counts[key] += 1
    return by_line


def _change(before: LineCost | None, after: LineCost | None) -> float:
    return (after.seconds if after else 0.0) - (before.seconds if before else 0.0)
