"""`sum-dynamic-slices`: take slices at computed starts where their elements are.

Stage 8 moves the operand of such a slice to another dimension, or gathers it. Where
that sends more, each device takes what of the slice is in its shard, and zeros for the
rest, and the parts are summed: the slice is written as a gather of its places, whose
operand stays split. Slices of one value are priced together, as it is moved once for
all of them, and before a loop that does not change it.

A gather clamps each index, and the start is clamped before, so it reads what the slice
reads. Each slice is looked at once, so it ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, BoolAttr, IntegerType, ModuleOp, Signedness
from xdsl.ir import Block, BlockArgument, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.costs.ring import Ring, ring_bytes
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.attributes import GatherDims
from ttxdsl.ir.tensors import element_of, shape_of, tensor_bytes
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.emitter import Emitter, dims_attr
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.ops.indexing import as_positions
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup


class _Slice(NamedTuple):
    """A slice at a computed start along one split dimension.

    Attributes:
        operand: how the operand lies.
        result: how the result shall lie.
    """

    op: stablehlo.DynamicSliceOp
    dim: int
    operand: Layout
    result: Layout


@dataclass
class _Prices:
    """The bytes of a value's slices: their parts summed, or the value moved before."""

    summed: int = 0
    moved: int = 0
    gathered: int = 0


def _slice_of(op: stablehlo.DynamicSliceOp, mesh_of: MeshOf) -> _Slice | None:
    """Return a slice's description if it is along just one dimension that is split."""
    shardings = sdy.get_sharding(op.operand), sdy.get_sharding(op.result)
    if shardings[0] is None or any(
        sharding and sharding.unreduced for sharding in shardings
    ):
        return None
    if not isinstance(element_of(op.operand), IntegerType | AnyFloat):
        return None
    starts = op.start_indices  # of a scalar there is none
    if not starts or element_of(starts[0]) == IntegerType(64, Signedness.UNSIGNED):
        return None  # positions are signed
    mesh = mesh_of(shardings[0])
    if mesh.is_maximal or any(
        sharding and mesh_of(sharding) != mesh for sharding in shardings
    ):
        return None
    operand, result = (
        Layout.of(sharding, mesh, shape_of(value))
        for sharding, value in zip(shardings, (op.operand, op.result), strict=True)
    )
    dims = [
        dim
        for dim, (size, taken) in enumerate(
            zip(operand.shape, result.shape, strict=True)
        )
        if size != taken and operand.axes[dim]
    ]
    if len(dims) != 1 or operand.uneven is not None or 0 in result.shape:
        return None
    return _Slice(op, dims[0], operand, result)


def _outside(value: SSAValue) -> SSAValue:
    """Return a value as it is before the loops that do not change it."""
    while isinstance(value, BlockArgument):
        loop = value.block.parent_op()
        if not isinstance(loop, stablehlo.WhileOp):
            break
        last = loop.body.block.last_op
        if (
            last is None
            or last.operands[value.index] is not loop.body.block.args[value.index]
        ):
            break
        value = loop.operands[value.index]
    return value


def _times(value: SSAValue, runs: Runs) -> int:
    """Return how often a value is computed."""
    if isinstance(value, OpResult):
        return runs.of(value.op).count
    assert isinstance(value, BlockArgument)
    first = value.block.first_op
    return 1 if first is None else runs.of(first).count


def _add_price(prices: _Prices, slice_: _Slice, moves: int, times: int) -> None:
    """Add what one of the slices of a value costs, and what the value does once."""
    operand, dim = slice_.operand, slice_.dim
    element, among = element_of(slice_.op.operand), operand.shards(dim)
    held = tensor_bytes(operand.local_shape, element)
    taken = tuple(
        slice_.result.shape[at]
        if at == dim or slice_.result.shape[at] != size
        else local
        for at, (size, local) in enumerate(
            zip(operand.shape, operand.local_shape, strict=True)
        )
    )
    slice_bytes = tensor_bytes(taken, element)
    split_alike = slice_.result.axes[dim] == operand.axes[dim]
    kind = Ring.REDUCE_SCATTER if split_alike else Ring.ALL_REDUCE
    prices.summed += ring_bytes(kind, slice_bytes, among) * times
    prices.gathered = ring_bytes(Ring.ALL_GATHER, held, among) * moves
    room = [
        at
        for at, (size, local) in enumerate(
            zip(operand.shape, operand.local_shape, strict=True)
        )
        if size == slice_.result.shape[at] and local % among == 0
    ]
    if not room:
        prices.moved = prices.gathered
        return
    if not prices.moved:
        prices.moved = ring_bytes(Ring.ALL_TO_ALL, held, among) * moves
    if slice_.result.axes[room[0]] == operand.axes[room[0]]:
        back = ring_bytes(Ring.ALL_GATHER, -(-slice_bytes // among), among)
        prices.moved += back * times


def _as_gather(slice_: _Slice) -> None:
    """Write a slice as a gather of its places."""
    op, dim = slice_.op, slice_.dim
    emit = Emitter(Block(), op.location)
    shape, taken = shape_of(op.operand), shape_of(op.result)
    starts, value = list(op.start_indices), op.operand
    others = list(taken)
    others[dim] = shape[dim]
    if tuple(others) != shape:
        rest = list(starts)
        rest[dim] = emit.number(0, element_of(starts[dim]))
        value = emit.dynamic_slice(value, rest, others)
        sharding = sdy.get_sharding(op.operand)
        assert sharding is not None, "it is split"
        sdy.set_sharding(value, sharding)
    start = as_positions(emit, starts[dim])
    element = element_of(start)
    last = emit.number(shape[dim] - taken[dim], element)
    start = emit.clamp(emit.number(0, element), start, last)
    places = emit.convert(emit.iota([taken[dim]], 0), element)
    places = emit.add(places, emit.broadcast(start, [taken[dim]]))
    sizes = list(taken)
    sizes[dim] = 1
    new = emit.emit(
        stablehlo.GatherOp,
        [value, places],
        [op.result.type],
        {
            "dimension_numbers": stablehlo.GatherDimensionNumbersAttr(
                GatherDims(
                    offset_dims=tuple(at for at in range(len(shape)) if at != dim),
                    collapsed_slice_dims=(dim,),
                    operand_batching_dims=(),
                    start_indices_batching_dims=(),
                    start_index_map=(dim,),
                    index_vector_dim=1,
                )
            ),
            "slice_sizes": dims_attr(sizes),
            "indices_are_sorted": BoolAttr.from_bool(True),
        },
        dict(op.attributes),
    )
    Rewriter.inline_block(emit.block, InsertPoint.before(op))
    Rewriter.replace_op(op, [], [new.result])


def _gather_before(slice_: _Slice) -> None:
    """Gather the operand of a slice along the dimension."""
    old = sdy.get_sharding(slice_.op.operand)
    assert old is not None, "it is split"
    axes = slice_.operand.with_dim(slice_.dim, ()).axes
    reshard = sdy.ReshardOp(slice_.op.operand, TensorSharding.closed(old.mesh, axes))
    reshard.location = slice_.op.location
    Rewriter.insert_op(reshard, InsertPoint.before(slice_.op))
    slice_.op.operands[0] = reshard.result


class SumDynamicSlicesPass(ModulePass):
    """Sum parts of slices at computed starts where that sends less than moving operands."""

    name = "sum-dynamic-slices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        mesh_of = mesh_lookup(op)
        by_value: dict[tuple[SSAValue, int], list[_Slice]] = {}
        for inner in ops_of_type(op, stablehlo.DynamicSliceOp):
            slice_ = _slice_of(inner, mesh_of)
            if slice_ is not None:
                key = _outside(inner.operand), slice_.dim
                by_value.setdefault(key, []).append(slice_)
        if not by_value:
            return
        runs = Runs(op)
        for (value, _), slices in by_value.items():
            times = [runs.of(slice_.op) for slice_ in slices]
            if any(not each.is_known for each in times):
                continue
            prices = _Prices()
            for slice_, each in zip(slices, times, strict=True):
                _add_price(prices, slice_, _times(value, runs), each.count)
            self._choose(prices, slices)

    def _choose(self, prices: _Prices, slices: Sequence[_Slice]) -> None:
        least = min(prices.summed, prices.gathered, prices.moved)
        if least == prices.moved:
            return
        for slice_ in slices:
            if least == prices.gathered:
                _gather_before(slice_)
            else:
                _as_gather(slice_)
