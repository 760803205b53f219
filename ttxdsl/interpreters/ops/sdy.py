"""sdy: shardings on global values, and computations on the devices of a mesh.

Constraints, reshards and sdy's collectives change the sharding of a global value, not
its elements: they are identities, also `sdy.all_reduce`, whose operand already is the
(global) sum. Only a manual computation makes values of the devices, along its manual
axes; along the others values stay global inside.

Source: Shardy's dialect documentation.
"""

from collections.abc import Iterable
from typing import Any

from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.interpreters.kernels.elements import tensor_of
from ttxdsl.interpreters.mesh.collectives import Array, DeviceMesh
from ttxdsl.interpreters.mesh.mismatch import ReplicaMismatchError
from ttxdsl.interpreters.ops.registry import computes, implement_returns, implements
from ttxdsl.interpreters.runtime.engine import Devices
from ttxdsl.interpreters.runtime.regions import (
    LocatedError,
    Values,
    on_mesh,
    run_region,
    session,
)
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import TensorSharding


def _identity(_: Operation, value: Array) -> Array:
    return value


_IDENTITIES: tuple[type[Operation], ...] = (
    sdy.ShardingConstraintOp,
    sdy.ReshardOp,
    sdy.DataFlowEdgeOp,
    sdy.FuncDataFlowEdgeOp,
    sdy.PropagationBarrierOp,
    sdy.AllGatherOp,
    sdy.AllReduceOp,
    sdy.AllSliceOp,
    sdy.AllToAllOp,
    sdy.CollectivePermuteOp,
    sdy.ReduceScatterOp,
    sdy.ReplicatedToUnreducedOp,
    sdy.ShardedToUnreducedOp,
)


def _manual(refs: Iterable[AxisRef], axes: frozenset[str]) -> list[AxisRef]:
    return [ref for ref in refs if ref.name in axes]


def _dims_along(
    sharding: TensorSharding, axes: frozenset[str], rank: int
) -> list[list[AxisRef]]:
    """Return the manual axes of each dimension; maximal shardings say no dimensions."""
    return [_manual(dim.axes, axes) for dim in sharding.dims] or [[]] * rank


def device_mesh(
    devices: Devices, op: Operation, shardings: Iterable[TensorSharding]
) -> DeviceMesh:
    """Return the one mesh that shardings of an op name; without axes if there is none.

    Raises:
        UnsupportedError: shardings on several meshes.
    """
    # many name the same, and it takes a walk through all regions around to find it
    names = {sharding.mesh for sharding in shardings}
    meshes = {sdy.get_mesh(op, name) for name in names}
    # an empty or maximal mesh has no axes that could matter
    meshes_by_axes = {(mesh.axes, mesh.device_ids) for mesh in meshes if mesh.axes}
    if len(meshes_by_axes) > 1:
        raise UnsupportedError(
            "operands and results lie on several meshes",
            op,
            hint="use one mesh for all shardings of a manual computation",
        )
    return devices.mesh(*meshes_by_axes.pop()) if meshes_by_axes else devices.mesh()


@implements(sdy.ShardingGroupOp)
def _sharding_group(_: Interpreter, op: sdy.ShardingGroupOp, args: Values) -> Values:
    """Only propagation cares for groups."""
    return ()


@implements(sdy.NamedComputationOp)
def _named(
    interpreter: Interpreter, op: sdy.NamedComputationOp, args: Values
) -> Values:
    """Return the body, as if it were inlined."""
    return run_region(interpreter, op.body, args, op.computation_name.data)


@implements(sdy.ManualComputationOp)
def _manual_op(
    interpreter: Interpreter, op: sdy.ManualComputationOp, args: Values
) -> Values:
    """Shard the operands along the manual axes, run the body, and put together.

    Raises:
        ReplicaMismatchError: an out sharding says replicated and devices differ.
    """
    ins, outs = op.in_shardings.data, op.out_shardings.data
    state = session(interpreter)
    mesh, outer = device_mesh(state.devices, op, (*ins, *outs)), state.mesh
    nested = outer.rank > 0
    if nested and mesh.rank == 0:
        mesh = outer
    if nested and mesh != outer:
        raise UnsupportedError(
            "a computation on another mesh than the one around it", op
        )
    axes = frozenset(op.manual_axes.data)
    shards: list[Any] = []
    for x, sharding, arg in zip(args, ins, op.body.block.args, strict=True):
        if isinstance(arg.type, TokenType):
            shards.append(x)
            continue
        shape, _ = tensor_of(arg.type)
        dims = _dims_along(sharding, axes, len(shape))
        # copies are parts of the maximum of themselves, but not of their sum
        parts = () if sharding.reduction.is_idempotent else sharding.unreduced
        shard = mesh.shard(x, dims, _manual(parts, axes))
        if shard.shape[mesh.rank :] != shape:
            raise LocatedError(
                f"argument {arg.index} of the body has shape {shape}, but its "
                f"shards have {shard.shape[mesh.rank :]}",
                op,
            )
        shards.append(shard)
    del args
    with on_mesh(interpreter, mesh):
        locals_ = run_region(interpreter, op.body, shards, "manual_computation")
    del shards
    results: list[Any] = []
    for at, (y, sharding) in enumerate(zip(locals_, outs, strict=True)):
        if isinstance(op.results[at].type, TokenType):
            results.append(y)
            continue
        dims = _dims_along(sharding, axes, sdy.tensor_rank(op.results[at].type))
        unreduced = _manual(sharding.unreduced, axes)
        try:
            if nested:
                # along axes that stay free values are global, the same on all devices
                whole = mesh.unshard(y, dims, unreduced, axes, sharding.reduction)
            else:
                whole = mesh.whole(y, dims, unreduced, sharding.reduction)
        except ReplicaMismatchError as error:
            error.locate(
                op.results[at],
                f"result {at} of the manual computation",
                "its out sharding calls them alike: split a dimension along the axis,"
                " or combine the values inside",
            )
            raise
        results.append(whole)
    return tuple(results)


computes(*_IDENTITIES)(_identity)
implement_returns(sdy.ReturnOp)
