"""Normalizations, custom calls, and ops of which nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, SSAValue

from ttxdsl.dialects import chlo, sdy, stablehlo
from ttxdsl.errors import UnsupportedError
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.remarks import emit_warning
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.transforms.local.by_factors import localize_by_factors, localize_except
from ttxdsl.transforms.local.layout import Layout
from ttxdsl.transforms.local.localizer import Local, Localizer, Table


def _bytes_of(local: Local) -> int:
    """The size of a whole tensor in bytes, 0 if not known."""
    if local.layout is None:
        return 0
    element = element_of(local.value)
    width = element.bitwidth if isinstance(element, FixedBitwidthType) else 0
    return prod(local.layout.shape) * -(-width // 8)


def replicated(ctx: Localizer, op: Operation) -> None:
    """Gather everything, compute the op whole everywhere, and cut the results.

    Raises:
        UnsupportedError: if something has to be gathered or cut and `strict` is set.
    """
    operands = ctx.operands(op)
    targets = [ctx.target(result) for result in op.results]
    moved = sum(_bytes_of(local) for local in operands if local.is_sharded)
    split = any(target is not None and target.is_sharded for target in targets)
    if moved or split:
        _report(ctx, op, moved)
    whole = [
        None if target is None else Layout.replicated(target.mesh, target.shape)
        for target in targets
    ]
    made = ctx.rebuild(op, [ctx.gather_all(local) for local in operands], whole)
    ctx.define_results(op, made)


def _report(ctx: Localizer, op: Operation, moved: int) -> None:
    message = (
        "is not known to work on parts of its operands: every device computes it "
        f"whole and receives up to {moved} bytes for it"
    )
    if ctx.strict:
        raise UnsupportedError(
            message, op, hint="give it an sdy.sharding_rule, or leave strict off"
        )
    emit_warning(f"'{op.name}' op {message}", op)


def batch_norm(
    ctx: Localizer,
    op: stablehlo.BatchNormInferenceOp
    | stablehlo.BatchNormTrainingOp
    | stablehlo.BatchNormGradOp,
) -> None:
    """Features split freely; the other dimensions only if no statistics are taken."""
    shape = shape_of(op.operand)
    feature = op.feature_index.value.data
    whole = tuple((dim,) for dim in range(len(shape)))

    def mapping(values: Sequence[SSAValue]) -> tuple[tuple[tuple[int, ...], ...], ...]:
        rank = len(shape)
        return tuple(
            whole if len(shape_of(value)) == rank and rank > 1 else ((feature,),)
            for value in values
        )

    rule = OpShardingRule(shape, mapping(op.operands), mapping(op.results))
    free = isinstance(op, stablehlo.BatchNormInferenceOp)
    localize_by_factors(ctx, op, rule, lambda factor: free or factor == feature)


MATRIX_TARGETS = frozenset(
    (
        "Cholesky",
        "CompactWyHelper",
        "Eigh",
        "InvertDiagBlocksLowerTriangular",
        "InvertDiagBlocksUpperTriangular",
        "ProductOfElementaryHouseholderReflectors",
        "Qr",
        "QrDecompositionBlock",
    )
)
"""Custom calls on the matrices of the last two dimensions; all others are batches."""

ELEMENTWISE_TARGETS = frozenset(
    (
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "Sharding",
        "X64Combine",
        "X64SplitHigh",
        "X64SplitLow",
        "annotate_device_placement",
        "mhlo.erf",
    )
)
"""Custom calls that do the same to each element."""


def custom_call(ctx: Localizer, op: stablehlo.CustomCallOp) -> None:
    """By what its target is known to compute, or by the rule that the user wrote."""
    target = op.call_target_name.data
    ranks = {len(shape_of(v)) for v in (*op.operands, *op.results) if is_tensor(v)}
    written = op.attributes.get(sdy.SHARDING_RULE)
    # A rule that `sdy-populate-op-sharding-rules` wrote says how shardings travel, and
    # lets them through dimensions that cannot be computed on parts (of an Eigh, say).
    if isinstance(written, sdy.OpShardingRuleAttr) and written.data.is_custom:
        by_written_rule(ctx, op)
    elif target in ELEMENTWISE_TARGETS and len(ranks - {0}) <= 1:
        localize_except(ctx, op, ())
    elif target in MATRIX_TARGETS:
        _batched_call(ctx, op)
    elif target in ("mhlo.topk", "ApproxTopK", "PartialReduce"):
        before, after = shape_of(op.operands[0]), shape_of(op.results[0])
        changed = [d for d, size in enumerate(before) if size != after[d]]
        # as many results as elements: the dimension is sorted all the same
        localize_except(ctx, op, changed or range(len(before)))
    else:
        replicated(ctx, op)


def _batched_call(ctx: Localizer, op: stablehlo.CustomCallOp) -> None:
    """Leading dimensions are batches, the last two of the first operand a matrix."""
    shape = shape_of(op.operands[0])
    batches = len(shape) - 2
    factors = list(shape[:batches])

    def mapping(value: SSAValue) -> tuple[tuple[int, ...], ...]:
        own: list[tuple[int, ...]] = [(dim,) for dim in range(batches)]
        for size in shape_of(value)[batches:]:
            factors.append(size)
            own.append((len(factors) - 1,))
        return tuple(own)

    operands = tuple(mapping(value) for value in op.operands)
    results = tuple(mapping(value) for value in op.results)
    rule = OpShardingRule(tuple(factors), operands, results)
    localize_by_factors(ctx, op, rule, lambda factor: factor < batches)


def by_written_rule(ctx: Localizer, op: Operation) -> None:
    """Factors that pass through split freely: the author of the rule says so.

    How its reductions combine he cannot say, so those are gathered. So is a factor of
    operands that no result has, whatever it is called: each result needs all of it. And
    a call makes a dimension that it reads from no operand whole, as JAX's calls of
    LAPACK do, whose rules leave out what is no batch.
    """
    rule = sharding_rule(op)
    if rule is None:
        replicated(ctx, op)
        return
    read, made = (
        {factor for mapping in side for dim in mapping for factor in dim}
        for side in (rule.operands, rule.results)
    )
    if isinstance(op, stablehlo.CustomCallOp):
        made &= read
    localize_by_factors(
        ctx,
        op,
        rule,
        lambda factor: factor in made and rule.is_pass_through(factor),
        operands=_as_the_result(ctx, op, rule),
        could_be_partial=rule.reduction,
    )


def _as_the_result(ctx: Localizer, op: Operation, rule: OpShardingRule) -> list[Local]:
    """The operands, those that are like the first result split as it is wanted.

    Nobody has seen to it that the shardings around an op with a rule of its own agree.
    """
    operands = ctx.operands(op)
    target = ctx.target(op.results[0]) if op.results else None
    if target is None or len(op.results) > 1:
        return operands
    (mapping,) = rule.results
    free = all(rule.is_pass_through(factor) for dim in mapping for factor in dim)
    return [
        ctx.reshard_to(local, target)
        if free
        and of_operand == mapping
        and local.layout is not None
        and local.layout.shape == target.shape
        and local.layout.is_sharded
        else local
        for local, of_operand in zip(operands, rule.operands, strict=True)
    ]


def top_k(ctx: Localizer, op: chlo.TopKOp) -> None:
    """All dimensions but the last are independent."""
    rank = len(shape_of(op.operands[0]))
    localize_except(ctx, op, (rank - 1,))


def unknown(ctx: Localizer, op: Operation) -> None:
    """An op of no line in any table, perhaps of a third party's dialect."""
    if sdy.SHARDING_RULE in op.attributes or sharding_rule(op) is not None:
        by_written_rule(ctx, op)
    else:
        replicated(ctx, op)


LOCALIZERS: Table = {
    stablehlo.BatchNormInferenceOp: batch_norm,
    stablehlo.BatchNormTrainingOp: batch_norm,
    stablehlo.BatchNormGradOp: batch_norm,
    stablehlo.CustomCallOp: custom_call,
    stablehlo.CompositeOp: replicated,
    stablehlo.TupleOp: replicated,
    stablehlo.GetTupleElementOp: replicated,
    chlo.TopKOp: top_k,
}
