"""mesh_shard and the collectives of ttir and ttnn, along one mesh axis.

Source: the op descriptions of `ttxdsl/dialects/_tt/collective.py`.
"""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects.stablehlo import id_pairs
from ttxdsl.dialects.ttcore import MeshShardDirection, ReduceType
from ttxdsl.interpreters.kernels.elements import constant, is_integer, rank_of, widen
from ttxdsl.interpreters.kernels.reduction import AllReducer, Reducer
from ttxdsl.interpreters.mesh.axes import Dims
from ttxdsl.interpreters.mesh.collectives import Array, DeviceMesh, Groups, Reduce
from ttxdsl.interpreters.mesh.local_boundary import (
    assemble,
    axes_by_dim,
    distribute,
    shards_of,
)
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.ops.control_flow import require_company
from ttxdsl.interpreters.ops.tt.table import (
    REDUCTIONS,
    device_mesh,
    interpreted,
    on_mesh,
)
from ttxdsl.interpreters.runtime.regions import Values

_Kernel = Callable[..., Array]


def _lines(mesh: DeviceMesh, op: Any) -> Groups:
    """Return the groups of devices along the op's `cluster_axis`."""
    axis = op.cluster_axis.value.data
    if axis >= mesh.rank:
        raise CompileError(f"cluster_axis {axis} of a mesh of rank {mesh.rank}", op)
    return mesh.axis_groups([axis])


def _collective(
    name: str,
    groups: Callable[[DeviceMesh, Any], Groups] = _lines,
    combines: bool = False,
) -> Callable[[_Kernel], object]:
    """Decorate a function of the mesh, an op, its groups or pairs of devices, and arrays."""

    def add(kernel: _Kernel) -> object:
        def run(interpreter: Interpreter, op: Any, args: Values) -> Values:
            mesh = device_mesh(interpreter, op)
            among = groups(mesh, op)
            require_company(interpreter, op, mesh, among)
            return (kernel(mesh, op, among, *args),)

        return interpreted(name, combines=combines)(run)

    return add


def _rank(op: Any) -> int:
    return rank_of(op.input.type)


def _split_by(mesh: DeviceMesh, op: Any, dims: Sequence[int | None]) -> Dims:
    if len(dims) != mesh.rank:
        raise CompileError(f"{len(dims)} placements for a mesh of {mesh.rank} axes", op)
    return axes_by_dim(mesh, _rank(op), dims)


@contextmanager
def _located(op: Any) -> Generator[None]:
    """Name the op in an error of devices that differ."""
    try:
        yield
    except ReplicaMismatchError as error:
        error.locate(
            op.results[0],
            f"the operand of '{op.name}'",
            "along axes that split no dimension the devices have to hold the same",
        )
        raise


@on_mesh("mesh_shard")
def _mesh_shard(mesh: DeviceMesh, op: Any, x: Array) -> Array | Scattered:
    shards = shards_of(op.properties)
    if op.shard_direction.data == MeshShardDirection.FULL_TO_SHARD:
        return distribute(mesh, shards, x, _rank(op))
    with _located(op):
        return assemble(mesh, shards, x, _rank(op))


def _statistic(kind: ReduceType) -> Reduce:
    """Mean, variance or standard deviation over devices (of the population)."""

    add = AllReducer(Reducer.named("add"))

    def run(x: Array, axes: tuple[int, ...]) -> Array:
        wide = widen(x)
        if is_integer(x.dtype):
            wide = wide.astype(np.float64)
        count = wide.dtype.type(prod(x.shape[axis] for axis in axes))
        result = add(wide, axes) / count
        if kind != ReduceType.MEAN:
            result = add(np.square(wide - result), axes) / count
        if kind == ReduceType.STD:
            result = np.sqrt(result)
        return result.astype(x.dtype)

    return run


def _reducer(op: Any) -> Reduce:
    kind: ReduceType = op.reduce_type.data
    if (name := REDUCTIONS.get(kind)) is not None:
        return AllReducer(Reducer.named(name))
    if kind == ReduceType.INVALID:
        raise CompileError("a collective cannot reduce by `invalid`", op)
    return _statistic(kind)


@_collective("all_gather")
def _all_gather(mesh: DeviceMesh, op: Any, groups: Groups, x: Array) -> Array:
    rank = _rank(op)
    return mesh.all_gather(x, rank, op.all_gather_dim.value.data % rank, groups)


@_collective("all_reduce", combines=True)
def _all_reduce(mesh: DeviceMesh, op: Any, groups: Groups, x: Array) -> Array:
    return mesh.all_reduce(x, _rank(op), groups, _reducer(op))


@_collective("reduce_scatter", combines=True)
def _reduce_scatter(mesh: DeviceMesh, op: Any, groups: Groups, x: Array) -> Array:
    rank = _rank(op)
    dim = op.scatter_dim.value.data % rank
    return mesh.reduce_scatter(x, rank, dim, groups, _reducer(op))


def _groups_or_lines(mesh: DeviceMesh, op: Any) -> Groups:
    return _lines(mesh, op) if op.groups is None else op.groups


@_collective("all_to_all", _groups_or_lines)
def _all_to_all(mesh: DeviceMesh, op: Any, groups: Groups, x: Array) -> Array:
    rank = _rank(op)
    split, concat = op.split_dim.value.data % rank, op.concat_dim.value.data % rank
    return mesh.all_to_all(x, rank, split, concat, groups)


@on_mesh("mesh_partition")
def _mesh_partition(mesh: DeviceMesh, op: Any, x: Array) -> Array:
    rank = _rank(op)
    return mesh.all_slice(x, rank, op.dim.value.data % rank, _lines(mesh, op))


def _source_target_pairs(mesh: DeviceMesh, op: Any) -> Groups:
    return tuple(id_pairs(op.source_target_pairs))


@_collective("collective_permute", _source_target_pairs)
def _collective_permute(mesh: DeviceMesh, op: Any, groups: Groups, x: Array) -> Array:
    return mesh.collective_permute(x, _rank(op), [(a, b) for a, b in groups])


def _rows(mesh: DeviceMesh, op: Any) -> Groups:
    rows = constant(op.replica_groups).tolist()
    return tuple(tuple(at for at in row if at >= 0) for row in rows)


@_collective("collective_broadcast", _rows)
def _collective_broadcast(mesh: DeviceMesh, op: Any, groups: Groups, x: Array) -> Array:
    return mesh.collective_broadcast(x, _rank(op), groups)


_PLACEMENT = re.compile(r"<(shard|replicate)(?:,\s*(-?\d+))?")
_NUMBER = re.compile(r"(-?\d+) :")


@on_mesh("distribute_tensor")
def _distribute_tensor(mesh: DeviceMesh, op: Any, x: Array) -> Array:
    """`placements`: along each mesh axis, the dimension that it splits, if any."""
    placements = _PLACEMENT.findall(op.mapper_config.text.data.partition("]")[0])
    dims = [int(dim) if kind == "shard" else None for kind, dim in placements]
    return mesh.shard(x, _split_by(mesh, op, dims))


@on_mesh("aggregate_tensor")
def _aggregate_tensor(mesh: DeviceMesh, op: Any, x: Array) -> Array | Scattered:
    """`dims`: along each axis of `mesh_shape_override`, where its devices' parts join.

    An axis that the shape has once is not joined: its devices hold the same.
    """
    dims, sizes = (
        [int(digits) for digits in _NUMBER.findall(part)]
        for part in op.composer_config.text.data.split("]")[:2]
    )
    joined: list[int | None] = [None] * mesh.rank
    if any(size != 1 for size in sizes):
        joined = [
            dim if size > 1 else None for dim, size in zip(dims, sizes, strict=True)
        ]
        pairs = zip(sizes, mesh.sizes, strict=False)
        if len(sizes) != mesh.rank or any(n not in (1, size) for n, size in pairs):
            raise CompileError("mesh_shape_override is not the shape of the mesh", op)
    with _located(op):
        return mesh.whole(x, _split_by(mesh, op, joined))


def _sender_and_receiver(mesh: DeviceMesh, op: Any) -> Groups:
    places = (ints(at) for at in (op.sender_coord, op.receiver_coord))
    return (tuple(int(np.ravel_multi_index(at, mesh.sizes)) for at in places),)


@_collective("point_to_point", _sender_and_receiver)
def _point_to_point(
    mesh: DeviceMesh, op: Any, groups: Groups, x: Array, *output: Array
) -> Array:
    """The receiver's part of the second operand (zeros without) becomes the sender's."""
    rank = _rank(op)
    ((sender, receiver),) = groups
    moved = mesh.collective_permute(x, rank, [(sender, receiver)])
    if not output:
        return moved
    own = mesh.here(np.arange(mesh.num_devices) == receiver)
    own = own.reshape((*own.shape, *(1,) * rank))
    return np.where(own, moved, mesh.lift(output[0], rank))
