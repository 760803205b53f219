"""Shardings at the border of a manual computation.

Outside, a sharding names manual and free axes, in each dimension the manual ones
first. Inside, tensors are local along the manual axes, so only the free ones are left.

Source: the compiler API document, "Manual Computation".
"""

from collections.abc import Collection
from dataclasses import replace

from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.spec import DimSharding, TensorSharding


def manual_prefix(axes: Axes, manual: Collection[str]) -> int:
    """Return the number of leading axes of a dimension that are manual."""
    for index, axis in enumerate(axes):
        if axis.name not in manual:
            return index
    return len(axes)


def without_manual_axes(
    sharding: TensorSharding, manual: Collection[str]
) -> TensorSharding:
    """Return the sharding inside the body: the free axes only, openness as outside."""
    if not manual:
        return sharding
    free = TensorSharding(
        sharding.mesh,
        tuple(
            dim.with_axes(dim.axes[manual_prefix(dim.axes, manual) :])
            for dim in sharding.dims
        ),
        tuple(axis for axis in sharding.replicated if axis.name not in manual),
    )
    unreduced = tuple(axis for axis in sharding.unreduced if axis.name not in manual)
    return free.with_unreduced(unreduced, sharding.reduction)


def with_manual_axes(
    outer: TensorSharding, inner: TensorSharding, manual: Collection[str]
) -> TensorSharding:
    """Return the sharding outside, when its free axes are to be those of `inner`.

    Manual axes, replicated and unreduced axes come from `outer`, the free axes,
    openness and priorities of the dimensions from `inner`.
    """
    dims = tuple(
        DimSharding(
            old.axes[: manual_prefix(old.axes, manual)] + new.axes,
            new.closed,
            new.priority,
        )
        for old, new in zip(outer.dims, inner.dims, strict=True)
    )
    return replace(outer, mesh=inner.mesh, dims=dims)
