"""Locations without numbers, of ops in many calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from xdsl.dialects import test
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    IntAttr,
    StringAttr,
)

from ttxdsl.analysis.attribution.origins import Origins, Unmarked, unmarked


def at(line: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("step.py"), IntAttr(line), IntAttr(1))


def marked(location: Any) -> Any:
    op = test.TestOp()
    op.location = location
    Origins().mark([op])
    assert op.location != location
    return op.location


def test_numbers_are_taken_off_both_ends_of_a_call():
    assert unmarked(CallSiteLoc(marked(at(1)), marked(at(2)))) == CallSiteLoc(
        at(1), at(2)
    )


def test_equal_locations_become_one_object():
    plain = Unmarked()
    one = plain(CallSiteLoc(marked(at(1)), marked(at(2))))
    assert plain(CallSiteLoc(at(1), at(2))) is one
    assert plain(CallSiteLoc(at(2), at(1))) is not one


def settled(run: Callable[[], object]) -> int:
    """How many call sites are settled while something runs."""
    count = 0

    def profile(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        if event == "call" and frame.f_code.co_name == "_settle":
            count += isinstance(frame.f_locals.get("location"), CallSiteLoc)

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def test_ops_in_nested_calls_share_their_work():
    depth = 100
    locations: list[Any] = []
    caller: Any = at(0)
    for line in range(1, depth):
        caller = CallSiteLoc(marked(at(line)), caller)
        locations.append(caller)
    plain = Unmarked()
    assert settled(lambda: [plain(each) for each in locations]) == len(locations)
