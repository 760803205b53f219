"""Choosing how one op is sharded when its operands and results disagree.

An op can run on shards without communication (but for its own reductions) if every
factor is sharded alike in all tensors that have it, no axis shards two factors, and
factors that need replication are not sharded. Propagation cannot always reach that:
users and neighbours pull in different directions. This module picks the axes of every
factor; the tensors that were sharded otherwise are then resharded.

What a choice costs is the tensors that must be resharded for it, so factors and axes
are weighed by the sizes of the tensors that are already sharded that way.

Source: Shardy's `sdy-insert-explicit-reshards`, whose choices these are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import gcd, inf
from typing import NamedTuple

from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    append_merged,
    concatenate_merged,
    is_strict_prefix,
    lists_overlap,
    subtract,
    total_size,
    truncate_without_overlap,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.projection import (
    FactorSharding,
    Projection,
    project,
    unproject_tensor,
)
from ttxdsl.sharding.spec import TensorSharding

AxesPerFactor = tuple[Axes, ...]
"""The axes that shard each factor."""


def shared_factor_axes(projection: Projection, factor: int) -> Axes | None:
    """The axes of a factor if all tensors that have it agree on them, else None."""
    candidates: set[Axes] = {
        tensor.factors[factor].axes
        for tensor in projection.tensors
        if factor in tensor.factors
    }
    if len(candidates) > 1:
        return None
    return candidates.pop() if candidates else ()


def compatible_axes(
    projection: Projection, rule: OpShardingRule
) -> AxesPerFactor | None:
    """Return the axes of every factor; None unless the op can run without a reshard."""
    chosen: list[Axes] = []
    seen: Axes = ()
    for factor in range(len(rule.factor_sizes)):
        axes = shared_factor_axes(projection, factor)
        if axes is None or lists_overlap(axes, seen):
            return None
        if axes and factor in rule.need_replication:
            return None
        chosen.append(axes)
        seen += axes
    return tuple(chosen)


def common_factor_axes(
    projection: Projection,
    rule: OpShardingRule,
    tensor_sizes: Sequence[int],
    mesh: Mesh,
) -> AxesPerFactor:
    """Return the axes that shall shard each factor in every tensor that has it.

    Args:
        projection: the factor shardings as they are.
        tensor_sizes: the number of elements of each operand, then of each result.
    """
    compatible = compatible_axes(projection, rule)
    if compatible is not None:
        return compatible
    shaped = [index for index, tensor in enumerate(rule.tensors) if tensor]
    if len(shaped) == 2 and not rule.need_replication and not rule.has_compound_dims:
        return _axes_of_better_tensor(projection, rule, tensor_sizes, mesh, shaped)
    chosen = _weigh(projection, rule, tensor_sizes, mesh)
    return _move_to_batching(chosen, rule, mesh)


def assign_axes(
    projection: Projection, rule: OpShardingRule, axes_per_factor: AxesPerFactor
) -> list[bool]:
    """Shard each factor by the given axes in every tensor that has it.

    Overflow axes are given up.

    Returns:
        For each operand, then each result, whether it changed.
    """
    changed: list[bool] = []
    for tensor, mapping in zip(projection.tensors, rule.tensors, strict=True):
        old = tensor.factors
        tensor.factors = {
            factor: replace(
                old.get(factor) or FactorSharding(closed=True),
                axes=axes_per_factor[factor],
                overflow=(),
            )
            for dim in mapping
            for factor in dim
        }
        changed.append(any(tensor.factors[factor] != old[factor] for factor in old))
    return changed


def _axes_of_better_tensor(
    projection: Projection,
    rule: OpShardingRule,
    tensor_sizes: Sequence[int],
    mesh: Mesh,
    shaped: Sequence[int],
) -> AxesPerFactor:
    """For ops of one tensor into another: keep one of the two as it is.

    Best the one with no sharded permutation factors (those always communicate), then
    the larger, then the more sharded. Factors that only the other tensor has keep
    their axes as far as they are free.
    """

    def worth(index: int) -> tuple[bool, int, int]:
        tensor = projection.tensors[index]
        permutes = any(
            sharding.axes and factor in rule.permutation
            for factor, sharding in tensor.factors.items()
        )
        return not permutes, tensor_sizes[index], tensor.sharded_size(mesh)

    first, second = shaped
    if worth(first) < worth(second):
        first, second = second, first
    kept = projection.tensors[first].factors
    used = tuple(axis for sharding in kept.values() for axis in sharding.axes)
    chosen: list[Axes] = [()] * len(rule.factor_sizes)
    for factor, sharding in projection.tensors[second].factors.items():
        chosen[factor] = truncate_without_overlap(sharding.axes, used)
    for factor, sharding in kept.items():
        chosen[factor] = sharding.axes
    return tuple(chosen)


@dataclass(slots=True)
class _Candidate:
    """A factor, axes that shard it somewhere (or a prefix of such), and its worth."""

    factor: int
    axes: Axes
    source_size: int
    """Elements of all tensors in which the axes of the factor start with these."""
    kind: int
    """How good it is to shard a factor of this kind."""
    gain: int
    """Into how many parts the axes split what is not split yet."""

    @property
    def worth(self) -> tuple[int, int, int, int, int, list[tuple[str, int, float]]]:
        """The key by which candidates are compared; greater is better."""
        order = [(a.name, a.pre_size, a.pre_size * (a.size or inf)) for a in self.axes]
        return (
            self.source_size,
            self.kind,
            self.gain,
            self.factor,
            len(self.axes),
            order,
        )


def _kind(rule: OpShardingRule, factor: int) -> int:
    """Factors that pass through are best, then reductions, then permutations."""
    if factor in rule.reduction:
        return 2
    if factor in rule.need_replication:
        return 0
    return 1 if factor in rule.permutation else 3


def _candidates(
    projection: Projection,
    rule: OpShardingRule,
    tensor_sizes: Sequence[int],
    mesh: Mesh,
) -> list[_Candidate]:
    """Return every prefix of the axes of every factor in every tensor."""
    shardings = [
        (factor, sharding.axes, size)
        for tensor, size in zip(projection.tensors, tensor_sizes, strict=True)
        for factor, sharding in tensor.factors.items()
    ]
    prefixes = dict.fromkeys(
        (factor, axes[:length])
        for factor, axes, _ in shardings
        for length in range(1, len(axes) + 1)
    )
    return [
        _Candidate(
            factor,
            prefix,
            sum(
                size
                for other, axes, size in shardings
                if other == factor
                and (axes == prefix or is_strict_prefix(prefix, axes))
            ),
            _kind(rule, factor),
            total_size(prefix, mesh),
        )
        for factor, prefix in prefixes
    ]


def _weigh(
    projection: Projection,
    rule: OpShardingRule,
    tensor_sizes: Sequence[int],
    mesh: Mesh,
) -> list[Axes]:
    """Pick the best candidate again and again, and drop what it rules out.

    A factor inside a dimension may be sharded only when the one before it is fully
    sharded: otherwise shards would be strided.
    """
    chosen: list[Axes] = [()] * len(rule.factor_sizes)
    waits_for: dict[int, set[int]] = {}
    for mapping in rule.tensors:
        for dim in mapping:
            for major, minor in pairwise(dim):
                waits_for.setdefault(minor, set()).add(major)
    candidates = _candidates(projection, rule, tensor_sizes, mesh)
    while candidates:
        ready = [c for c in candidates if not waits_for.get(c.factor)]
        if not ready:
            break
        best = max(ready, key=lambda candidate: candidate.worth)
        factor, axes = best.factor, best.axes
        chosen[factor] = axes
        if total_size(axes, mesh) == rule.factor_sizes[factor]:
            for majors in waits_for.values():
                majors.discard(factor)
        candidates = [
            candidate
            for candidate in candidates
            if _survives(candidate, factor, axes, chosen, mesh)
        ]
    return chosen


def _survives(
    candidate: _Candidate, factor: int, axes: Axes, chosen: Sequence[Axes], mesh: Mesh
) -> bool:
    """Adapt a candidate after `axes` went to `factor`; whether it can still add any."""
    base: Axes = ()
    if candidate.factor == factor:
        if not is_strict_prefix(axes, candidate.axes):
            return False
        base = axes
    else:
        free = truncate_without_overlap(candidate.axes, axes)
        if free != candidate.axes:
            candidate.axes = free
            base = chosen[candidate.factor]
            if free == base:
                return False
    candidate.gain = total_size(candidate.axes, mesh) // total_size(base, mesh)
    return True


def _move_to_batching(
    chosen: list[Axes], rule: OpShardingRule, mesh: Mesh
) -> AxesPerFactor:
    """Axes of factors that need replication go to batching factors with room for them.

    That is an all-to-all where replication alone would be an all-gather.
    """
    for factor in rule.need_replication:
        moving, chosen[factor] = chosen[factor], ()
        if not rule.is_in_all_tensors(factor):
            continue
        for batching, size in enumerate(rule.factor_sizes):
            if not rule.is_batching(batching) or size == 0:
                continue
            shards = total_size(chosen[batching], mesh)
            if size % shards != 0:
                continue
            room = size // shards
            while moving and room % moving[0].size_in(mesh) == 0:
                chosen[batching] = append_merged(chosen[batching], moving[0], mesh)
                room //= moving[0].size_in(mesh)
                moving = moving[1:]
    return tuple(chosen)


def reduction_axes(rule: OpShardingRule, axes_per_factor: AxesPerFactor) -> Axes:
    """The axes of all reduction factors: along them each device has a partial result."""
    return tuple(axis for factor in rule.reduction for axis in axes_per_factor[factor])


def shared_reduction_axes(projection: Projection, rule: OpShardingRule) -> Axes | None:
    """The same of shardings as they are; None if tensors disagree on some factor."""
    axes: Axes = ()
    for factor in rule.reduction:
        shared = shared_factor_axes(projection, factor)
        if shared is None:
            return None
        axes += shared
    return axes


def dot_factor_to_reshard(
    projection: Projection, rule: OpShardingRule, tensor_sizes: Sequence[int]
) -> int | None:
    """A factor along which resharding a dot's result beats resharding an operand.

    That is so if lhs and rhs fit each other, the result disagrees with them in exactly
    one batching or non-contracting factor, is not larger than the operand that has it,
    and is there sharded by just the axes of the contraction: the reduce-scatter
    pattern that would otherwise reshard the larger operand.

    Returns:
        The factor, or None if the dot is better left alone.
    """
    left, right, result = projection.tensors
    conflict: int | None = None
    contracted: Axes = ()
    seen: Axes = ()
    for factor in range(len(rule.factor_sizes)):
        owners = [
            index for index in (0, 1) if factor in projection.tensors[index].factors
        ]
        axes = projection.tensors[owners[0]].factors[factor].axes
        if len(owners) == 2:
            if left.factors[factor].axes != right.factors[factor].axes:
                return None
            if factor in rule.reduction:
                contracted += axes
                continue
        elif lists_overlap(axes, seen):
            return None
        else:
            seen += axes
        if result.factors[factor].axes == axes:
            continue
        too_large = tensor_sizes[2] > max(tensor_sizes[index] for index in owners)
        if not axes or conflict is not None or too_large:
            return None
        conflict = factor
    if conflict is None:
        return None
    wanted = result.factors[conflict].axes
    return conflict if wanted and wanted == contracted else None


def spread_overflow(
    projection: Projection, rule: OpShardingRule, mesh: Mesh
) -> AxesPerFactor:
    """Return axes for each factor of a reshape whose axes cross factor borders.

    The axes of the more sharded side are assigned anew to the factors of both sides,
    each to the first factors that share a divisor with it. Only the common part of both
    sides is kept. Changes the projection.
    """
    before, after = projection.tensors
    better = before if before.sharded_size(mesh) >= after.sharded_size(mesh) else after
    axes = tuple(
        axis
        for _, sharding in sorted(better.factors.items())
        for axis in sharding.axes + sharding.overflow
    )
    built: list[TensorSharding] = []
    for tensor, mapping in zip(projection.tensors, rule.tensors, strict=True):
        order = [
            factor for dim in mapping for factor in dim if factor in tensor.factors
        ]
        shares, overflow = _hand_out(axes, [rule.factor_sizes[f] for f in order], mesh)
        for factor, share in zip(order, shares, strict=True):
            tensor.factors[factor] = replace(
                tensor.factors[factor],
                axes=share,
                overflow=overflow if factor == order[-1] else (),
            )
        complete = {
            factor: tensor.factors.get(factor, FactorSharding(closed=True))
            for dim in mapping
            for factor in dim
        }
        whole = replace(tensor, factors=complete)
        built.append(unproject_tensor(mesh, mesh, rule, mapping, whole))
    return project(mesh, rule, built).common_axes(len(rule.factor_sizes))


def _hand_out(axes: Axes, sizes: Sequence[int], mesh: Mesh) -> tuple[list[Axes], Axes]:
    """Give axes in order to factors, split to fit evenly; return the rest, too."""
    room = list(sizes)
    shares: list[Axes] = [()] * len(sizes)
    rest = list(axes)
    while rest:
        used = False
        for index, left in enumerate(room):
            axis = rest[0]
            size = axis.size_in(mesh)
            part = gcd(left, size)
            if left <= 1 or (part == 1 and size != 1):
                continue
            used = True
            room[index] //= part
            if part == size:
                shares[index] = append_merged(shares[index], rest.pop(0), mesh)
                break
            taken = AxisRef(axis.name, axis.pre_size, part)
            shares[index] = append_merged(shares[index], taken, mesh)
            rest[0] = AxisRef(axis.name, axis.pre_size * part, size // part)
        if not used:
            break
    return shares, concatenate_merged((), rest, mesh)


class Agreement(NamedTuple):
    """The shardings and the reduction that make one op compatible."""

    shardings: tuple[TensorSharding | None, ...]
    """The new sharding of each operand, then of each result; None: no change."""
    reduction: Axes
    """Along these axes the results come out as partial ones and must be reduced."""


@lru_cache(maxsize=4096)
def agree(
    rule: OpShardingRule,
    shardings: tuple[TensorSharding | None, ...],
    tensor_sizes: tuple[int, ...],
    mesh_ref: str | Mesh,
    mesh: Mesh,
    foreign: tuple[bool, ...],
    *,
    is_reshape: bool = False,
) -> Agreement:
    """Shardings under which an op can run on shards, near to the ones it has.

    Axes that a tensor was explicitly replicated along and is now sharded by are no
    longer listed as replicated.

    Args:
        shardings: of all operands, then all results; None is replicated.
        mesh_ref: how new shardings shall name their mesh.
        foreign: which of them are sharded over a mesh with another order of devices,
            so must change mesh in any case.
        is_reshape: whether axes that do not fall on factor borders may be handed out
            anew.

    Raises:
        ValueError: if a tensor would be sharded by an axis that it is unreduced along.
    """
    projection = project(mesh, rule, shardings, closed_if_missing=True)
    overflows = any(
        sharding.overflow
        for tensor in projection.tensors
        for sharding in tensor.factors.values()
    )
    if is_reshape and overflows:
        axes = spread_overflow(projection, rule, mesh)
        assign_axes(projection, rule, axes)
        new = _unproject(projection, rule, mesh_ref, mesh)
        changed = [
            not built.same_layout(old)
            for built, old in zip(new, shardings, strict=True)
        ]
    else:
        axes = common_factor_axes(projection, rule, tensor_sizes, mesh)
        changed = assign_axes(projection, rule, axes)
        new = _unproject(projection, rule, mesh_ref, mesh)
    moves = zip(new, changed, foreign, strict=True)
    return Agreement(
        tuple(built if moved or far else None for built, moved, far in moves),
        reduction_axes(rule, axes),
    )


def _unproject(
    projection: Projection, rule: OpShardingRule, mesh_ref: str | Mesh, mesh: Mesh
) -> list[TensorSharding]:
    built: list[TensorSharding] = []
    for tensor, mapping in zip(projection.tensors, rule.tensors, strict=True):
        sharding = unproject_tensor(mesh_ref, mesh, rule, mapping, tensor)
        used = sharding.sharding_axes
        if lists_overlap(used, sharding.unreduced):
            raise ValueError(f"an unreduced axis would have to shard in {sharding}")
        if lists_overlap(used, sharding.replicated):
            left = subtract(sharding.replicated, used, mesh)
            sharding = sharding.with_replicated(left)
        built.append(sharding)
    return built


def reshard_dot_result(
    rule: OpShardingRule,
    shardings: tuple[TensorSharding | None, ...],
    tensor_sizes: tuple[int, ...],
    mesh_ref: str | Mesh,
    mesh: Mesh,
) -> TensorSharding | None:
    """The sharding that a dot's result should have before it is resharded, if any.

    See `dot_factor_to_reshard`.
    """
    projection = project(mesh, rule, shardings, closed_if_missing=True)
    factor = dot_factor_to_reshard(projection, rule, tensor_sizes)
    if factor is None:
        return None
    left, right, result = projection.tensors
    owner = left if factor in left.factors else right
    result.factors[factor] = replace(
        result.factors[factor], axes=owner.factors[factor].axes
    )
    return unproject_tensor(mesh_ref, mesh, rule, rule.results[0], result)
