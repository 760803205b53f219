"""Bytes, seconds and lists of numbers as people write them: `4MiB`, `1.5 ms`, `0-3,8`."""

import re
from collections.abc import Sequence

_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def parse_bytes(text: str) -> int:
    """Return the bytes that a text like `16GiB`, `4 MB`, `1.5KiB` or `512` means.

    Raises:
        ValueError: the text is no number with one of these units, or no whole number
            of bytes.
    """
    match = _NUMBER.fullmatch(text.strip())
    unit = None if match is None else _UNITS.get(match[2].lower())
    if match is None or unit is None:
        raise ValueError(f"'{text}' is no size: write a number and B, KiB, MiB or GiB")
    size = float(match[1]) * unit
    if not size.is_integer():
        raise ValueError(f"'{text}' is no whole number of bytes")
    return int(size)


def bytes_text(count: int) -> str:
    """`512 B`, `1.5 KiB`, `16.0 GiB`."""
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


def seconds_text(seconds: float) -> str:
    """`0.8 us`, `12.3 ms`, `4.5 s`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= 0.99995 * size:  # which is written as 1000.0 of a smaller unit
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds * 1e9:.1f} ns"


def number_ranges(numbers: Sequence[int]) -> str:
    """Numbers with runs written short: `0-3,8`."""
    ordered = sorted(numbers)
    parts: list[str] = []
    start = 0
    for at in range(1, len(ordered) + 1):
        if at < len(ordered) and ordered[at] == ordered[at - 1] + 1:
            continue
        first, last = ordered[start], ordered[at - 1]
        parts.append(str(first) if first == last else f"{first}-{last}")
        start = at
    return ",".join(parts)


def others(count: int) -> str:
    """Return `1 other`, `5 others`."""
    return f"{count} {'other' if count == 1 else 'others'}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names as one says them: `a`, `a and b`, `a, b and c`."""
    *first, last = names or ("",)
    return f"{', '.join(first)} {word} {last}" if first else last
