"""The end of a search in time, wherever it is."""

import gc
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic
from types import FrameType


class TimeIsOverError(Exception):
    """The time for a search is over."""


_SOON = 0.01
"""Seconds until it is tried again, where an exception would be lost."""


def _swallows(frame: FrameType | None) -> bool:
    """Whether a finalizer or a callback of the garbage collector is running."""
    callbacks = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code in callbacks:
            return True
        frame = frame.f_back
    return False


@contextmanager
def ending_at(end: float) -> Generator[None]:
    """Raise `TimeIsOverError` inside when the time is over, also within a compilation.

    Nothing is raised outside of the main thread, without timers, or while another timer
    runs: the search then ends after the current compilation.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or not hasattr(signal, "setitimer")
        or signal.getitimer(signal.ITIMER_REAL)[0]
    ):
        yield
        return
    is_inside = True

    def ring(number: int, frame: FrameType | None) -> None:
        if not is_inside:
            return
        if _swallows(frame):
            signal.setitimer(signal.ITIMER_REAL, _SOON)
            return
        raise TimeIsOverError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, end - monotonic()))
    try:
        yield
    finally:
        is_inside = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
