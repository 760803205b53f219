"""From dimension shardings to factor shardings and back.

A rule says which factors (sub-dimensions) a dimension consists of. Projecting gives
each factor the axes that shard it: axes of the dimension are handed to its factors,
major to minor, and split into sub-axes where a factor is smaller than an axis. For
`[ij, k]->[i, jk]` with i=8, j=2 and axes of size 4, `{"x", "y"}` on `ij` becomes
`"x", "y":(1)2` on i and `"y":(2)2` on j. Projecting back concatenates the factors of
a dimension and merges the sub-axes that join.

Source: the LLVM talk ("Propagate shardings in reshape"), Shardy's propagation
document, and Shardy's `ShardingProjection`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    append_merged,
    common_prefix,
    concatenate_merged,
    is_strict_prefix,
    total_size,
)
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.factors import DimMapping, OpShardingRule, TensorMapping
from ttxdsl.sharding.spec import DimSharding, ReductionKind, TensorSharding


@dataclass(frozen=True, slots=True)
class FactorSharding:
    """The sharding of one factor of one tensor.

    `closed` is that of the dimension. Only the `minor_most` factor of a dimension may
    be sharded unevenly. `overflow` holds the axes of the dimension that this factor
    and those behind it cannot take, because the sizes do not divide; they block the
    rest of the dimension and are put back when projecting to the dimension.
    """

    axes: Axes = ()
    closed: bool = False
    minor_most: bool = False
    overflow: Axes = ()


_UNSHARDED = {
    (closed, minor_most): FactorSharding((), closed, minor_most)
    for closed in (False, True)
    for minor_most in (False, True)
}
"""By `closed` and `minor_most`."""


@dataclass(slots=True)
class TensorFactors:
    """The factor shardings of one tensor, and the remaining parts of its sharding."""

    factors: dict[int, FactorSharding]
    replicated: Axes = ()
    unreduced: Axes = ()
    reduction: ReductionKind = ReductionKind.SUM

    def expand(self, factor: int, axes: Axes) -> bool:
        """Shard a factor by `axes` if they go on from its own; whether it changed."""
        old = self.factors.get(factor)
        if old is None or not is_strict_prefix(old.axes, axes):
            return False
        self.factors[factor] = FactorSharding(
            axes, old.closed, old.minor_most, old.overflow
        )
        return True

    def sharded_size(self, mesh: Mesh) -> int:
        """Into how many shards the tensor is split, overflow axes included."""
        size = 1
        for factor in self.factors.values():
            size *= total_size(factor.axes + factor.overflow, mesh)
        return size


@dataclass(slots=True)
class Projection:
    """The factor shardings of all operands, then of all results, of one op."""

    tensors: list[TensorFactors]
    num_operands: int

    @property
    def operands(self) -> list[TensorFactors]:
        """The operands' part."""
        return self.tensors[: self.num_operands]

    @property
    def results(self) -> list[TensorFactors]:
        """The results' part."""
        return self.tensors[self.num_operands :]

    def common_axes(self, num_factors: int) -> tuple[Axes, ...]:
        """For each factor the longest list of axes that all its tensors start with."""
        shared: list[Axes | None] = [None] * num_factors
        for tensor in self.tensors:
            for factor, sharding in tensor.factors.items():
                known = shared[factor]
                shared[factor] = (
                    sharding.axes
                    if known is None
                    else common_prefix(known, sharding.axes)
                )
        return tuple(axes or () for axes in shared)


def project(
    mesh: Mesh,
    rule: OpShardingRule,
    shardings: Sequence[TensorSharding | None],
    *,
    closed_if_missing: bool = False,
) -> Projection:
    """Return the factor shardings of an op's operands and results.

    Args:
        shardings: of all operands, then all results; None is fully open, or fully
            closed with `closed_if_missing`.
    """
    tensors = [
        project_tensor(
            mesh, rule, mapping, sharding, closed_if_missing=closed_if_missing
        )
        for mapping, sharding in zip(rule.tensors, shardings, strict=True)
    ]
    return Projection(tensors, len(rule.operands))


def project_tensor(
    mesh: Mesh,
    rule: OpShardingRule,
    mapping: TensorMapping,
    sharding: TensorSharding | None,
    *,
    closed_if_missing: bool = False,
) -> TensorFactors:
    """Return the factor shardings of one tensor of an op (see `project`)."""
    if sharding is None:
        unsharded = DimSharding((), closed_if_missing)
        sharding = TensorSharding("", (unsharded,) * len(mapping))
    factors: dict[int, FactorSharding] = {}
    for dim, factors_of_dim in zip(sharding.dims, mapping, strict=True):
        _project_dim(mesh, rule.factor_sizes, factors_of_dim, dim, factors)
    return TensorFactors(
        factors, sharding.replicated, sharding.unreduced, sharding.reduction
    )


def _project_dim(
    mesh: Mesh,
    factor_sizes: Sequence[int],
    mapping: DimMapping,
    dim: DimSharding,
    into: dict[int, FactorSharding],
) -> None:
    """Hand the axes of one dimension to its factors, major to minor."""
    rest = dim.axes
    if not rest:  # as most are
        for factor in mapping:
            into[factor] = _UNSHARDED[dim.closed, factor == mapping[-1]]
        return
    for position, factor in enumerate(mapping):
        if position == len(mapping) - 1:
            # The minor-most factor takes whatever is left, evenly or not.
            axes = concatenate_merged((), rest, mesh)
            into[factor] = FactorSharding(axes, dim.closed, minor_most=True)
            return
        axes, rest, fits = _take_factor(mesh, factor_sizes[factor], rest)
        if not fits:
            overflow = concatenate_merged((), rest, mesh)
            into[factor] = FactorSharding(axes, dim.closed, overflow=overflow)
            # The next factor lies minor to axes that shard across the boundary, so it
            # stays unsharded. Shardy leaves the factors after it unmapped.
            following = mapping[position + 1]
            is_last = position + 2 == len(mapping)
            into[following] = FactorSharding(closed=True, minor_most=is_last)
            return
        into[factor] = FactorSharding(axes, dim.closed)


def _take_factor(mesh: Mesh, size: int, axes: Axes) -> tuple[Axes, Axes, bool]:
    """Take axes from the front as far as they evenly shard a factor of `size`.

    Returns:
        The taken axes, the rest, and whether the rest may go to the next factor:
        not if the factor is not fully sharded and the next axis shares no divisor
        with what is left of it.
    """
    taken: list[AxisRef] = []
    rest = list(axes)
    while rest:
        axis = rest[0]
        axis_size = axis.size_in(mesh)
        part = gcd(size, axis_size)
        if part == 1 and axis_size != 1:
            break
        size //= part
        if part == axis_size:
            taken.append(rest.pop(0))
            continue
        taken.append(AxisRef(axis.name, axis.pre_size, part))
        rest[0] = AxisRef(axis.name, axis.pre_size * part, axis_size // part)
    return tuple(taken), tuple(rest), size == 1 or not rest


def unproject_tensor(
    mesh_ref: str | Mesh,
    mesh: Mesh,
    rule: OpShardingRule,
    mapping: TensorMapping,
    tensor: TensorFactors,
) -> TensorSharding:
    """Return the sharding over `mesh_ref` of factor shardings, without priorities."""
    dims = tuple(
        _unproject_dim(mesh, rule.factor_sizes, dim, tensor.factors) for dim in mapping
    )
    return TensorSharding(
        mesh_ref, dims, tensor.replicated, tensor.unreduced, tensor.reduction
    )


def _unproject_dim(
    mesh: Mesh,
    factor_sizes: Sequence[int],
    mapping: DimMapping,
    factors: dict[int, FactorSharding],
) -> DimSharding:
    """Put the axes of a dimension's factors behind each other.

    Behind a factor that is not fully sharded no axis may follow: it would shard the
    dimension with a stride.
    """
    axes: Axes = ()
    closed = False
    for factor in mapping:
        sharding = factors[factor]
        closed = closed or sharding.closed
        axes = _join(axes, sharding.axes, mesh)
        if sharding.overflow:
            axes = _join(axes, sharding.overflow, mesh)
            break
        if factor == mapping[-1] or (
            total_size(sharding.axes, mesh) < factor_sizes[factor]
        ):
            break
    return DimSharding(axes, closed)


def _join(major: Axes, minor: Axes, mesh: Mesh) -> Axes:
    """Axes of neighbouring factors; only at the boundary sub-axes can join."""
    if not minor or not major:
        return major or minor
    return append_merged(major, minor[0], mesh) + minor[1:]
