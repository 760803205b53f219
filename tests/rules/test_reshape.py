"""What holds for the factors of every reshape; differential/ compares them with C++."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given, strategies as st

from ttxdsl.rules.builder import Shape, Shapes, assemble
from ttxdsl.rules.reshape import reshape_factors


def text(before: Shape, after: Shape) -> str:
    return str(assemble(Shapes((before,), (after,)), reshape_factors(before, after)))


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        ((8, 4), (2, 16), "([ij, k])->([i, jk]) {i=2, j=4, k=4}"),
        ((2, 4, 32), (8, 32), "([i, j, k])->([ij, k]) {i=2, j=4, k=32}"),
        # 4 and 6 share a 2; then both sides go their own way until both reach 12
        ((4, 9), (6, 6), "([ij, ln])->([ik, mn]) {i=2, j=2, k=3, l=3, m=2, n=3}"),
        ((7, 5), (5, 7), "([i, l])->([j, k]) {i=7, j=5, k=7, l=5}"),
        ((1, 8), (8, 1), "([i, j])->([j, k]) {i=1, j=8, k=1}"),
        ((), (), "([])->([])"),
    ],
)
def test_examples(before: Shape, after: Shape, rule: str):
    assert text(before, after) == rule


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[Shape, Shape]:
    factors = draw(st.lists(st.sampled_from((2, 3, 4, 5, 6)), max_size=7))
    shapes: list[Shape] = []
    for _ in range(2):
        shape = [1] * draw(st.integers(1 if factors else 0, 5))
        for factor in factors:
            shape[draw(st.integers(0, len(shape) - 1))] *= factor
        shapes.append(tuple(shape))
    return shapes[0], shapes[1]


@given(reshapes())
def test_factors_make_up_both_shapes(shapes: tuple[Shape, Shape]):
    before, after = shapes
    rule = assemble(Shapes((before,), (after,)), reshape_factors(before, after))
    rule.check((before,), (after,))
    for mapping, shape in ((rule.operands[0], before), (rule.results[0], after)):
        sizes = tuple(prod(rule.factor_sizes[f] for f in dim) for dim in mapping)
        assert sizes == shape


@given(reshapes())
def test_common_factors_cut_both_sides_at_the_same_place(shapes: tuple[Shape, Shape]):
    """Elements of one shard, in row-major order, are the same on both sides."""
    before, after = shapes
    rule = assemble(Shapes((before,), (after,)), reshape_factors(before, after))

    def major_of(mapping: tuple[tuple[int, ...], ...]) -> dict[int, int]:
        place, found = 1, dict[int, int]()
        for factor in (factor for dim in mapping for factor in dim):
            found[factor] = place
            place *= rule.factor_sizes[factor]
        return found

    source, target = major_of(rule.operands[0]), major_of(rule.results[0])
    for factor in source.keys() & target.keys():
        assert source[factor] == target[factor]


@given(reshapes())
def test_back_has_the_same_common_factors(shapes: tuple[Shape, Shape]):
    before, after = shapes

    def common(before: Shape, after: Shape) -> list[int]:
        return [
            factor.size
            for factor in reshape_factors(before, after)
            if factor.operands is not None and factor.results is not None
        ]

    assert common(before, after) == common(after, before)


@pytest.mark.parametrize(("before", "after"), [((4,), (5,)), ((0,), (0, 3))])
def test_no_way_is_an_error(before: Shape, after: Shape):
    with pytest.raises(ValueError, match="no factors lead"):
        list(reshape_factors(before, after))
