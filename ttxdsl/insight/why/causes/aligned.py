"""The lines of one program that are those of another, though lines were inserted or moved.

Lines are compared by what is on them: in each function the ops of each line, and where in
the line each is written; where that is another, the ops alone. Of a text without debug
info the lines are its own.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from difflib import SequenceMatcher

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.attribution.origins import unmarked
from ttxdsl.diagnostics.errors import source_frame
from ttxdsl.ir.traversal import ops_of_type

Line = tuple[str, int]
"""A file and a number."""

_MOST_PAIRS = 4_000_000
"""Lines of a function of one program times those of the other that are compared."""

_Content = tuple[tuple[str, str], ...]
"""Of a line: its ops, and for each what else tells it from others."""


def line_of(position: str | None) -> Line | None:
    """Return the line of a position, `file:line:column`."""
    parts = (position or "").rsplit(":", 2)
    return (
        (parts[0], int(parts[1])) if len(parts) == 3 and parts[1].isdecimal() else None
    )


SourceLines = Mapping[str, Mapping[Line, _Content]]
"""For each function what its lines do, see `source_lines`."""


def aligned_lines(left: ModuleOp, right: ModuleOp) -> dict[Line, Line]:
    """Return for lines of one program those of the other that do the same."""
    return aligned(source_lines(left), source_lines(right))


def aligned(before: SourceLines, after: SourceLines) -> dict[Line, Line]:
    """Return the same of the lines that two programs have."""
    lines: dict[Line, Line] = {}
    for function, own in before.items():
        for line, twin in _aligned(own, after.get(function, {})):
            lines.setdefault(line, twin)
    return lines


def source_lines(module: ModuleOp) -> SourceLines:
    """Return for each function of the source, or else of the text, what its lines do."""
    kinds: defaultdict[str, defaultdict[Line, set[tuple[str, str]]]] = defaultdict(
        lambda: defaultdict(set)
    )
    for function in ops_of_type(module, FuncOp):
        for op in function.walk():
            frame = source_frame(unmarked(op.location))
            line = line_of(frame.position) if frame else None
            if op is not function and frame and line:
                name = frame.function or f"@{function.sym_name.data}"
                column = frame.position.rpartition(":")[2]
                types = " ".join(str(result.type) for result in op.results)
                span = f"{column} {frame.end}" if frame.function else types
                kinds[name][line].add((op.name, span.partition(":")[0]))
    return {
        name: {line: tuple(sorted(lines[line])) for line in sorted(lines)}
        for name, lines in kinds.items()
    }


def _aligned(
    left: Mapping[Line, _Content], right: Mapping[Line, _Content]
) -> list[tuple[Line, Line]]:
    ours, theirs = list(left), list(right)
    pairs, rest = _matched(
        [left[line] for line in ours], [right[line] for line in theirs]
    )
    for mine, other in rest:
        # what was edited does the same somewhere else in its line
        kinds = [_kinds(left[ours[at]]) for at in mine]
        known, changed = _matched(kinds, [_kinds(right[theirs[at]]) for at in other])
        for some, as_many in changed:
            if len(some) == len(as_many):
                known += zip(some, as_many, strict=True)
        pairs += [(mine[a], other[b]) for a, b in known]
    return [(ours[a], theirs[b]) for a, b in pairs]


def _kinds(content: _Content) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, _ in content))


def _matched(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> tuple[list[tuple[int, int]], list[tuple[range, range]]]:
    """Return pairs of equal entries in order, and the stretches between that differ."""
    start = _shared(first, second)
    end = _shared(first[start:][::-1], second[start:][::-1])
    pairs = [(at, at) for at in range(start)]
    pairs += [(len(first) - 1 - at, len(second) - 1 - at) for at in range(end)]
    inner = first[start : len(first) - end], second[start : len(second) - end]
    rest: list[tuple[range, range]] = []
    if len(inner[0]) * len(inner[1]) <= _MOST_PAIRS:
        matcher = SequenceMatcher(None, *inner, autojunk=False)
        for kind, a, until_a, b, until_b in matcher.get_opcodes():
            mine = range(start + a, start + until_a)
            other = range(start + b, start + until_b)
            if kind == "equal":
                pairs += zip(mine, other, strict=True)
            elif kind == "replace":
                rest.append((mine, other))
    return pairs, rest


def _shared(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return how many of the first entries are the same."""
    pairs = zip(first, second, strict=False)
    return next(
        (at for at, pair in enumerate(pairs) if pair[0] != pair[1]),
        min(len(first), len(second)),
    )
