"""`through-hlo`: a program as XLA's partitioner reads it, which makes HLO of it and StableHLO again.

Propagation goes through some ops earlier than through others, so that where shardings contend it
matters that on the way

- a broadcast that only adds dimensions of one element becomes a reshape, and one of such a reshape
  that of what it is of;
- equal values of a block are one (`HloCSE`), but for constants, which are again split for propagation;
- a scatter of one element for each row into one value becomes a comparison with the indices, ahead
  of the partitioner in libtpu alone (the gradient of labels' log-probabilities);
- a product that sums nothing becomes a multiplication of what its operands are broadcast to, ahead
  of the partitioner in libtpu alone (Flax writes a norm's scale so);
- a product that is transposed becomes that of its operands in the other order, whose dimensions
  then come first (the gradient of weights, as JAX writes it);
- what a loop carries and leaves as it is becomes a value that its regions reach for, each behind a
  constraint that is open if it had a sharding (`xla-sdy-open-while-free-vars-sharding`).

`carry-free-values` lets loops carry such values again, which the stages behind propagation want.
"""

from collections.abc import Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.usage.buffers.kernels import is_one_hot
from ttxdsl.analysis.values.simplified import merge_equal_values
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.attributes import (
    ComparisonDirection,
    DotDimensionNumbersAttr,
    DotDims,
)
from ttxdsl.ir.tensors import element_of, shape_of
from ttxdsl.ir.traversal import all_ops, operands_of, ops_of_type
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.collectives.sink_all_reduces import is_zero
from ttxdsl.transforms.partition.emitter import (
    INDEX,
    Emitter,
    dims_attr,
    is_wider_than_index,
)


class ThroughHloPass(ModulePass):
    """Make of a program what HLO makes of it; it runs ahead of stage 5."""

    name = "through-hlo"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for broadcast in ops_of_type(op, stablehlo.BroadcastInDimOp):
            if _only_adds_ones(broadcast):
                reshape = stablehlo.ReshapeOp.create(
                    operands=broadcast.operands, result_types=broadcast.result_types
                )
                reshape.location = broadcast.location
                Rewriter.replace_op(broadcast, reshape)
        for broadcast in ops_of_type(op, stablehlo.BroadcastInDimOp):
            _skip_ones(broadcast)
        for product in ops_of_type(op, stablehlo.DotGeneralOp):
            if not product.dot_dimension_numbers.data.lhs_contracting_dimensions:
                _multiply(product)
        for transpose in ops_of_type(op, stablehlo.TransposeOp):
            _exchange_operands(transpose)
        for scatter in ops_of_type(op, stablehlo.ScatterOp):
            if is_one_hot(scatter) and _keeps_rows(scatter):
                _compare(scatter)
        merge_equal_values(op, _is_made_of_constants)
        for loop in reversed(ops_of_type(op, stablehlo.WhileOp)):
            _free_kept(loop)


class CarryFreeValuesPass(ModulePass):
    """Let loops carry the values around them that they read; it runs behind stage 6."""

    name = "carry-free-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in ops_of_type(op, stablehlo.WhileOp):
            if free := _free_values(loop):
                _carry(loop, free)


def _only_adds_ones(broadcast: stablehlo.BroadcastInDimOp) -> bool:
    before, after = shape_of(broadcast.operands[0]), shape_of(broadcast.result)
    dims = broadcast.broadcast_dimensions.get_values()
    return (
        0 < len(before) < len(after)
        and prod(before) == prod(after)
        and list(dims) == sorted(dims)
    )


def _is_made_of_constants(op: Operation) -> bool:
    if isinstance(op, stablehlo.BroadcastInDimOp):
        return isinstance(op.operand.owner, stablehlo.ConstantOp)
    return isinstance(op, stablehlo.ConstantOp | stablehlo.IotaOp)


def _skip_ones(broadcast: stablehlo.BroadcastInDimOp) -> None:
    """Have a broadcast read what was reshaped by dimensions of one element alone."""
    reshape = broadcast.operand.owner
    if not isinstance(reshape, stablehlo.ReshapeOp):
        return
    before, after = shape_of(reshape.operand), shape_of(reshape.result)
    dims = broadcast.broadcast_dimensions.get_values()
    left = [(size, dim) for size, dim in zip(after, dims, strict=True) if size > 1]
    if [size for size, _ in left] == list(before):
        new = stablehlo.BroadcastInDimOp.create(
            operands=reshape.operands,
            result_types=broadcast.result_types,
            properties={"broadcast_dimensions": dims_attr([dim for _, dim in left])},
            attributes=broadcast.attributes,
        )
        new.location = broadcast.location
        Rewriter.replace_op(broadcast, new)


def _multiply(product: stablehlo.DotGeneralOp) -> None:
    """Write a product that sums nothing as a multiplication."""
    dims = product.dot_dimension_numbers.data
    batches = dims.lhs_batching_dimensions, dims.rhs_batching_dimensions
    # results have batches first, then what each operand has alone
    after = len(batches[0])
    emit = Emitter(Block(), product.location)
    sides: list[SSAValue] = []
    for value, batch in zip(product.operands, batches, strict=True):
        alone = [at for at in range(len(shape_of(value))) if at not in batch]
        order = [*batch, *alone]
        if order != sorted(order):
            shape = [shape_of(value)[at] for at in order]
            kind = TensorType(element_of(value), shape)
            turned = {"permutation": dims_attr(order)}
            value = emit.one(stablehlo.TransposeOp, [value], kind, turned)
        value = emit.convert(value, element_of(product.result))
        places = [*range(len(batch)), *range(after, after + len(alone))]
        after += len(alone)
        sides.append(emit.broadcast(value, shape_of(product.result), places))
    result = emit.binary(stablehlo.MulOp, *sides)
    Rewriter.inline_block(emit.block, InsertPoint.before(product))
    Rewriter.replace_op(product, [], [result])


def _exchange_operands(transpose: stablehlo.TransposeOp) -> None:
    """Write a transpose of what a product's operands have alone as the product of them exchanged."""
    product = transpose.operand.owner
    if not isinstance(product, stablehlo.DotGeneralOp) or product.algorithm is not None:
        return
    dims = product.dot_dimension_numbers.data
    batches, rank = len(dims.lhs_batching_dimensions), len(shape_of(product.result))
    left = len(shape_of(product.lhs)) - len(dims.lhs_contracting_dimensions)
    exchanged = (*range(batches), *range(left, rank), *range(batches, left))
    is_plain = sdy.get_sharding(product.result) is None
    if not (is_plain and product.result.has_one_use()):
        return
    if transpose.permutation.get_values() != exchanged:
        return
    numbers = DotDims(
        *(dims.rhs_batching_dimensions, dims.lhs_batching_dimensions),
        *(dims.rhs_contracting_dimensions, dims.lhs_contracting_dimensions),
    )
    precision = product.precision_config
    both = ArrayAttr(precision.data[::-1]) if precision is not None else None
    new = stablehlo.DotGeneralOp.create(
        operands=product.operands[::-1],
        result_types=transpose.result_types,
        properties={
            "dot_dimension_numbers": DotDimensionNumbersAttr(numbers),
            **({} if both is None else {"precision_config": both}),
        },
        attributes=transpose.attributes,
    )
    new.location = product.location
    Rewriter.replace_op(transpose, new)
    Rewriter.erase_op(product)


def _keeps_rows(scatter: stablehlo.ScatterOp) -> bool:
    """Whether a scatter adds to zeros, or replaces, and indices and updates have the rows' order."""
    dims = scatter.scatter_dimension_numbers.data
    batches = dims.input_batching_dims, dims.scatter_indices_batching_dims
    end = scatter.update_computation.block.last_op
    assert end is not None, "an update returns"
    (result,), args = end.operands, set(scatter.update_computation.block.args)
    replaces = result is scatter.update_computation.block.args[1]
    adds = isinstance(add := result.owner, stablehlo.AddOp) and {*add.operands} == args
    adds &= is_zero(scatter.inputs[0])
    return (replaces or adds) and all(list(dims) == sorted(dims) for dims in batches)


def _compare(scatter: stablehlo.ScatterOp) -> None:
    """Write a scatter of one element for each row as a comparison with its indices."""
    whole = scatter.inputs[0]
    shape = shape_of(whole)
    (dim,) = scatter.scatter_dimension_numbers.data.inserted_window_dims
    rows = [at for at in range(len(shape)) if at != dim]
    emit = Emitter(Block(), scatter.location)
    indices, updates = (
        emit.broadcast(emit.reshape(value, [shape[at] for at in rows]), shape, rows)
        for value in (scatter.scatter_indices, scatter.updates[0])
    )
    wide = element_of(indices)
    wide = wide if is_wider_than_index(wide) else INDEX
    places, indices = (emit.convert(v, wide) for v in (emit.iota(shape, dim), indices))
    is_place = emit.compare(places, indices, ComparisonDirection.EQ)
    result = emit.select(is_place, updates, whole)
    Rewriter.inline_block(emit.block, InsertPoint.before(scatter))
    Rewriter.replace_op(scatter, [], [result])


def _free_kept(loop: stablehlo.WhileOp) -> None:
    """Have a loop's regions reach for what it carries and leaves as it is."""
    end = loop.body.block.last_op
    assert end is not None, "a loop's body returns"
    arguments = loop.body.block.args
    is_kept = [end.operands[at] is value for at, value in enumerate(arguments)]
    kept = [at for at, same in enumerate(is_kept) if same]
    for at in kept:
        value = loop.operands[at]
        sharding = sdy.get_sharding(value)
        inside = value
        if sharding is not None:
            is_open = TensorSharding.fully_open(sharding.mesh, len(shape_of(value)))
            constraint = sdy.ShardingConstraintOp(value, is_open)
            Rewriter.insert_op(constraint, InsertPoint.before(loop))
            inside = constraint.result
        loop.results[at].replace_all_uses_with(value)
        for region in (loop.cond, loop.body):
            region.block.args[at].replace_all_uses_with(inside)
    if not kept:
        return
    left = [at for at, same in enumerate(is_kept) if not same]
    end.operands = [end.operands[at] for at in left]
    for at in reversed(kept):
        for region in (loop.cond, loop.body):
            region.block.erase_arg(region.block.args[at])
    _replace(loop, [loop.operands[at] for at in left], left)


def _free_values(loop: stablehlo.WhileOp) -> list[SSAValue]:
    """Return the values around a loop that its regions read."""
    values = dict.fromkeys(
        value
        for op in all_ops(loop)
        if op is not loop
        for value in operands_of(op)
        if not _is_in(value, loop)
    )
    return list(values)


def _is_in(value: SSAValue, loop: stablehlo.WhileOp) -> bool:
    around = value.owner.parent_op()
    return around is not None and (around is loop or loop.is_ancestor(around))


def _carry(loop: stablehlo.WhileOp, values: Sequence[SSAValue]) -> None:
    end = loop.body.block.last_op
    assert end is not None, "a loop's body returns"
    for value in values:
        for region in (loop.cond, loop.body):
            block = region.block
            argument = block.insert_arg(value.type, len(block.args))

            def is_inside(use: Use, block: Block = block) -> bool:
                return block.find_ancestor_op_in_block(use.operation) is not None

            value.replace_uses_with_if(argument, is_inside)
    count = len(loop.operands)
    added = loop.body.block.args[count:]
    end.operands = [*end.operands, *added]
    shardings = [sdy.get_sharding(value) for value in values]
    new = _replace(loop, [*loop.operands, *values], range(count))
    for result, sharding in zip(new.results[count:], shardings, strict=True):
        if sharding is not None:
            sdy.set_sharding(result, sharding)


def _replace(
    loop: stablehlo.WhileOp, operands: Sequence[SSAValue], kept: Sequence[int]
) -> stablehlo.WhileOp:
    """Return a loop with other operands in place of one, whose results of some places it has."""
    shardings = [sdy.get_sharding(loop.results[at]) for at in kept]
    attributes = {k: v for k, v in loop.attributes.items() if k != sdy.SHARDING}
    new = stablehlo.WhileOp.create(
        operands=operands,
        result_types=[value.type for value in operands],
        properties=loop.properties,
        attributes=attributes,
        regions=[loop.detach_region(region) for region in list(loop.regions)],
    )
    new.location = loop.location
    Rewriter.insert_op(new, InsertPoint.before(loop))
    for place, (at, sharding) in enumerate(zip(kept, shardings, strict=True)):
        loop.results[at].replace_all_uses_with(new.results[place])
        if sharding is not None:
            sdy.set_sharding(new.results[place], sharding)
    Rewriter.erase_op(loop)
    return new
