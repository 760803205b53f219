"""Islands: values that axes divide between values that they do not.

Once `even-out-shardings` keeps values of 50 rows whole, splitting one of 52 between
them saves nothing: its operands are there, and its readers gather it. An island is a
set of such values, linked by a dimension that the same axes split, all of whose
neighbours are whole along it. In loops they stay; `pad-carries` weighs those.

**Why it is right.** Shardings change no number. Whole, an island sends nothing; split,
it sends at least what its readers gather. Each island is looked at once.
"""

from collections.abc import Iterable, Set

from xdsl.ir import Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.tensors import is_tensor
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.axes import Axes, lists_overlap

KEEP_ISLANDS_WHOLE = "keep-islands-whole"
"""What `tt-stablehlo-pipeline{without=…}` leaves out."""

MOST = 64
"""The most values of an island that is changed."""

_Dim = tuple[SSAValue, int]


def keep_islands_whole(changed: Iterable[Operation]) -> None:
    """Drop the axes of islands beside ops whose results became unsharded."""
    seen: set[_Dim] = set()
    for op in changed:
        if isinstance(op.parent_op(), stablehlo.WhileOp):
            continue
        readers = (use.operation for result in op.results for use in result.uses)
        beside = (result for reader in readers for result in reader.results)
        for value in dict.fromkeys((*op.operands, *beside)):
            sharding = sdy.get_sharding(value) if is_tensor(value) else None
            for dim, dim_sharding in enumerate(
                () if sharding is None else sharding.dims
            ):
                if dim_sharding.axes and (value, dim) not in seen:
                    members, is_island = _reached((value, dim), dim_sharding.axes, seen)
                    seen |= members
                    for member, at in members if is_island else ():
                        known = sdy.get_sharding(member)
                        assert known is not None, "it is split"
                        whole = known.with_dim(at, known.dims[at].with_axes(()))
                        sdy.set_sharding(member, whole)


def _reached(start: _Dim, axes: Axes, seen: Set[_Dim]) -> tuple[set[_Dim], bool]:
    """Return values that are split together, and whether they are an island."""
    members, waiting = {start}, [start]
    while waiting:
        neighbours = _neighbours(*waiting.pop())
        if neighbours is None or len(members) > MOST:
            return members, False
        for value, dim in neighbours:
            sharding = sdy.get_sharding(value)
            split = () if sharding is None else sharding.dims[dim].axes
            if split == axes and (value, dim) not in seen:
                if (value, dim) not in members:
                    members.add((value, dim))
                    waiting.append((value, dim))
            elif lists_overlap(split, axes):
                return members, False
    return members, True


def _neighbours(value: SSAValue, dim: int) -> list[_Dim] | None:
    """Return the dimensions that one op has beside a value's, None if an op needs more."""
    if not isinstance(value, OpResult) or not sdy.IS_PLAIN[type(value.op)]:
        return None
    neighbours: list[_Dim] = []
    places = [(value.op, len(value.op.operands) + value.index)]
    places += [(use.operation, use.index) for use in value.uses]
    for op, index in places:
        rule, values = sharding_rule(op), (*op.operands, *op.results)
        if rule is None or op.regions or len(op.results) != 1:
            return None
        if len(rule.tensors) != len(values):
            return None
        factors = rule.tensors[index][dim]
        if len(factors) != 1 or not any(map(factors.__eq__, rule.results[0])):
            return None
        for other, mapping in zip(values, rule.tensors, strict=True):
            dims = [at for at, own in enumerate(mapping) if factors[0] in own]
            if any(mapping[at] != factors for at in dims):
                return None
            neighbours += [(other, at) for at in dims if other is not value]
    return neighbours
