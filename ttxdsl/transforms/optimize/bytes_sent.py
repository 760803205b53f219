"""What each device sends in one run of a per-device program."""

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation

from ttxdsl.analysis.runs import Runs
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.cost import Ring, ring_bytes
from ttxdsl.transforms.optimize.single_ops import MOVED

_RINGS: dict[type[Operation], Ring] = {
    stablehlo.AllReduceOp: Ring.ALL_REDUCE,
    stablehlo.AllGatherOp: Ring.ALL_GATHER,
    stablehlo.ReduceScatterOp: Ring.REDUCE_SCATTER,
    stablehlo.AllToAllOp: Ring.ALL_TO_ALL,
    stablehlo.CollectivePermuteOp: Ring.COLLECTIVE_PERMUTE,
}


def bytes_sent(module: ModuleOp) -> int:
    """The bytes that a device sends, those in a loop as often as it turns.

    A loop of which the program does not say it turns once; groups are taken to be as
    large as the first.
    """
    runs = Runs(module)
    return sum(_bytes(op) * runs.of(op).count for op in ops_of_type(module, *MOVED))


def _bytes(op: Operation) -> int:
    ring = _RINGS[type(op)]
    size = 2
    if ring is not Ring.COLLECTIVE_PERMUTE:
        groups = op.properties["replica_groups"]
        if isinstance(groups, DenseIntOrFPElementsAttr):
            size = groups.get_shape()[-1]
    return sum(ring_bytes(ring, value_bytes(value), size) for value in op.operands)
