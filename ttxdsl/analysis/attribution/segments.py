"""Cut a long row of ops between blocks that repeat, else where few values are alive.

Layers that JAX unrolled repeat the same ops. Layers without names are found by the
distance at which the same short sequences of ops repeat.
"""

from collections import Counter
from collections.abc import Sequence

_FEWEST = 24
"""Ops of a segment."""
_SEGMENTS = 48
"""About how many segments a row without repeated blocks is cut into."""
_LONGEST_BLOCK = 600
_FEWEST_BLOCKS = 3
_IN_A_ROW = 12
"""Ops by which two places are taken to be alike, before that is looked at."""
_TRIED = 8
"""Of distances, the most frequent ones."""


def segments_of(labels: Sequence[str], alive: Sequence[int]) -> list[tuple[int, int]]:
    """The segments of a row, each from where to where.

    Takes time linear in the row's length.

    Args:
        alive: how many values are used across the place before each op, and at the end.
    """
    pieces: list[tuple[int, int]] = []
    pending = [(0, len(labels))]
    while pending:
        start, end = pending.pop()
        repetition = _blocks(labels, alive, start, end)
        if repetition is None:
            pieces += _by_values(alive, start, end)
            continue
        first, period, count = repetition
        last = first + period * count
        pieces += ((at, at + period) for at in range(first, last, period))
        pending += (part for part in ((start, first), (last, end)) if part[0] < part[1])
    return sorted(pieces)


def _by_values(alive: Sequence[int], start: int, end: int) -> list[tuple[int, int]]:
    """Segments that end where few values are alive."""
    longest = max(2 * _FEWEST, 2 * (end - start) // _SEGMENTS)
    pieces: list[tuple[int, int]] = []
    while start < end:
        cut = end
        if end - start > longest:
            choices = range(start + longest // 2, start + longest)
            cut = min(choices, key=lambda at: (alive[at], -at))
        pieces.append((start, cut))
        start = cut
    return pieces


def _blocks(
    labels: Sequence[str], alive: Sequence[int], start: int, end: int
) -> tuple[int, int, int] | None:
    """The blocks that repeat in a part of a row: where the first is, their length, how many.

    None if there are no three, or they are less than a quarter of the part.
    """
    before: dict[tuple[str, ...], int] = {}
    distances: Counter[int] = Counter()
    for at in range(start, end - _IN_A_ROW + 1):
        row = tuple(labels[at : at + _IN_A_ROW])
        if (known := before.get(row)) is not None:
            apart = at - known
            # of what is short several are a block
            distances[apart * -(-_FEWEST // apart)] += 1
        before[row] = at
    best: tuple[int, int, int] | None = None
    for period, _ in distances.most_common(_TRIED):
        if period > _LONGEST_BLOCK:
            continue
        first, last = _longest_repeat(labels, start, end, period)
        count = (last - first) // period
        if count < _FEWEST_BLOCKS or 4 * period * count < end - start:
            continue
        if best is None or period * count > best[1] * best[2]:
            # of all ways to cut it that with the fewest values alive
            spare = last - first - period * count
            shifts = range(spare + 1) if spare < period else range(period)
            cuts = {
                shift: sum(
                    alive[at]
                    for at in range(
                        first + shift, first + shift + period * count, period
                    )
                )
                for shift in shifts
            }
            best = first + min(cuts, key=lambda shift: cuts[shift]), period, count
    return best


def _longest_repeat(
    labels: Sequence[str], start: int, end: int, period: int
) -> tuple[int, int]:
    """The longest part of a row in which each op is as the one so far behind it."""
    best, begin = (start, start), start
    for at in range(start, end):
        if at + period < end and labels[at] == labels[at + period]:
            continue
        if at > begin and at - begin + period > best[1] - best[0]:
            best = begin, at + period
        begin = at + 1
    return best
