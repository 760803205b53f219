"""How many bytes a collective moves, by the ring model.

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
| all_slice | 0 | keeps a part of what it has |

A group is all devices along the axes of the collective; one of size 1 sends nothing.
Fractions of a byte are rounded up.

Source: the usual bandwidth-optimal ring algorithms (Patarasuk and Yuan, 2009).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from math import prod

from ttxdsl.sharding.axes import AxisRef, total_size
from ttxdsl.sharding.collectives import (
    AllGather,
    AllReduce,
    AllSlice,
    AllToAll,
    Collective,
    CollectivePermute,
    ReduceScatter,
)
from ttxdsl.sharding.spec import Mesh, TensorSharding


class Ring(Enum):
    """The kinds of collective that cost differently."""

    ALL_GATHER = "all_gather"
    ALL_REDUCE = "all_reduce"
    ALL_SLICE = "all_slice"
    ALL_TO_ALL = "all_to_all"
    COLLECTIVE_PERMUTE = "collective_permute"
    REDUCE_SCATTER = "reduce_scatter"


def ring_bytes(kind: Ring, local_bytes: int, group_size: int) -> int:
    """The bytes that each device sends.

    Args:
        kind: the collective.
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


def tensor_bytes(shape: Sequence[int], element_bits: int) -> int:
    """The bytes of a dense tensor; elements below a byte are packed."""
    return -(-prod(shape) * element_bits // 8)


def collective_bytes(
    step: Collective,
    before: TensorSharding,
    mesh: Mesh,
    shape: Sequence[int],
    element_bits: int,
) -> int:
    """The bytes that each device sends for one collective.

    Args:
        step: the collective.
        before: the sharding of its operand.
        mesh: the mesh of that sharding.
        shape: the global shape; uneven shards count as padded.
        element_bits: bits of an element.

    Raises:
        ValueError: if the rank differs.
    """
    local = tensor_bytes(before.local_shape(shape, mesh, pad=True), element_bits)
    match step:
        case AllSlice():
            return 0
        case AllGather(axes):
            group = total_size((axis for dim in axes for axis in dim), mesh)
            return ring_bytes(Ring.ALL_GATHER, local, group)
        case ReduceScatter(axes):
            group = total_size((axis for dim in axes for axis in dim), mesh)
            return ring_bytes(Ring.REDUCE_SCATTER, local, group)
        case AllReduce(axes):
            return ring_bytes(Ring.ALL_REDUCE, local, total_size(axes, mesh))
        case AllToAll(moves):
            group = total_size((axis for move in moves for axis in move.axes), mesh)
            return ring_bytes(Ring.ALL_TO_ALL, local, group)
        case CollectivePermute(axes, target_mesh):
            stays = before.mesh == target_mesh and all(
                _splitting(old, mesh) == _splitting(new, mesh)
                for old, new in zip(before.axes_per_dim, axes, strict=True)
            )
            group = 1 if stays else mesh.total_size
            return ring_bytes(Ring.COLLECTIVE_PERMUTE, local, group)


def _splitting(axes: Iterable[AxisRef], mesh: Mesh) -> list[AxisRef]:
    """The axes that have more than one device."""
    return [axis for axis in axes if axis.size_in(mesh) > 1]


def plan_bytes(
    steps: Iterable[Collective],
    before: TensorSharding,
    mesh: Mesh,
    shape: Sequence[int],
    element_bits: int,
) -> int:
    """The bytes that each device sends for all steps, one after the other.

    Raises:
        ValueError: if a step cannot be applied where it stands.
    """
    total = 0
    for step in steps:
        total += collective_bytes(step, before, mesh, shape, element_bits)
        before = step.after(before, mesh)
    return total
