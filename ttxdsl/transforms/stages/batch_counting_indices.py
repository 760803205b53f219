"""`batch-counting-indices`: make batching dimensions of what gather indices count through.

`x[jnp.arange(n), i]`, `x.at[jnp.arange(n), i].add(u)` and torch's `gather` and
`scatter_` read or write row `n` for row `n` of the indices. Both dimensions become
batching dimensions of the op, and the counting entries of the index vectors go.
Otherwise each device would look for its rows in all indices, and results would be
summed.

`sdy-explicit-gather-scatter-batching` does so for the first dimension and an iota in
plain sight, as Shardy does. This pass follows indices through other ops
(`ttxdsl.analysis.values.offsets`), for all dimensions.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.partition.emitter import Emitter, dims_attr


class _Batch(NamedTuple):
    """A dimension of the operand that an entry of index vectors counts through.

    Attributes:
        dim: the dimension of the operand.
        of_indices: that of the indices whose places are counted.
    """

    entry: int
    dim: int
    of_indices: int


def _batches(
    operand: SSAValue,
    indices: SSAValue,
    vector_dim: int,
    positions: Sequence[int],
    sizes: Sequence[int],
    taken: Sequence[int],
) -> list[_Batch]:
    """Return the dimensions of the operand that may become batching dimensions.

    Index vectors keep an entry, for one without any has no place to be written to.
    """
    from ttxdsl.analysis.values.offsets import At, counted_dim

    shape, counted = shape_of(operand), shape_of(indices)
    if vector_dim >= len(counted):
        return []
    batches: list[_Batch] = []
    for entry, dim in enumerate(positions):
        if len(batches) == len(positions) - 1:
            break
        if sizes[dim] != 1 or shape[dim] < 2:
            continue
        counting = counted_dim(indices, At(vector_dim, entry))
        used = (*taken, *(batch.of_indices for batch in batches))
        if counting is None or counting in used:
            continue
        if counted[counting] == shape[dim]:
            batches.append(_Batch(entry, dim, counting))
    return batches


def _without_entries(
    emit: Emitter, indices: SSAValue, vector_dim: int, entries: Sequence[int]
) -> SSAValue:
    """Return the index vectors without some of their entries."""
    join = indices.owner
    if (
        isinstance(join, stablehlo.ConcatenateOp)
        and join.dimension.value.data == vector_dim
        and all(shape_of(value)[vector_dim] == 1 for value in join.inputs)
    ):
        parts: list[SSAValue] = list(join.inputs)
    else:
        total = shape_of(indices)[vector_dim]
        parts = [
            emit.slice_dim(indices, vector_dim, at, at + 1)
            for at in range(total)
            if at not in entries
        ]
        entries = ()
    kept = [part for at, part in enumerate(parts) if at not in entries]
    return emit.concatenate(kept, vector_dim)


def _kept(dims: Sequence[int], dropped: Sequence[int]) -> tuple[int, ...]:
    return tuple(dim for dim in dims if dim not in dropped)


def _joined(
    old: tuple[Sequence[int], Sequence[int]], batches: Sequence[_Batch]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the batching dimensions of operand and indices, the former in order."""
    new = ((batch.dim, batch.of_indices) for batch in batches)
    pairs = sorted((*zip(*old, strict=True), *new))
    return tuple(dim for dim, _ in pairs), tuple(dim for _, dim in pairs)


class _Windows(NamedTuple):
    """Window dimensions of slices or updates, without those of one element that go.

    Attributes:
        dims: the window dimensions that are left, in a shape without the others.
        dropped: the dimensions that go.
    """

    dims: tuple[int, ...]
    dropped: tuple[int, ...]

    @staticmethod
    def of(
        dims: Sequence[int], rank: int, hidden: Sequence[int], batches: Sequence[_Batch]
    ) -> "_Windows":
        """Return them from those now and the operand dimensions that have none."""
        shown = [dim for dim in range(rank) if dim not in hidden]
        gone = {batch.dim for batch in batches}
        dropped = tuple(of for dim, of in zip(shown, dims, strict=True) if dim in gone)
        left = (dim for dim in dims if dim not in dropped)
        return _Windows(
            tuple(dim - sum(gone < dim for gone in dropped) for dim in left), dropped
        )

    def without(self, value: SSAValue) -> list[int]:
        """Return the shape of a value without the dimensions that go."""
        return [
            size for dim, size in enumerate(shape_of(value)) if dim not in self.dropped
        ]


def _batch_gather(op: stablehlo.GatherOp) -> None:
    dims, vector_dim = (
        op.dimension_numbers.data,
        op.dimension_numbers.data.index_vector_dim,
    )
    sizes = op.slice_sizes.get_values()
    batches = _batches(
        op.operand,
        op.start_indices,
        vector_dim,
        dims.start_index_map,
        sizes,
        dims.start_indices_batching_dims,
    )
    if not batches:
        return
    entries, gone = [b.entry for b in batches], [b.dim for b in batches]
    hidden = (*dims.collapsed_slice_dims, *dims.operand_batching_dims)
    windows = _Windows.of(dims.offset_dims, len(sizes), hidden, batches)
    operand_dims, indices_dims = _joined(
        (dims.operand_batching_dims, dims.start_indices_batching_dims), batches
    )
    emit = Emitter(Block(), op.location)
    indices = _without_entries(emit, op.start_indices, vector_dim, entries)
    new = emit.emit(
        stablehlo.GatherOp,
        [op.operand, indices],
        [TensorType(element_of(op.result), windows.without(op.result))],
        {
            "dimension_numbers": stablehlo.GatherDimensionNumbersAttr(
                dims._replace(
                    offset_dims=windows.dims,
                    collapsed_slice_dims=_kept(dims.collapsed_slice_dims, gone),
                    operand_batching_dims=operand_dims,
                    start_indices_batching_dims=indices_dims,
                    start_index_map=_kept(dims.start_index_map, gone),
                )
            ),
            "slice_sizes": dims_attr(sizes),
            # the entries that are left need not be in the order of whole vectors
            "indices_are_sorted": BoolAttr.from_bool(False),
        },
    )
    _replace(op, emit, new, [emit.reshape(new.result, shape_of(op.result))])


def _batch_scatter(op: stablehlo.ScatterOp) -> None:
    dims = op.scatter_dimension_numbers.data
    vector_dim, rank = dims.index_vector_dim, len(shape_of(op.inputs[0]))
    hidden = (*dims.inserted_window_dims, *dims.input_batching_dims)
    sizes = [1] * rank
    shown = (dim for dim in range(rank) if dim not in hidden)
    for dim, of_update in zip(shown, dims.update_window_dims, strict=True):
        sizes[dim] = shape_of(op.updates[0])[of_update]
    batches = _batches(
        op.inputs[0],
        op.scatter_indices,
        vector_dim,
        dims.scatter_dims_to_operand_dims,
        sizes,
        dims.scatter_indices_batching_dims,
    )
    if not batches:
        return
    entries, gone = [b.entry for b in batches], [b.dim for b in batches]
    windows = _Windows.of(dims.update_window_dims, rank, hidden, batches)
    input_dims, indices_dims = _joined(
        (dims.input_batching_dims, dims.scatter_indices_batching_dims), batches
    )
    emit = Emitter(Block(), op.location)
    indices = _without_entries(emit, op.scatter_indices, vector_dim, entries)
    updates = [emit.reshape(update, windows.without(update)) for update in op.updates]
    new = emit.emit(
        stablehlo.ScatterOp,
        [*op.inputs, indices, *updates],
        [result.type for result in op.results],
        {
            **op.properties,
            "scatter_dimension_numbers": stablehlo.ScatterDimensionNumbersAttr(
                dims._replace(
                    update_window_dims=windows.dims,
                    inserted_window_dims=_kept(dims.inserted_window_dims, gone),
                    input_batching_dims=input_dims,
                    scatter_indices_batching_dims=indices_dims,
                    scatter_dims_to_operand_dims=_kept(
                        dims.scatter_dims_to_operand_dims, gone
                    ),
                )
            ),
            "indices_are_sorted": BoolAttr.from_bool(False),
        },
        regions=[op.update_computation.clone()],
    )
    _replace(op, emit, new, new.results)


def _replace(
    op: Operation, emit: Emitter, new: Operation, values: Sequence[SSAValue]
) -> None:
    """Replace an op by new ones; the last one gets its attributes."""
    last = values[0].owner
    assert isinstance(last, Operation)
    attributes: dict[str, Attribute] = dict(op.attributes)
    if last is not new:
        sharding = attributes.pop(sdy.SHARDING, None)
        if sharding is not None:
            last.attributes[sdy.SHARDING] = sharding
    new.attributes = attributes
    Rewriter.inline_block(emit.block, InsertPoint.before(op))
    operands = list(op.operands)
    Rewriter.replace_op(op, [], values)
    for value in operands:
        _erase_unused(value)


def _erase_unused(value: SSAValue) -> None:
    """Erase what only made the index vectors, so that nothing is split for it."""
    waiting = [value]
    while waiting:
        op = waiting.pop().owner
        if isinstance(op, Operation) and is_trivially_dead(op):
            waiting += op.operands
            Rewriter.erase_op(op)


class BatchCountingIndicesPass(ModulePass):
    """Make a batch of what indices of gathers and scatters count through.

    Ops with a sharding rule of their user's are left as they are.
    """

    name = "batch-counting-indices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in ops_of_type(op, stablehlo.GatherOp, stablehlo.ScatterOp):
            if sdy.SHARDING_RULE in inner.attributes:
                continue
            if isinstance(inner, stablehlo.GatherOp):
                _batch_gather(inner)
            else:
                _batch_scatter(inner)
