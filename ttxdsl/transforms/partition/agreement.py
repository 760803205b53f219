"""The sharding of an op whose operands and results disagree behind stage 8.

Stage 8 makes shardings agree by Shardy's rules. An op with an author's rule or one of
ours may still have one operand split and another whole. Each factor then takes axes
that it already has somewhere: those for which moving operands and results, and summing
partial ones, sends least, in the fewest collectives, then those that move results least
and split most. A whole operand is sliced, which is free.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product

from xdsl.ir import SSAValue

from ttxdsl.ir.tensors import element_bits, element_of
from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    concatenate_merged,
    lists_coexist,
    lists_overlap,
    total_size,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule, TensorMapping
from ttxdsl.transforms.partition.exchange.resharding import (
    ReshardPrice,
    reshard_price,
    sum_price,
)
from ttxdsl.transforms.partition.layout import Layout, cut

_MOST_CHOICES = 512
"""How many choices are priced; those of few and common factors are far fewer."""

Layouts = tuple[Layout | None, ...]


def agree(
    rule: OpShardingRule,
    operands: Layouts,
    results: Layouts,
    local: Collection[int],
    values: Sequence[SSAValue],
    mesh: Mesh,
    *,
    sums: bool = False,
) -> tuple[Layouts, Layouts]:
    """Return how operands and results lie so that all that have a factor split it alike.

    Args:
        local: the factors that devices can share out.
        values: operands, then results: what is moved.
        sums: whether results that are partial, as reductions are split, are summed.
    """
    layouts = (*operands, *results)
    result_factors = {
        factor for mapping in rule.results for dim in mapping for factor in dim
    }
    may_split = result_factors.union(rule.reduction if sums else ())
    candidates = _candidates(rule, layouts, may_split.intersection(local), mesh)
    best: tuple[tuple[ReshardPrice, ReshardPrice, int], Layouts] | None = None
    for chosen in islice(_choices(candidates, mesh), _MOST_CHOICES):
        wanted = _layouts(rule, layouts, chosen, mesh)
        summed = [
            a for f, axes in chosen.items() if f not in result_factors for a in axes
        ]
        if wanted is None or _splits_sum(summed, results):
            continue
        prices = [ReshardPrice(0, 0)] * 2
        for at, (old, new) in enumerate(zip(layouts, wanted, strict=True)):
            if old is None or new is None:
                continue
            behind = at >= len(operands)
            step = reshard_price(new, old) if behind else reshard_price(old, new)
            if behind and summed:
                step = step.and_then(sum_price(new, summed))
            bits = element_bits(element_of(values[at]))
            prices[behind] = prices[behind].and_then(step, bits)
        shards = total_size([axis for axes in chosen.values() for axis in axes], mesh)
        # others may want operands as this op does
        price = prices[0].and_then(prices[1]), prices[1], -shards
        if best is None or price < best[0]:
            best = price, wanted
    assert best is not None, "nothing split is always a choice"
    return best[1][: len(operands)], best[1][len(operands) :]


def _splits_sum(summed: Collection[AxisRef], results: Layouts) -> bool:
    """Whether results are split along axes along which their sums would be partial."""
    return any(
        lists_overlap(summed, axes)
        for layout in results
        if layout is not None
        for axes in layout.axes
    )


def _candidates(
    rule: OpShardingRule,
    layouts: Layouts,
    factors: Collection[int],
    mesh: Mesh,
) -> dict[int, list[Axes]]:
    """Return the axes that split each factor in some tensor, and the prefixes of these."""
    candidates: dict[int, list[Axes]] = {}
    for layout, mapping in zip(layouts, rule.tensors, strict=True):
        if layout is None:
            continue
        for axes, dim in zip(layout.axes, mapping, strict=True):
            by_factor, _ = cut(axes, [rule.factor_sizes[f] for f in dim], layout.mesh)
            for factor, of_factor in zip(dim, by_factor, strict=True):
                if factor not in factors:
                    continue
                for length in range(len(of_factor), 0, -1):
                    prefix = concatenate_merged((), of_factor[:length], mesh)
                    known = candidates.setdefault(factor, [])
                    if prefix not in known:
                        known.append(prefix)
    return candidates


def _choices(
    candidates: Mapping[int, Sequence[Axes]], mesh: Mesh
) -> Iterator[dict[int, Axes]]:
    """Yield the axes of each factor in every way in which no axis splits two factors.

    The way in which nothing is split comes first.
    """
    for choice in product(*(((), *axes) for axes in candidates.values())):
        apart = all(
            not lists_overlap(axes, other) and lists_coexist(axes, other)
            for at, axes in enumerate(choice)
            for other in choice[:at]
        )
        if apart:
            yield dict(zip(candidates, choice, strict=True))


def _layouts(
    rule: OpShardingRule, layouts: Layouts, chosen: Mapping[int, Axes], mesh: Mesh
) -> Layouts | None:
    """Return the layouts in which factors have these axes; None if shards are strided."""
    wanted: list[Layout | None] = []
    for layout, mapping in zip(layouts, rule.tensors, strict=True):
        if layout is None:
            wanted.append(None)
            continue
        axes = _axes_per_dim(rule, mapping, chosen, mesh)
        if axes is None:
            return None
        wanted.append(Layout.replicated(mesh, layout.shape).with_axes(axes))
    return tuple(wanted)


def _axes_per_dim(
    rule: OpShardingRule,
    mapping: TensorMapping,
    chosen: Mapping[int, Axes],
    mesh: Mesh,
) -> list[Axes] | None:
    axes_per_dim: list[Axes] = []
    for dim in mapping:
        axes: Axes = ()
        is_full = True
        for factor in dim:
            of_factor = chosen.get(factor, ())
            if of_factor and not is_full:
                return None
            axes = concatenate_merged(axes, of_factor, mesh)
            is_full &= total_size(of_factor, mesh) == rule.factor_sizes[factor]
        axes_per_dim.append(axes)
    return axes_per_dim
