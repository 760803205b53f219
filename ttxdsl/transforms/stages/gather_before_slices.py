"""`gather-before-slices`: gather a value once of which whole slices are needed.

A slice of a split dimension is split like its operand. Where slices are needed whole,
each is handed out over the devices and then gathered. Gathering the operand and slicing
it then is one collective, and mostly sends less; `narrow-all-gathers` then sends only
what is read. The new slices have no reshards behind them, so it ends.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.axes import total_size
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.emitter import Emitter
from ttxdsl.transforms.partition.exchange.halo import Halo
from ttxdsl.transforms.partition.exchange.pieces import cuts_only
from ttxdsl.transforms.shardy.meshes import mesh_lookup


class _Gathered(NamedTuple):
    """A slice along a split dimension whose users all gather it by `reshards`."""

    op: stablehlo.SliceOp
    reshards: Sequence[sdy.ReshardOp]
    sharding: TensorSharding


class GatherBeforeSlicesPass(ModulePass):
    """Gather a value before it is sliced where that sends no more."""

    name = "gather-before-slices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mesh_of = mesh_lookup(op)
        slices_by_key: dict[
            tuple[SSAValue, int, Block | None, TensorSharding], list[_Gathered]
        ]
        slices_by_key = {}
        for inner in ops_of_type(op, stablehlo.SliceOp):
            sharding = sdy.get_sharding(inner.result)
            if sharding is None or not sharding.sharding_axes:
                continue
            for dim, dim_sharding in enumerate(sharding.dims):
                gathered = (
                    _gathered(inner, dim, sharding) if dim_sharding.axes else None
                )
                if gathered is not None:
                    key = inner.operand, dim, inner.parent, gathered.sharding
                    slices_by_key.setdefault(key, []).append(gathered)
        for (value, dim, _, _), slices in slices_by_key.items():
            sharding = sdy.get_sharding(value)
            assert sharding is not None, "as its slices have"
            if _pays(dim, slices, sharding, mesh_of(sharding)):
                _gather(value, dim, slices, sharding)


def _gathered(
    op: stablehlo.SliceOp, dim: int, sharding: TensorSharding
) -> _Gathered | None:
    before = sdy.get_sharding(op.operand)
    if before is None or before.unreduced or not cuts_only(op, dim):
        return None
    if before.mesh != sharding.mesh or before.axes_per_dim != sharding.axes_per_dim:
        return None
    if shape_of(op.operand)[dim] == shape_of(op.result)[dim]:
        return None
    users = [use.operation for use in op.result.uses]
    reshards = [user for user in users if isinstance(user, sdy.ReshardOp)]
    wanted = {reshard.sharding.data.axes_per_dim for reshard in reshards}
    others = list(sharding.axes_per_dim)
    others[dim] = ()
    if len(reshards) < len(users) or wanted != {tuple(others)}:
        return None
    if any(reshard.sharding.data.mesh != before.mesh for reshard in reshards):
        return None
    return _Gathered(op, reshards, reshards[0].sharding.data)


def _pays(
    dim: int, slices: Sequence[_Gathered], sharding: TensorSharding, mesh: Mesh
) -> bool:
    """Whether one gather sends no more places than handing out and gathering slices."""
    shards = total_size(sharding.dims[dim].axes, mesh)
    whole = shape_of(slices[0].op.operand)[dim]
    if shards == 1 or whole % shards:
        return False
    held, apart, places = whole // shards, 0, 0
    for slice_ in slices:
        size = shape_of(slice_.op.result)[dim]
        start = slice_.op.start_indices.get_values()[dim]
        part = size // shards
        halo = Halo(dim, 0, 0, start, part, part - held)
        sent = halo.elements_sent(shards, held) if size % shards == 0 else whole
        apart += min(sent, whole - held) + (shards - 1) * part
        places += size
    # narrow-all-gathers adds up what is read where that is less
    return min(whole - held, 2 * places) <= apart


def _gather(
    value: SSAValue, dim: int, slices: Sequence[_Gathered], sharding: TensorSharding
) -> None:
    first: Operation = slices[0].op
    dims = list(sharding.dims)
    dims[dim] = dims[dim].with_axes(())
    known = TensorSharding(sharding.mesh, tuple(dims))
    emit = Emitter(Block(), first.location)
    whole = emit.one(
        sdy.ReshardOp, [value], value.type, {"sharding": sdy.TensorShardingAttr(known)}
    )
    Rewriter.inline_block(emit.block, InsertPoint.before(first))
    for op, reshards, wanted in slices:
        op.operands[0] = whole
        sdy.set_sharding(op.result, wanted)
        for reshard in reshards:
            Rewriter.replace_op(reshard, [], [op.result])
