"""Sizes and times as text."""

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


def test_a_time_that_is_almost_a_unit_is_told_in_it():
    texts = [seconds_text(one) for one in (9.999999e-7, 9.4e-7, 0.99999e-3, 1.0)]
    assert texts == ["1.0 us", "940.0 ns", "1.0 ms", "1.0 s"]
