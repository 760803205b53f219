"""The order of programs: by memory that is there, time, bytes, memory."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ttxdsl.insight.why.answers import Figures

_TIME_ERROR = 0.02
"""Times that differ by less are equal: the model is not better than that."""
_TRUSTED = 0.1
"""The part of the time that more bytes and more memory have to save."""
_TRUSTED_SCATTERS = 0.25
"""The same of bytes that fall because sums are kept in parts: not all compilers do that."""
_NOTICEABLE = 0.005
"""Bytes and memory that differ by less are equal."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order of programs on devices with so much memory; None: any will do."""

    memory: int | None

    def fits(self, figures: Figures) -> bool:
        """Return True if a device has the memory."""
        peak = figures.peak_bytes
        return self.memory is None or peak is None or peak <= self.memory

    def helps(self, before: Figures, after: Figures) -> bool:
        """Return True if a change is worth writing.

        It fits into the memory, which the program did not; or the step takes less time,
        and the part saved is that of the memory it adds (unless the memory is given); or
        it takes as long, and less bytes or memory, and no more of the other. Bytes that
        fall because sums are kept in parts count only if they save a quarter of the time.
        """
        if self.fits(before) != self.fits(after):
            return self.fits(after)
        if not self.fits(before) and _less(after.peak_bytes, before.peak_bytes):
            return True
        faster = before.program_seconds - after.program_seconds
        sent = after.bytes, before.bytes
        held = after.peak_bytes, before.peak_bytes
        error = _TIME_ERROR * before.program_seconds
        if faster < -error:
            return False
        if faster > error:
            saved = faster / before.program_seconds
            if _only_scatters(before, after) and saved < _TRUSTED_SCATTERS:
                return False
            if _less(*sent[::-1]) and _less(*held[::-1]) and saved < _TRUSTED:
                return False
            return self.memory is not None or saved >= _growth(before, after)
        sends_less = _less(*sent) and not _only_scatters(before, after)
        return (sends_less and not _less(*held[::-1])) or (
            _less(*held)
            and not _less(*sent[::-1])
            and not _only_scatters(before, after)
        )

    def classes(
        self, items: Iterable[Item], figures: Callable[[Item], Figures]
    ) -> list[list[Item]]:
        """Return items in classes of equal time, the best class first.

        In a class the fewest bytes come first, then the least memory.
        """
        rest: list[Item] = sorted(items, key=lambda item: self._key(figures(item)))
        classes: list[list[Item]] = []
        while rest:
            fastest = figures(rest[0])
            limit = fastest.program_seconds * (1 + _TIME_ERROR)
            fits = self.fits(fastest)
            equal: list[Item] = [
                item
                for item in rest
                if figures(item).program_seconds <= limit
                and self.fits(figures(item)) == fits
            ]
            rest = [item for item in rest if not any(item is other for other in equal)]
            equal.sort(key=lambda item: self._key(figures(item))[2:])
            classes.append(equal)
        return classes

    def ranked(
        self, items: Iterable[Item], figures: Callable[[Item], Figures]
    ) -> list[Item]:
        """Return items, the best first."""
        return [item for equal in self.classes(items, figures) for item in equal]

    def is_better(self, after: Figures, other: Figures) -> bool:
        """Return True if one program ranks before another."""
        pair: Sequence[Figures] = (other, after)
        return self.ranked(pair, lambda item: item)[0] is after and after != other

    def _key(self, after: Figures) -> tuple[float, ...]:
        over = 0 if self.fits(after) else after.peak_bytes or 0
        return over, after.program_seconds, after.bytes, after.peak_bytes or 0


def dominates(figures: Figures, other: Figures) -> bool:
    """Return True if a program costs no more than another in anything."""
    return (
        figures.program_seconds <= other.program_seconds
        and figures.bytes <= other.bytes
        and (figures.peak_bytes or 0) <= (other.peak_bytes or 0)
    )


def _only_scatters(before: Figures, after: Figures) -> bool:
    """Return True if bytes fall only where a sum is kept in parts.

    That is worth what it says where the next compiler keeps it so.
    """
    return _less(after.bytes, before.bytes) and not _less(
        after.summed_bytes, before.summed_bytes
    )


def _growth(before: Figures, after: Figures) -> float:
    """Return the part by which the memory grows."""
    if not before.peak_bytes or after.peak_bytes is None:
        return 0.0
    return after.peak_bytes / before.peak_bytes - 1


def _less(size: int | None, other: int | None) -> bool:
    """Return True if a size is noticeably smaller."""
    return size is not None and other is not None and size < other * (1 - _NOTICEABLE)
