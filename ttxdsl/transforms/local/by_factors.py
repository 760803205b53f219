"""The general way to make an op local, from the factors of its dimensions.

A factor can be *local*: all operands and results that have it are split alike, and
each device computes its part from its part. Every other factor is *replicated*:
operands are gathered along it, and results, computed whole, are sliced. A local
factor that no result has leaves partial results, which somebody combines later.

An op that works on any part of its operands needs no more than this; what else must
change (an attribute that holds sizes) is the caller's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Attribute, Operation

from ttxdsl.dialects.stablehlo import ReshapeOp
from ttxdsl.errors import CompileError
from ttxdsl.ir.tensors import is_tensor, shape_of
from ttxdsl.sharding.axes import (
    Axes,
    concatenate_merged,
    lists_overlap,
    sort_and_merge,
)
from ttxdsl.sharding.collectives import AllGather, AllSlice, suffix_behind
from ttxdsl.sharding.factors import OpShardingRule, TensorMapping
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.transforms.local.combiner import Combiner
from ttxdsl.transforms.local.layout import Layout, cut
from ttxdsl.transforms.local.localizer import (
    Local,
    Localizer,
    Partial,
    is_kept_consistent,
)

DimParts = tuple[tuple[tuple[int, Axes], ...], Axes]
"""The axes of one dimension: those of each factor, and those that fit none."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How the operands and results of one op lie while it is computed.

    Attributes:
        mesh: the mesh of everything that is split; None if nothing is.
        operands: one layout an operand.
        results: one layout a result, before it is sliced.
        axes: the axes of each local factor.
        partial: the axes along which results are partial.
    """

    mesh: Mesh | None
    operands: tuple[Layout | None, ...]
    results: tuple[Layout | None, ...]
    axes: Mapping[int, Axes]
    partial: Axes


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
    """The leading axes of a dimension that belong to local factors."""
    kept: list[Axes] = []
    for factor, axes in parts[0]:
        if axes and factor in replicated:
            break
        kept.append(axes)
    return tuple(axis for axes in kept for axis in axes)


def _also_replicated(all_parts: Sequence[DimParts], replicated: set[int]) -> bool:
    """Add the factors that stand behind a replicated one in some dimension.

    What is left of a dimension after a gather has to be its leading axes.
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
    """The mesh of all that is split.

    Raises:
        CompileError: if there are several.
    """
    meshes = {layout.mesh for layout in layouts if layout and layout.is_sharded}
    if len(meshes) > 1:
        raise CompileError(
            "its operands and results are split over different meshes",
            op,
            hint="run sdy-insert-explicit-reshards before this pass",
        )
    return next(iter(meshes), None)


def plan(
    ctx: Localizer,
    op: Operation,
    rule: OpShardingRule,
    operands: Sequence[Layout | None],
    results: Sequence[Layout | None],
    is_local: Callable[[int], bool],
) -> Plan:
    """Decide how each operand and result of an op lies while it is computed.

    Found once for ops that are alike and lie alike, the very same layouts and rule.

    Args:
        ctx: remembers the plans.
        op: the op.
        rule: the factors of each dimension; other groups of the rule do not matter.
        operands: the layout of each operand.
        results: the layout wanted of each result.
        is_local: whether a factor can be split without communication.

    Raises:
        CompileError: if a local factor is split differently in two places.
    """
    local = tuple(map(is_local, range(len(rule.factor_sizes))))
    known_by: tuple[object, ...] = (rule, *operands, *results)
    key = (ctx.signature(op), local, *map(id, known_by))
    known = ctx.plans.get(key)
    if known is None:
        found = _find_plan(op, rule, operands, results, local)
        known = ctx.plans.keep(key, found, *known_by)
    return known


def _find_plan(
    op: Operation,
    rule: OpShardingRule,
    operands: Sequence[Layout | None],
    results: Sequence[Layout | None],
    is_local: Sequence[bool],
) -> Plan:
    """See `plan`.

    Args:
        op: for error messages.
        rule: the factors of each dimension; other groups of the rule do not matter.
        operands: the layout of each operand.
        results: the layout wanted of each result.
        is_local: whether a factor can be split without communication.

    Raises:
        CompileError: if a local factor is split differently in two places.
    """
    layouts = (*operands, *results)
    mesh = _common_mesh(op, layouts)
    if mesh is None:
        return Plan(None, tuple(operands), tuple(results), {}, ())
    parts_of = [
        _parts(layout, mapping, rule.factor_sizes) if layout is not None else []
        for layout, mapping in zip(layouts, rule.tensors, strict=True)
    ]
    every_part = [part for parts in parts_of for part in parts]
    replicated = {
        factor
        for by_factor, _ in every_part
        for factor, axes in by_factor
        if axes and not is_local[factor]
    }
    while True:
        while _also_replicated(every_part, replicated):
            pass
        axes = _axes_of_factors(op, rule, layouts, parts_of, replicated)
        if axes is None:
            continue
        kept = [
            None
            if layout is None
            else layout.with_axes(_kept(part, replicated) for part in parts)
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
        clashing = [f for f in unmade if lists_overlap(axes[f], later)]
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
    """The axes of each local factor that is split.

    Two tensors of an op that has no rule of Shardy's may disagree, for nobody saw to
    it that they do not: the factor is then added to `replicated`, and the answer is
    None. So may those of a reshape, whose minor factors do without the axes that do
    not divide a major one.

    Raises:
        CompileError: if two tensors of any other op disagree.
    """
    found: dict[int, tuple[Axes, int, int]] = {}
    for tensor, parts in enumerate(parts_of):
        layout = layouts[tensor]
        if layout is None:
            continue
        for dim, (by_factor, _) in enumerate(parts):
            for factor, axes in by_factor:
                if factor in replicated:
                    continue
                axes = concatenate_merged((), axes, layout.mesh)
                known = found.setdefault(factor, (axes, tensor, dim))
                if known[0] == axes:
                    continue
                if not is_kept_consistent(op) or isinstance(op, ReshapeOp):
                    replicated.add(factor)
                    return None
                raise _disagreement(op, rule, layouts, known[1:], (tensor, dim))
    return {factor: axes for factor, (axes, _, _) in found.items() if axes}


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


def to_layout(ctx: Localizer, local: Local, layout: Layout | None) -> Local:
    """Gather an operand to what a plan wants, which is split less or the same."""
    if layout is None or local.placed.same_placement(layout):
        return local
    suffixes = tuple(
        suffix_behind(new, old, local.placed.mesh)
        for old, new in zip(local.placed.axes, layout.axes, strict=True)
    )
    return ctx.step(local, AllGather(suffixes))


def from_layout(ctx: Localizer, local: Local, layout: Layout | None) -> Local:
    """Slice a result of a plan to where it is wanted, which is split more."""
    if layout is None or local.placed.same_placement(layout):
        return local
    base = replace(local.placed, mesh=layout.mesh)
    suffixes = tuple(
        suffix_behind(old, new, layout.mesh)
        for old, new in zip(base.axes, layout.axes, strict=True)
    )
    sliced = ctx.step(replace(local, layout=base, partial=None), AllSlice(suffixes))
    return replace(sliced, partial=local.partial)


def _sliced_after(
    planned: Sequence[Layout | None], wanted: Sequence[Layout | None]
) -> Axes:
    """The axes that results are split by only after their op has run."""
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
    rule: OpShardingRule,
    is_local: Callable[[int], bool],
    *,
    operands: Sequence[Local] | None = None,
    combine: Combiner | None = None,
    could_be_partial: Collection[int] = (),
    properties: Callable[[Plan], Mapping[str, Attribute]] | None = None,
    planned: Sequence[Layout | None] | None = None,
) -> None:
    """Write the local form of an op that works on any part of its operands.

    Args:
        ctx: the localizer.
        op: the op.
        rule: the factors of its dimensions.
        is_local: whether a factor can be split without communication.
        operands: what the op works on, if not its operands as they lie.
        combine: how results join that are partial.
        could_be_partial: factors that are reductions in Shardy's rule, so that
            all-reduces may follow even if they are replicated here.
        properties: properties that have to change, from how the op will be split.
        planned: how the results lie while the op runs, if they are sliced after it.
    """
    operands = ctx.operands(op) if operands is None else operands
    wanted = [ctx.target(result) for result in op.results]
    layouts = [local.layout for local in operands]
    decided = plan(ctx, op, rule, layouts, planned or wanted, is_local)
    if planned and lists_overlap(decided.partial, _sliced_after(planned, wanted)):
        # not partial along axes that the result is sliced by: nothing is left to sum
        made = {f for mapping in rule.results for dim in mapping for f in dim}
        decided = plan(
            ctx, op, rule, layouts, planned, lambda f: f in made and is_local(f)
        )
    gathered = [
        to_layout(ctx, local, layout)
        for local, layout in zip(operands, decided.operands, strict=True)
    ]
    changed: Mapping[str, Attribute] = {}
    if properties and decided.mesh:
        changed = properties(decided)
    made = ctx.rebuild(op, gathered, decided.results, changed)
    finish(ctx, op, rule, layouts, wanted, decided, made, combine, could_be_partial)


def finish(
    ctx: Localizer,
    op: Operation,
    rule: OpShardingRule,
    layouts: Sequence[Layout | None],
    wanted: Sequence[Layout | None],
    decided: Plan,
    made: Sequence[Local],
    combine: Combiner | None,
    could_be_partial: Collection[int] = (),
    combined: Axes = (),
) -> None:
    """Slice the results of a planned op and say what is left to combine.

    Args:
        ctx: the localizer.
        op: the op.
        rule: the factors of its dimensions.
        layouts: how its operands lay before any was gathered.
        wanted: how its results shall lie.
        decided: the plan.
        made: the results under the plan.
        combine: how results join that are partial.
        could_be_partial: see `localize_by_factors`.
        combined: axes along which partial results were combined already.
    """
    partial = Partial(decided.partial, combine) if decided.partial and combine else None
    complete = _complete_axes(rule, layouts, decided, could_be_partial) + combined
    for result, local, layout in zip(op.results, made, wanted, strict=True):
        if partial or complete:
            local = replace(local, partial=partial, complete=complete)
        ctx.define(result, from_layout(ctx, local, layout))


def _complete_axes(
    rule: OpShardingRule,
    layouts: Sequence[Layout | None],
    decided: Plan,
    could_be_partial: Collection[int],
) -> Axes:
    """Axes of reduction factors along which operands were gathered instead."""
    if decided.mesh is None or not could_be_partial:
        return ()
    found: dict[int, Axes] = {}
    for layout, mapping in zip(layouts, rule.operands, strict=False):
        if layout is None:
            continue
        for by_factor, _ in _parts(layout, mapping, rule.factor_sizes):
            for factor, axes in by_factor:
                if factor in could_be_partial and factor not in decided.axes and axes:
                    found[factor] = axes
    return tuple(axis for axes in found.values() for axis in axes)


def identity_rule(op: Operation) -> OpShardingRule:
    """Dimension d of every tensor of the largest rank is factor d; scalars have none.

    Raises:
        CompileError: if a tensor is neither of that rank nor a scalar.
    """
    shapes = [
        shape_of(value) if is_tensor(value) else ()
        for value in (*op.operands, *op.results)
    ]
    rank = max((len(shape) for shape in shapes), default=0)
    whole: TensorMapping = tuple((dim,) for dim in range(rank))
    sizes = next((shape for shape in shapes if len(shape) == rank), ())
    mappings: list[TensorMapping] = []
    for shape in shapes:
        if shape and len(shape) != rank:
            raise CompileError("its tensors differ in rank", op)
        mappings.append(whole if shape else ())
    count = len(op.operands)
    return OpShardingRule(
        tuple(sizes), tuple(mappings[:count]), tuple(mappings[count:])
    )


def localize_except(
    ctx: Localizer,
    op: Operation,
    touched: Collection[int],
    properties: Callable[[Plan], Mapping[str, Attribute]] | None = None,
) -> None:
    """Write an op whose dimensions are all alike except the `touched` ones.

    Each other dimension is independent of its position: the op does the same to
    every part of it.
    """
    if properties is None and _write_if_alike(ctx, op, touched):
        return
    localize_by_factors(
        ctx,
        op,
        identity_rule(op),
        lambda factor: factor not in touched,
        properties=properties,
    )


def _write_if_alike(ctx: Localizer, op: Operation, touched: Collection[int]) -> bool:
    """Write an op all of whose tensors lie alike, as most do; else do nothing.

    Returns:
        Whether the op was written.
    """
    operands = ctx.operands(op)
    wanted = [ctx.target(result) for result in op.results]
    first = wanted[0] if wanted else None
    if first is None or any(first.axes[dim] for dim in touched):
        return False
    for layout in (*(local.layout for local in operands), *wanted):
        if layout is None:
            return False
        if layout.shape and not layout.same_placement(first):
            return False
    for result, local in zip(
        op.results, ctx.rebuild(op, operands, wanted), strict=True
    ):
        ctx.define(result, local)
    return True
