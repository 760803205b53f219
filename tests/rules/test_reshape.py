"""What holds for the factors of every reshape; differential/ compares them with C++."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from ttxdsl.rules.builder import Shape, Shapes, assemble
from ttxdsl.rules.reshape import reshape_factors


def text(before: Shape, after: Shape) -> str:
    return str(assemble(Shapes((before,), (after,)), reshape_factors(before, after)))


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


@pytest.mark.parametrize(("before", "after"), [((4,), (5,)), ((0,), (0, 3))])
def test_no_way_is_an_error(before: Shape, after: Shape):
    with pytest.raises(ValueError, match="no factors lead"):
        list(reshape_factors(before, after))
