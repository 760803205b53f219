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
from ttxdsl.sharding.spec import DimSharding, TensorSharding

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
