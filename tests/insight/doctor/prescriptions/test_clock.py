"""The end of a search in time: raised in the midst of work, and never lost."""

import gc
import signal
from collections.abc import Callable
from time import monotonic

import pytest

from ttxdsl.insight.doctor.prescriptions.clock import TimeIsOverError, ending_at


class Finalized:
    """Something whose finalizer does work."""

    def __init__(self, work: Callable[[], None]):
        self.work = work

    def __del__(self):
        self.work()


def ring() -> None:
    """Let the time be over now."""
    signal.raise_signal(signal.SIGALRM)


def wait() -> None:
    """Work until somebody ends it."""
    end = monotonic() + 10
    while monotonic() < end:
        pass


def test_it_ends_in_the_midst_of_work():
    with pytest.raises(TimeIsOverError), ending_at(monotonic()):
        wait()


def test_in_a_finalizer_it_waits():
    """There an exception would be printed and lost."""
    with pytest.raises(TimeIsOverError), ending_at(monotonic() + 60):
        Finalized(ring)
        wait()


def test_in_a_callback_of_the_collector_it_waits(monkeypatch: pytest.MonkeyPatch):
    def callback(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            ring()

    monkeypatch.setattr(gc, "callbacks", [callback])  # is read by the clock only
    with pytest.raises(TimeIsOverError), ending_at(monotonic() + 60):
        callback("start", {})
        wait()
