"""Custom calls for which sdy has ops: constraints, results, groups, barriers.

Source: XLA's import of Shardy's custom calls, and JAX's lowering for GSPMD.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.tenstorrent import SHARDING_CONSTRAINT
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.manual import without_manual_axes
from ttxdsl.sharding.spec import DimSharding, TensorSharding
from ttxdsl.transforms.frontends.frontend_attributes import DIRECTION, GROUP, Carried
from ttxdsl.transforms.frontends.hlo_shardings import (
    HloShardings,
    Imported,
    import_of_op,
    is_of_nothing,
)
from ttxdsl.transforms.frontends.manual_computations import CallBorder, border_of_shardy
from ttxdsl.transforms.frontends.signs import (
    BORDERS,
    CONSTRAINT,
    ENTERING,
    HLO_SHARDING,
    INSPECTION,
    PREFIX,
    target_of,
)


class _Targets(StrEnum):
    CONSTRAINT = CONSTRAINT
    TT_CONSTRAINT = SHARDING_CONSTRAINT
    RESULT = f"{PREFIX}FuncResultSharding"
    GROUP = f"{PREFIX}ShardingGroup"
    BARRIER = f"{PREFIX}PropagationBarrier"


_OPEN_DIMS = re.compile(r"unspecified_dims=\[([\d,]*)\]")


def _opened(op: stablehlo.CustomCallOp, sharding: TensorSharding) -> TensorSharding:
    """Return a sharding with the open dimensions that a call's configuration lists."""
    config = op.backend_config
    if not isinstance(config, StringAttr) or not config.data:
        return sharding
    match = _OPEN_DIMS.fullmatch(config.data)
    if match is None:
        raise CompileError(f"its backend_config is not known: {config.data}", op)
    free = {int(number) for number in match[1].split(",") if number}
    dims = [
        DimSharding(dim.axes, dim.closed and index not in free, dim.priority)
        for index, dim in enumerate(sharding.dims)
    ]
    return sharding.with_dims(dims)


_AXIS_NUMBER = re.compile(r"mesh_idx_(\d+)")
"""tt-xla's name of an axis of the program's mesh, which it does not know the name of."""


def declare_mesh(module: ModuleOp, sizes: Sequence[int]) -> None:
    """Declare a mesh whose axes are called as tt-xla calls them."""
    mesh = Mesh(tuple((f"mesh_idx_{i}", size) for i, size in enumerate(sizes)))
    point = InsertPoint.at_start(module.body.block)
    Rewriter.insert_op(sdy.MeshOp("mesh", mesh), point)


def _with_axes_of_mesh(op: Operation, sharding: TensorSharding) -> TensorSharding:
    """The sharding over the mesh of the program, its axes named and not numbered."""
    module = sdy.enclosing_module(op)
    assert module is not None
    meshes = sdy.mesh_table(module)
    if sharding.mesh not in meshes and len(meshes) == 1:
        sharding = sharding.with_mesh(*meshes)  # the mesh of tt-xla is always @mesh
    mesh = sdy.find_mesh(op, sharding.mesh)
    if mesh is None and sharding.names_no_axes:
        return TensorSharding.fully_open(sharding.mesh, sharding.rank)
    if mesh is None:
        hint = "say the sizes of its axes by mesh-shape"
        raise CompileError(
            f"no mesh of the program is meant: {sharding}", op, hint=hint
        )

    def named(axes: Axes) -> Axes:
        return tuple(replace(axis, name=name(axis.name)) for axis in axes)

    def name(axis: str) -> str:
        number = _AXIS_NUMBER.fullmatch(axis)
        if number is None or axis in mesh.axis_names:
            return axis
        if int(number[1]) >= len(mesh.axes):
            raise CompileError(f"{axis} is no axis of {mesh.title}: {sharding}", op)
        return mesh.axis_names[int(number[1])]

    return sharding.map_axes(named)


def drop_inspections(module: ModuleOp) -> None:
    """Replace calls that look at a value's sharding by the value.

    They name an address in the process that wrote the program.
    """
    for call in ops_of_type(module, stablehlo.CustomCallOp):
        if target_of(call) == INSPECTION and call.result_types == call.operand_types:
            Rewriter.replace_op(call, [], call.operands)


class CustomCalls:
    """The custom calls of a module that carry shardings, read before any is changed."""

    def __init__(
        self,
        module: ModuleOp,
        calls: Sequence[stablehlo.CustomCallOp],
        carried: Carried,
        shardings: HloShardings,
    ):
        self._carried = carried
        self._all = calls
        self._imported: dict[Operation, list[Imported]] = {}
        for op in all_ops(module):
            if shardings.named and not isinstance(op, stablehlo.CustomCallOp):
                # XLA copied it from an annotation of sdy
                op.attributes.pop(HLO_SHARDING, None)
            elif imports := import_of_op(op, shardings):
                self._imported[op] = imports

    def borders(self) -> dict[Operation, CallBorder]:
        """Return manual computations' borders by call; constraints go in.

        Raises:
            CompileError: a call has no sharding for its tensor.
        """
        borders: dict[Operation, CallBorder] = {}
        for op in self._all:
            target = target_of(op)
            if target in BORDERS and target.startswith(PREFIX):
                borders[op] = border_of_shardy(op, self._carried)
            elif target in BORDERS:
                borders[op] = self._border_of_gspmd(op)
            if op in borders and len(borders[op].shardings) != (
                len(op.inputs) if target in ENTERING else len(op.outputs)
            ):
                raise CompileError("it does not have a sharding for each tensor", op)
        return borders

    def _border_of_gspmd(self, op: stablehlo.CustomCallOp) -> CallBorder:
        """Return the call names the manual axes if it enters, the layout if it leaves.

        The layout of what enters is that of its operand, which is constrained to it; the
        manual axes of what leaves are those that its operand is constrained to.
        """
        constraint = op.inputs[0].owner
        if target_of(constraint) != _Targets.CONSTRAINT or len(op.inputs) != 1:
            raise CompileError("its operand is constrained to no sharding", op)
        constraint = cast(stablehlo.CustomCallOp, constraint)
        outside, inside = (
            (constraint, op) if target_of(op) in ENTERING else (op, constraint)
        )
        if not (outside in self._imported and inside in self._imported):
            raise CompileError("it says no mhlo.sharding", op)
        (local,) = self._imported[inside]
        (layout,) = self._imported[outside]
        if not set(local.manual) - set(layout.manual):
            raise CompileError("its devices are not on their own", op)
        op.operands[0] = constraint.inputs[0]
        if not constraint.outputs[0].first_use:
            Rewriter.erase_op(constraint)
        sharding = _opened(outside, layout.sharding)
        # the axes of a computation around this one are manual on both sides
        manual = [axis.name for axis in local.manual if axis not in layout.manual]
        return CallBorder((sharding,), tuple(manual))

    def import_all(self) -> None:
        """Replace all calls but the borders of manual computations by ops of sdy.

        Raises:
            CompileError: one is not known, or does not say what it should.
        """
        for op in self._all:
            if op.parent is None:
                continue
            match target_of(op):
                case _Targets.CONSTRAINT | _Targets.TT_CONSTRAINT:
                    self._import_constraint(op)
                case _Targets.RESULT:
                    self._import_result(op)
                case _Targets.GROUP:
                    group = self._number(op, GROUP)
                    new = sdy.ShardingGroupOp(op.inputs[0], group)
                    self._replace(op, new)
                case _Targets.BARRIER:
                    direction = sdy.PropagationDirection(self._number(op, DIRECTION))
                    new = sdy.PropagationBarrierOp(op.inputs[0], direction)
                    self._replace(op, new)
                case target if target.startswith(PREFIX):
                    raise CompileError(f"the custom call {target} is not known", op)
                case _:
                    pass

    def _number(self, op: stablehlo.CustomCallOp, key: str) -> int:
        attribute = self._carried.get(op, {}).get(key)
        if not isinstance(attribute, IntegerAttr) or len(op.inputs) != 1:
            raise CompileError(f"it does not say {key} of one tensor", op)
        number: int = attribute.value.data
        return number

    def _replace(self, op: stablehlo.CustomCallOp, new: Operation) -> None:
        new.location = op.location
        # a group has no result: its tensor goes on
        Rewriter.replace_op(op, new, [*new.results] or [*op.inputs[: len(op.outputs)]])

    def _sharding(self, op: stablehlo.CustomCallOp) -> TensorSharding:
        attribute = op.attributes.get(sdy.SHARDING)
        if (
            not isinstance(attribute, sdy.TensorShardingPerValueAttr)
            or len(attribute.data) != 1
        ):
            raise CompileError("it says no sharding of one tensor", op)
        return attribute.data[0]

    def _import_constraint(self, op: stablehlo.CustomCallOp) -> None:
        if len(op.inputs) != 1 or len(op.outputs) != 1:
            raise CompileError("a constraint is of one tensor", op)
        imports = self._imported.get(op)
        manual: tuple[AxisRef, ...] = ()
        if imports is not None and sdy.SHARDING not in op.attributes:
            (only,) = imports
            sharding, manual = only.sharding, only.manual
        else:
            sharding = self._sharding(op)
        if target_of(op) == _Targets.TT_CONSTRAINT:
            sharding = _with_axes_of_mesh(op, sharding)
        if imports is not None and imports[0].group is not None:
            self._replace(op, sdy.ShardingGroupOp(op.inputs[0], imports[0].group))
            return
        inner = without_manual_axes(sharding, {axis.name for axis in manual})
        inner = _opened(op, inner)
        says_nothing = inner.is_replicated and not any(dim.closed for dim in inner.dims)
        if says_nothing or is_of_nothing(inner) or _is_whole(manual, imports):
            Rewriter.replace_op(op, [], [op.inputs[0]])
        else:
            self._replace(op, sdy.ShardingConstraintOp(op.inputs[0], inner))

    def _import_result(self, op: stablehlo.CustomCallOp) -> None:
        """Give a function's result the sharding of the call's operand.

        Other users of the call may add axes to it.
        """
        sharding = self._sharding(op)
        elsewhere = False
        for use in [*op.outputs[0].uses]:
            function = use.operation.parent_op()
            if is_trivially_dead(use.operation):
                # HLO's tuple of results leaves a reshape of each
                Rewriter.erase_op(use.operation)
                continue
            if isinstance(use.operation, ReturnOp) and isinstance(function, FuncOp):
                if sdy.get_func_result_sharding(function, use.index) is None:
                    sdy.set_func_result_sharding(function, use.index, sharding)
            else:
                elsewhere = True
        if elsewhere:
            dims = [DimSharding(dim.axes, False, dim.priority) for dim in sharding.dims]
            new = sdy.ShardingConstraintOp(op.inputs[0], sharding.with_dims(dims))
            self._replace(op, new)
        else:
            Rewriter.replace_op(op, [], [op.inputs[0]])


def _is_whole(manual: tuple[AxisRef, ...], imports: list[Imported] | None) -> bool:
    """Whether a constraint says only that the devices are on their own."""
    return (
        bool(manual) and imports is not None and not imports[0].sharding.sharding_axes
    )
