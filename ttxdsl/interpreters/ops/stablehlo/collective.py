"""StableHLO collectives: between the devices of the mesh that the code runs on.

Outside of a manual computation the devices of the program's mesh all have the whole
value; what a collective makes of it there has to be the same on all of them again.

Source: StableHLO specification, "Collective ops" and one section an op.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

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
from ttxdsl.interpreters.ops.control_flow import require_company
from ttxdsl.interpreters.ops.registry import Run, implements
from ttxdsl.interpreters.runtime.engine import Devices
from ttxdsl.interpreters.runtime.regions import Values, on_mesh, session

_OpT = TypeVar("_OpT", bound=Operation)
_Each = Callable[[Interpreter, Any, Array, int, Groups], Array]
"""(interpreter, op, an operand, its rank, the op's groups) -> the result for it."""


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
            return tuple(map(partial(_same_everywhere, mesh), op.results, results))

        return run_on_devices

    return add


def _of_each(
    op_class: type[Operation], combines: bool = False
) -> Callable[[_Each], Run]:
    """Decorator: a collective that does the same with each of its operands."""

    def add(each: _Each) -> Run:
        def run(interpreter: Interpreter, op: Operation, args: Values) -> Values:
            groups = _groups(interpreter, op)
            return tuple(
                each(interpreter, op, x, rank_of(value.type), groups)
                for x, value in zip(args, op.operands, strict=True)
            )

        return _collective(op_class, combines)(run)

    return add


def _mesh(interpreter: Interpreter) -> DeviceMesh:
    return session(interpreter).mesh


def _mesh_of_program(devices: Devices, op: Operation) -> DeviceMesh:
    """Return all devices of the program; one without a mesh runs on one."""
    module = sdy.enclosing_module(op)
    meshes = () if module is None else sdy.mesh_table(module).values()
    mesh = max(meshes, key=lambda mesh: mesh.total_size, default=None)
    if mesh is None or not mesh.axes:
        return devices.mesh()
    return devices.mesh(mesh.axes, mesh.device_ids)


def _same_everywhere(mesh: DeviceMesh, result: OpResult, value: Array) -> Array:
    """Return the one value that all devices have of a result."""
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
    """Return the positions of devices in the op's groups, found once an op and mesh.

    Raises:
        CompileError: a device of a group would wait for others forever.
    """
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
    require_company(interpreter, op, state.mesh, known[op])
    return known[op]


def _reduced(
    interpreter: Interpreter,
    op: hlo.AllReduceOp | hlo.ReduceScatterOp | hlo.CollectiveReduceOp,
    x: Array,
) -> tuple[Array, Reduce]:
    """Return the operand in the element type of the op's body, and the body."""
    reducer = body_reducer(interpreter, op.computation)
    return convert(x, body_dtype(op.computation)), AllReducer(reducer)


def _rooted(
    devices: Devices, op: Operation, groups: Groups, roots: Array
) -> list[Groups]:
    """Return for each value the groups with their root, an operand, in front."""
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
def _partition_id(i: Interpreter, op: hlo.PartitionIdOp, args: Values) -> Values:
    return (_mesh(i).partition_id(),)


@implements(hlo.ReplicaIdOp)
def _replica_id(i: Interpreter, op: hlo.ReplicaIdOp, args: Values) -> Values:
    return (_mesh(i).replica_id(),)


@_of_each(hlo.AllReduceOp, combines=True)
def _all_reduce(
    i: Interpreter, op: hlo.AllReduceOp, x: Array, rank: int, groups: Groups
) -> Array:
    x, reduce = _reduced(i, op, x)
    return _mesh(i).all_reduce(x, rank, groups, reduce)


@_of_each(hlo.AllGatherOp)
def _all_gather(
    i: Interpreter, op: hlo.AllGatherOp, x: Array, rank: int, groups: Groups
) -> Array:
    return _mesh(i).all_gather(x, rank, op.all_gather_dim.value.data, groups)


@_of_each(hlo.ReduceScatterOp, combines=True)
def _reduce_scatter(
    i: Interpreter, op: hlo.ReduceScatterOp, x: Array, rank: int, groups: Groups
) -> Array:
    x, reduce = _reduced(i, op, x)
    dim = op.scatter_dimension.value.data
    return _mesh(i).reduce_scatter(x, rank, dim, groups, reduce)


@_of_each(hlo.AllToAllOp)
def _all_to_all(
    i: Interpreter, op: hlo.AllToAllOp, x: Array, rank: int, groups: Groups
) -> Array:
    split, concat = op.split_dimension.value.data, op.concat_dimension.value.data
    return _mesh(i).all_to_all(x, rank, split, concat, groups)


@_of_each(hlo.CollectivePermuteOp)
def _collective_permute(
    i: Interpreter, op: hlo.CollectivePermuteOp, x: Array, rank: int, groups: Groups
) -> Array:
    """Values from sources to targets; zeros for devices that are no target."""
    pairs = cast("tuple[tuple[int, int], ...]", groups)
    return _mesh(i).collective_permute(x, rank, pairs)


@_of_each(hlo.CrossReplicaSumOp)
def _cross_replica_sum(
    i: Interpreter, op: hlo.CrossReplicaSumOp, x: Array, rank: int, groups: Groups
) -> Array:
    return _mesh(i).all_reduce(x, rank, groups, AllReducer(Reducer.named("add")))


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
    result, fault = state.mesh.ragged_all_to_all(args, rank, groups)
    if fault is not None and op not in state.warned:
        state.warned.add(op)
        emit_warning(f"{fault}: left out, as JAX does not say what comes of it", op)
    return (result,)


def _with_roots(
    interpreter: Interpreter,
    op: hlo.CollectiveBroadcastOp | hlo.CollectiveReduceOp,
    args: Values,
) -> list[tuple[Array, int, Groups]]:
    """Return each value, its rank, and the groups with their root in front."""
    groups, values = _groups(interpreter, op), args
    rooted = [groups] * len(values)
    if op.has_dynamic_root is not None:
        *values, roots = args
        rooted = _rooted(session(interpreter).devices, op, groups, roots)
    ranks = [rank_of(value.type) for value in op.inputs[: len(values)]]
    return list(zip(values, ranks, rooted, strict=True))


@_collective(hlo.CollectiveBroadcastOp)
def _collective_broadcast(
    i: Interpreter, op: hlo.CollectiveBroadcastOp, args: Values
) -> Values:
    """Return the root's value for all of the group; zeros for devices in none."""
    return tuple(
        _mesh(i).collective_broadcast(x, rank, groups)
        for x, rank, groups in _with_roots(i, op, args)
    )


@_collective(hlo.CollectiveReduceOp)
def _collective_reduce(
    i: Interpreter, op: hlo.CollectiveReduceOp, args: Values
) -> Values:
    """Return the body over each group, for its root; zeros for all other devices."""
    results: list[Array] = []
    for x, rank, groups in _with_roots(i, op, args):
        x, reduce = _reduced(i, op, x)
        whole = _mesh(i).all_reduce(x, rank, _groups(i, op), reduce)
        roots = [(group[0], group[0]) for group in groups]
        results.append(_mesh(i).collective_permute(whole, rank, roots))
    return tuple(results)
