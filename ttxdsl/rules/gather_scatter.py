"""Sharding rules of gather and scatter.

Both tie an input, which is read or updated in windows, to slices, which hold the
windows one after the other, by indices, which say where each window starts. A
dimension of the slices is either a window dimension, with a partner in the input, or
counts the windows, with a partner in the indices and, if it is a batching dimension,
in the input.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, BlockArgument, Operation

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType
from ttxdsl.rules.table import OpRule, rule


class _Partners(NamedTuple):
    """A dimension of the slices, and those of input and indices that belong to it."""

    slices: int
    input: int | None
    indices: int | None


def _partners(
    input_rank: int,
    indices_rank: int,
    slices_rank: int,
    *,
    window_dims: Sequence[int],
    dropped_dims: Sequence[int],
    input_batching: Sequence[int],
    indices_batching: Sequence[int],
    index_vector_dim: int,
) -> Iterator[_Partners]:
    """Yield the partners of each dimension of the slices, in their order."""
    kept = iter(
        dim
        for dim in range(input_rank)
        if dim not in dropped_dims and dim not in input_batching
    )
    counting = iter(dim for dim in range(indices_rank) if dim != index_vector_dim)
    batching = dict(zip(indices_batching, input_batching, strict=True))
    for dim in range(slices_rank):
        if dim in window_dims:
            yield _Partners(dim, next(kept), None)
        else:
            of_indices = next(counting)
            yield _Partners(dim, batching.get(of_indices), of_indices)


def gather(op: stablehlo.GatherOp) -> Iterator[Factor]:
    """A device reads what is on its shard and zeros elsewhere; the sum is the result.

    That works where a window has one element along a sharded input dimension. A window
    that is longer, but not whole, may lie across shards: its dimension is replicated.
    """
    input, indices = shape_of(op.operand), shape_of(op.start_indices)
    slices = shape_of(op.result)
    numbers = op.dimension_numbers.data
    for dim in _partners(
        len(input),
        len(indices),
        len(slices),
        window_dims=numbers.offset_dims,
        dropped_dims=numbers.collapsed_slice_dims,
        input_batching=numbers.operand_batching_dims,
        indices_batching=numbers.start_indices_batching_dims,
        index_vector_dim=numbers.index_vector_dim,
    ):
        size = slices[dim.slices]
        here = (dim.slices,)
        if dim.indices is not None:
            yield Factor(size, (dim.input, dim.indices), here)
            continue
        assert dim.input is not None
        whole = input[dim.input]
        if size == whole:
            yield Factor(whole, (dim.input, None), here)
        elif size == 1:
            yield Factor(whole, (dim.input, None), None, FactorType.REDUCTION)
            yield Factor(1, None, here, FactorType.NEED_REPLICATION)
        else:
            yield Factor(
                whole, (dim.input, None), here, FactorType.NEED_REPLICATION, True
            )

    for collapsed in numbers.collapsed_slice_dims:
        size = input[collapsed]
        cost = FactorType.REDUCTION if size != 1 else FactorType.NEED_REPLICATION
        yield Factor(size, (collapsed, None), None, cost)

    if numbers.index_vector_dim < len(indices):
        vector = numbers.index_vector_dim
        yield Factor(indices[vector], (None, vector), None, FactorType.NEED_REPLICATION)


def combining_op(op: stablehlo.ScatterOp) -> type[Operation] | None:
    """The op class that combines old value and update, if partial results can be summed.

    That is add, multiply, maximum or minimum, or and/or of booleans, applied to each
    input and its update alone, the same for all inputs. None for all else, such as
    a scatter that replaces.
    """
    block = op.update_computation.block
    inputs = len(op.inputs)
    last = block.last_op
    if len(block.args) != 2 * inputs or not isinstance(last, stablehlo.ReturnOp):
        return None
    if len(last.operands) != inputs:
        return None
    kinds: set[type[Operation]] = set()
    for index, value in enumerate(last.operands):
        combine = value.owner
        if not isinstance(combine, Operation) or not _sums(combine, value.type):
            return None
        positions = {
            argument.index
            for argument in combine.operands
            if isinstance(argument, BlockArgument) and argument.block is block
        }
        if positions != {index, index + inputs}:
            return None
        kinds.add(type(combine))
    return kinds.pop() if len(kinds) == 1 else None


def _sums(combine: Operation, result: Attribute) -> bool:
    if not isinstance(result, TensorType):
        return False
    if isinstance(combine, stablehlo.AndOp | stablehlo.OrOp):
        return cast(TensorType[Attribute], result).element_type == i1
    return isinstance(
        combine,
        stablehlo.AddOp | stablehlo.MulOp | stablehlo.MaxOp | stablehlo.MinOp,
    )


def scatter(op: stablehlo.ScatterOp) -> Iterator[Factor]:
    """Each device applies the updates that fall on its shard of the input.

    Updates that are sharded by their count are applied apart and the results combined,
    if the op's computation is one that combines.
    """
    inputs = len(op.inputs)
    input, indices = shape_of(op.inputs[0]), shape_of(op.scatter_indices)
    updates = shape_of(op.updates[0])
    numbers = op.scatter_dimension_numbers.data
    combine = FactorType.REDUCTION if combining_op(op) else FactorType.NEED_REPLICATION

    def factor(
        size: int,
        *,
        input: int | None = None,
        indices: int | None = None,
        update: int | None = None,
        kind: FactorType = FactorType.PASS_THROUGH,
        local: bool | None = None,
    ) -> Factor:
        operands = (*(input,) * inputs, indices, *(update,) * inputs)
        return Factor(size, operands, (input,) * inputs, kind, local=local)

    for dim in _partners(
        len(input),
        len(indices),
        len(updates),
        window_dims=numbers.update_window_dims,
        dropped_dims=numbers.inserted_window_dims,
        input_batching=numbers.input_batching_dims,
        indices_batching=numbers.scatter_indices_batching_dims,
        index_vector_dim=numbers.index_vector_dim,
    ):
        size = updates[dim.slices]
        if dim.indices is not None:
            cost = combine if dim.input is None else FactorType.PASS_THROUGH
            yield factor(
                size,
                input=dim.input,
                indices=dim.indices,
                update=dim.slices,
                kind=cost,
                local=True,
            )
            continue
        assert dim.input is not None
        whole = input[dim.input]
        if size == whole:
            # where an index moves it, a window of the size of a shard sticks out of it
            still = dim.input not in numbers.scatter_dims_to_operand_dims
            yield factor(whole, input=dim.input, update=dim.slices, local=still)
        else:
            yield factor(whole, input=dim.input, kind=FactorType.NEED_REPLICATION)
            yield factor(size, update=dim.slices, kind=FactorType.NEED_REPLICATION)

    for inserted in numbers.inserted_window_dims:
        indexed = inserted in numbers.scatter_dims_to_operand_dims
        yield factor(input[inserted], input=inserted, local=indexed)

    if numbers.index_vector_dim < len(indices):
        vector = numbers.index_vector_dim
        yield factor(indices[vector], indices=vector, kind=FactorType.NEED_REPLICATION)


RULES: tuple[OpRule, ...] = (
    rule(stablehlo.GatherOp, gather),
    rule(stablehlo.ScatterOp, scatter, surroundings=combining_op),
)
