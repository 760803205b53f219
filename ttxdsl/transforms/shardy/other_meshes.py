"""Another mesh of the same axes for a program, with what it says of each device.

Collectives of manual computations list devices by number, as JAX writes them for the mesh
that it lowered for, and values there have the shapes of that mesh's shards; lowered for the
other mesh they would list and have others.
"""

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from ttxdsl.analysis.calls.call_graph import called_by
from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.custom import Communication, communication_of
from ttxdsl.dialects.replica_groups import (
    REPLICA_GROUPS,
    device_groups,
    set_device_groups,
)
from ttxdsl.dialects.traits import Collective
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.loading.program import make_context
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.devices.replica_groups import (
    Groups,
    axes_of_groups,
    groups_along,
    indices_along,
)
from ttxdsl.transforms.shardy.scaled_dimensions import ScaledDimensions
from ttxdsl.transforms.stages.inline import InlinePass

_BY_NUMBER = Communication.RAGGED, Communication.UNPRICED
"""Calls whose devices are named in a configuration."""


def replace_meshes(module: ModuleOp, replaced: Mapping[sdy.MeshOp, Mesh]) -> None:
    """Give a program's mesh other sizes, or another order of its axes.

    Args:
        module: the program, changed in place.
        replaced: the ops that declare the mesh, all with the same axes, and what it becomes.

    Raises:
        UnsupportedError: an op asks for its device's number, or lists devices that are no
            groups along axes of the old mesh.
        CompileError: an op of a manual computation counts on the shape of a shard.
    """
    for op, new in replaced.items():
        Rewriter.replace_op(op, sdy.MeshOp(op.sym_name.data, new))
    changes = ((op.mesh.data, new) for op, new in replaced.items())
    change = next((c for c in changes if _numbers(c[0]) != _numbers(c[1])), None)
    if change is None:
        return
    for op in _per_device_ops(module):
        if isinstance(op, stablehlo.PartitionIdOp):
            raise UnsupportedError(
                "what is computed of a device's number holds for one mesh", op
            )
        if (
            isinstance(op, stablehlo.CustomCallOp)
            and communication_of(op) in _BY_NUMBER
        ):
            raise UnsupportedError("its devices are those of one mesh", op)
        if isinstance(op, stablehlo.CollectivePermuteOp):
            pairs = device_groups(op, change[0].total_size)
            set_device_groups(op, _renumbered(op, pairs, *change))
        elif op.has_trait(Collective):
            _renumber_groups(op, *change)
    _resize_shards(module, *change)


def _resize_shards(module: ModuleOp, old: Mesh, new: Mesh) -> None:
    """Give values in manual computations the shapes of the new mesh's shards."""

    def scaled(root: Operation) -> ScaledDimensions:
        dims = ScaledDimensions("a shard", (old, new))
        for op in ops_of_type(root, sdy.ManualComputationOp):
            dims.add_shards(op)
        return dims

    if not scaled(module).dims:
        return
    InlinePass().apply(make_context(), module)
    for function in entry_functions(module):
        change = scaled(function)
        change.follow()
        arguments = {*function.body.block.args}
        if any(value in arguments for value, _ in change.dims):
            raise CompileError(
                "an argument has less than one element a device", function
            )
        change.rewrite(function)


def _per_device_ops(module: ModuleOp) -> list[Operation]:
    """Return the ops of manual computations, and of functions that those call.

    Outside, a collective is of the whole program: its devices are those that it lists.
    """
    functions = Symbols(module).functions
    ops: list[Operation] = []
    left: list[Operation] = [*ops_of_type(module, sdy.ManualComputationOp)]
    seen: set[Operation] = set(left)
    while left:
        inside = all_ops(left.pop())
        ops += inside
        for op in inside:
            callees = [functions[name] for name in called_by(op) if name in functions]
            left += [callee for callee in callees if callee not in seen]
            seen.update(callees)
    return list(dict.fromkeys(ops))  # one may lie inside another


def _renumber_groups(op: Operation, old: Mesh, new: Mesh) -> None:
    groups = op.properties.get(REPLICA_GROUPS)
    if isinstance(groups, stablehlo.ReplicaGroupMeshAxesAttr):
        return  # it says axes
    listed = device_groups(op, old.total_size)
    axes = axes_of_groups(old, listed)
    if (
        axes is not None
        and all(axis.is_full for axis in axes)
        and listed == groups_along(old, axes)
    ):
        set_device_groups(op, groups_along(new, axes))
    else:  # in an order of their own, or along a part of an axis
        set_device_groups(op, _renumbered(op, listed, old, new))


def _numbers(mesh: Mesh) -> tuple[tuple[tuple[str, int], ...], tuple[int, ...]]:
    return mesh.without_size_one_axes().axes, mesh.device_ids


def _renumbered(op: Operation, groups: Groups, old: Mesh, new: Mesh) -> Groups:
    """Return groups of the devices at the same places along all axes."""
    if sorted(_numbers(old)[0]) != sorted(_numbers(new)[0]):
        raise UnsupportedError("the devices that it lists hold for one mesh", op)
    axes = [(AxisRef(name),) for name, _ in _numbers(old)[0]]
    places: list[dict[int, tuple[int, ...]]] = []
    for mesh in (old, new):
        indices = [indices_along(mesh, axis) for axis in axes]
        places.append(
            dict(zip(mesh.devices(), zip(*indices, strict=True), strict=True))
        )
    device_at = {place: device for device, place in places[1].items()}
    return tuple(
        tuple(device_at[places[0][device]] for device in group) for group in groups
    )
