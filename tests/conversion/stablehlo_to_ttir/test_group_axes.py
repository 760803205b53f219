from __future__ import annotations

from math import prod

from hypothesis import given, strategies as st

from ttxdsl.conversion.stablehlo_to_ttir.group_axes import coordinates, position

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)


@given(shapes, st.data())
def test_coordinates_and_positions_are_inverse(shape: tuple[int, ...], data):
    device = data.draw(st.integers(0, prod(shape) - 1))
    assert position(coordinates(device, shape), shape) == device
