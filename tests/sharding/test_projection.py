from __future__ import annotations

from hypothesis import given, strategies as st

from ttxdsl.sharding.axes import AxisRef, is_prefix
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule, parse_rule
from ttxdsl.sharding.projection import (
    FactorSharding,
    project,
    project_tensor,
    unproject_tensor,
)
from ttxdsl.sharding.spec import CLOSED_DIM, DimSharding, TensorSharding

X, Y, Z = AxisRef("x"), AxisRef("y"), AxisRef("z")


def sub(name: str, pre_size: int, size: int) -> AxisRef:
    return AxisRef(name, pre_size, size)


def opened(*axes_per_dim: tuple[AxisRef, ...]) -> TensorSharding:
    return TensorSharding(
        "mesh", tuple(DimSharding(axes, False) for axes in axes_per_dim)
    )


def closed(*axes_per_dim: tuple[AxisRef, ...]) -> TensorSharding:
    return TensorSharding.closed("mesh", axes_per_dim)


def factor_axes(
    mesh: Mesh, rule: OpShardingRule, tensor: int, sharding: TensorSharding | None
) -> dict[int, tuple[AxisRef, ...]]:
    projected = project_tensor(mesh, rule, rule.tensors[tensor], sharding)
    return {factor: s.axes for factor, s in projected.factors.items()}


def test_dot_of_the_talk() -> None:
    """Each dimension is one factor: its axes are the factor's axes."""
    mesh = Mesh((("a", 2), ("b", 2)))
    rule = parse_rule("([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}")
    a, b = AxisRef("a"), AxisRef("b")
    projection = project(mesh, rule, [closed((a,), (b,)), opened((b,), ()), None])
    lhs, rhs, result = projection.tensors
    assert lhs.factors == {
        0: FactorSharding((a,), True, True),
        2: FactorSharding((b,), True, True),
    }
    assert rhs.factors[2] == FactorSharding((b,), False, True)
    assert rhs.factors[1] == FactorSharding((), False, True)
    assert result.factors[0] == FactorSharding((), False, True)
    assert projection.operands == [lhs, rhs] and projection.results == [result]


def test_reshape_of_the_talk_splits_an_axis() -> None:
    """`[ij, k]->[i, jk]`, i=8, j=2, k=4: "x", "y" of size 4 on ij split "y"."""
    mesh = Mesh((("x", 4), ("y", 4)))
    rule = parse_rule("([ij, k])->([i, jk]) {i=8, j=2, k=4}")
    assert factor_axes(mesh, rule, 0, opened((X, Y), ())) == {
        0: (X, sub("y", 1, 2)),
        1: (sub("y", 2, 2),),
        2: (),
    }


def test_projecting_back_merges_sub_axes_at_factor_boundaries() -> None:
    mesh = Mesh((("x", 4), ("y", 4)))
    rule = parse_rule("([ij, k])->([i, jk]) {i=8, j=2, k=4}")
    sharding = opened((X, Y), ())
    projected = project_tensor(mesh, rule, rule.operands[0], sharding)
    assert unproject_tensor("mesh", mesh, rule, rule.operands[0], projected) == sharding


def test_example_of_the_projection() -> None:
    """`([ij])->([i, j])`, i=2, j=4, "x"=4, "y"=2: {"x", "y"} and back on both sides."""
    mesh = Mesh((("x", 4), ("y", 2)))
    rule = parse_rule("([ij])->([i, j]) {i=2, j=4}")
    split = {0: (sub("x", 1, 2),), 1: (sub("x", 2, 2), Y)}
    assert factor_axes(mesh, rule, 0, closed((X, Y))) == split
    result = project_tensor(mesh, rule, rule.results[0], None)
    for factor, axes in split.items():
        assert result.expand(factor, axes)
    assert unproject_tensor("mesh", mesh, rule, rule.results[0], result) == opened(
        (sub("x", 1, 2),), (sub("x", 2, 2), Y)
    )


def test_relatively_prime_sizes_overflow_and_close_the_next_factor() -> None:
    mesh = Mesh((("x", 3), ("y", 2)))
    rule = parse_rule("([ijk])->([i, j, k]) {i=4, j=3, k=2}")
    projected = project_tensor(mesh, rule, rule.operands[0], opened((Y, X)))
    assert projected.factors == {
        0: FactorSharding((Y,), False, False, overflow=(X,)),
        1: FactorSharding((), True, False),
    }
    back = unproject_tensor("mesh", mesh, rule, rule.operands[0], projected)
    assert back.axes_per_dim == ((Y, X),)


def test_overflow_keeps_the_common_divisor() -> None:
    """An axis of 6 on a factor of 4 gives it a 2; the 3 overflows."""
    mesh = Mesh((("x", 6),))
    rule = parse_rule("([ij])->([i, j]) {i=4, j=3}")
    projected = project_tensor(mesh, rule, rule.operands[0], opened((X,)))
    assert projected.factors[0] == FactorSharding(
        (sub("x", 1, 2),), False, False, overflow=(sub("x", 2, 3),)
    )


def test_minor_most_factor_may_be_uneven() -> None:
    mesh = Mesh((("x", 4), ("y", 3)))
    rule = parse_rule("([ij])->([i, j]) {i=4, j=2}")
    assert factor_axes(mesh, rule, 0, opened((X, Y))) == {0: (X,), 1: (Y,)}


def test_axes_of_size_one_stay_with_the_factor_they_follow() -> None:
    mesh = Mesh((("x", 2), ("one", 1), ("y", 2)))
    rule = parse_rule("([ij])->([i, j]) {i=2, j=4}")
    one = AxisRef("one")
    assert factor_axes(mesh, rule, 0, opened((X, one, Y))) == {0: (X, one), 1: (Y,)}


def test_strided_axes_are_dropped_when_projecting_back() -> None:
    """An axis on j alone would shard ij with a stride."""
    mesh = Mesh((("x", 2),))
    rule = parse_rule("([ij])->([i, j]) {i=2, j=4}")
    projected = project_tensor(mesh, rule, rule.operands[0], None)
    assert projected.expand(1, (X,))
    back = unproject_tensor("mesh", mesh, rule, rule.operands[0], projected)
    assert back == opened(())


def test_missing_shardings_are_open_or_closed() -> None:
    mesh = Mesh((("x", 2),))
    rule = parse_rule("([i])->([i]) {i=2}")
    assert not project(mesh, rule, [None, None]).tensors[0].factors[0].closed
    replicated = project(mesh, rule, [None, None], closed_if_missing=True)
    assert replicated.tensors[0].factors[0].closed


def test_replicated_and_unreduced_axes_are_kept_and_priorities_dropped() -> None:
    mesh = Mesh((("x", 2), ("y", 2), ("z", 2)))
    rule = parse_rule("([i])->([i]) {i=8}")
    sharding = TensorSharding("mesh", (DimSharding((X,), False, 3),), (Y,), (Z,))
    projected = project_tensor(mesh, rule, rule.operands[0], sharding)
    back = unproject_tensor("mesh", mesh, rule, rule.operands[0], projected)
    assert back == sharding.without_priorities()


def test_common_axes() -> None:
    mesh = Mesh((("x", 2), ("y", 4)))
    rule = parse_rule("([i, j], [i])->([i, j]) {i=8, j=8}")
    projection = project(
        mesh,
        rule,
        [closed((X, Y), ()), closed((X,)), closed((X, sub("y", 1, 2)), (Z,))],
    )
    assert projection.common_axes(2) == ((X,), ())
    assert projection.tensors[0].sharded_size(mesh) == 8


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[Mesh, OpShardingRule, TensorSharding]:
    """A dimension of up to three factors, sharded by some axes of a random mesh."""
    sizes = draw(st.lists(st.integers(2, 12), min_size=1, max_size=3))
    axis_sizes = draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    mesh = Mesh(tuple((f"a{i}", size) for i, size in enumerate(axis_sizes)))
    order = draw(st.permutations([AxisRef(name) for name, _ in mesh.axes]))
    axes = tuple(order[: draw(st.integers(0, len(order)))])
    factors = tuple(range(len(sizes)))
    rule = OpShardingRule(tuple(sizes), ((factors,),), (tuple((f,) for f in factors),))
    return mesh, rule, TensorSharding("m", (DimSharding(axes, draw(st.booleans())),))


@given(reshapes())
def test_projecting_there_and_back_keeps_a_sharding(
    case: tuple[Mesh, OpShardingRule, TensorSharding],
) -> None:
    mesh, rule, sharding = case
    projected = project_tensor(mesh, rule, rule.operands[0], sharding)
    back = unproject_tensor("m", mesh, rule, rule.operands[0], projected)
    if any(f.overflow for f in projected.factors.values()):
        # What overflows is put back; a dimension with overflow ends closed or open
        # as its first factors were.
        assert back.axes_per_dim == sharding.axes_per_dim
        return
    sharded = back.dims[0].axes
    assert sharded == sharding.dims[0].axes or is_prefix(sharded, sharding.dims[0].axes)
    assert back.dims[0].closed == sharding.dims[0].closed


def test_closed_dimension_has_closed_factors() -> None:
    mesh = Mesh((("x", 2),))
    rule = parse_rule("([ij])->([i, j]) {i=2, j=4}")
    projected = project_tensor(
        mesh, rule, rule.operands[0], TensorSharding("m", (CLOSED_DIM,))
    )
    assert all(sharding.closed for sharding in projected.factors.values())
