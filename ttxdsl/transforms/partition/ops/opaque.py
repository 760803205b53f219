"""Partitioning of custom calls, and of ops with a rule of the user or without one."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ttxdsl.analysis.attribution.origins import on_whole_values
from ttxdsl.diagnostics.remarks import Cost, OpsAt, emit_cost
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.custom import Communication, communication_of
from ttxdsl.ir.tensors import element_of, tensor_bytes
from ttxdsl.rules.division import Division
from ttxdsl.rules.registry import registered_call_rule, sharding_rule
from ttxdsl.rules.supplement import supplementary_rule
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.partition.by_factors import localize_by_factors
from ttxdsl.transforms.partition.exchange.combiner import SUM
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.partition.localizer import Localizer, Table


def _bytes(value: SSAValue, shape: Sequence[int]) -> int:
    """Return the bytes of so many of a value's elements."""
    return tensor_bytes(shape, element_of(value))


def replicated(
    ctx: Localizer,
    op: Operation,
    reason: str = "is not known to work on parts of its operands",
) -> None:
    """Gather everything, compute the op whole everywhere, and cut the results.

    Raises:
        UnsupportedError: if something has to be gathered or cut and `strict` is set;
            in the pipeline at its end.
    """
    operands = ctx.operands(op)
    targets = [ctx.target(result) for result in op.results]
    moved = sum(
        _bytes(local.value, local.layout.shape)
        for local in operands
        if local.is_sharded and local.layout is not None
    )
    kept = sum(
        _bytes(result, target.shape) - _bytes(result, target.local_shape)
        for result, target in zip(op.results, targets, strict=True)
        if target is not None
    )
    if moved or kept:
        _report(ctx, op, reason, moved, kept)
    whole = [
        None if target is None else Layout.replicated(target.mesh, target.shape)
        for target in targets
    ]
    locals_ = ctx.rebuild(op, [ctx.gather_all(local) for local in operands], whole)
    ctx.define_results(op, locals_)


def _report(ctx: Localizer, op: Operation, reason: str, moved: int, kept: int) -> None:
    """Tell that every device computes an op whole."""
    cost = (
        f" and receives up to {moved} bytes for it"
        if moved
        else f", which takes {kept} bytes a device more than shards would"
    )
    message = f"{reason}: every device computes it whole{cost}"
    name, location = op.name, op.location

    def judge(ops_at: OpsAt | None) -> tuple[str, Operation] | None:
        if ops_at is None:
            return message, op
        there = (named_op for named_op in ops_at(location) if named_op.name == name)
        return next(((message, named_op) for named_op in there), None)

    hint = (
        "give it an sdy.sharding_rule (a collective: a manual computation), or leave"
        " strict off"
    )
    emit_cost(Cost(judge, hint, ctx.strict))


def custom_call(ctx: Localizer, op: stablehlo.CustomCallOp) -> None:
    """Partition a custom call by its target's rule, or by the user's."""
    if not ctx.is_manual and communication_of(op) is Communication.UNKNOWN:
        ctx.emitter.location = on_whole_values(op.location)
    written = op.attributes.get(sdy.SHARDING_RULE)
    # a rule that `sdy-populate-op-sharding-rules` wrote says how shardings travel
    if isinstance(written, sdy.OpShardingRuleAttr) and written.data.is_custom:
        by_written_rule(ctx, op, written.data)
    elif (told := registered_call_rule(op)) is not None:
        by_written_rule(ctx, op, told)
    elif (division := ctx.division(op)) is not None:
        # a call joins factors that are not reductions by itself
        combine = SUM if division.rule.reduction else None
        localize_by_factors(ctx, op, division, combine=combine)
    else:
        replicated(ctx, op)


def by_written_rule(ctx: Localizer, op: Operation, rule: OpShardingRule) -> None:
    """Factors that pass through split freely: the author of the rule says so.

    How its reductions combine he cannot say, so those are gathered. So is a factor of
    operands that no result has, whatever it is called: each result needs all of it. And
    a call makes a dimension that it reads from no operand whole, as JAX's calls of
    LAPACK do, whose rules leave out what is no batch.
    """
    read, result_factors = (
        {factor for mapping in side for dim in mapping for factor in dim}
        for side in (rule.operands, rule.results)
    )
    if isinstance(op, stablehlo.CustomCallOp):
        result_factors &= read
    local = frozenset(
        factor for factor in result_factors if rule.is_pass_through(factor)
    )
    localize_by_factors(ctx, op, Division(rule, local))


def unknown(ctx: Localizer, op: Operation) -> None:
    """An op of no line in any table, perhaps of a third party's dialect.

    Of an op that we have a rule for, what is written says how shardings travel only.
    """
    rule = supplementary_rule(op) or sharding_rule(op)
    if rule is None:
        replicated(ctx, op)
    else:
        by_written_rule(ctx, op, rule)


LOCALIZERS: Table = {
    stablehlo.CustomCallOp: custom_call,
    stablehlo.CompositeOp: replicated,
    stablehlo.TupleOp: replicated,
    stablehlo.GetTupleElementOp: replicated,
}
