"""The timeline of a report as Chrome's trace viewer and Perfetto read it.

Each lane is a thread of one process; complete events (`ph` X) have microseconds. Loops are
in a lane of their own, with what they do in their first turn below.

Source: "Trace Event Format", the JSON object format of Chrome's tracing.
"""

from typing import Any

from ttxdsl.analysis.attribution.authored import SEPARATOR
from ttxdsl.diagnostics.errors import Frame, line_text, place_text

_LANES = {"both": "loops", "compute": "computes", "link": "sends"}


def chrome_trace(data: dict[str, Any]) -> dict[str, Any]:
    """The trace of a report's data (`ttxdsl.insight.report.trace.data`)."""
    threads = {lane: number for number, lane in enumerate(_LANES)}
    named = [
        {
            "ph": "M",
            "name": "thread_name",
            "pid": 0,
            "tid": threads[lane],
            "args": {"name": name},
        }
        for lane, name in _LANES.items()
    ]
    timeline: dict[str, Any] = data["timeline"] or {"events": []}
    events = [
        {
            "ph": "X",
            "name": f"{name}{_line(data, node)}" if lane != "both" else name,
            "cat": lane,
            "pid": 0,
            "tid": threads[lane],
            "ts": start * 1e6,
            "dur": seconds * 1e6,
            "args": {"times": times, "depth": depth, **_author(data, node)},
        }
        for lane, name, start, seconds, times, depth, node in timeline["events"]
    ]
    return {
        "traceEvents": [*named, *events],
        "displayTimeUnit": "ns",
        "otherData": {"title": data["title"], "machine": data["machine"]},
    }


def _line(data: dict[str, Any], node: int) -> str:
    """Return the line of an event in words, ` at line 12 of block`."""
    frames = data["graph"]["nodes"][node]["frames"] if node >= 0 else ()
    if not frames or not frames[0][0]:
        return ""
    function, position = frames[0]
    return f" at {line_text(Frame(function, position))}"


def _author(data: dict[str, Any], node: int) -> dict[str, str]:
    """Return where the author has what an event does."""
    if node < 0:
        return {}
    known = data["graph"]["nodes"][node]
    scope = SEPARATOR.join(known["path"])
    line = (
        place_text(known["frames"][0][1], known["frames"][0][0])
        if known["frames"]
        else ""
    )
    named = {"scope": scope, "line": line}
    return {name: text for name, text in named.items() if text}
