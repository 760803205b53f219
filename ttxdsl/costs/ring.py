"""The bytes that a collective moves, by the ring model.

The devices of a group of size n stand in a ring and each sends to its neighbour at
the same time, so the time goes with the bytes that *one* device sends (and receives).
With B the bytes that a device holds before, or what one shard takes:

| collective | bytes a device | why |
|---|---|---|
| all_gather | (n-1) B | every other shard passes once |
| reduce_scatter | (n-1)/n B | all parts but the own one pass, summed on the way |
| all_reduce | 2 (n-1)/n B | a reduce_scatter, then an all_gather of the parts |
| all_to_all | (n-1)/n B | keeps one part of n, sends the others |
| collective_permute | B | the whole shard goes to one other device |
| ragged_all_to_all | up to B | rows go where numbers say that only a run knows |
| all_slice | 0 | keeps a part of what it has |

A group is all devices along the axes of the collective; one of size 1 sends nothing.
Fractions of a byte are rounded up.

Source: the usual bandwidth-optimal ring algorithms (Patarasuk and Yuan, 2009).
"""

from collections.abc import Sequence
from enum import Enum


class Ring(Enum):
    """The kinds of collective that cost differently."""

    ALL_GATHER = "all_gather"
    ALL_REDUCE = "all_reduce"
    ALL_SLICE = "all_slice"
    ALL_TO_ALL = "all_to_all"
    COLLECTIVE_PERMUTE = "collective_permute"
    REDUCE_SCATTER = "reduce_scatter"


def ring_bytes(kind: Ring, local_bytes: int, group_size: int) -> int:
    """Return the bytes that each device sends.

    Args:
        local_bytes: what a device holds of the tensor before the collective.
        group_size: how many devices take part in each group; for a permute whether
            there is anyone else to send to.

    Raises:
        ValueError: if the group has no device.
    """
    if group_size < 1:
        raise ValueError(f"a group has at least one device, not {group_size}")
    others = group_size - 1
    match kind:
        case Ring.ALL_SLICE:
            return 0
        case Ring.ALL_GATHER:
            return others * local_bytes
        case Ring.COLLECTIVE_PERMUTE:
            return local_bytes if others else 0
        case Ring.ALL_TO_ALL | Ring.REDUCE_SCATTER:
            return -(-others * local_bytes // group_size)
        case Ring.ALL_REDUCE:
            return -(-2 * others * local_bytes // group_size)


def ragged_bytes(
    row_bytes: int,
    operand_rows: int,
    output_rows: int,
    group_size: int,
    sizes: Sequence[int] | None = None,
    *,
    overlap: bool = False,
) -> int:
    """Return the bytes that a device sends in a ragged all_to_all: most, or exactly.

    Without sizes it is an upper bound: all rows of the operand, which is a
    concatenation of slices, go to other devices, whose outputs have room for them.

    Args:
        row_bytes: what a row takes.
        operand_rows: how many rows a device has.
        output_rows: how many rows a device has room for.
        group_size: how many devices take part in each group.
        sizes: how many rows each slice has, slices for one device in a row; the same
            on all devices. Then the bytes are exact, of the device that sends most.
        overlap: whether slices may share rows, so that each device may get all of them.
    """
    others = group_size - 1
    if sizes is not None:
        each = len(sizes) // group_size
        kept = min(
            (sum(sizes[at * each : (at + 1) * each]) for at in range(group_size)),
            default=0,
        )
        return row_bytes * (sum(sizes) - kept)
    room = others * output_rows
    return row_bytes * min(others * operand_rows if overlap else operand_rows, room)
