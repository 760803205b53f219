"""StableHLO collectives: between the devices of the mesh that the code runs on.

Outside of a manual computation the devices of the program's mesh all have the whole
value; what a collective makes of it there has to be the same on all of them again.

Source: StableHLO specification, "Collective ops" and one section an op.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation, OpResult

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import emit_warning
from ttxdsl.dialects import sdy, stablehlo as hlo
from ttxdsl.dialects.calls.custom import Communication, communication_of
from ttxdsl.dialects.replica_groups import device_groups
from ttxdsl.interpreters.kernels.elements import rank_of
from ttxdsl.interpreters.kernels.elementwise import Array, convert
from ttxdsl.interpreters.kernels.reduction import AllReducer, Reducer
from ttxdsl.interpreters.mesh.collectives import DeviceMesh, Groups, Reduce
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.ops.bodies import body_dtype, body_reducer
from ttxdsl.interpreters.ops.registry import Run, implements
from ttxdsl.interpreters.runtime.engine import Devices
from ttxdsl.interpreters.runtime.regions import Values, on_mesh, session

_OpT = TypeVar("_OpT", bound=Operation)


def _collective(
    op_class: type[_OpT], combines: bool = False
) -> Callable[[Callable[[Interpreter, _OpT, Values], Values]], Run]:
    """Decorator: `implements`, on all devices of the program outside of a mesh."""

    def add(run: Callable[[Interpreter, _OpT, Values], Values]) -> Run:
        @implements(op_class, combines=combines)
        def run_on_devices(interpreter: Interpreter, op: _OpT, args: Values) -> Values:
            state = session(interpreter)
            if state.mesh.rank:
                return run(interpreter, op, args)
            mesh = _mesh_of_program(state.devices, op)
            lifted = tuple(
                mesh.lift(np.asarray(x), rank_of(value.type))
                for x, value in zip(args, op.operands, strict=True)
            )
            with on_mesh(interpreter, mesh):
                results = run(interpreter, op, lifted)
            return tuple(map(partial(_alike, mesh), op.results, results))

        return run_on_devices

    return add


def _mesh_of_program(devices: Devices, op: Operation) -> DeviceMesh:
    """All devices of the program; one without a mesh runs on one."""
    module = sdy.enclosing_module(op)
    meshes = () if module is None else sdy.mesh_table(module).values()
    mesh = max(meshes, key=lambda mesh: mesh.total_size, default=None)
    if mesh is None or not mesh.axes:
        return devices.mesh()
    return devices.mesh(mesh.axes, mesh.device_ids)


def _alike(mesh: DeviceMesh, result: OpResult, value: Array) -> Array:
    """The one value that all devices have of a result."""
    try:
        value = mesh.unshard(value, [()] * rank_of(result.type))
    except ReplicaMismatchError as error:
        error.locate(
            result,
            f"result {result.index} of the {result.op.name.partition('.')[2]}",
            "outside of a manual computation all devices have the same value: put the"
            " collective in one, as shard_map does",
        )
        raise
    return value.reshape(value.shape[mesh.rank :])


def _groups(interpreter: Interpreter, op: Operation) -> Groups:
    """Positions of the devices in the op's groups, found once an op and mesh."""
    state = session(interpreter)
    known = state.groups
    if op not in known:
        mesh = state.mesh
        groups = device_groups(op, mesh.num_devices, mesh.num_partitions)
        if not mesh.rank and any(process for group in groups for process in group):
            raise UnsupportedError(
                "it names other devices, and the program has no mesh of them",
                op,
                hint="put it in an sdy.manual_computation, as shard_map does",
            )
        known[op] = mesh.positions_of(groups)
    return known[op]


def _reduce(
    interpreter: Interpreter,
    op: hlo.AllReduceOp | hlo.ReduceScatterOp | hlo.CollectiveReduceOp,
) -> Reduce:
    return AllReducer(body_reducer(interpreter, op.computation))


def _rooted(
    devices: Devices, op: Operation, groups: Groups, roots: Array
) -> list[Groups]:
    """For each of several values the groups with their root, an operand, in front."""
    rooted: list[Groups] = []
    for at in range(roots.shape[-1]):
        root, *others = devices.distinct(roots[..., at])
        if others:
            raise UnsupportedError("a root that differs by device", op)
        rooted.append(
            tuple(tuple(dict.fromkeys((group[root], *group))) for group in groups)
        )
    return rooted


@implements(hlo.PartitionIdOp)
def _partition_id(
    interpreter: Interpreter, op: hlo.PartitionIdOp, args: Values
) -> Values:
    """The number of each device in its replica."""
    return (session(interpreter).mesh.partition_id(),)


@implements(hlo.ReplicaIdOp)
def _replica_id(interpreter: Interpreter, op: hlo.ReplicaIdOp, args: Values) -> Values:
    """The number of each device's replica."""
    return (session(interpreter).mesh.replica_id(),)


@_collective(hlo.AllReduceOp, combines=True)
def _all_reduce(interpreter: Interpreter, op: hlo.AllReduceOp, args: Values) -> Values:
    """The body over each group."""
    mesh = session(interpreter).mesh
    groups = _groups(interpreter, op)
    reduce, dtype = _reduce(interpreter, op), body_dtype(op.computation)
    return tuple(
        mesh.all_reduce(convert(x, dtype), rank_of(value.type), groups, reduce)
        for x, value in zip(args, op.inputs, strict=True)
    )


@_collective(hlo.AllGatherOp)
def _all_gather(interpreter: Interpreter, op: hlo.AllGatherOp, args: Values) -> Values:
    """The group's values one after the other."""
    mesh = session(interpreter).mesh
    groups = _groups(interpreter, op)
    dim = op.all_gather_dim.value.data
    return tuple(
        mesh.all_gather(x, rank_of(value.type), dim, groups)
        for x, value in zip(args, op.inputs, strict=True)
    )


@_collective(hlo.ReduceScatterOp, combines=True)
def _reduce_scatter(
    interpreter: Interpreter, op: hlo.ReduceScatterOp, args: Values
) -> Values:
    """The body over each group, of which each device keeps a part."""
    mesh = session(interpreter).mesh
    groups = _groups(interpreter, op)
    x = convert(args[0], body_dtype(op.computation))
    dim = op.scatter_dimension.value.data
    rank = rank_of(op.operand.type)
    reduce = _reduce(interpreter, op)
    return (mesh.reduce_scatter(x, rank, dim, groups, reduce),)


@_collective(hlo.AllToAllOp)
def _all_to_all(interpreter: Interpreter, op: hlo.AllToAllOp, args: Values) -> Values:
    """Parts change places."""
    mesh = session(interpreter).mesh
    groups = _groups(interpreter, op)
    split, concat = op.split_dimension.value.data, op.concat_dimension.value.data
    return tuple(
        mesh.all_to_all(x, rank_of(value.type), split, concat, groups)
        for x, value in zip(args, op.inputs, strict=True)
    )


def ragged_all_to_all(
    interpreter: Interpreter, op: hlo.CustomCallOp, args: Values
) -> Values:
    """Slices of rows to the devices of each group, as `jax.lax.ragged_all_to_all` says.

    What JAX leaves undefined is left out, with a warning a run: rows outside of an
    operand or output, and sizes that sender and receiver do not agree on.

    Raises:
        UnsupportedError: its operands are not those of JAX's.
    """
    if communication_of(op) is not Communication.RAGGED:
        raise UnsupportedError(
            "is no ragged_all_to_all as JAX writes it: of six operands, rows, room for"
            " rows, and four lists of one length, with replica_groups",
            op,
        )
    state = session(interpreter)
    groups, rank = _groups(interpreter, op), rank_of(op.inputs[0].type)
    made, fault = state.mesh.ragged_all_to_all(args, rank, groups)
    if fault is not None and op not in state.told:
        state.told.add(op)
        emit_warning(f"{fault}: left out, as JAX does not say what comes of it", op)
    return (made,)


@_collective(hlo.CollectiveBroadcastOp)
def _collective_broadcast(
    interpreter: Interpreter, op: hlo.CollectiveBroadcastOp, args: Values
) -> Values:
    """The root's value for all of the group; zeros for devices in none."""
    state = session(interpreter)
    mesh, groups = state.mesh, _groups(interpreter, op)
    values = list(zip(args, op.inputs, strict=True))
    if op.has_dynamic_root is None:
        return tuple(
            mesh.collective_broadcast(x, rank_of(value.type), groups)
            for x, value in values
        )
    return tuple(
        mesh.collective_broadcast(x, rank_of(value.type), ordered)
        for (x, value), ordered in zip(
            values[:-1], _rooted(state.devices, op, groups, args[-1]), strict=True
        )
    )


@_collective(hlo.CollectiveReduceOp)
def _collective_reduce(
    interpreter: Interpreter, op: hlo.CollectiveReduceOp, args: Values
) -> Values:
    """The body over each group, for its root; zeros for all other devices."""
    state = session(interpreter)
    mesh, groups = state.mesh, _groups(interpreter, op)
    reduce, dtype = _reduce(interpreter, op), body_dtype(op.computation)
    values = list(zip(args, op.inputs, strict=True))
    rooted = [groups] * len(values)
    if op.has_dynamic_root is not None:
        rooted = _rooted(state.devices, op, groups, args[-1])
        values = values[:-1]
    found: list[Array] = []
    for (x, value), ordered in zip(values, rooted, strict=True):
        rank = rank_of(value.type)
        whole = mesh.all_reduce(convert(x, dtype), rank, groups, reduce)
        roots = [(group[0], group[0]) for group in ordered]
        found.append(mesh.collective_permute(whole, rank, roots))
    return tuple(found)


@_collective(hlo.CollectivePermuteOp)
def _collective_permute(
    interpreter: Interpreter, op: hlo.CollectivePermuteOp, args: Values
) -> Values:
    """Values from sources to targets; zeros for devices that are no target."""
    pairs = cast("tuple[tuple[int, int], ...]", _groups(interpreter, op))
    rank = rank_of(op.operand.type)
    mesh = session(interpreter).mesh
    return (mesh.collective_permute(args[0], rank, pairs),)


@_collective(hlo.CrossReplicaSumOp)
def _cross_replica_sum(
    interpreter: Interpreter, op: hlo.CrossReplicaSumOp, args: Values
) -> Values:
    """A sum over each group of replicas."""
    groups = _groups(interpreter, op)
    reduce = AllReducer(Reducer.named("add"))
    rank, mesh = rank_of(op.operand.type), session(interpreter).mesh
    return (mesh.all_reduce(args[0], rank, groups, reduce),)
