"""Shardings inside and outside of manual computations."""

import pytest

from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.manual import with_manual_axes, without_manual_axes
from ttxdsl.sharding.spec import DimSharding, TensorSharding

M, N, X, Y = (AxisRef(name) for name in "mnxy")
MANUAL = ("m", "n")


def test_without_manual_axes_replicated_and_unreduced():
    outer = TensorSharding("mesh", (), replicated=(M, X), unreduced=(N, Y))
    assert without_manual_axes(outer, MANUAL) == TensorSharding("mesh", (), (X,), (Y,))


def test_with_manual_axes_of_other_rank():
    with pytest.raises(ValueError):
        with_manual_axes(
            TensorSharding("m", ()), TensorSharding("m", (DimSharding(),)), ()
        )
