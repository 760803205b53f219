"""Meshes of ttir and ttnn: mesh_shard and the collectives along one mesh axis.

Which mesh an op works on is in the encoding of its tensors (`#ttcore.tensor_mesh`),
whose name `ttcore.meshes` of the module resolves.

Source: the op descriptions of `ttxdsl/dialects/_tt/collective.py`.
"""

import re
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects._tt.attributes import ints
from ttxdsl.dialects.stablehlo import id_pairs
from ttxdsl.dialects.ttcore import (
    MeshShardDirection,
    ReduceType,
    device_mesh_name,
    meshes_of,
)
from ttxdsl.interpreters.kernels.elements import constant, is_integer, rank_of, widen
from ttxdsl.interpreters.kernels.reduction import AllReducer, Reducer
from ttxdsl.interpreters.mesh.axes import Dims
from ttxdsl.interpreters.mesh.collectives import Array, DeviceMesh, Groups, Reduce
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.mesh.scattered import Scattered
from ttxdsl.interpreters.ops.registry import Run
from ttxdsl.interpreters.runtime.regions import Values, session
from ttxdsl.sharding.axes import AxisRef


def device_mesh(interpreter: Interpreter, op: Operation) -> DeviceMesh:
    """The mesh that the op's tensors live on; axes are called `axis0`, `axis1`, …

    Raises:
        CompileError: no encoding says which, and the module has not exactly one.
    """
    state = session(interpreter)
    if (mesh := state.meshes.get(op)) is None:
        mesh = _device_mesh(interpreter, op)
        same = not state.meshes or state.common_mesh == mesh
        state.common_mesh = mesh if same else None
        state.meshes[op] = mesh
    return mesh


def _device_mesh(interpreter: Interpreter, op: Operation) -> DeviceMesh:
    types = [value.type for value in (*op.results, *op.operands)]
    name = next((n for t in types if (n := device_mesh_name(t)) is not None), None)
    meshes = meshes_of(op)
    found = None
    if meshes is not None:
        if name is not None:
            found = meshes.get_mesh(name)
        elif len(meshes.meshes.data) == 1:
            found = meshes.meshes.data[0]
    if found is None:
        raise CompileError(
            f"the module has no mesh {name!r}" if name else "no tensor says its mesh",
            op,
            hint='declare it: module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" '
            "= 2x4>]>}",
        )
    shape = found.get_shape()
    axes = tuple((f"axis{at}", size) for at, size in enumerate(shape))
    return session(interpreter).devices.mesh(axes)


def _line(interpreter: Interpreter, op: Any) -> tuple[DeviceMesh, Groups]:
    """The mesh and the groups of devices along the op's `cluster_axis`."""
    mesh = device_mesh(interpreter, op)
    axis = op.cluster_axis.value.data
    if axis >= mesh.rank:
        raise CompileError(f"cluster_axis {axis} of a mesh of rank {mesh.rank}", op)
    return mesh, mesh.axis_groups([axis])


def _rank(op: Any) -> int:
    return rank_of(op.input.type)


def _split(mesh: DeviceMesh, op: Any) -> list[list[AxisRef]]:
    """The axes that split each dimension, as `shard_dims` says."""
    return _split_by(mesh, op, ints(op.shard_dims))


def _split_by(mesh: DeviceMesh, op: Any, named: Sequence[int]) -> list[list[AxisRef]]:
    """The axes that split each dimension: `named` says which one each mesh axis splits."""
    dims: list[list[AxisRef]] = [[] for _ in range(_rank(op))]
    for axis, dim in enumerate(named):
        if dim >= 0:
            dims[dim].append(AxisRef(mesh.names[axis]))
    return dims


def _to_shards(mesh: DeviceMesh, op: Any, x: Array) -> Array:
    if op.device_parts is None:
        y = mesh.shard(x, _split(mesh, op))
    else:
        y = mesh.place(x, ints(op.shard_shape), ints(op.device_parts))
    if op.device_summands is None:
        return y
    return mesh.first_summands(y, _rank(op), ints(op.device_summands))


def _to_whole(mesh: DeviceMesh, op: Any, x: Array) -> Array | Scattered:
    if op.device_parts is None and op.device_summands is None:
        return mesh.whole(x, _split(mesh, op))
    counts = ints(op.shard_shape)
    parts = (
        mesh.parts_of(_split(mesh, op))
        if op.device_parts is None
        else ints(op.device_parts)
    )
    summands = () if op.device_summands is None else ints(op.device_summands)
    return mesh.collect(x, counts, parts, summands)


_ALIKE = "along axes that split no dimension the devices have to hold the same"


def _mesh_shard(interpreter: Interpreter, op: Any, args: Values) -> Values:
    mesh = device_mesh(interpreter, op)
    if op.shard_direction.data == MeshShardDirection.FULL_TO_SHARD:
        return (_to_shards(mesh, op, args[0]),)
    try:
        return (_to_whole(mesh, op, args[0]),)
    except ReplicaMismatchError as error:
        error.locate(op.results[0], f"the operand of '{op.name}'", _ALIKE)
        raise


_NAMED = {
    ReduceType.SUM: "add",
    ReduceType.PROD: "multiply",
    ReduceType.MAX: "maximum",
    ReduceType.MIN: "minimum",
}


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
    if (name := _NAMED.get(kind)) is not None:
        return AllReducer(Reducer.named(name))
    if kind == ReduceType.INVALID:
        raise CompileError("a collective cannot reduce by `invalid`", op)
    return _statistic(kind)


def _all_gather(interpreter: Interpreter, op: Any, args: Values) -> Values:
    mesh, groups = _line(interpreter, op)
    dim = op.all_gather_dim.value.data % _rank(op)
    return (mesh.all_gather(args[0], _rank(op), dim, groups),)


def _all_reduce(interpreter: Interpreter, op: Any, args: Values) -> Values:
    mesh, groups = _line(interpreter, op)
    return (mesh.all_reduce(args[0], _rank(op), groups, _reducer(op)),)


def _reduce_scatter(interpreter: Interpreter, op: Any, args: Values) -> Values:
    mesh, groups = _line(interpreter, op)
    dim = op.scatter_dim.value.data % _rank(op)
    return (mesh.reduce_scatter(args[0], _rank(op), dim, groups, _reducer(op)),)


def _all_to_all(interpreter: Interpreter, op: Any, args: Values) -> Values:
    groups = op.groups
    mesh, groups = (
        _line(interpreter, op)
        if groups is None
        else (device_mesh(interpreter, op), groups)
    )
    rank = _rank(op)
    split, concat = op.split_dim.value.data % rank, op.concat_dim.value.data % rank
    return (mesh.all_to_all(args[0], rank, split, concat, groups),)


def _mesh_partition(interpreter: Interpreter, op: Any, args: Values) -> Values:
    mesh, groups = _line(interpreter, op)
    dim = op.dim.value.data % _rank(op)
    return (mesh.all_slice(args[0], _rank(op), dim, groups),)


def _collective_permute(interpreter: Interpreter, op: Any, args: Values) -> Values:
    mesh = device_mesh(interpreter, op)
    pairs = id_pairs(op.source_target_pairs)
    return (mesh.collective_permute(args[0], _rank(op), pairs),)


def _groups(op: Any) -> Groups:
    """Groups of devices by number, a row each."""
    table = constant(op.replica_groups)
    return tuple(tuple(int(one) for one in row if one >= 0) for row in table)


def _collective_broadcast(interpreter: Interpreter, op: Any, args: Values) -> Values:
    mesh = device_mesh(interpreter, op)
    return (mesh.collective_broadcast(args[0], _rank(op), _groups(op)),)


_PLACEMENT = re.compile(r"<(shard|replicate)(?:,\s*(-?\d+))?")
_NUMBER = re.compile(r"(-?\d+) :")


def _placed(op: Any, mesh: DeviceMesh, dims: Sequence[int | None]) -> Dims:
    """The axes that split each dimension, of the dimension that each axis splits."""
    if len(dims) != mesh.rank:
        raise CompileError(f"{len(dims)} placements for a mesh of {mesh.rank} axes", op)
    split: list[list[AxisRef]] = [[] for _ in range(_rank(op))]
    for name, dim in zip(mesh.names, dims, strict=True):
        if dim is not None:
            split[dim].append(AxisRef(name))
    return split


def _distribute_tensor(interpreter: Interpreter, op: Any, args: Values) -> Values:
    """`placements`: along each mesh axis, the dimension that it splits, if any."""
    mesh = device_mesh(interpreter, op)
    placements = _PLACEMENT.findall(op.mapper_config.text.data.partition("]")[0])
    dims = [int(dim) if kind == "shard" else None for kind, dim in placements]
    return (mesh.shard(args[0], _placed(op, mesh, dims)),)


def _aggregate_tensor(interpreter: Interpreter, op: Any, args: Values) -> Values:
    """`dims`: along each axis of `mesh_shape_override`, where its devices' parts join.

    An axis that the shape has once is not joined: its devices hold the same.
    """
    mesh = device_mesh(interpreter, op)
    dims, sizes = (
        [int(one) for one in _NUMBER.findall(part)]
        for part in op.composer_config.text.data.split("]")[:2]
    )
    if all(size == 1 for size in sizes):
        joined: list[int | None] = [None] * mesh.rank
    else:
        joined = [
            dim if size > 1 else None for dim, size in zip(dims, sizes, strict=True)
        ]
        wrong = [
            (size, own)
            for size, (_name, own) in zip(sizes, mesh.axes, strict=False)
            if size not in (1, own)
        ]
        if wrong or len(sizes) != mesh.rank:
            raise CompileError("mesh_shape_override is not the shape of the mesh", op)
    try:
        return (mesh.whole(args[0], _placed(op, mesh, joined)),)
    except ReplicaMismatchError as error:
        error.locate(op.results[0], f"the operand of '{op.name}'", _ALIKE)
        raise


def _point_to_point(interpreter: Interpreter, op: Any, args: Values) -> Values:
    """The receiver's part of the second operand (zeros without) becomes the sender's."""
    mesh, rank = device_mesh(interpreter, op), _rank(op)
    sender, receiver = (
        int(np.ravel_multi_index(ints(at), mesh.sizes))
        for at in (op.sender_coord, op.receiver_coord)
    )
    moved = mesh.collective_permute(args[0], rank, [(sender, receiver)])
    if len(args) < 2:
        return (moved,)
    own = mesh.here(np.arange(mesh.num_devices) == receiver)
    own = own.reshape((*own.shape, *(1,) * rank))
    return (np.where(own, moved, mesh.lift(args[1], rank)),)


MESH_RUNS: dict[str, Run] = {
    "aggregate_tensor": _aggregate_tensor,
    "collective_broadcast": _collective_broadcast,
    "distribute_tensor": _distribute_tensor,
    "point_to_point": _point_to_point,
    "all_gather": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "collective_permute": _collective_permute,
    "mesh_partition": _mesh_partition,
    "mesh_shard": _mesh_shard,
    "reduce_scatter": _reduce_scatter,
}
"""How mesh_shard and the collectives are computed, by mnemonic."""

COMBINING = frozenset({"all_reduce", "reduce_scatter"})
"""Those that take products which are not computed yet."""
