"""The layouts of a program's arguments and results, in every form of the program.

A global program has them in `sdy.sharding` attributes, a partitioned one in the
shardings of its manual computation, ttir and ttnn in their `mesh_shard`s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from ttxdsl.dialects import sdy
from ttxdsl.dialects.ttcore import MeshShardDirection, device_mesh_name, meshes_of
from ttxdsl.sharding.axes import Axes, AxisRef
from ttxdsl.sharding.devices.mesh import Mesh, mesh_positions
from ttxdsl.sharding.spec import DimSharding, TensorSharding


@dataclass(frozen=True, slots=True)
class TensorLayout:
    """The layout of a tensor: for each dimension the axes of the mesh, major first."""

    mesh: Mesh
    dims: tuple[Axes, ...]

    @property
    def sharding(self) -> TensorSharding:
        """The same as a sharding, which does not say its mesh."""
        return TensorSharding("", tuple(DimSharding(axes) for axes in self.dims))

    @property
    def parts(self) -> tuple[int, ...]:
        """Into how many shards each dimension is split."""
        return tuple(dim.sharded_size(self.mesh) for dim in self.sharding.dims)

    def devices(self) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
        """For each shard the positions of the devices that hold it, in mesh order."""
        sharding = self.sharding
        held: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for position in mesh_positions(self.mesh):
            shard = sharding.shard_index(position, self.mesh)
            held.setdefault(shard, []).append(position)
        return held

    def holder_of(
        self, index: Sequence[int], shape: Sequence[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The first device with an element of a tensor, and where in its shard it is.

        Args:
            index: of the element, in the whole tensor.
            shape: of the whole tensor; the parts divide it.
        """
        local = [size // parts for size, parts in zip(shape, self.parts, strict=True)]
        shard = tuple(at // size for at, size in zip(index, local, strict=True))
        place = tuple(at % size for at, size in zip(index, local, strict=True))
        return self.devices()[shard][0], place

    def element_at(
        self, position: Sequence[int], local: Sequence[int], shape: Sequence[int]
    ) -> tuple[int, ...]:
        """Return the index in the whole tensor of an element of a device's shard.

        Args:
            position: of the device, one coordinate a mesh axis.
            local: index of the element in the shard.
            shape: of the whole tensor; the parts divide it.
        """
        shards = self.sharding.shard_index(position, self.mesh)
        return tuple(
            shard * (size // parts) + at
            for shard, size, parts, at in zip(
                shards, shape, self.parts, local, strict=True
            )
        )


@dataclass(frozen=True, slots=True)
class BoundaryValue:
    """An argument or a result: its name, its global type, and its layout if known."""

    name: str
    type: Attribute
    layout: TensorLayout | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape; empty for what is no tensor."""
        type_: Any = self.type
        return type_.get_shape() if isinstance(self.type, TensorType) else ()


def layout_of_sharding(
    scope: Operation, sharding: TensorSharding | None
) -> TensorLayout | None:
    """The layout that a sharding means where an op stands; None without axes."""
    if sharding is None:
        return None
    mesh = sdy.find_mesh(scope, sharding.mesh)
    if mesh is None or not mesh.axes:
        return None
    return TensorLayout(mesh, tuple(dim.axes for dim in sharding.dims))


def _of_mesh_shard(op: Any) -> TensorLayout | None:
    """Of a ttir or ttnn `mesh_shard`; None where no mesh and no axes are said."""
    if op.device_parts is not None:
        return None
    meshes = meshes_of(op)
    values: Sequence[SSAValue] = (*op.operands, *op.results)
    names = [device_mesh_name(value.type) for value in values]
    name = next((n for n in names if n is not None), None)
    mesh = meshes.get_mesh(name) if meshes is not None and name is not None else None
    if mesh is None:
        return None
    axes = tuple((f"axis{at}", size) for at, size in enumerate(mesh.get_shape()))
    gathers = op.shard_direction.data == MeshShardDirection.SHARD_TO_FULL
    full = op.results[0] if gathers else op.operands[0]
    full_type: Any = full.type
    dims: list[list[AxisRef]] = [[] for _ in full_type.get_shape()]
    for axis, dim in enumerate(op.shard_dims.get_values()):
        if int(dim) >= 0:
            dims[int(dim)].append(AxisRef(f"axis{axis}"))
    return TensorLayout(Mesh(axes), tuple(tuple(refs) for refs in dims))


def _is_mesh_shard(op: Operation) -> bool:
    return op.name in ("ttir.mesh_shard", "ttnn.mesh_shard")


def _argument_layout(function: FuncOp, argument: BlockArgument) -> TensorLayout | None:
    written = sdy.get_func_argument_sharding(function, argument.index)
    if written is not None:
        return layout_of_sharding(function, written)
    for use in argument.uses:
        op = use.operation
        if isinstance(op, sdy.ManualComputationOp):
            return layout_of_sharding(op, op.in_shardings.data[use.index])
        if _is_mesh_shard(op) and use.index == 0:
            return _of_mesh_shard(op)
    return None


def _result_layout(
    function: FuncOp, index: int, value: SSAValue
) -> TensorLayout | None:
    if isinstance(value, OpResult):
        if isinstance(value.op, sdy.ManualComputationOp):
            return layout_of_sharding(
                value.op, value.op.out_shardings.data[value.index]
            )
        if _is_mesh_shard(value.op):
            return _of_mesh_shard(value.op)
    written = sdy.get_func_result_sharding(function, index)
    if written is None:
        written = sdy.get_sharding(value)
    return layout_of_sharding(function, written)


def arguments_of(function: FuncOp) -> list[BoundaryValue]:
    """The arguments of a function with a body, and where they lie."""
    arguments: list[BoundaryValue] = []
    for argument in function.body.block.args:
        name = argument.name_hint or f"arg{argument.index}"
        layout = _argument_layout(function, argument)
        arguments.append(BoundaryValue(name, argument.type, layout))
    return arguments


def results_of(function: FuncOp) -> list[BoundaryValue]:
    """The results of a function with a body, and where they lie."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    return [
        BoundaryValue(f"result {at}", value.type, _result_layout(function, at, value))
        for at, value in enumerate(last.operands)
    ]
