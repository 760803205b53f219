"""How one op is sharded when its operands and results disagree."""

from math import prod
from random import Random

import pytest

from tests.sharding.random_shardings import MIXED_SIZES, random_mesh, random_sharding
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule, parse_rule
from ttxdsl.sharding.projection import Projection, project
from ttxdsl.sharding.reshard.compatible import (
    agree,
    common_factor_axes,
    compatible_axes,
    reshard_dot_result,
)
from ttxdsl.sharding.spec import TensorSharding

MESH = Mesh((("x", 2), ("y", 2), ("z", 4)))
x, y, z = (AxisRef(name) for name in "xyz")
ADD = parse_rule("([i, j], [i, j])->([i, j]) {i=8, j=8}")
DOT = parse_rule("([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}")
NEGATE = parse_rule("([i, j])->([i, j]) {i=8, j=8}")
SORT = parse_rule("([i, j])->([i, j]) {i=8, j=8} need_replication={j}")
REVERSE = parse_rule("([i, j])->([i, j]) {i=8, j=8} permutation={j}")
RESHAPE = parse_rule("([ij])->([i, j]) {i=4, j=3}")


def sharding(*dims: Axes) -> TensorSharding:
    return TensorSharding.closed("mesh", dims)


def projection(rule: OpShardingRule, *shardings: TensorSharding | None) -> Projection:
    return project(MESH, rule, shardings, closed_if_missing=True)


def sizes(rule: OpShardingRule) -> tuple[int, ...]:
    return tuple(
        prod(rule.factor_sizes[factor] for dim in tensor for factor in dim)
        for tensor in rule.tensors
    )


def choose(rule: OpShardingRule, *shardings: TensorSharding | None) -> tuple[Axes, ...]:
    return common_factor_axes(projection(rule, *shardings), rule, sizes(rule), MESH)


def resharded(
    rule: OpShardingRule,
    *shardings: TensorSharding | None,
    mesh: Mesh = MESH,
    is_reshape: bool = False,
) -> tuple[TensorSharding | None, ...]:
    kept = (False,) * len(shardings)
    return agree(
        rule, shardings, sizes(rule), "mesh", mesh, kept, is_reshape=is_reshape
    ).shardings


def test_reduction_factors_lose_against_equal_pass_through_ones():
    square = parse_rule("([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}")
    lhs, rhs, result = sharding((), (x,)), sharding((), ()), sharding((x,), ())
    assert choose(square, lhs, rhs, result) == ((x,), (), ())


def test_sub_axes_are_cut_where_they_overlap():
    z_major, z_minor = AxisRef("z", 1, 2), AxisRef("z", 2, 2)
    chosen = choose(DOT, sharding((z_minor,), ()), sharding((), (z,)), None)
    assert chosen == ((), (z,), ())
    big = parse_rule("([i, k], [k, j])->([i, j]) {i=64, j=16, k=8} reduction={k}")
    chosen = choose(big, sharding((z_minor,), ()), sharding((), (z,)), None)
    assert chosen == ((z_minor,), (z_major,), ())


def test_axes_across_the_border_of_factors():
    mesh = Mesh((("x", 2), ("y", 3)))
    before, after = sharding((y, x)), sharding((x,), (y,))
    assert resharded(RESHAPE, before, after, mesh=mesh, is_reshape=True) == (
        sharding((x,)),
        sharding((x,), ()),
    )


def test_unreduced_axes_cannot_shard():
    partial = sharding((), ()).with_unreduced((x,))
    with pytest.raises(ValueError, match="unreduced axis"):
        resharded(ADD, partial, sharding((x,), ()), sharding((x,), ()))


def test_dot_result_instead_of_operand():
    lhs, rhs, result = sharding((), (x,)), sharding((x,), (y,)), sharding((), (x,))
    better = reshard_dot_result(DOT, (lhs, rhs, result), sizes(DOT), "mesh", MESH)
    assert better == sharding((), (y,))


RULES = (
    ADD,
    DOT,
    NEGATE,
    SORT,
    REVERSE,
    parse_rule(
        "([l, i, k], [l, k, j])->([l, i, j]) {i=8, j=4, k=6, l=2} reduction={k}"
    ),
    parse_rule("([i, j], [j])->([j]) {i=12, j=6} reduction={i}"),
    parse_rule(
        "([i, j], [k, j])->([l, j]) {i=4, j=8, k=4, l=8} need_replication={i, k, l}"
    ),
)


RESHAPES = (
    parse_rule("([i, jk, l])->([ij, k, l]) {i=4, j=8, k=4, l=16}"),
    parse_rule("([ijk])->([i, j, k]) {i=2, j=4, k=8}"),
    parse_rule("([ij], [k])->([ij]) {i=8, j=2, k=4} need_replication={k}"),
)
"""Tested on even shardings only: where the axes of a factor do not divide it, Shardy
chooses them although they then cross its border in dimensions of several factors."""


def is_even(
    rule: OpShardingRule, shardings: tuple[TensorSharding, ...], mesh: Mesh
) -> bool:
    return all(
        prod(rule.factor_sizes[factor] for factor in factors) % dim.sharded_size(mesh)
        == 0
        for tensor, sharding in zip(rule.tensors, shardings, strict=True)
        for factors, dim in zip(tensor, sharding.dims, strict=True)
    )


@pytest.mark.parametrize(
    ("rules", "axis_sizes"), [(RULES, MIXED_SIZES), (RESHAPES, (2, 4, 8))]
)
@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_chosen_is_compatible(
    rules: tuple[OpShardingRule, ...], axis_sizes: tuple[int, ...], seed: int
):
    random = Random(seed)
    for _ in range(300):
        rule = random.choice(rules)
        mesh = random_mesh(random, axis_sizes, most_axes=3)
        shardings = tuple(
            random_sharding(random, mesh, len(tensor)) for tensor in rule.tensors
        )
        if rules is RESHAPES and not is_even(rule, shardings, mesh):
            continue
        kept = (False,) * len(shardings)
        args = (sizes(rule), "mesh", mesh, kept)
        result = agree(rule, shardings, *args)
        after = tuple(
            new or old for new, old in zip(result.shardings, shardings, strict=True)
        )
        assert compatible_axes(project(mesh, rule, after), rule) is not None
        again = agree(rule, after, *args)
        assert again.shardings == (None,) * len(after)
        assert again.reduction == result.reduction
