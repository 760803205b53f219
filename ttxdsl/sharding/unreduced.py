"""Going unreduced: from whole or sharded values to partial sums.

Along an unreduced axis each device holds a summand. A replicated value becomes
unreduced when all devices of the axis but one put zeros in its place; a sharded one
when every device surrounds its shard with zeros. Neither sends anything.

Source: Shardy's `sdy.replicated_to_unreduced` and `sdy.sharded_to_unreduced`, and where
`sdy-insert-explicit-reshards` puts them.
"""

from dataclasses import dataclass

from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    is_strict_prefix,
    sort_and_merge,
    subtract,
)
from ttxdsl.sharding.collectives import suffix_behind
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.spec import DimSharding, TensorSharding


@dataclass(frozen=True, slots=True)
class ToUnreduced:
    """Up to three steps, in this order; the sharding after each, or None to skip it.

    Unsharding comes last: it makes the local tensors larger.
    """

    reshard: TensorSharding | None
    """Dimensions brought in line first."""
    replicated_axes: Axes
    replicated: TensorSharding | None
    """After `replicated_axes` went from replicated to unreduced."""
    sharded_axes: tuple[Axes, ...]
    sharded: TensorSharding | None
    """After `sharded_axes` of each dimension went from sharding to unreduced."""


def plan_to_unreduced(
    source: TensorSharding, target: TensorSharding, mesh: Mesh
) -> ToUnreduced | None:
    """How a value gets the unreduced axes that `target` has and `source` has not.

    The steps end in the unreduced axes of `target`; where its dimensions still differ
    is left to a reshard.

    Returns:
        None if there are no such axes.

    Raises:
        ValueError: if `source` also has unreduced axes that `target` has not.
    """
    new = subtract(target.unreduced, source.unreduced, mesh)
    if not new:
        return None
    if subtract(source.unreduced, target.unreduced, mesh):
        raise ValueError(
            f"{source} and {target} both have unreduced axes that the other lacks"
        )
    from_shards: list[AxisRef] = []
    per_dim: list[Axes] = []
    dims: list[DimSharding] = []
    aligned = True
    for old, wanted in zip(source.dims, target.dims, strict=True):
        dropped: Axes = ()
        if is_strict_prefix(wanted.axes, old.axes):
            dropped = suffix_behind(wanted.axes, old.axes, mesh)
            rest = subtract(new, dropped, mesh)
            if sort_and_merge(dropped + rest, mesh) != sort_and_merge(new, mesh):
                dropped = ()  # other axes, or parts of axes that cut across these
        per_dim.append(dropped)
        from_shards += dropped
        dims.append(old if dropped else wanted)
        aligned = aligned and (bool(dropped) or old.axes == wanted.axes)
    if aligned:
        dims = list(source.dims)  # openness may differ from the target's
    kept = subtract(source.replicated, [a for dim in dims for a in dim.axes], mesh)
    from_whole = subtract(new, from_shards, mesh)
    unreduced = sort_and_merge(source.unreduced + from_whole, mesh)
    return ToUnreduced(
        None if aligned else source.with_dims(dims).with_replicated(kept),
        from_whole,
        TensorSharding(source.mesh, tuple(dims), target.replicated, unreduced)
        if from_whole
        else None,
        tuple(per_dim),
        target if from_shards else None,
    )
