from __future__ import annotations

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
    propagate_aggressive,
)

A, B, C, D = (AxisRef(name) for name in "abcd")
X, Y, Z = (AxisRef(name) for name in "xyz")
ABCD = Mesh((("a", 2), ("b", 2), ("c", 2), ("d", 2)))
XY = Mesh((("x", 4), ("y", 2)))


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


def conflict_table() -> tuple[OpShardingRule, Projection]:
    """Step 0 of the talk's conflict table: tensors T0 to T4, factors F0 to F3.

    T0 to T3 are operands, T4 is the result; "d" is explicitly replicated in T0.
    """
    rows: list[dict[int, FactorSharding]] = [
        {
            0: FactorSharding((A, B, C), minor_most=True),
            1: FactorSharding(minor_most=True),
            2: FactorSharding(closed=True, minor_most=True),
            3: FactorSharding(minor_most=True),
        },
        {
            0: FactorSharding(minor_most=True),
            1: FactorSharding((B, A), minor_most=True),
            2: FactorSharding(minor_most=True),
            3: FactorSharding((D,), minor_most=True),
        },
        {
            0: FactorSharding(closed=True, minor_most=True),
            1: FactorSharding(minor_most=True),
            2: FactorSharding((C, A), minor_most=True),
            3: FactorSharding(minor_most=True),
        },
        {
            0: FactorSharding(minor_most=True),
            1: FactorSharding(closed=True, minor_most=True),
            2: FactorSharding(minor_most=True),
            3: FactorSharding(minor_most=True),
        },
        {
            0: FactorSharding((A, B, D), minor_most=True),
            1: FactorSharding(minor_most=True),
            2: FactorSharding(minor_most=True),
            3: FactorSharding(minor_most=True),
        },
    ]
    replicated = [(D,), (), (), (), ()]
    tensors = [
        TensorFactors(row, axes) for row, axes in zip(rows, replicated, strict=True)
    ]
    mapping = ((0,), (1,), (2,), (3,))
    rule = OpShardingRule((16, 16, 16, 16), (mapping,) * 4, (mapping,))
    return rule, Projection(tensors, 4)


def test_conflict_table_step_1_axes_to_propagate() -> None:
    _, projection = conflict_table()
    axes = [
        axes_to_propagate(projection, f, PropagationDirection.BOTH) for f in range(4)
    ]
    assert axes == [(A, B), (B, A), (C, A), (D,)]


def test_conflict_table_steps_2_and_3() -> None:
    """All tensors have all factors, so the tie is broken by the first source tensor.

    F0's source is T0, F1's and F3's is T1, F2's is T2: F0 may claim axes first, then
    F1, then F3, then F2. T0 replicates "d", T2 is closed on F0, T3 on F1.
    """
    rule, projection = conflict_table()
    signature = StepSignature(
        "m", ABCD, rule, (PropagationDirection.BOTH,) * 4, Strategy.AGGRESSIVE
    )
    updated = propagate_aggressive(signature, projection)
    table = [[t.factors[f].axes for f in range(4)] for t in projection.tensors]
    assert table == [
        [(A, B, C), (), (), ()],
        [(), (B, A), (C,), (D,)],
        [(), (B,), (C, A), (D,)],
        [(A, B), (), (C,), (D,)],
        [(A, B, D), (), (C,), ()],
    ]
    assert updated == {1, 2, 3, 4}


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


@BOTH_STRATEGIES
def test_reshape_with_sub_axes(strategy: Strategy) -> None:
    """`[ij, k]->[i, jk]` with i=8, j=2, k=4 and "x"=4, "y"=4.

    "y" splits between i and j: its minor half shards jk from the major side.
    """
    mesh = Mesh((("x", 4), ("y", 4)))
    rule = "([ij, k])->([i, jk]) {i=8, j=2, k=4}"
    before = opened((X, Y), ())
    assert step(mesh, rule, before, None, strategy=strategy) == (
        None,
        opened((X, sub("y", 1, 2)), (sub("y", 2, 2),)),
    )


@BOTH_STRATEGIES
def test_axis_splitting_of_two_reshapes(strategy: Strategy) -> None:
    """The talk's appendix: "x"=8 on 16 elements, then 4x4, then 2x2x4."""
    mesh = Mesh((("x", 8),))
    _, square = step(
        mesh, "([ij])->([i, j]) {i=4, j=4}", opened((X,)), None, strategy=strategy
    )
    assert square == opened((sub("x", 1, 4),), (sub("x", 4, 2),))
    _, cube = step(
        mesh, "([ij, k])->([i, j, k]) {i=2, j=2, k=4}", square, None, strategy=strategy
    )
    assert cube == opened((sub("x", 1, 2),), (sub("x", 2, 2),), (sub("x", 4, 2),))


# ---- basic and aggressive ------------------------------------------------------------


def test_real_conflict_within_a_factor() -> None:
    """["a"] and ["b"]: they agree on nothing."""
    rule = "([i], [i])->([i]) {i=8}"
    for strategy in Strategy:
        new = step(ABCD, rule, opened((A,)), opened((B,)), None, strategy=strategy)
        assert new == (None, None, None)


def test_conflict_across_factors() -> None:
    """ "a" on i of one operand and on j of the other: only aggressive decides."""
    rule = "([i, j], [i, j])->([i, j]) {i=8, j=8}"
    shardings = (opened((A,), ()), opened((), (A,)), None)
    assert step(ABCD, rule, *shardings, strategy=Strategy.BASIC) == (None, None, None)
    assert step(ABCD, rule, *shardings) == (None, None, opened((A,), ()))


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


def test_elementwise_ties_go_to_the_most_sharded_factor() -> None:
    mesh = Mesh((("x", 2), ("y", 4)))
    rule = "([i, j], [i, j])->([i, j]) {i=8, j=8}"
    shardings = (opened((X,), ()), opened((), (Y, X)), None)
    assert step(mesh, rule, *shardings)[2] == opened((X,), (Y,))
    assert step(mesh, rule, *shardings, elementwise=True)[2] == opened((), (Y, X))


def test_elementwise_operands_are_not_sharded_beyond_the_result() -> None:
    rule = "([i], [i])->([i]) {i=8}"
    shardings = (opened((A,)), None, closed(()))
    assert step(ABCD, rule, *shardings) == (None, opened((A,)), None)
    assert step(ABCD, rule, *shardings, elementwise=True) == (None, None, None)


@BOTH_STRATEGIES
def test_closed_dimensions_are_not_sharded(strategy: Strategy) -> None:
    rule = "([i, j])->([i, j]) {i=8, j=8}"
    operand, result = step(
        ABCD, rule, opened((A,), (B,)), closed((), ()), strategy=strategy
    )
    assert (operand, result) == (None, None)


@BOTH_STRATEGIES
def test_explicitly_replicated_and_unreduced_axes_do_not_shard(
    strategy: Strategy,
) -> None:
    rule = "([i])->([i]) {i=8}"
    for blocked in (
        opened(()).with_replicated((A,)),
        opened(()).with_unreduced((A,)),
    ):
        assert step(ABCD, rule, opened((A, B)), blocked, strategy=strategy)[1] is None
    split = Mesh((("x", 4),))
    replicated = opened(()).with_replicated((sub("x", 2, 2),))
    assert step(split, rule, opened((X,)), replicated, strategy=strategy) == (
        None,
        opened((sub("x", 1, 2),)).with_replicated((sub("x", 2, 2),)),
    )


@BOTH_STRATEGIES
def test_priorities_disappear_from_updated_shardings(strategy: Strategy) -> None:
    rule = "([i, j])->([i, j]) {i=8, j=8}"
    result = TensorSharding(
        "m", (DimSharding((), False, 1), DimSharding((B,), True, 2))
    )
    _, new = step(ABCD, rule, opened((A,), (B,)), result, strategy=strategy)
    assert new == TensorSharding("m", (DimSharding((A,), False), DimSharding((B,))))


@BOTH_STRATEGIES
def test_directions(strategy: Strategy) -> None:
    rule = "([i, j])->([i, j]) {i=8, j=8}"
    shardings = (opened((A,), ()), opened((), (B,)))
    expected = {
        PropagationDirection.NONE: (None, None),
        PropagationDirection.FORWARD: (None, opened((A,), (B,))),
        PropagationDirection.BACKWARD: (opened((A,), (B,)), None),
        PropagationDirection.BOTH: (opened((A,), (B,)), opened((A,), (B,))),
    }
    for direction, new in expected.items():
        assert (
            step(ABCD, rule, *shardings, direction=direction, strategy=strategy) == new
        ), direction


def test_forward_respects_conflicts_of_results_but_does_not_extend_by_them() -> None:
    rule = "([i], [i])->([i]) {i=8}"
    shardings = (opened((A,)), None, opened((A, B)))
    assert step(ABCD, rule, *shardings, direction=PropagationDirection.FORWARD) == (
        None,
        opened((A,)),
        None,
    )
    conflicting = (opened((A, C)), None, opened((A, B)))
    assert step(ABCD, rule, *conflicting, direction=PropagationDirection.FORWARD) == (
        None,
        opened((A,)),
        None,
    )


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
def test_conservative_introduces_no_sub_axes(strategy: Strategy) -> None:
    mesh = Mesh((("x", 4),))
    rule = "([ij])->([i, j]) {i=2, j=4}"
    split = opened((sub("x", 1, 2),), (sub("x", 2, 2),))
    assert step(mesh, rule, opened((X,)), None, strategy=strategy)[1] == split
    new = step(mesh, rule, opened((X,)), None, strategy=strategy, conservative=True)
    assert new == (None, None)


@BOTH_STRATEGIES
def test_uneven_axes_only_on_minor_most_factors(strategy: Strategy) -> None:
    mesh = Mesh((("x", 3),))
    rule = "([ij])->([i, j]) {i=4, j=8}"
    assert step(mesh, rule, None, opened((X,), ()), strategy=strategy) == (None, None)
    plain = "([i])->([i]) {i=4}"
    assert step(mesh, plain, opened((X,)), None, strategy=strategy)[1] == opened((X,))


@BOTH_STRATEGIES
def test_a_strided_update_is_no_update(strategy: Strategy) -> None:
    """ "x" on j of the result would shard ij with a stride."""
    mesh = Mesh((("x", 2),))
    rule = "([ij])->([i, j]) {i=4, j=8}"
    assert step(mesh, rule, None, opened((), (X,)), strategy=strategy) == (None, None)


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


def test_a_conflict_stops_later_tensors_from_extending() -> None:
    tensors = [
        TensorFactors({0: FactorSharding(axes)}) for axes in ((A, B), (A, C), (A, B, D))
    ]
    assert axes_to_propagate(Projection(tensors, 2), 0, PropagationDirection.BOTH) == (
        A,
    )
