from __future__ import annotations

from math import prod

import pytest
from hypothesis import given, strategies as st

from ttxdsl.conversion.stablehlo_to_ttir.group_axes import (
    along_axes,
    coordinates,
    covering_axes,
    ordered_axes,
    position,
)

SHAPE = (2, 4)

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


@given(shapes, st.data())
def test_coordinates_and_positions_are_inverse(shape: tuple[int, ...], data):
    device = data.draw(st.integers(0, prod(shape) - 1))
    assert position(coordinates(device, shape), shape) == device


@given(shapes, st.data())
def test_groups_along_axes_are_recognized(shape: tuple[int, ...], data):
    axes = [axis for axis in range(len(shape)) if shape[axis] > 1]
    order = tuple(data.draw(st.permutations(axes))[: data.draw(st.integers(0, 3))])
    starts = [
        device
        for device in range(prod(shape))
        if all(coordinates(device, shape)[axis] == 0 for axis in order)
    ]
    groups = [along_axes(start, order, shape) for start in starts]
    assert ordered_axes(groups, shape) == order
    assert covering_axes(groups, shape) == tuple(sorted(order))


@pytest.mark.parametrize(
    ("groups", "axes"),
    [
        ([[0, 1, 2, 3], [4, 5, 6, 7]], (1,)),
        ([[0, 4], [1, 5], [2, 6], [3, 7]], (0,)),
        ([[0, 1, 2, 3, 4, 5, 6, 7]], (0, 1)),
        ([[0, 4, 1, 5, 2, 6, 3, 7]], (1, 0)),
        ([[device] for device in range(8)], ()),
        ([[0, 1], [2, 3], [4, 5], [6, 7]], None),
        ([[3, 2, 1, 0], [7, 6, 5, 4]], None),
        ([[0, 5], [1, 6], [2, 7], [3, 4]], None),
        ([[0, 1, 2, 3], [5, 4, 6, 7]], None),
    ],
)
def test_ordered_axes(groups: list[list[int]], axes: tuple[int, ...] | None):
    assert ordered_axes(groups, SHAPE) == axes


def test_covering_axes_of_irregular_groups():
    assert covering_axes([[0, 1], [2, 3], [4, 5], [6, 7]], SHAPE) == (1,)
    assert covering_axes([[0, 5], [1, 6], [2, 7], [3, 4]], SHAPE) == (0, 1)
