"""The changes between the programs of two reports, line by line."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ttxdsl.costs.units import bytes_text, seconds_text
from ttxdsl.diagnostics.errors import Frame, line_text
from ttxdsl.insight.why.causes.aligned import Line, line_of

_MOST = 8
"""Lines that are told."""


@dataclass(frozen=True, slots=True)
class LineChange:
    """The bytes and times of one line's collectives in both programs.

    Attributes:
        where: the line, in both programs where they number it otherwise.
        before: kinds, bytes and time in the first, empty where it sends nothing.
        after: the same in the second.
        seconds: that it takes longer in the second.
    """

    where: str
    before: str
    after: str
    seconds: float


def changes(
    left: dict[str, Any], right: dict[str, Any], lines: Mapping[Line, Line]
) -> tuple[list[LineChange], int]:
    """Return the lines that make the difference, those first, and how many more do.

    Args:
        left: see `ttxdsl.insight.report.trace.data`.
        lines: which line of the one is which of the other, see `aligned_lines`.
    """
    sides = left["collectives"], right["collectives"]
    if all(sides) and len({_has_lines(side) for side in sides}) > 1:
        before, after = map(_by_kind, sides)
    else:
        before, after = _by_line(sides[0], lines), _by_line(sides[1], {})
    line_changes: list[LineChange] = []
    for key in dict.fromkeys((*before, *after)):
        sides = before.get(key, []), after.get(key, [])
        ours, theirs = map(_text, sides)
        if ours != theirs:
            spent = [
                sum(collective["seconds"] for collective in side) for side in sides
            ]
            places = dict.fromkeys(_where(key, side[0]) for side in sides if side)
            where = ", now ".join(places)
            line_changes.append(LineChange(where, ours, theirs, spent[1] - spent[0]))
    line_changes.sort(key=lambda change: -abs(change.seconds))
    return line_changes[:_MOST], len(line_changes[_MOST:])


_Groups = dict[object, list[dict[str, Any]]]


def _has_lines(collectives: Iterable[dict[str, Any]]) -> bool:
    return any(collective["function"] for collective in collectives)


def _by_kind(collectives: Iterable[dict[str, Any]]) -> _Groups:
    """Return collectives by kind and axes: of one program only the text has lines."""
    groups: defaultdict[object, list[dict[str, Any]]] = defaultdict(list)
    for collective in collectives:
        groups[f"{collective['kind']} over {collective['axes']}"].append(collective)
    return dict(groups)


def _by_line(
    collectives: Iterable[dict[str, Any]], lines: Mapping[Line, Line]
) -> _Groups:
    groups: defaultdict[object, list[dict[str, Any]]] = defaultdict(list)
    for collective in collectives:
        line = line_of(collective["position"])
        groups[lines.get(line, line) if line else collective["reason"]].append(
            collective
        )
    return dict(groups)


def _text(collectives: Iterable[dict[str, Any]]) -> str:
    """Return `2 all_gather, 13.5 KiB, 10.1 us`."""
    counts: Counter[str] = Counter()
    sent, seconds = 0, 0.0
    for collective in collectives:
        counts[collective["kind"]] += collective["count"]
        sent += collective["bytes"]
        seconds += collective["seconds"]
    if not counts:
        return ""
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"{kinds}, {bytes_text(sent)}, {seconds_text(seconds)}"


def _where(key: object, collective: dict[str, Any]) -> str:
    if isinstance(key, str):
        return key
    if collective["function"]:
        return line_text(Frame(collective["function"], collective["position"]))
    return collective["place"] or collective["reason"]
