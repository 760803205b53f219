"""The data of a report in a tenth of the room, as its page has it (`packed.js`).

A report of 15,000 ops has 100,000 lines, most of which differ in the names of values, in
sixteen listings, most of which are like the one before; and the same few types at all
values. `packed` says such a thing once:

- `texts`: `patterns`, each what stands around the names, and `lines`, one a text: the
  number of its pattern and the names, apart by spaces;
- `rows` of a stage: a row, its op and its text counted from those of the row above, or
  `[from, count]` for so many rows of the stage before, which are as they were;
- `outputs` of a node: `[name, kind]`, and all that a value has beside its name in
  `kinds`;
- `frames` and `path` of a node: numbers of those in `shared`.
"""

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

_NAME = re.compile(r"%([\w$.-]+(?:#\d+)?)")

Row = Sequence[int]
_LINE = itemgetter(0, 1, 2)
"""Of a row: its op, its text and its indentation."""


def packed(data: dict[str, Any]) -> dict[str, Any]:
    """The data as `packed.js` takes it; what it was is left alone."""
    kinds: dict[tuple[Any, ...], tuple[int, dict[str, Any]]] = {}
    shared: dict[tuple[Any, ...], int] = {}
    graph = data["graph"]
    nodes = [
        {
            **node,
            "outputs": [_output(output, kinds) for output in node["outputs"]],
            # a line has many ops
            "frames": shared.setdefault(tuple(map(tuple, node["frames"])), len(shared)),
            "path": shared.setdefault(tuple(node["path"]), len(shared)),
        }
        for node in graph["nodes"]
    ]
    before: Sequence[Row] = ()
    stages: list[dict[str, Any]] = []
    for stage in data["stages"]:
        stages.append({**stage, "rows": list(_runs(stage["rows"], before))})
        before = stage["rows"]
    return {
        **data,
        "graph": {**graph, "nodes": nodes},
        "kinds": [kind for _, kind in kinds.values()],
        "shared": list(shared),
        "stages": stages,
        "texts": _texts(data["texts"]),
    }


def _texts(texts: Iterable[str]) -> dict[str, Any]:
    patterns: dict[tuple[str, ...], int] = {}
    lines: list[str] = []
    for text in texts:
        parts = _NAME.split(text)
        number = patterns.setdefault(tuple(parts[::2]), len(patterns))
        lines.append(" ".join((str(number), *parts[1::2])))
    return {"patterns": list(patterns), "lines": "\n".join(lines)}


def _output(
    output: dict[str, Any], kinds: dict[tuple[Any, ...], tuple[int, dict[str, Any]]]
) -> list[Any]:
    """A value: its name, and the number of what else it has."""
    rest = {key: value for key, value in output.items() if key != "name"}
    # shapes and axes are lists where the data was JSON
    lists = tuple(rest["shape"] or ()), tuple(rest["partial"])
    key = *lists, *(rest[name] for name in ("type", "layout", "local", "bytes"))
    return [output["name"], kinds.setdefault(key, (len(kinds), rest))[0]]


def _runs(rows: Sequence[Row], before: Sequence[Row]) -> Iterable[Row]:
    """The rows of a listing, or where those stand that are as before."""
    places = dict(zip(map(_LINE, before), range(len(before)), strict=True))
    start, count = 0, 0
    above: Row = (0, 0)
    for row in rows:
        # a row is key, text, indentation, change
        same = None if row[3] else places.get(_LINE(row))
        if same is not None and count and same == start + count:
            count += 1
        else:
            if count:
                yield [start, count]
            start, count = (0, 0) if same is None else (same, 1)
            if same is None:
                yield [row[0] - above[0], row[1] - above[1], *row[2:]]
        above = row
    if count:
        yield [start, count]
