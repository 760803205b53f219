"""How long a collective takes, by the alpha-beta model on a ring.

A message of m bytes takes `latency + m / bytes_per_second`. In a ring of n devices all
send to their neighbour at once, in rounds; the time of a collective is the number of
rounds times the latency, plus the bytes that one device sends
(`ttxdsl.sharding.cost.ring_bytes`) over the speed of its link:

    seconds = rounds * latency + bytes / bytes_per_second

| collective | rounds | bytes (B: what a device holds before) |
|---|---|---|
| all_gather | n-1 | (n-1) B |
| reduce_scatter | n-1 | (n-1)/n B |
| all_reduce | 2 (n-1) | 2 (n-1)/n B |
| all_to_all | n-1 | (n-1)/n B |
| collective_permute | 1 | B |
| all_slice | 0 | 0 |

Nothing overlaps, neither with another collective nor with computing, and every group
has links of its own: the figures compare programs, they do not predict a machine.

Source: the alpha-beta (Hockney) model; Thakur, Rabenseifner and Gropp, "Optimization
of Collective Communication Operations in MPICH", 2005, for the rounds.
"""

from dataclasses import dataclass
from math import isfinite

from ttxdsl.sharding.cost import Ring, ring_bytes


@dataclass(frozen=True, slots=True)
class Link:
    """What connects a device with the next one of its ring.

    Args:
        latency: seconds until the first byte of a message is there.
        bytes_per_second: in one direction.

    Raises:
        ValueError: if the latency is negative, or the speed is not positive.
    """

    latency: float = 1e-6
    bytes_per_second: float = 12.5e9

    def __post_init__(self) -> None:
        if not (isfinite(self.latency) and self.latency >= 0):
            raise ValueError(f"a latency is at least 0 seconds, not {self.latency}")
        if not (isfinite(self.bytes_per_second) and self.bytes_per_second > 0):
            raise ValueError(
                f"a link carries more than 0 bytes a second, not {self.bytes_per_second}"
            )

    def seconds(self, kind: Ring, local_bytes: int, group_size: int) -> float:
        """The time of one collective.

        Args:
            kind: the collective.
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
        rounds = ring_rounds(kind, group_size)
        return rounds * self.latency + sent_bytes / self.bytes_per_second

    def __str__(self) -> str:
        """`12.5 GB/s, 1 us`."""
        return f"{self.bytes_per_second / 1e9:g} GB/s, {self.latency * 1e6:g} us"


DEFAULT_LINK = Link()
"""One 100 Gbit/s Ethernet link, as between the chips of a Tenstorrent Wormhole.

The microsecond of latency is a round figure, not a measurement.
"""


def ring_rounds(kind: Ring, group_size: int) -> int:
    """How many messages each device sends, one after the other.

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
