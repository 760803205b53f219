"""Unreduced values: how whole or sharded ones become so, and who may change that.

Along an unreduced axis each device holds a summand. A replicated value becomes
unreduced when all devices of the axis but one put zeros in its place; a sharded one
when every device surrounds its shard with zeros. Neither sends anything.

Source: Shardy's `sdy.replicated_to_unreduced` and `sdy.sharded_to_unreduced`, and where
`sdy-insert-explicit-reshards` puts them.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    is_strict_prefix,
    lists_overlap,
    sort_and_merge,
    subtract,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.reshard.collectives import suffix_behind
from ttxdsl.sharding.spec import DimSharding, ReductionKind, TensorSharding


class ToUnreduced(NamedTuple):
    """Up to three steps in order: the sharding after each, or None to skip it.

    Unsharding is last, because it makes the local tensors larger.
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
    """Plan how a value gets the unreduced axes that `target` has and `source` has not.

    The steps end in the unreduced axes of `target`; a reshard does the rest where
    dimensions still differ.

    Returns:
        None if there are no such axes.

    Raises:
        ValueError: if `source` also has unreduced axes that `target` has not, or
            is unreduced otherwise.
    """
    new = subtract(target.unreduced, source.unreduced, mesh)
    if not new:
        return None
    if source.unreduced and source.reduction is not target.reduction:
        raise ValueError(f"{source} and {target} are parts of different reductions")
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
        replace(target, mesh=source.mesh, dims=tuple(dims), unreduced=unreduced)
        if from_whole
        else None,
        tuple(per_dim),
        target if from_shards else None,
    )


def _unreduced(shardings: Iterable[TensorSharding | None]) -> Axes:
    return tuple(
        axis for sharding in shardings if sharding for axis in sharding.unreduced
    )


def _expect(
    shardings: Iterable[TensorSharding | None],
    axes: Axes,
    expected: Collection[ReductionKind],
    verb: str,
) -> None:
    for sharding in shardings:
        if (
            sharding
            and sharding.reduction not in expected
            and lists_overlap(sharding.unreduced, axes)
        ):
            raise ValueError(
                f"cannot {verb} '{sharding.reduction.value}' unreduced axes. Expected "
                f"{' or '.join(repr(other.value) for other in expected)}."
            )


def check_transition(
    operands: Sequence[TensorSharding | None],
    results: Sequence[TensorSharding | None],
    mesh: Mesh,
    introduced: Collection[ReductionKind] = (),
    removed: Collection[ReductionKind] = (),
) -> None:
    """Refuse an op that changes unreduced axes as it cannot.

    Args:
        operands: the shardings of its operands, None for those that do not count.
        results: those of its results.
        mesh: the one mesh of them all.
        introduced: what its results may newly be parts of.
        removed: the reductions that it may complete.

    Raises:
        ValueError: in the words of Shardy's `verifyUnreducedAxesTransition`.
    """
    before, after = _unreduced(operands), _unreduced(results)
    if not before and not after:
        return
    if new := subtract(after, before, mesh):
        if not introduced:
            raise ValueError(f"cannot add new unreduced axis '{new[0].name}'.")
        _expect(results, new, introduced, "introduce")
    if gone := subtract(before, after, mesh):
        if not removed:
            raise ValueError(
                f"dropped unreduced axis '{gone[0].name}' without a blessed operation "
                "(e.g., sdy.reshard). This is an invalid transition from unreduced to "
                "reduced."
            )
        _expect(operands, gone, removed, "reduce")
    for result in results:
        for operand in operands if result else ():
            assert result is not None
            if (
                operand
                and operand.reduction is not result.reduction
                and lists_overlap(operand.unreduced, result.unreduced)
            ):
                raise ValueError(
                    "cannot change the reduction operator of kept unreduced axes from "
                    f"{operand.reduction.value} to {result.reduction.value}."
                )
