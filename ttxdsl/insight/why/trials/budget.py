"""The processor time that changes of a program may take."""

from collections.abc import Generator
from contextlib import contextmanager
from time import process_time


class TimeBudget:
    """Seconds of processor time to compile changes in.

    Args:
        expected: how many the first compilation is expected to take, later ones as many
            as the one before.
    """

    def __init__(self, seconds: float, expected: float):
        self._left, self._expected = seconds, expected

    def allows(self, part: float = 1.0) -> bool:
        """Return True if there is time for such a part of one more compilation."""
        return part * self._expected <= self._left

    @contextmanager
    def spending(self, part: float = 1.0) -> Generator[None]:
        """Take the time of the enclosed code, such a part of a compilation."""
        start = process_time()
        try:
            yield
        finally:
            seconds = process_time() - start
            self._left -= seconds
            self._expected = seconds / part
