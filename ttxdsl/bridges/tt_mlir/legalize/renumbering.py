"""Calling the devices of a per-device program by other numbers."""

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ttxdsl.conversion.writing import Writer, write_instead
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.replica_groups import (
    REPLICA_GROUPS,
    device_groups,
    set_device_groups,
)
from ttxdsl.ir.tensors import element_of
from ttxdsl.ir.traversal import ops_of_type

_WITH_DEVICES = (
    stablehlo.AllGatherOp, stablehlo.AllReduceOp, stablehlo.ReduceScatterOp,
    stablehlo.AllToAllOp, stablehlo.CollectivePermuteOp,
    stablehlo.CollectiveBroadcastOp, stablehlo.CollectiveReduceOp,
)  # fmt: skip


def renumber_devices(module: ModuleOp, renumbered: Mapping[int, int]) -> None:
    """Replace all device numbers by new ones; the meshes are not changed.

    Groups that are given by axes are listed, so that other meshes may come instead.
    """
    moved = any(old != new for old, new in renumbered.items())
    count = len(renumbered)
    for op in ops_of_type(module, *_WITH_DEVICES):
        if not moved and not isinstance(
            op.properties.get(REPLICA_GROUPS), stablehlo.ReplicaGroupMeshAxesAttr
        ):
            continue
        groups = device_groups(op, count)
        renamed = (tuple(renumbered[i] for i in group) for group in groups)
        set_device_groups(op, tuple(renamed))
    if not moved:
        return
    back = [0] * count
    for old, new in renumbered.items():
        back[new] = old
    for op in ops_of_type(module, stablehlo.PartitionIdOp):
        write_instead(op, partial(_looked_up, op, back))


def _looked_up(
    op: stablehlo.PartitionIdOp, back: Sequence[int], w: Writer
) -> list[SSAValue]:
    """Return the old number of a device, from a table."""
    device = w.partition_id()
    table = w.integers(back, [len(back)])
    old = w.reshape(w.dynamic_slice(table, [device], [1]), [])
    return [w.convert(old, element_of(op.result))]
