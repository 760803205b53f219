"""Sizes and times as text."""

from __future__ import annotations

import pytest

from ttxdsl.costs.units import bytes_text, parse_bytes, seconds_text


@pytest.mark.parametrize(
    ("text", "size"),
    [("512", 512), ("4MiB", 4 << 20), ("1.5 KiB", 1536), ("2gb", 2 * 10**9), ("0B", 0)],
)
def test_sizes(text: str, size: int):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MiB", "4 MiX", "-1", "0.5", "1e3"])
def test_no_sizes(text: str):
    with pytest.raises(ValueError, match="is no"):
        parse_bytes(text)


def test_texts():
    assert [bytes_text(n) for n in (0, 1023, 1536, 5 << 30)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "5.0 GiB",
    ]
    assert [seconds_text(s) for s in (2.0, 0.0123, 8e-7, 1.5e-6)] == [
        "2.0 s",
        "12.3 ms",
        "800.0 ns",
        "1.5 us",
    ]
