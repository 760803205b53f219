"""The timeline of a report as Chrome's trace viewer and Perfetto read it.

Each lane is a thread of one process; complete events (`ph` X) have microseconds. Loops are
in a lane of their own, with what they do in their first turn below.

Source: "Trace Event Format", the JSON object format of Chrome's tracing.
"""

from typing import Any

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
            "name": name,
            "cat": lane,
            "pid": 0,
            "tid": threads[lane],
            "ts": start * 1e6,
            "dur": seconds * 1e6,
            "args": {"times": times, "depth": depth},
        }
        for lane, name, start, seconds, times, depth, _ in timeline["events"]
    ]
    return {
        "traceEvents": [*named, *events],
        "displayTimeUnit": "ns",
        "otherData": {"title": data["title"], "machine": data["machine"]},
    }
