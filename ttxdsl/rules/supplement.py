"""Sharding rules of ops that Shardy has none for.

XLA rewrites these ops to others before it runs Shardy, so Shardy never had to know
them. A program as JAX prints it still has them: without a rule, everything around a
`chlo.erf` or `chlo.square` would be replicated. So would calls of linear algebra that
JAX writes without a rule of their own. They are kept apart from the registry, whose
answers are Shardy's; `supply-sharding-rules` writes them on the ops, where every pass,
also a C++ one, finds them.
"""

from collections.abc import Iterable, Iterator

from xdsl.ir import Operation

from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.dialects.traits import Elementwise, ops_with
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.builder import Factor, FactorType, Shapes, assemble, pointwise
from ttxdsl.rules.custom_call import top_k, unknown_to_shardy
from ttxdsl.rules.elementwise import like_result
from ttxdsl.rules.normalization import batch_norm
from ttxdsl.rules.quantized import kept_whole
from ttxdsl.rules.table import OpRule, rule
from ttxdsl.sharding.factors import OpShardingRule


def broadcast(op: stablehlo.BroadcastOp) -> Iterator[Factor]:
    """The operand's dimensions are the result's last."""
    result = shape_of(op.result)
    new = len(result) - len(shape_of(op.operand))
    for out, size in enumerate(result):
        yield Factor(size, (out - new if out >= new else None,), (out,))


def broadcast_elementwise(op: Operation) -> Iterator[Factor]:
    """Operands' dimensions are the result's last, unless `broadcast_dimensions` tells.

    Where an operand has a single element, it is repeated: it has no part in the factor.
    """
    result = shape_of(op.results[0])
    rank = len(result)
    sources: list[dict[int, int]] = []
    for operand in op.operands:
        shape = shape_of(operand)
        outs = range(rank - len(shape), rank)
        dims = getattr(op, "broadcast_dimensions", None)
        if dims is not None and len(dims.get_values()) == len(shape) < rank:
            outs = dims.get_values()
        sources.append(
            {
                out: dim
                for dim, (out, size) in enumerate(zip(outs, shape, strict=True))
                if size == result[out]
            }
        )
    for out, size in enumerate(result):
        yield Factor(size, tuple(source.get(out) for source in sources), (out,))


def ragged_dot(op: chlo.RaggedDotOp) -> Iterator[Factor]:
    """Yield the factors of a dot whose left rows form groups of given sizes.

    A row's group depends on all rows before it, so that dimension and the groups need
    replication. If the dimension is contracted, each group has its own result.
    """
    lhs, rhs = shape_of(op.lhs), shape_of(op.rhs)
    numbers = op.ragged_dot_dimension_numbers.data
    batch = (numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions)
    contracted = (
        numbers.lhs_contracting_dimensions,
        numbers.rhs_contracting_dimensions,
    )
    groups = numbers.rhs_group_dimensions

    def kind(left: int, otherwise: FactorType = FactorType.PASS_THROUGH) -> FactorType:
        ragged = left in numbers.lhs_ragged_dimensions
        return FactorType.NEED_REPLICATION if ragged else otherwise

    # the group sizes, the last operand, need replication
    out = 0
    if any(left in contracted[0] for left in numbers.lhs_ragged_dimensions):
        yield Factor(shape_of(op.result)[0], None, (0,), FactorType.NEED_REPLICATION)
        out = 1
    for left, right in zip(*batch, strict=True):
        yield Factor(lhs[left], (left, right, None), (out,), kind(left))
        out += 1
    for left, size in enumerate(lhs):
        if left not in batch[0] and left not in contracted[0]:
            yield Factor(size, (left, None, None), (out,), kind(left))
            out += 1
    for right, size in enumerate(rhs):
        if right not in batch[1] + contracted[1] + groups:
            yield Factor(size, (None, right, None), (out,))
            out += 1
    for right in groups:
        yield Factor(rhs[right], (None, right, None), None, FactorType.NEED_REPLICATION)
    for left, right in zip(*contracted, strict=True):
        cost = kind(left, FactorType.REDUCTION)
        yield Factor(lhs[left], (left, right, None), None, cost)


def top_k_parts(op: chlo.TopKOp) -> Iterable[Factor]:
    """Return the rows; also a last dimension that keeps its size is sorted."""
    return pointwise(shape_of(op.operands[0])[:-1])


RULES: dict[type[Operation], OpRule] = {
    line.op_class: line
    for line in (
        *(
            rule(op_class, broadcast_elementwise)
            for op_class in chlo.Chlo.operations
            if issubclass(op_class, chlo.ChloBroadcastOp | chlo.BroadcastSelectOp)
        ),
        *(rule(op_class, like_result) for op_class in ops_with(Elementwise, chlo.Chlo)),
        rule(chlo.RaggedDotOp, ragged_dot),
        rule(chlo.TopKOp, top_k, parts=top_k_parts),
        rule(stablehlo.BatchNormGradOp, batch_norm),
        rule(stablehlo.BatchNormTrainingOp, batch_norm),
        rule(stablehlo.BroadcastOp, broadcast),
        rule(stablehlo.CustomCallOp, unknown_to_shardy),
        rule(stablehlo.MapOp, like_result),
    )
}
"""The ops that have a rule here."""


def supplementary_rule(op: Operation) -> OpShardingRule | None:
    """Return the rule of an op that Shardy has none for.

    Returns:
        A custom rule, which `sdy-drop-sharding-rules` keeps; None for all other ops.
    """
    line = RULES.get(type(op))
    shapes = Shapes.of(op) if line else None
    if line is None or shapes is None:
        return None
    factors = line.factors(op, False)
    if factors is None:
        return None
    return assemble(shapes, kept_whole(op, factors), is_custom=True)
