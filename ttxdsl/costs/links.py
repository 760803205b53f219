"""The time of a collective, by the alpha-beta model.

A message of m bytes to a neighbour takes `latency + m / bytes_per_second`, one to a device
that is d links away as often as long. A collective takes `setup` and then what the faster of
the known ways takes; with n devices of which each holds B bytes before, in a ring:

| collective | rounds | bytes a device sends |
|---|---|---|
| all_gather | n-1 | (n-1) B |
| reduce_scatter | n-1 | (n-1)/n B |
| all_reduce | 2 (n-1) | 2 (n-1)/n B |
| all_to_all | n-1 | (n-1)/n B, or n/8 B on the busiest link |
| collective_permute | 1 | B |
| all_slice | 0 | 0 |

In log2(n) rounds, k = 0, 1, …, each with the device 2^k away (recursive doubling, the tree
of small messages):

| collective | bytes in round k |
|---|---|
| all_gather | 2^k B |
| reduce_scatter | B / 2^(k+1) |
| all_reduce | B |
| all_to_all | B / 2 |

In a *ring* and in a *line* the device 2^k away is 2^k links away; where all are connected
with all, through a switch say, it is one. A line has no way round: an all_to_all sends n/4 B
over its middle link. What overlaps is not said here (`ttxdsl.costs.schedule`), and every
group has links of its own.

Source: the alpha-beta (Hockney) model; Thakur, Rabenseifner and Gropp, "Optimization
of Collective Communication Operations in MPICH", 2005, for the ways and their rounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from ttxdsl.costs.ring import Ring, ring_bytes


class Shape(StrEnum):
    """The way in which the devices of a group are connected."""

    RING = "ring"
    LINE = "line"
    ALL = "all-to-all"


@dataclass(frozen=True, slots=True)
class Link:
    """The links between a device and its neighbours.

    Args:
        latency: seconds until the first byte of a message is there.
        bytes_per_second: in one direction.
        shape: which devices are neighbours.
        setup: seconds that each collective takes besides.

    Raises:
        ValueError: if a time is negative, or the speed is not positive.
    """

    latency: float = 1e-6
    bytes_per_second: float = 12.5e9
    shape: Shape = Shape.RING
    setup: float = 0.0

    def __post_init__(self) -> None:
        for least in (self.latency, self.setup):
            if not (isfinite(least) and least >= 0):
                raise ValueError(f"a latency is at least 0 seconds, not {least}")
        if not (isfinite(self.bytes_per_second) and self.bytes_per_second > 0):
            raise ValueError(
                f"a link carries more than 0 bytes a second, not {self.bytes_per_second}"
            )

    def seconds(self, kind: Ring, local_bytes: int, group_size: int) -> float:
        """Return the time of one collective.

        Args:
            local_bytes: what a device holds of the tensor before the collective.
            group_size: how many devices take part in each group.

        Raises:
            ValueError: if the group has no device.
        """
        return self.seconds_of_bytes(
            kind, ring_bytes(kind, local_bytes, group_size), group_size
        )

    def seconds_of_bytes(self, kind: Ring, sent_bytes: int, group_size: int) -> float:
        """The same from the bytes that each device sends, as `ring_bytes` gives them."""
        times = [
            rounds * self.latency + sent / self.bytes_per_second
            for rounds, sent in ways(kind, sent_bytes, group_size, self.shape)
        ]
        return self.setup + min(times) if times else 0.0

    def __str__(self) -> str:
        """`12.5 GB/s, 1 us`, and the shape if it is no ring."""
        shape = "" if self.shape is Shape.RING else f", {self.shape.value}"
        speed = float(f"{self.bytes_per_second / 1e9:.3g}")
        return f"{speed:g} GB/s, {float(f'{self.latency * 1e6:.3g}'):g} us{shape}"


def ways(
    kind: Ring, sent_bytes: int, group_size: int, shape: Shape
) -> Iterator[tuple[int, float]]:
    """The ways to do a collective: latencies one after the other, and bytes."""
    n, rounds = group_size, ring_rounds(kind, group_size)
    if not rounds:
        return
    busiest = float(sent_bytes)
    if kind is Ring.ALL_TO_ALL and shape is not Shape.ALL:
        held = sent_bytes * n / (n - 1)
        busiest = max(busiest, held * n / (8 if shape is Shape.RING else 4))
    yield rounds, busiest
    if kind is Ring.COLLECTIVE_PERMUTE:
        return
    hops = sent = 0.0
    for k in range((n - 1).bit_length()):
        far = 1 if shape is Shape.ALL else 1 << k
        hops += far
        match kind:
            case Ring.ALL_REDUCE:
                each = sent_bytes * n / (2 * (n - 1))
            case Ring.ALL_GATHER:
                each = min(1 << k, n - (1 << k)) * sent_bytes / (n - 1)
            case Ring.ALL_TO_ALL:
                each = sent_bytes * n / (2 * (n - 1))
            case _:
                each = sent_bytes * n / ((n - 1) << k + 1)
        sent += far * each
    yield int(hops), sent


DEFAULT_LINK = Link()
"""One 100 Gbit/s Ethernet link, as between the chips of a Tenstorrent Wormhole.

The microsecond of latency is a round figure, not a measurement.
"""


def ring_rounds(kind: Ring, group_size: int) -> int:
    """Return the number of messages that each device sends, one after the other.

    Raises:
        ValueError: if the group has no device.
    """
    if group_size < 1:
        raise ValueError(f"a group has at least one device, not {group_size}")
    others = group_size - 1
    match kind:
        case Ring.ALL_SLICE:
            return 0
        case Ring.COLLECTIVE_PERMUTE:
            return 1 if others else 0
        case Ring.ALL_GATHER | Ring.ALL_TO_ALL | Ring.REDUCE_SCATTER:
            return others
        case Ring.ALL_REDUCE:
            return 2 * others
