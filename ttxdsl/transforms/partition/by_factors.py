"""The general way to make an op local, from the factors of its dimensions.

A factor can be *local*, as the op's `Division` says: all operands and results that have it are split alike, and
each device computes its part from its part. Every other factor is *replicated*:
operands are gathered along it, and results, computed whole, are sliced. A local
factor that no result has leaves partial results, which somebody combines later.

An op that works on any part of its operands needs no more than this; what depends on
the device (an attribute that holds sizes, an offset, a mask) is the caller's to write.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects.stablehlo import ReshapeOp
from ttxdsl.rules.division import Division
from ttxdsl.sharding.axes import (
    Axes,
    common_prefix,
    concatenate_merged,
    lists_coexist,
    lists_overlap,
    sort_and_merge,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule, TensorMapping
from ttxdsl.sharding.reshard.collectives import AllSlice, suffix_behind
from ttxdsl.transforms.partition.agreement import agree
from ttxdsl.transforms.partition.exchange.combiner import Combiner
from ttxdsl.transforms.partition.layout import Layout, cut
from ttxdsl.transforms.partition.localizer import (
    Local,
    Localizer,
    Partial,
    is_kept_consistent,
)

DimParts = tuple[tuple[tuple[int, Axes], ...], Axes]
"""The axes of one dimension: those of each factor, and those that fit none."""


class Plan(NamedTuple):
    """The layouts of the operands and results of one op while it is computed.

    Attributes:
        mesh: the mesh of everything that is split; None if nothing is.
        results: one layout a result, before it is sliced.
        partial: the axes along which results are partial.
        complete: axes of reduced factors along which operands are gathered instead.
    """

    mesh: Mesh | None
    operands: tuple[Layout | None, ...]
    results: tuple[Layout | None, ...]
    axes: Mapping[int, Axes]
    partial: Axes
    complete: Axes = ()

    @property
    def result_layout(self) -> Layout:
        """The layout of the only result before it is sliced."""
        (result,) = self.results
        assert result is not None, "only asked of ops on tensors"
        return result


def _parts(
    layout: Layout, mapping: TensorMapping, sizes: Sequence[int]
) -> list[DimParts]:
    parts: list[DimParts] = []
    for axes, factors in zip(layout.axes, mapping, strict=True):
        if len(factors) == 1:
            parts.append((((factors[0], axes),), ()))
            continue
        by_factor, rest = cut(axes, [sizes[factor] for factor in factors], layout.mesh)
        parts.append((tuple(zip(factors, by_factor, strict=True)), rest))
    return parts


def _kept(parts: DimParts, replicated: Collection[int]) -> Axes:
    """Return the leading axes of a dimension that belong to local factors."""
    kept: list[Axes] = []
    for factor, axes in parts[0]:
        if axes and factor in replicated:
            break
        kept.append(axes)
    return tuple(axis for axes in kept for axis in axes)


def _keeping(
    layout: Layout, parts: Sequence[DimParts], replicated: Collection[int]
) -> Layout:
    """A layout less the axes of replicated factors; the same object if it has none."""
    kept = layout.with_axes(_kept(part, replicated) for part in parts)
    return layout if kept == layout else kept


def _also_replicated(all_parts: Sequence[DimParts], replicated: set[int]) -> bool:
    """Add the factors that are minor to a replicated one in some dimension.

    After a gather, a dimension can only keep its leading axes.
    """
    changed = False
    for by_factor, _ in all_parts:
        blocked = False
        for factor, axes in by_factor:
            if axes and blocked and factor not in replicated:
                replicated.add(factor)
                changed = True
            blocked = blocked or bool(axes and factor in replicated)
    return changed


def _common_mesh(op: Operation, layouts: Sequence[Layout | None]) -> Mesh | None:
    """Return the mesh of all that is split."""
    meshes = {layout.mesh for layout in layouts if layout and layout.is_sharded}
    if len(meshes) > 1:
        raise CompileError(
            "its operands and results are split over different meshes",
            op,
            hint="run sdy-insert-explicit-reshards before this pass",
        )
    return next(iter(meshes), None)


def division_of(ctx: Localizer, op: Operation) -> Division:
    """Return the division of an op among devices.

    Raises:
        UnsupportedError: its shapes are dynamic.
    """
    division = ctx.division(op)
    if division is None:
        raise UnsupportedError("its shapes are not static", op)
    return division


def _plan(
    ctx: Localizer,
    op: Operation,
    division: Division,
    operands: Sequence[Layout | None],
    results: Sequence[Layout | None],
    local: frozenset[int],
    reduced: tuple[int, ...] = (),
    *,
    sums: bool,
) -> Plan:
    """Decide how each operand and result of an op lies while it is computed.

    Found once for ops that are alike and lie alike, the very same layouts and division.

    Raises:
        CompileError: if a local factor is split differently in two places.
    """
    known_by: tuple[object, ...] = (division, *operands, *results)
    key = (local, reduced, sums, *map(id, known_by))
    known = ctx.plans.get(key)
    if known is None:
        plan = _find_plan(op, division.rule, operands, results, local, sums=sums)
        reductions = {*division.rule.reduction, *reduced}
        complete = _complete_axes(division.rule, operands, plan, reductions)
        plan = plan._replace(complete=complete)
        known = ctx.plans.keep(key, plan, *known_by)
    return known


def _find_plan(
    op: Operation,
    rule: OpShardingRule,
    operands: Sequence[Layout | None],
    results: Sequence[Layout | None],
    local: frozenset[int],
    *,
    sums: bool,
) -> Plan:
    """See `_plan`; the op is for error messages."""
    mesh = _common_mesh(op, (*operands, *results))
    if mesh is None:
        return Plan(None, tuple(operands), tuple(results), {}, ())
    if not is_kept_consistent(op):
        values = (*op.operands, *op.results)
        operands, results = agree(
            rule, tuple(operands), tuple(results), local, values, mesh, sums=sums
        )
    layouts = (*operands, *results)
    parts_of = [
        _parts(layout, mapping, rule.factor_sizes) if layout is not None else []
        for layout, mapping in zip(layouts, rule.tensors, strict=True)
    ]
    every_part = [part for parts in parts_of for part in parts]
    replicated = {
        factor
        for by_factor, _ in every_part
        for factor, axes in by_factor
        if axes and factor not in local
    }
    while True:  # each round replicates one more factor
        while _also_replicated(every_part, replicated):
            pass
        axes = _axes_of_factors(op, rule, layouts, parts_of, replicated)
        if axes is None:
            continue
        kept = [
            None if layout is None else _keeping(layout, parts, replicated)
            for layout, parts in zip(layouts, parts_of, strict=True)
        ]
        after = kept[len(operands) :]
        unmade = [
            factor
            for factor in axes
            if not any(factor in dim for mapping in rule.results for dim in mapping)
        ]
        # a result that is split along an axis only after it was computed must not
        # be partial along that very axis
        later = [
            axis
            for old, new in zip(results, after, strict=True)
            if old is not None and new is not None
            for whole, leading in zip(old.axes, new.axes, strict=True)
            for axis in suffix_behind(leading, whole, mesh)
        ]
        # nor along one that devices share out otherwise elsewhere: its groups would
        # join different parts of the result
        clashing = [
            factor
            for factor in unmade
            if lists_overlap(axes[factor], later)
            or not all(lists_coexist(axes[factor], other) for other in axes.values())
        ]
        if not clashing:
            break
        replicated.update(clashing)
    partial = tuple(axis for factor in unmade for axis in axes[factor])
    return Plan(
        mesh,
        tuple(kept[: len(operands)]),
        tuple(after),
        axes,
        sort_and_merge(partial, mesh),
    )


def _axes_of_factors(
    op: Operation,
    rule: OpShardingRule,
    layouts: Sequence[Layout | None],
    parts_of: Sequence[Sequence[DimParts]],
    replicated: set[int],
) -> dict[int, Axes] | None:
    """Return the axes of each local factor that is split.

    Operand and result of a reshape may disagree, whose minor factors do without the axes
    that do not divide a major one: the factor is then added to `replicated`, and the
    answer is None.

    Raises:
        CompileError: if two tensors of any other op disagree.
    """
    found_axes: dict[int, tuple[Axes, int, int]] = {}
    for tensor, parts in enumerate(parts_of):
        layout = layouts[tensor]
        if layout is None:
            continue
        for dim, (by_factor, _) in enumerate(parts):
            for factor, axes in by_factor:
                if factor in replicated:
                    continue
                axes = concatenate_merged((), axes, layout.mesh)
                known = found_axes.setdefault(factor, (axes, tensor, dim))
                if known[0] == axes:
                    continue
                if isinstance(op, ReshapeOp):
                    replicated.add(factor)
                    return None
                raise _disagreement(op, rule, layouts, known[1:], (tensor, dim))
    return {factor: axes for factor, (axes, _, _) in found_axes.items() if axes}


def _disagreement(
    op: Operation,
    rule: OpShardingRule,
    layouts: Sequence[Layout | None],
    *places: tuple[int, int],
) -> CompileError:
    count = len(rule.operands)

    def say(tensor: int, dim: int) -> str:
        layout = layouts[tensor]
        assert layout is not None
        kind = f"operand {tensor}" if tensor < count else f"result {tensor - count}"
        axes = ", ".join(str(axis) for axis in layout.axes[dim])
        return f"dimension {dim} of {kind} by {{{axes}}}"

    return CompileError(
        f"is split differently along one factor: {' and '.join(say(*p) for p in places)}",
        op,
        hint="run sdy-insert-explicit-reshards before this pass",
    )


def _splits_further(before: Layout, after: Layout) -> bool:
    """Return whether one layout becomes another by slices alone."""
    return before.mesh == after.mesh and all(
        common_prefix(old, new) == old
        for old, new in zip(before.axes, after.axes, strict=True)
    )


def _to_layout(ctx: Localizer, local: Local, layout: Layout | None) -> Local:
    """Move an operand to where a plan wants it; most are gathered."""
    if layout is None or local.placed.same_placement(layout):
        return local
    if not _splits_further(layout, local.placed):
        return ctx.reshard_to(local, layout)
    suffixes = tuple(
        suffix_behind(new, old, local.placed.mesh)
        for old, new in zip(local.placed.axes, layout.axes, strict=True)
    )
    return ctx.gather_along(local, suffixes)


def _from_layout(ctx: Localizer, local: Local, layout: Layout | None) -> Local:
    """Move a result of a plan to where it is wanted; most are sliced."""
    if layout is None or local.placed.same_placement(layout):
        return local
    base = replace(local.placed, mesh=layout.mesh)
    if not _splits_further(base, layout):
        return ctx.reshard_to(local, layout)
    suffixes = tuple(
        suffix_behind(old, new, layout.mesh)
        for old, new in zip(base.axes, layout.axes, strict=True)
    )
    sliced = ctx.step(replace(local, layout=base, partial=None), AllSlice(suffixes))
    return replace(sliced, partial=local.partial)


def _sliced_after(
    planned: Sequence[Layout | None], wanted: Sequence[Layout | None]
) -> Axes:
    """Return the axes that results are split by only after their op has run."""
    return tuple(
        axis
        for before, after in zip(planned, wanted, strict=True)
        if before is not None and after is not None
        for old, new in zip(before.axes, after.axes, strict=True)
        for axis in suffix_behind(old, new, after.mesh)
    )


def localize_by_factors(
    ctx: Localizer,
    op: Operation,
    division: Division | None = None,
    *,
    whole: Collection[int] = (),
    operands: Sequence[Local] | None = None,
    combine: Combiner | Sequence[Combiner] | None = None,
    reduced: tuple[int, ...] = (),
    write: Callable[[list[Local], Plan], Sequence[Local]] | None = None,
    planned: Sequence[Layout | None] | None = None,
    complete: Axes = (),
) -> None:
    """Write the local form of an op that works on any part of its operands.

    Args:
        division: how devices share it out, if not as the tables of rules say.
        whole: factors that cannot be shared out here although others like it can.
        operands: what the op works on, if not its operands as they lie.
        combine: how results join that are partial, all of them or each; None or nothing
            if `write` joins them.
        reduced: factors that are parts of reductions in Shardy's rule, besides those that
            are reductions here, so that all-reduces may follow even if they are whole.
        write: from the operands as they are planned to the results, if the op does not
            just run on them.
        planned: how the results lie while the op runs, if they are sliced after it.
        complete: axes by which operands were split that Shardy takes for parts of
            reductions, and are whole.
    """
    division = division or division_of(ctx, op)
    local = division.local.difference(whole) if whole else division.local
    operands = ctx.operands(op) if operands is None else operands
    wanted = [ctx.target(result) for result in op.results]
    layouts = [operand.layout for operand in operands]
    sums = combine is not None
    decided = _plan(
        ctx, op, division, layouts, planned or wanted, local, reduced, sums=sums
    )
    if planned and lists_overlap(decided.partial, _sliced_after(planned, wanted)):
        # not partial along axes that the result is sliced by: nothing is left to sum
        result_factors = {
            f for mapping in division.rule.results for dim in mapping for f in dim
        }
        local &= result_factors
        decided = _plan(ctx, op, division, layouts, planned, local, reduced, sums=sums)
    gathered = [
        operand if operand.layout is layout else _to_layout(ctx, operand, layout)
        for operand, layout in zip(operands, decided.operands, strict=True)
    ]
    if write is None:
        results = ctx.rebuild(op, gathered, decided.results)
    else:
        results = write(gathered, decided)
    each = [combine] * len(op.results) if isinstance(combine, Combiner) else combine
    partial = [
        Partial(decided.partial, combiner) for combiner in each or () if decided.partial
    ]
    complete += decided.complete
    if not each:
        complete += decided.partial
    for at, (result, result_factors, layout) in enumerate(
        zip(op.results, results, wanted, strict=True)
    ):
        if partial or complete:
            result_factors = replace(
                result_factors,
                partial=partial[at] if partial else None,
                complete=complete,
            )
            if not is_kept_consistent(op):  # no sdy.all_reduce follows
                result_factors = ctx.whole(result_factors)
        if result_factors.layout is not layout:
            result_factors = _from_layout(ctx, result_factors, layout)
        ctx.define(result, result_factors)


def _complete_axes(
    rule: OpShardingRule,
    layouts: Sequence[Layout | None],
    decided: Plan,
    reduced: Collection[int],
) -> Axes:
    """Axes of reduced factors along which operands were gathered instead."""
    if decided.mesh is None or not reduced:
        return ()
    complete: dict[int, Axes] = {}
    for layout, mapping in zip(layouts, rule.operands, strict=False):
        if layout is None:
            continue
        for by_factor, _ in _parts(layout, mapping, rule.factor_sizes):
            for factor, axes in by_factor:
                if factor in reduced and factor not in decided.axes and axes:
                    complete[factor] = axes
    return tuple(axis for axes in complete.values() for axis in axes)


def by_factors(ctx: Localizer, op: Operation) -> None:
    """Write an op of which nothing depends on the device."""
    localize_by_factors(ctx, op)
