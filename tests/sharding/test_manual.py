"""Shardings inside and outside of manual computations."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.manual import manual_prefix, with_manual_axes, without_manual_axes
from ttxdsl.sharding.spec import DimSharding, TensorSharding

M, N, X, Y = (AxisRef(name) for name in "mnxy")
MANUAL = ("m", "n")


def test_manual_prefix():
    assert manual_prefix((), MANUAL) == 0
    assert manual_prefix((X, M), MANUAL) == 0
    assert manual_prefix((M, AxisRef("n", 1, 2), X), MANUAL) == 2
    assert manual_prefix((M, N), MANUAL) == 2


def test_without_manual_axes():
    outer = TensorSharding(
        "mesh",
        (DimSharding((M, X), closed=False, priority=2), DimSharding((N,))),
        replicated=(Y,),
    )
    dims = (DimSharding((X,), closed=False, priority=2), DimSharding())
    assert without_manual_axes(outer, MANUAL) == TensorSharding("mesh", dims, (Y,))
    assert without_manual_axes(outer, ()) is outer


def test_without_manual_axes_replicated_and_unreduced():
    outer = TensorSharding("mesh", (), replicated=(M, X), unreduced=(N, Y))
    assert without_manual_axes(outer, MANUAL) == TensorSharding("mesh", (), (X,), (Y,))


def test_with_manual_axes_takes_openness_from_inside():
    outer = TensorSharding("mesh", (DimSharding((M, X)),), replicated=(N,))
    inner = TensorSharding("mesh", (DimSharding((Y,), closed=False, priority=1),))
    dims = (DimSharding((M, Y), closed=False, priority=1),)
    assert with_manual_axes(outer, inner, MANUAL) == TensorSharding("mesh", dims, (N,))


def test_with_manual_axes_of_other_rank():
    with pytest.raises(ValueError):
        with_manual_axes(
            TensorSharding("m", ()), TensorSharding("m", (DimSharding(),)), ()
        )


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=3),
    st.booleans(),
)
def test_inside_and_out_again_changes_nothing(split: list[int], closed: bool):
    names = iter("abcdefghi")
    manual: list[str] = []
    dims: list[DimSharding] = []
    for count in split:
        mine = [next(names) for _ in range(count)]
        manual += mine
        free = next(names)
        dims.append(DimSharding((*map(AxisRef, mine), AxisRef(free)), closed))
    outer = TensorSharding("mesh", tuple(dims))
    inner = without_manual_axes(outer, manual)
    assert with_manual_axes(outer, inner, manual) == outer
    assert all(len(dim.axes) == 1 for dim in inner.dims)
