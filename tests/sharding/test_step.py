import pytest

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule, parse_rule
from ttxdsl.sharding.projection import FactorSharding, Projection, TensorFactors
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.sharding.step import (
    PropagationDirection,
    StepSignature,
    Strategy,
    axes_to_propagate,
    propagate,
)

A, B, C, D = (AxisRef(name) for name in "abcd")
X, Y, Z = (AxisRef(name) for name in "xyz")
ABCD = Mesh((("a", 2), ("b", 2), ("c", 2), ("d", 2)))


def sub(name: str, pre_size: int, size: int) -> AxisRef:
    return AxisRef(name, pre_size, size)


def opened(*axes_per_dim: tuple[AxisRef, ...]) -> TensorSharding:
    return TensorSharding("m", tuple(DimSharding(axes, False) for axes in axes_per_dim))


def closed(*axes_per_dim: tuple[AxisRef, ...]) -> TensorSharding:
    return TensorSharding.closed("m", axes_per_dim)


def step(
    mesh: Mesh,
    rule: OpShardingRule | str,
    *shardings: TensorSharding | None,
    strategy: Strategy = Strategy.AGGRESSIVE,
    direction: PropagationDirection = PropagationDirection.BOTH,
    elementwise: bool = False,
    conservative: bool = False,
) -> tuple[TensorSharding | None, ...]:
    if isinstance(rule, str):
        rule = parse_rule(rule)
    directions = (direction,) * len(rule.factor_sizes)
    signature = StepSignature(
        "m", mesh, rule, directions, strategy, elementwise, conservative
    )
    return propagate(signature, shardings)


BOTH_STRATEGIES = pytest.mark.parametrize("strategy", list(Strategy))
DOT = "([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}"


# ---- the talk's worked examples ------------------------------------------------------


@BOTH_STRATEGIES
def test_dot(strategy: Strategy) -> None:
    """Batch on the samples and model on the parameters meet in the result."""
    mesh = Mesh((("batch", 4), ("model", 2)))
    batch, model = AxisRef("batch"), AxisRef("model")
    lhs, rhs, result = step(
        mesh, DOT, opened((batch,), ()), opened((), (model,)), None, strategy=strategy
    )
    assert (lhs, rhs) == (None, None)
    assert result == opened((batch,), (model,))


# ---- basic and aggressive ------------------------------------------------------------


def test_fake_conflict_is_none_for_aggressive() -> None:
    """C cannot be sharded along i at all; "a" can still go to B along j."""
    rule = "([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}"
    shardings = (opened((A,), ()), opened((A,), ()), closed((), ()))
    assert step(ABCD, rule, *shardings, strategy=Strategy.BASIC) == (None, None, None)


def test_larger_source_tensor_wins() -> None:
    """The contracting factor of the larger operand is preferred over the batch."""
    rule = "([i, k], [k, j])->([i, j]) {i=4, j=64, k=8} reduction={k}"
    lhs, rhs, result = step(ABCD, rule, opened((A,), ()), opened((), (A,)), None)
    assert (lhs, rhs) == (None, None)
    assert result == opened((), (A,))


def test_directions_combine_as_sets() -> None:
    assert (
        PropagationDirection.FORWARD | PropagationDirection.BACKWARD
        is PropagationDirection.BOTH
    )
    assert (
        PropagationDirection.FORWARD & PropagationDirection.BACKWARD
        is PropagationDirection.NONE
    )
    assert (
        PropagationDirection.BOTH & PropagationDirection.FORWARD
        is PropagationDirection.FORWARD
    )


@BOTH_STRATEGIES
def test_uneven_axes_only_on_minor_most_factors(strategy: Strategy) -> None:
    mesh = Mesh((("x", 3),))
    rule = "([ij])->([i, j]) {i=4, j=8}"
    assert step(mesh, rule, None, opened((X,), ()), strategy=strategy) == (None, None)
    plain = "([i])->([i]) {i=4}"
    assert step(mesh, plain, opened((X,)), None, strategy=strategy)[1] == opened((X,))


@pytest.mark.parametrize(
    ("first", "second", "agreed"),
    [
        ((A,), (A, B), (A, B)),
        ((A, B), (A, C), (A,)),
        ((), (A,), (A,)),
        ((sub("a", 1, 2),), (sub("a", 1, 4),), (sub("a", 1, 4),)),
        ((sub("a", 1, 4),), (sub("a", 1, 2),), (sub("a", 1, 4),)),
        ((sub("a", 1, 2), B), (sub("a", 1, 4), B), (sub("a", 1, 2),)),
        ((sub("a", 1, 4),), (sub("a", 1, 2), B), (sub("a", 1, 2),)),
        ((sub("a", 1, 2),), (sub("a", 2, 2),), ()),
        ((A,), (B,), ()),
    ],
)
def test_agreement_within_a_factor(
    first: tuple[AxisRef, ...], second: tuple[AxisRef, ...], agreed: tuple[AxisRef, ...]
) -> None:
    tensors = [TensorFactors({0: FactorSharding(axes)}) for axes in (first, second)]
    assert (
        axes_to_propagate(Projection(tensors, 1), 0, PropagationDirection.BOTH)
        == agreed
    )
