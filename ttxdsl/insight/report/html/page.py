"""One HTML file from the page's sources and the data of a report."""

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ttxdsl.costs.units import bytes_text, others, seconds_text
from ttxdsl.insight.report.beside import changes
from ttxdsl.insight.report.html.packing import packed
from ttxdsl.insight.report.rewritten import AnnotationChange
from ttxdsl.insight.why.causes.aligned import Line

SCRIPTS = (
    *("packed.js", "model.js", "layers.js", "heat.js", "layout.js", "picture.js"),
    *("graph.js", "minimap.js", "moving.js", "svg.js", "outline.js", "details.js"),
    *("stages.js", "tables.js", "time.js", "summary.js", "main.js"),
)
"""In the order in which they run, behind `start.js`; they share one scope."""


_LEVEL = 5
"""The level of zlib: beside 6 a page is 1% larger and compressed in half the time."""


def _source(name: str) -> str:
    return (
        files("ttxdsl.insight.report.html").joinpath(name).read_text(encoding="utf-8")
    )


def _deflated(data: Any) -> str:
    """JSON as `start.js` reads it: deflated, in letters that no element ends at."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return b64encode(zlib.compress(text.encode(), _LEVEL)).decode()


def report_page(data: dict[str, Any]) -> str:
    """The page: everything is in it, so that the file can be sent and opened anywhere.

    Args:
        data: see `ttxdsl.insight.report.trace.data`.
    """
    parts = {
        "head": _head(str(data["title"]), "report.css"),
        "js": '"use strict";\n' + "\n".join(map(_source, SCRIPTS)),
        "data": _deflated(packed(data)),
        "start": _source("start.js"),
    }
    return _filled("report.html", parts)


def _head(title: str, css: str) -> str:
    """Return the head of a page: it loads nothing, and has its style in it."""
    parts = {"title": escape(f"{title} - ttxdsl report"), "css": _source(css)}
    return _filled("head.html", parts)


def _filled(name: str, parts: dict[str, str]) -> str:
    """A page with all its places filled at once: what goes into one has none itself."""
    pieces = re.split(r"\{\{(\w+)\}\}", _source(name))
    pieces[1::2] = [parts[place] for place in pieces[1::2]]
    return "".join(pieces)


_FIGURES: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("ops", "ops", "{:,}".format),
    ("collectives", "collectives", "{:,}".format),
    ("bytes", "sent by each device", bytes_text),
    ("seconds", "modelled time", seconds_text),
    ("peak_bytes", "peak memory of a device", bytes_text),
)
"""What two reports are compared by: the field of the summary, its name and its text."""


def beside_page(
    left: dict[str, Any],
    right: dict[str, Any],
    lines: Mapping[Line, Line] = MappingProxyType({}),
    annotations: Sequence[AnnotationChange] = (),
) -> str:
    """Two reports in one page, with their figures and what changed above.

    Args:
        left: see `ttxdsl.insight.report.trace.data`.
        lines: which line of the one is which of the other, see `aligned_lines`.
        annotations: that are other ones in the second, see `rewritten`.
    """
    titles = [str(data["title"]) for data in (left, right)]
    names = [title.rpartition("/")[2] for title in titles]
    heads = [
        f'<th title="{escape(title)}">{side} <b>{escape(name)}</b></th>'
        for side, title, name in zip("AB", titles, _apart(names, titles), strict=True)
    ]
    rows = [f"<th></th>{''.join(heads)}<th>B - A</th>"]
    for field, name, text in _FIGURES:
        both = [data["summary"][field] for data in (left, right)]
        if None in both:
            continue
        change = both[1] - both[0]
        sign, way = ("+", "more") if change > 0 else ("-", "less")
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in (name, *map(text, both)))
        difference = f'<td class="{way}">{sign}{text(abs(change))}</td>'
        rows.append(cells + (difference if change else "<td>=</td>"))
    parts = {
        "head": _head(" beside ".join(titles), "beside.css"),
        "rows": "".join(f"<tr>{row}</tr>" for row in rows),
        "changes": _annotations(annotations) + _changes(left, right, lines),
        "left": escape(report_page(left)),
        "right": escape(report_page(right)),
    }
    return _filled("beside.html", parts)


def _apart(names: list[str], titles: list[str]) -> list[str]:
    """Return the names of two files; their paths where both are called the same."""
    return names if len(set(names)) == len(names) else titles


_MOST_ANNOTATIONS = 8
"""Annotations that are told."""


def _row(cells: Iterable[str], effect: str = "") -> str:
    """Return a row of what changed; on a narrow screen A and B stand before the cells."""
    texts = zip(("where", "a", "b"), cells, strict=True)
    row = "".join(f'<td class="{side}">{escape(cell)}</td>' for side, cell in texts)
    return f"<tr>{row}{effect or '<td></td>'}</tr>"


def _annotations(changes: Sequence[AnnotationChange]) -> str:
    """The annotations that somebody wrote otherwise, as rows of a table."""
    if not changes:
        return ""
    rows = [
        _row((change.where, change.before, change.after))
        for change in changes[:_MOST_ANNOTATIONS]
    ]
    if more := len(changes[_MOST_ANNOTATIONS:]):
        rows.append(f"<tr><td>and {others(more)}</td></tr>")
    head = "<tr><th>written otherwise</th><th>A</th><th>B</th><th></th></tr>"
    return head + "".join(rows)


def _changes(
    left: dict[str, Any], right: dict[str, Any], lines: Mapping[Line, Line]
) -> str:
    """The lines that send otherwise, as rows of a table; a sentence if there are none."""
    line_changes, more = changes(left, right, lines)
    if not line_changes:
        return '<tr><td colspan="4">every line sends the same</td></tr>'
    rows = ["<tr><th>sent otherwise</th><th>A</th><th>B</th><th></th></tr>"]
    for line_change in line_changes:
        sign = "slower" if line_change.seconds > 0 else "faster"
        change = (
            f"{seconds_text(abs(line_change.seconds))} {sign}"
            if line_change.seconds
            else ""
        )
        cells = (
            line_change.where,
            line_change.before or "nothing",
            line_change.after or "nothing",
        )
        way = "more" if line_change.seconds > 0 else "less"
        rows.append(_row(cells, f'<td class="{way}">{escape(change)}</td>'))
    if more:
        rows.append(f"<tr><td>and {others(more)}</td></tr>")
    return "".join(rows)
