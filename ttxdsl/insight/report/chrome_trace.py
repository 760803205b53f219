"""The timeline of a report as Chrome's trace viewer and Perfetto read it.

Each lane is a thread of one process; complete events (`ph` X) have microseconds. Loops are
in a lane of their own, with what they do in their first iteration below.

Source: "Trace Event Format", the JSON object format of Chrome's tracing.
"""

from typing import Any

from ttxdsl.analysis.attribution.authored import SEPARATOR
from ttxdsl.diagnostics.errors import Frame, line_text, place_text

_LANES = {"both": "loops", "compute": "computes", "link": "sends"}


def chrome_trace(data: dict[str, Any]) -> dict[str, Any]:
    """The trace of a report's data (`ttxdsl.insight.report.trace.data`)."""
    threads = {lane: number for number, lane in enumerate(_LANES)}
    names = {"name": "process_name", "args": {"name": f"a device of {data['title']}"}}
    named: list[dict[str, Any]] = [{"ph": "M", "pid": 0, **names}]
    named += [
        {
            "ph": "M",
            "name": "thread_name",
            "pid": 0,
            "tid": threads[lane],
            "args": {"name": name},
        }
        for lane, name in _LANES.items()
    ]
    sent = {collective["node"]: collective for collective in data["collectives"]}
    timeline: dict[str, Any] = data["timeline"] or {"events": []}
    events = [
        {
            "ph": "X",
            "name": f"{name}{_line(data, node, sent)}" if lane != "both" else name,
            "cat": lane,
            "pid": 0,
            "tid": threads[lane],
            "ts": start * 1e6,
            "dur": seconds * 1e6,
            "args": {"times": times, "depth": depth, **_author(data, node, sent)},
        }
        for lane, name, start, seconds, times, depth, node in timeline["events"]
    ]
    return {
        "traceEvents": [*named, *events],
        "displayTimeUnit": "ns",
        "otherData": {"title": data["title"], "machine": data["machine"]},
    }


def _frame(
    data: dict[str, Any], node: int, sent: dict[int, dict[str, Any]]
) -> Frame | None:
    """Return the line of an event; that of a collective is what it is sent for."""
    if (collective := sent.get(node)) and collective["position"]:
        return Frame(collective["function"] or "", collective["position"])
    frames = data["graph"]["nodes"][node]["frames"] if node >= 0 else ()
    return Frame(*frames[0]) if frames else None


def _line(data: dict[str, Any], node: int, sent: dict[int, dict[str, Any]]) -> str:
    """Return the line of an event in words, ` at line 12 of block`."""
    frame = _frame(data, node, sent)
    return f" at {line_text(frame)}" if frame and frame.function else ""


def _author(
    data: dict[str, Any], node: int, sent: dict[int, dict[str, Any]]
) -> dict[str, str]:
    """Return where the author has what an event does, and why it is sent."""
    if node < 0:
        return {}
    frame = _frame(data, node, sent)
    named = {
        "scope": SEPARATOR.join(data["graph"]["nodes"][node]["path"]),
        "line": place_text(frame.position, frame.function or None) if frame else "",
        "why": sent[node]["reason"] if node in sent else "",
    }
    return {name: text for name, text in named.items() if text}
