"""One HTML file from the page's sources and the data of a report."""

import json
import re
from html import escape
from importlib.resources import files
from typing import Any

SCRIPTS = (
    *(
        "model.js",
        "layers.js",
        "heat.js",
        "layout.js",
        "picture.js",
        "graph.js",
        "minimap.js",
    ),
    *("svg.js", "outline.js", "details.js"),
    *("stages.js", "tables.js", "time.js", "main.js"),
)
"""In the order in which they run; they share one scope."""

_UNSAFE = {
    character: f"\\u{ord(character):04x}" for character in "<>&\N{LINE SEPARATOR}\u2029"
}


def _source(name: str) -> str:
    return files("ttxdsl.reporting.html").joinpath(name).read_text(encoding="utf-8")


def json_in_html(data: Any) -> str:
    """JSON that may stand in a script element, whatever its strings hold.

    Outside strings JSON has none of the characters that end an element, so that they
    can be written as escapes everywhere.
    """
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "".join(_UNSAFE.get(character, character) for character in text)


def report_page(data: dict[str, Any]) -> str:
    """The page: everything is in it, so that the file can be sent and opened anywhere.

    Args:
        data: see `ttxdsl.reporting.trace.data`.
    """
    parts = {
        "title": escape(f"{data['title']} - ttxdsl report"),
        "css": _source("report.css"),
        "js": '"use strict";\n' + "\n".join(map(_source, SCRIPTS)),
        "data": json_in_html(data),
    }
    # all places at once: what goes into one is not searched for others
    pieces = re.split(r"\{\{(\w+)\}\}", _source("report.html"))
    pieces[1::2] = [parts[name] for name in pieces[1::2]]
    return "".join(pieces)
