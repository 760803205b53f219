"""`follow-results`: operands of products and elementwise ops that are split as their results.

Where shardings contend, Shardy's reshards take that of most operands and reshard the result.
XLA's partitioner reshards the operands as the result is: those of elementwise ops, and those of
products along what each has alone, so that the other operand is whole along the axes of the
result. Where both operands are split along what is summed, it sums products of parts, and holds
the whole result on each device before that is cut. Where what is looked up in tables is split by the
axes of their number, or what is added to a table's rows by those of the rows and is no less than they,
each device has the whole tables for what it looks up or adds, and adds up what all have (libtpu 0.0.52:
15 of 15 steps whose table is no more than what is added, and none of 15 whose table is more; four of four
whose batch splits the number of tables, and not one whose batch is split by another axis).
"""

from collections.abc import Iterable, Iterator, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.tensors import is_tensor, shape_of, value_bytes
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.rules.registry import Signatures
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.spec import DimSharding, TensorSharding

_Resharded = dict[tuple[Block, SSAValue, TensorSharding], SSAValue]


class FollowResultsPass(ModulePass):
    """Reshard products that are summed behind them, and operands ahead of their op.

    It runs ahead of stage 8.
    """

    name = "follow-results"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for product in ops_of_type(op, stablehlo.DotGeneralOp):
            _keep_whole(product, _summed_axes(product))
        resharded: _Resharded = {}
        signatures = Signatures()
        for inner in ops_of_type(op, stablehlo.GatherOp, stablehlo.ScatterOp):
            rule = signatures.of(inner).rule
            assert rule is not None, "gathers and scatters have rules"
            _hold_table(inner, _contended_axes(inner, rule), rule, resharded)
        for inner in all_ops(op):
            for index, sharding in _followed(inner):
                _reshard(inner, index, sharding, resharded)


def _keep_whole(op: Operation, summed: Iterable[AxisRef]) -> None:
    """Let the result of an op that is summed along axes be whole along them, and reshard it behind."""
    result, axes_summed = op.results[0], list(summed)
    sharding = sdy.get_sharding(result)
    if sharding is None:
        return
    whole = sharding.map_axes(lambda axes: _without(axes, axes_summed))
    if whole.same_layout(sharding):
        return
    reshard = sdy.ReshardOp(result, sharding)
    reshard.location = op.location
    Rewriter.insert_op(reshard, InsertPoint.after(op))
    result.replace_uses_with_if(
        reshard.result, lambda use: use.operation is not reshard
    )
    sdy.set_sharding(result, whole)


def _hold_table(
    op: stablehlo.GatherOp | stablehlo.ScatterOp,
    axes: Sequence[AxisRef],
    rule: OpShardingRule,
    resharded: _Resharded,
) -> None:
    """Have a table whole along axes for a lookup, whose result is split as its indices are, or an update."""
    of_table, of_rows = map(sdy.get_sharding, op.operands[:2])
    if not axes or of_table is None or of_rows is None:
        return
    _reshard(op, 0, of_table.map_axes(lambda held: _without(held, axes)), resharded)
    _keep_whole(op, axes)
    old = sdy.get_sharding(op.results[0])
    if isinstance(op, stablehlo.GatherOp) and old is not None:
        of_factor = dict(zip(rule.operands[1], of_rows.dims, strict=True))
        dims = zip(rule.results[0], old.dims, strict=True)
        split = old.with_dims([of_factor.get(factors, dim) for factors, dim in dims])
        sdy.set_sharding(op.result, split)


def _followed(op: Operation) -> Iterator[tuple[int, TensorSharding]]:
    """Yield the sharding that an op's result asks of operands, each with its index."""
    is_elementwise = op.get_trait(Elementwise) is not None
    if isinstance(op, stablehlo.DotGeneralOp):
        sharding = sdy.get_sharding(op.result)
        if sharding is not None:
            yield from enumerate(_of_operands(op, sharding))
    elif isinstance(op, stablehlo.ConvertOp) or is_elementwise:
        shape, sharding = shape_of(op.results[0]), sdy.get_sharding(op.results[0])
        for index, value in enumerate(op.operands if sharding else ()):
            if shape and is_tensor(value) and shape_of(value) == shape:
                assert sharding is not None
                yield index, sharding


def _of_operands(
    product: stablehlo.DotGeneralOp, result: TensorSharding
) -> Iterator[TensorSharding]:
    """Yield the sharding of each operand of a product that one of its result asks for."""
    dims = product.dot_dimension_numbers.data
    taken = len(dims.lhs_batching_dimensions)
    for value, batches, summed in (
        (product.lhs, dims.lhs_batching_dimensions, dims.lhs_contracting_dimensions),
        (product.rhs, dims.rhs_batching_dimensions, dims.rhs_contracting_dimensions),
    ):
        own = sdy.get_sharding(value)
        own = own or TensorSharding.fully_open(result.mesh, len(shape_of(value)))
        of_operand: list[DimSharding] = []
        for at, dim in enumerate(own.dims):
            if at in batches:
                of_operand.append(result.dims[batches.index(at)])
            elif at in summed:
                of_operand.append(
                    dim.with_axes(_without(dim.axes, result.sharding_axes))
                )
            else:
                of_operand.append(result.dims[taken])
                taken += 1
        yield own.with_dims(of_operand)


def _reshard(
    op: Operation, index: int, sharding: TensorSharding, resharded: _Resharded
) -> None:
    value, block = op.operands[index], op.parent
    own = sdy.get_sharding(value)
    if own is None or own.same_layout(sharding) or block is None:
        return
    key = block, value, sharding
    if key not in resharded:
        reshard = sdy.ReshardOp(value, sharding)
        reshard.location = op.location
        Rewriter.insert_op(reshard, InsertPoint.before(op))
        resharded[key] = reshard.result
    op.operands[index] = resharded[key]


def _without(axes: Axes, others: Iterable[AxisRef]) -> Axes:
    return tuple(
        axis for axis in axes if not any(axis.overlaps(other) for other in others)
    )


def _summed_axes(product: stablehlo.DotGeneralOp) -> list[AxisRef]:
    """Return the axes by which both operands are split along dimensions that are summed."""
    left, right = map(sdy.get_sharding, product.operands)
    if left is None or right is None:
        return []
    dims = product.dot_dimension_numbers.data
    pairs = zip(
        dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions, strict=True
    )
    return [
        axis
        for first, second in pairs
        for axis in left.dims[first].axes
        if axis in right.dims[second].axes
    ]


def _contended_axes(
    op: stablehlo.GatherOp | stablehlo.ScatterOp, rule: OpShardingRule
) -> list[AxisRef]:
    """Return the axes of a table that split other dimensions of what is read or added, if it is whole for that.

    It is along the batches of several tables, each device having all that it looks up in all of them, and
    along the rows that a scatter adds to if they are no more than what is added (else that is gathered).
    """
    of_table, of_rows = map(sdy.get_sharding, op.operands[:2])
    if of_table is None or of_rows is None or len(op.results) > 1:
        return []
    split = {
        axis: factor
        for dim, factors in zip(of_rows.dims, rule.operands[1], strict=True)
        for factor in factors
        for axis in dim.axes
    }
    adds = isinstance(op, stablehlo.ScatterOp)
    is_no_more = adds and value_bytes(op.operands[0]) <= value_bytes(op.operands[-1])
    return [
        axis
        for dim, factors in zip(of_table.dims, rule.operands[0], strict=True)
        for factor in factors
        if rule.is_batching(factor)
        or (is_no_more and (factor,) not in rule.operands[-1])
        for axis in dim.axes
        if split.get(axis, factor) != factor
    ]
