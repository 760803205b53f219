"""Indices into merged dimensions that count rows, as places in each row.

    x.reshape(B * S, d)[jnp.arange(B) * S + i]   # jax.vmap(lambda x, i: x[i])(x, i)

The first looks for each row in all rows, so that a partitioner makes the operand whole
where rows are split. The second, the same if `0 <= i < S`, has the rows as a batch.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.values.intervals import reduced_by
from ttxdsl.analysis.values.offsets import offset_of
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.transforms.partition.emitter import Emitter, dims_attr


class RowIndices(NamedTuple):
    """The row numbers in the indices of a gather or scatter.

    Attributes:
        dim: of the operand, in which rows are merged.
        of_indices: the dimension of the indices along which they are counted.
    """

    dim: int
    rows: int
    of_indices: int

    def code(self, op: Operation) -> str:
        """Return the JAX code."""
        shape = shape_of(op.operands[0])
        size = shape[self.dim] // self.rows
        split = (*shape[: self.dim], self.rows, size, *shape[self.dim + 1 :])
        before = ":, " * self.dim
        at, call = f"x[{before}i]", "x, i"
        axes = [self.dim, self.of_indices]
        if isinstance(op, stablehlo.ScatterOp):
            change = _UPDATES.get(reduced_by(op), "set")
            at, call = f"x.at[{before}i].{change}(u)", "x, i, u"
            axes.append(self.of_indices)
        mapped = f"in_axes={tuple(axes)}, out_axes={self.dim}"
        more = f", {mapped}" if any(axes) else ""
        return (
            f"# instead of jnp.arange({self.rows}) * {size} + i in {self.rows * size}"
            f" merged rows, as 0 <= i < {size}; x is {split}\n"
            f"jax.vmap(lambda {call}: {at}{more})({call})"
        )


_UPDATES: dict[type[Operation] | None, str] = {
    stablehlo.AddOp: "add",
    stablehlo.MaxOp: "max",
    stablehlo.MinOp: "min",
    stablehlo.MulOp: "multiply",
}
"""The methods of JAX's `at` by the op that updates are joined with."""


def row_indices(op: Operation) -> RowIndices | None:
    """Return the rows that indices count, if what is added to these stays in a row."""
    if not all(map(is_tensor, (*op.operands, *op.results))):
        return None
    if isinstance(op, stablehlo.GatherOp):
        dims = op.dimension_numbers.data
        positions, hidden = dims.start_index_map, dims.collapsed_slice_dims
        batches = dims.operand_batching_dims
        indices = op.start_indices
    elif isinstance(op, stablehlo.ScatterOp) and len(op.inputs) == 1:
        numbers = op.scatter_dimension_numbers.data
        positions, hidden = (
            numbers.scatter_dims_to_operand_dims,
            numbers.inserted_window_dims,
        )
        batches = numbers.input_batching_dims
        indices, dims = op.scatter_indices, numbers
    else:
        return None
    if len(positions) != 1 or positions[0] not in hidden or batches:
        return None
    (dim,) = positions
    offset = offset_of(indices)
    if offset.dim is None or offset.dim == dims.index_vector_dim:
        return None
    rows, size = shape_of(indices)[offset.dim], offset.factor
    whole = shape_of(op.operands[0])[dim]
    if rows < 2 or size < 2 or rows * size != whole:
        return None
    if offset.rest.low < 0 or offset.rest.high >= size:
        return None
    return RowIndices(dim, rows, offset.dim)


def respell_indices(op: Operation, parts: RowIndices) -> None:
    """Replace a gather or scatter by one with rows as a batch."""
    emit = Emitter(Block(), op.location)
    operand = op.operands[0]
    shape, dim = shape_of(operand), parts.dim
    size = shape[dim] // parts.rows
    split = (*shape[:dim], parts.rows, size, *shape[dim + 1 :])
    merged = operand.owner
    is_merged = isinstance(merged, stablehlo.ReshapeOp)
    if is_merged and shape_of(merged.operand) == split:
        apart = merged.operand
    else:
        apart = emit.reshape(operand, split)
    if isinstance(op, stablehlo.GatherOp):
        dims = op.dimension_numbers.data
        indices = _places(emit, op.start_indices, parts, size)
        sizes = op.slice_sizes.get_values()
        new = emit.emit(
            stablehlo.GatherOp,
            [apart, indices],
            [op.result.type],
            {
                **op.properties,
                "indices_are_sorted": BoolAttr.from_bool(False),
                "dimension_numbers": stablehlo.GatherDimensionNumbersAttr(
                    dims._replace(
                        collapsed_slice_dims=_shifted(dims.collapsed_slice_dims, dim),
                        operand_batching_dims=(dim,),
                        start_indices_batching_dims=(parts.of_indices,),
                        start_index_map=(dim + 1,),
                    )
                ),
                "slice_sizes": dims_attr((*sizes[:dim], 1, *sizes[dim:])),
            },
        )
        result = new.result
    else:
        assert isinstance(op, stablehlo.ScatterOp)
        numbers = op.scatter_dimension_numbers.data
        indices = _places(emit, op.scatter_indices, parts, size)
        scatter = emit.emit(
            stablehlo.ScatterOp,
            [apart, indices, *op.updates],
            [apart.type],
            {
                **op.properties,
                "indices_are_sorted": BoolAttr.from_bool(False),
                "scatter_dimension_numbers": stablehlo.ScatterDimensionNumbersAttr(
                    numbers._replace(
                        inserted_window_dims=_shifted(
                            numbers.inserted_window_dims, dim
                        ),
                        input_batching_dims=(dim,),
                        scatter_indices_batching_dims=(parts.of_indices,),
                        scatter_dims_to_operand_dims=(dim + 1,),
                    )
                ),
            },
            regions=[op.update_computation.clone()],
        )
        result = emit.reshape(scatter.results[0], shape)
    Rewriter.inline_block(emit.block, InsertPoint.before(op))
    Rewriter.replace_op(op, [], [result])


def _shifted(dims: Sequence[int], split: int) -> tuple[int, ...]:
    """Return hidden dimensions where one of them is two, of which the first is a batch."""
    return tuple(at + (at >= split) for at in dims)


def _places(emit: Emitter, indices: SSAValue, parts: RowIndices, size: int) -> SSAValue:
    """Return indices without the part that counts rows."""
    shape, element = shape_of(indices), element_of(indices)
    rows = emit.convert(emit.iota(shape, parts.of_indices), element)
    first = emit.binary(stablehlo.MulOp, rows, emit.splat(size, element, shape))
    return emit.subtract(indices, first)
