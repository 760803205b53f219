"""The time of a collective: rounds and bytes on a ring."""

import pytest

from ttxdsl.costs.links import DEFAULT_LINK, Link, ring_rounds
from ttxdsl.costs.ring import Ring, ring_bytes

LINK = Link(latency=2.0, bytes_per_second=10.0)


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        # four devices, 120 bytes each
        (Ring.ALL_GATHER, 3 * 2 + 360 / 10),
        (Ring.REDUCE_SCATTER, 3 * 2 + 90 / 10),
        (Ring.ALL_REDUCE, 6 * 2 + 180 / 10),
        (Ring.ALL_TO_ALL, 3 * 2 + 90 / 10),
        (Ring.COLLECTIVE_PERMUTE, 2 + 120 / 10),
        (Ring.ALL_SLICE, 0),
    ],
)
def test_rounds_and_bytes(kind: Ring, seconds: float):
    assert LINK.seconds(kind, 120, 4) == seconds
    assert LINK.seconds_of_bytes(kind, ring_bytes(kind, 120, 4), 4) == seconds


@pytest.mark.parametrize("kind", Ring)
def test_one_device_talks_to_nobody(kind: Ring):
    assert LINK.seconds(kind, 120, 1) == 0


def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather():
    whole = LINK.seconds(Ring.ALL_REDUCE, 120, 4)
    parts = LINK.seconds(Ring.REDUCE_SCATTER, 120, 4)
    assert whole == parts + LINK.seconds(Ring.ALL_GATHER, 30, 4)


def test_text_says_what_was_assumed():
    assert str(DEFAULT_LINK) == "12.5 GB/s, 1 us"
    assert str(Link(0, 400e9)) == "400 GB/s, 0 us"


@pytest.mark.parametrize("link", [(-1.0, 1.0), (1.0, 0.0), (float("nan"), 1.0)])
def test_impossible_links(link: tuple[float, float]):
    with pytest.raises(ValueError):
        Link(*link)


def test_a_group_has_a_device():
    with pytest.raises(ValueError, match="at least one device"):
        ring_rounds(Ring.ALL_GATHER, 0)
