"""The collectives of two programs, where the text of one has no lines of a source."""

from typing import Any

from ttxdsl.insight.report.beside import changes


def _sent(kind: str, axes: str, function: str | None, line: int) -> dict[str, Any]:
    return {
        **{"kind": kind, "axes": axes, "function": function, "count": 1, "bytes": 64},
        **{"position": f"a.py:{line}:1", "place": f"a.py:{line}", "seconds": 1e-6},
        "reason": "",
    }


def test_a_text_without_lines_is_compared_by_kind_and_axes():
    told = [_sent("all_gather", "x", "step", 3), _sent("all_reduce", "x", "step", 4)]
    bare = [_sent("all_gather", "x", None, 8), _sent("all_gather", "x", None, 9)]
    found, more = changes({"collectives": told}, {"collectives": bare}, {})
    assert {(change.where, change.before, change.after) for change in found} == {
        (
            "all_gather over x",
            "1 all_gather, 64 B, 1.0 us",
            "2 all_gather, 128 B, 2.0 us",
        ),
        ("all_reduce over x", "1 all_reduce, 64 B, 1.0 us", ""),
    }
    assert not more
    # the same with the lines of both
    found, _ = changes({"collectives": told}, {"collectives": told[:1]}, {})
    assert [change.where for change in found] == ["line 4 of step"]
