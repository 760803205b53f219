"""How much work something does, in calls: a count that no other process disturbs.

Seconds depend on the machine, on what else runs and on the garbage collector, so a test
that compares them fails now and then. Calls of Python and of C functions are the same
on every run; what a single C call does (a long list searched) is not seen.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls(work: Callable[[], object]) -> int:
    """The functions that `work` calls, Python's and C's, in this thread."""
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
