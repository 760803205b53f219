"""The costs of a program's lines in collectives, and the annotations they come from."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ttxdsl.diagnostics.errors import Frame, line_text
from ttxdsl.insight.why.answers import Between, LineCost, WhyCollective, WhyProgram

_MOST = 5
_NAMES = 3


def line_costs(collectives: Sequence[WhyCollective]) -> tuple[LineCost, ...]:
    """Return what each line costs, the dearest first.

    Args:
        collectives: of a program, with what they hang on.
    """
    lines: dict[str, list[WhyCollective]] = {}
    for one in collectives:
        lines.setdefault(_where(one), []).append(one)
    total = sum(one.seconds for one in collectives)
    costs = [_cost(where, group, total) for where, group in lines.items()]
    return tuple(sorted(costs, key=lambda cost: -cost.seconds))


def _where(one: WhyCollective) -> str:
    site = one.op
    if site.position is None or not site.function:
        return site.shown or str(site)
    return line_text(Frame(site.function, site.position))


def _cost(where: str, group: Sequence[WhyCollective], total: float) -> LineCost:
    kinds = Counter(one.kind for one in group)
    seconds = sum(one.seconds for one in group)
    return LineCost(
        where,
        group[0].op.position,
        tuple(kinds.most_common()),
        tuple(dict.fromkeys(one.axes for one in group)),
        sum(one.bytes for one in group),
        seconds,
        seconds / total if total else 0.0,
        tuple(dict.fromkeys(_annotations(group))),
    )


def _annotations(group: Iterable[WhyCollective]) -> Iterable[str]:
    for one in sorted(group, key=lambda one: -one.seconds):
        if one.necessary:
            for need in one.necessary:
                yield from need.annotations
        else:
            for names in one.origins.values():
                yield from names


def cost_text(cost: LineCost) -> str:
    """Return a cost in a line: `28 %  line 27 of block: 1.0 ms, …, from params['w2']`."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in cost.kinds)
    names = list(cost.annotations[:_NAMES])
    if (more := len(cost.annotations) - len(names)) > 0:
        names.append(f"{more} more")
    origin = f", from {', '.join(names)}" if names else ""
    return f"{kinds} over {', '.join(cost.axes)}{origin}"


def between(left: WhyProgram, right: WhyProgram) -> Between:
    """Return what two programs cost and which lines make the difference, those first.

    Args:
        left: of the program before.
        right: of the program after.
    """
    before = {cost.where: cost for cost in line_costs(left.collectives)}
    after = {cost.where: cost for cost in line_costs(right.collectives)}
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
        tuple((one, other) for _, one, other in changed[:_MOST]),
        len(changed[_MOST:]),
    )


def _change(before: LineCost | None, after: LineCost | None) -> float:
    return (after.seconds if after else 0.0) - (before.seconds if before else 0.0)
