"""The constraints of the sdy dialect on plain values, one function a constraint.

Nothing here looks at ops (`_sdy.verify_ops` does). Every function raises
`VerifyException` with the constraint, the axis and the dimension in the message.

Two constraints of the dialect's documentation are not checked because the C++ dialect
and its own passes do not keep to them: that dimensions of size 0 are not sharded
(propagation shards them), and that all meshes of a module have as many devices.

Source: the "Constraints" lists of Shardy's dialect documentation and `verifiers.cc`.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod

from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._sdy.syntax import axis_refs_text
from ttxdsl.dialects._sdy.values import EdgeValueRef, PropagationStep
from ttxdsl.sharding.axes import (
    Axes,
    AxisRef,
    concatenate_merged,
    sort_and_merge,
    sort_by_mesh,
)
from ttxdsl.sharding.devices.mesh import MOST_AXES, MOST_DEVICES, Mesh
from ttxdsl.sharding.factors import OpShardingRule
from ttxdsl.sharding.reshard.collectives import AllToAllParam
from ttxdsl.sharding.spec import DimSharding, ReductionKind, TensorSharding
from ttxdsl.sharding.text import quoted

_SHOWN = 64
"""Device ids that a message lists."""


# Meshes


def mesh_axis_size(name: str, size: int) -> None:
    """A mesh axis has at least one device."""
    if size < 1:
        raise VerifyException(f"axis size must be at least 1: {quoted(name)}={size}")


def mesh_axis_names(mesh: Mesh) -> None:
    """The axes of a mesh have different names."""
    seen: set[str] = set()
    for name in mesh.axis_names:
        if name in seen:
            raise VerifyException(f"duplicate axis name: {quoted(name)}")
        seen.add(name)


def mesh_devices(mesh: Mesh) -> None:
    """A mesh has at most `MOST_DEVICES` and `MOST_AXES`; Shardy has no such limits."""
    if len(mesh.axes) > MOST_AXES:
        raise VerifyException(
            f"a mesh of {len(mesh.axes)} axes: at most {MOST_AXES} are supported"
        )
    if mesh.total_size > MOST_DEVICES:
        raise VerifyException(
            f"a mesh of {mesh.total_size} devices: at most {MOST_DEVICES} are supported"
        )


def mesh_device_ids(mesh: Mesh) -> None:
    """Explicit device ids are a permutation of all devices, other than counting up."""
    ids = mesh.device_ids
    negative = next((i for i in ids if i < 0), None)
    if negative is not None:
        raise VerifyException(f"device id must be non-negative, got: {negative}")
    if not ids:
        return
    if not mesh.axes:
        if len(ids) > 1:
            raise VerifyException(
                "a mesh without axes has at most one device id (the maximal mesh), "
                f"got: {len(ids)}"
            )
        return
    devices = mesh.total_size
    if devices != len(ids):
        raise VerifyException(
            "the product of the axis sizes must equal the number of device ids: "
            f"{devices} != {len(ids)}"
        )
    if sorted(ids) != list(range(devices)):
        first = ", ".join(map(str, sorted(ids)[:_SHOWN]))
        more = ", ..." if devices > _SHOWN else ""
        raise VerifyException(
            f"sorted device ids must be 0 to {devices - 1}, got: [{first}{more}]"
        )
    if list(ids) == list(range(devices)):
        raise VerifyException(
            "device ids that count up from 0 are the default: leave device_ids out"
        )


def whole_mesh(mesh: Mesh) -> None:
    """All constraints of a mesh by itself."""
    for name, size in mesh.axes:
        mesh_axis_size(name, size)
    mesh_axis_names(mesh)
    mesh_devices(mesh)
    mesh_device_ids(mesh)


# Lists of axes


def axis_names(axes: Iterable[AxisRef], mesh: Mesh, where: str) -> None:
    """Every axis is an axis of the mesh."""
    for axis in axes:
        if not mesh.has_axis(axis.name):
            raise VerifyException(
                f"{where}unknown axis name: {quoted(axis.name)}; the mesh is {mesh.title}"
            )


def axes_unmerged(axes: Sequence[AxisRef], where: str) -> None:
    """No two neighbours are consecutive sub-axes, which are written as one."""
    for major, minor in pairwise(axes):
        if major.can_merge(minor):
            raise VerifyException(
                f"{where}two consecutive sub-axes can be merged: {major}, {minor}"
            )


def axes_sorted(axes: Axes, mesh: Mesh, where: str) -> None:
    """Axes whose order means nothing are listed in the order of the mesh."""
    if axes != sort_by_mesh(axes, mesh):
        raise VerifyException(
            f"{where}axes are not ordered w.r.t. mesh {mesh.title}: {axis_refs_text(axes)}"
        )


def axes_disjoint(axes: Iterable[AxisRef], mesh: Mesh) -> None:
    """Sub-axes are parts of their axis, and no part of an axis is used twice."""
    of_name: dict[str, list[AxisRef]] = {}
    seen: set[AxisRef] = set()
    for axis in axes:
        if axis in seen:
            raise VerifyException(f"duplicate axis ref: {axis}")
        seen.add(axis)
        of_name.setdefault(axis.name, []).append(axis)
    for name, parts in of_name.items():
        sub_axes = [axis for axis in parts if not axis.is_full]
        if sub_axes and len(sub_axes) < len(parts):
            raise VerifyException(
                f"both sub-axis and full-axis are used for axis name: {quoted(name)}"
            )
        previous: AxisRef | None = None
        for axis in sort_by_mesh(sub_axes, mesh):
            sub_axis(axis, mesh)
            if previous is not None and previous.overlaps(axis):
                raise VerifyException(f"overlapping sub-axes: {previous}, {axis}")
            previous = axis


def sub_axis(axis: AxisRef, mesh: Mesh) -> None:
    """A sub-axis `(m)k` has m >= 1, k > 1, m*k divides its axis, k is not all of it."""
    if axis.size is None:
        return
    if axis.pre_size < 1:
        raise VerifyException(f"sub-axis pre-size must be at least 1: {axis}")
    if axis.size <= 1:
        raise VerifyException(f"sub-axis sizes must be greater than 1: {axis}")
    full = mesh.axis_size(axis.name)
    if full % (axis.pre_size * axis.size) != 0:
        raise VerifyException(
            f"sub-axis next pre-size {axis.pre_size * axis.size} doesn't divide the "
            f"size of the full axis {full}: {axis}"
        )
    if axis.size == full:
        raise VerifyException(f"sub-axis size is equal to the full axis size: {axis}")


def sorted_axis_list(axes: Axes, mesh: Mesh, label: str) -> None:
    """One list of axes whose order means nothing: valid, in the order of the mesh."""
    axis_names(axes, mesh, f"{label} ")
    axes_sorted(axes, mesh, f"{label} ")
    axes_unmerged(axes, f"{label} ")
    axes_disjoint(axes, mesh)


# Shardings of tensors


def no_axes_at_all(sharding: TensorSharding, reason: str) -> None:
    """Refuse a sharding that has dimensions, or names replicated or unreduced axes."""
    if sharding.rank != 0 or sharding.replicated or sharding.unreduced:
        raise VerifyException(
            f"{reason} can only have a sharding with rank 0 and no replicated or "
            f"unreduced axes, got {sharding}"
        )


def priority(dim: DimSharding, index: int) -> None:
    """A priority is at least 0, and something is there that it can apply to."""
    if dim.priority is None:
        return
    if dim.priority < 0:
        raise VerifyException(f"dim {index} has a negative priority: {dim}")
    if dim.closed and not dim.axes:
        raise VerifyException(f"dim {index} is empty and closed but has a priority")


@lru_cache(maxsize=4096)
def tensor_sharding(sharding: TensorSharding, mesh: Mesh, rank: int) -> None:
    """All constraints of a sharding of a tensor; each distinct one is checked once."""
    if sharding.mesh is mesh:
        # written here; a mesh with a name is checked where it is
        whole_mesh(mesh)
    if sharding.rank != rank:
        raise VerifyException(
            f"sharding doesn't match tensor rank: {sharding.rank} != {rank}; the "
            f"sharding is {sharding}"
        )
    for index, dim in enumerate(sharding.dims):
        priority(dim, index)
        axis_names(dim.axes, mesh, f"dim {index}: ")
        axes_unmerged(dim.axes, f"dim {index}: ")
    for label, axes in (
        ("replicated ", sharding.replicated),
        ("unreduced ", sharding.unreduced),
    ):
        axis_names(axes, mesh, f"{label}axes: ")
        axes_sorted(axes, mesh, label)
        axes_unmerged(axes, f"{label}axes: ")
    axes_disjoint(sharding.all_axes, mesh)


def free_axes(axes: Iterable[AxisRef], bound: Collection[str]) -> None:
    """Inside a manual computation, its manual axes cannot shard anything."""
    for axis in axes:
        if axis.name in bound:
            raise VerifyException(
                f"operates on axis {quoted(axis.name)} which is already bound by a "
                "parent sdy.manual_computation op"
            )


# Manual computations


def manual_axes_first(dim: DimSharding, index: int, manual: Collection[str]) -> None:
    """In a dimension, manual axes come before free axes."""
    free: AxisRef | None = None
    for axis in dim.axes:
        if axis.name not in manual:
            free = axis
        elif free is not None:
            raise VerifyException(
                "manual axes must come before free axes: in dim "
                f"{index}, manual axis {axis} comes after free axis {free}"
            )


def local_shape(
    shape: Sequence[int], sharding: TensorSharding, mesh: Mesh, manual: Collection[str]
) -> tuple[int, ...]:
    """The shape inside the body, -1 being dynamic; manual axes leave no remainder."""
    local: list[int] = []
    for index, (size, dim) in enumerate(zip(shape, sharding.dims, strict=True)):
        axes = [axis for axis in dim.axes if axis.name in manual]
        shards = prod(axis.size_in(mesh) for axis in axes)
        if size < 0:
            local.append(size)
            continue
        if size % shards != 0:
            raise VerifyException(
                f"dim {index} of size {size} is not divisible by the manual axes "
                f"{axis_refs_text(axes)} of size {shards}"
            )
        local.append(size // shards)
    return tuple(local)


# Collectives


def _expect(expected: Axes, dim: int, result: TensorSharding) -> None:
    if expected != result.dims[dim].axes:
        raise VerifyException(
            f"result sharding doesn't match expected sharding {axis_refs_text(expected)} on "
            f"dimension {dim}: it has {axis_refs_text(result.dims[dim].axes)}"
        )


def without_suffix(axes: Axes, suffix: Axes, dim: int, mesh: Mesh, label: str) -> Axes:
    """`axes` without the axes that `suffix` names, which must be their end."""
    left = axes
    for axis in reversed(suffix):
        if not left or not axis.is_suffix_of(left[-1], mesh):
            raise VerifyException(
                f"can't apply {label} axis {axis} to operand sharding on dimension "
                f"{dim}: {axis_refs_text(axes)} does not end with it"
            )
        rest = left[-1].prefix_without(axis)
        left = left[:-1] if rest is None else (*left[:-1], rest)
    return left


def _collective_axes(
    lists: Sequence[Axes], result: TensorSharding, mesh: Mesh, label: str
) -> None:
    """Lists of axes, one a dimension: each valid, no axis used twice in all of them."""
    for dim, axes in enumerate(lists):
        where = f"{label} axes of dim {dim}: "
        axis_names(axes, mesh, where)
        axes_unmerged(axes, where)
    axes_disjoint((axis for axes in lists for axis in axes), mesh)
    if len(lists) != result.rank:
        raise VerifyException(
            f"result sharding has rank {result.rank} but collective axes has rank "
            f"{len(lists)}"
        )


def gathers(
    operand: TensorSharding,
    lists: Sequence[Axes],
    result: TensorSharding,
    mesh: Mesh,
    label: str,
) -> None:
    """Taking the axes from the end of each dimension gives the result's dimensions."""
    _collective_axes(lists, result, mesh, label)
    for dim, axes in enumerate(lists):
        left = without_suffix(operand.dims[dim].axes, axes, dim, mesh, label)
        _expect(left, dim, result)


def slices(
    operand: TensorSharding,
    lists: Sequence[Axes],
    result: TensorSharding,
    mesh: Mesh,
    label: str,
) -> None:
    """Adding the axes to the end of each dimension gives the result's dimensions."""
    _collective_axes(lists, result, mesh, label)
    for dim, axes in enumerate(lists):
        _expect(concatenate_merged(operand.dims[dim].axes, axes, mesh), dim, result)


def all_to_all_dims(params: Sequence[AllToAllParam], rank: int) -> None:
    """There are moves; their dimensions exist, differ, and sources go up."""
    if not params:
        raise VerifyException("parameter list is empty")
    seen: set[int] = set()
    previous = -1
    for param in params:
        for kind, dim in (("source", param.src_dim), ("target", param.tgt_dim)):
            if not 0 <= dim < rank:
                raise VerifyException(
                    f"{kind} dimension {dim} is out of range [0, {rank})"
                )
        for dim in (param.src_dim, param.tgt_dim):
            if dim in seen:
                raise VerifyException(
                    f"overlapping source/target dimensions in all-to-all params: {dim}"
                )
            seen.add(dim)
        if param.src_dim <= previous:
            raise VerifyException(
                "source dimensions are not sorted in ascending order: "
                f"{param.src_dim} appears after {previous}"
            )
        previous = param.src_dim


def all_to_all(
    operand: TensorSharding,
    params: Sequence[AllToAllParam],
    result: TensorSharding,
    mesh: Mesh,
) -> None:
    """Raise unless moving axes between dimensions gives the result's sharding."""
    for param in params:
        where = f"axes moved from dim {param.src_dim} to dim {param.tgt_dim}: "
        axis_names(param.axes, mesh, where)
        axes_unmerged(param.axes, where)
    axes_disjoint((axis for param in params for axis in param.axes), mesh)
    all_to_all_dims(params, operand.rank)
    expected = list(operand.axes_per_dim)
    for param in params:
        source, target = param.src_dim, param.tgt_dim
        expected[source] = without_suffix(
            operand.dims[source].axes, param.axes, source, mesh, "all-to-all"
        )
        expected[target] = concatenate_merged(
            operand.dims[target].axes, param.axes, mesh
        )
    for dim, axes in enumerate(expected):
        _expect(axes, dim, result)


def permutes(
    operand: TensorSharding,
    operand_mesh: Mesh,
    result: TensorSharding,
    mesh: Mesh,
) -> None:
    """Chunks keep their size; different meshes differ in the order of devices only."""
    if mesh.axes != operand_mesh.axes:
        raise VerifyException(
            f"result mesh {mesh} has different axes than operand mesh {operand_mesh}"
        )
    if operand.mesh != result.mesh and mesh.device_ids == operand_mesh.device_ids:
        raise VerifyException(
            "result mesh name is different but same device ids as operand"
        )
    for index, (before, after) in enumerate(
        zip(operand.dims, result.dims, strict=True)
    ):
        sizes = before.sharded_size(mesh), after.sharded_size(mesh)
        if sizes[0] != sizes[1]:
            raise VerifyException(
                f"sharded size of result doesn't match operand on dimension {index}: "
                f"{axis_refs_text(after.axes)} of size {sizes[1]} != {axis_refs_text(before.axes)} "
                f"of size {sizes[0]}"
            )


def _apart(axes: Axes, others: Axes, label: str, of: str) -> None:
    """No axis overlaps one of the others."""
    for axis in axes:
        for taken in others:
            if axis.overlaps(taken):
                raise VerifyException(f"{label} {axis} overlaps with {of}: {taken}")


def reduces(
    operand: TensorSharding, axes: Axes, result: TensorSharding, mesh: Mesh
) -> None:
    """The layout stays, and the operand is neither sharded nor replicated along axes."""
    if not operand.with_unreduced(()).same_layout(result.with_unreduced(())):
        raise VerifyException(
            f"operand and result shardings are not equivalent: {operand} and {result}"
        )
    sorted_axis_list(axes, mesh, "reduction")
    label = "reduction axis"
    given = operand.sharding_axes + operand.replicated
    _apart(axes, given, label, "operand dimension sharding or replicated axes")
    _apart(axes, result.unreduced, label, "result unreduced axes")


def reduction_number(number: int) -> None:
    """Refuse a number that is none of the reductions, which are counted from 0."""
    if not 0 <= number < len(ReductionKind):
        raise VerifyException(f"unknown reduction: {number}")


def becomes_unreduced(
    operand: TensorSharding, axes: Axes, result: TensorSharding, mesh: Mesh
) -> None:
    """The result is unreduced along the operand's unreduced axes and the op's axes."""
    if operand.unreduced and result.reduction is not operand.reduction:
        raise VerifyException("cannot change reduction_op of existing unreduced axes")
    expected = sort_and_merge(operand.unreduced + axes, mesh)
    if result.unreduced != expected:
        raise VerifyException(
            "out_sharding must be unreduced along the operand's unreduced axes and "
            f"the op's axes, {axis_refs_text(expected)}, got {axis_refs_text(result.unreduced)}"
        )


def replicated_to_unreduced(
    operand: TensorSharding, axes: Axes, result: TensorSharding, mesh: Mesh
) -> None:
    """The dimensions stay, and the operand is replicated along the axes."""
    if operand.dims != result.dims:
        raise VerifyException(
            "input and output must share the same dimension shardings: "
            f"{operand} and {result}"
        )
    if not axes:
        raise VerifyException("axes must not be empty")
    sorted_axis_list(axes, mesh, "replicated-to-unreduced")
    given = operand.sharding_axes + operand.unreduced
    _apart(axes, given, "axis", "operand dimension sharding or unreduced axes")
    becomes_unreduced(operand, axes, result, mesh)


# Sharding rules


@lru_cache(maxsize=1024)
def rule(
    rule: OpShardingRule,
    operand_shapes: tuple[tuple[int, ...], ...],
    result_shapes: tuple[tuple[int, ...], ...],
) -> None:
    """All constraints of a sharding rule of an op of these shapes."""
    try:
        rule.check(operand_shapes, result_shapes)
    except ValueError as error:
        raise VerifyException(f"sharding rule: {error}") from error


# Propagation edges


def propagation_steps(steps: Sequence[PropagationStep]) -> None:
    """Steps are numbered once from 0 up; targets differ from the source and in pairs."""
    seen: set[int] = set()
    for step in steps:
        if step.index < 0:
            raise VerifyException(
                f"propagation edges have negative step index: {step.index}"
            )
        if step.index in seen:
            raise VerifyException(
                f"propagation edges have duplicate step index: {step.index}"
            )
        seen.add(step.index)
        for entry in step.entries:
            targets: set[EdgeValueRef] = set()
            for target in entry.targets:
                if target == entry.source:
                    raise VerifyException(
                        f"the source of axis {entry.axis} in step {step.index} is "
                        "also a target"
                    )
                if target in targets:
                    raise VerifyException(
                        f"axis {entry.axis} has duplicate targets in step {step.index}"
                    )
                targets.add(target)
