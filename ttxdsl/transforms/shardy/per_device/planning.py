"""What is known of a program of whole tensors before its ops become those of a device.

A planner looks at one op of the untouched program and says how it is rewritten; when
all ops have been looked at, the rewrites are done in order. So what is refused leaves
the program as it was, and no rewrite has to ask what another one has changed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.replica_groups import stablehlo_axis, stablehlo_mesh
from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.ir.tensors import Tensor
from ttxdsl.sharding.axes import Axes, AxisRef, concatenate_merged
from ttxdsl.sharding.mesh import Mesh
from ttxdsl.sharding.replica_groups import groups_along
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.combiner import COMBINERS, Combiner
from ttxdsl.transforms.local.layout import without_trivial
from ttxdsl.transforms.shardy.meshes import mesh_lookup
from ttxdsl.transforms.shardy.per_device.literal import LiteralEmitter, Wording

Rewrite = Callable[[LiteralEmitter], SSAValue | None]
"""Changes an op in place, or writes what computes its result instead, before it."""

Planner = Callable[["WholeProgram", Any], Rewrite | None]
"""How an op of one class is rewritten; None if it works on shards as it is."""


@dataclass
class WholeProgram:
    """The program before anything was changed."""

    module: ModuleOp
    wording: Wording
    combiners: dict[Operation, Combiner] = field(
        default_factory=dict[Operation, Combiner]
    )
    """How the all_reduce or reduce_scatter behind a partial result joins the parts."""
    parts: dict[Operation, tuple[Mesh, Axes]] = field(
        default_factory=dict[Operation, tuple[Mesh, Axes]]
    )
    """Along which axes the results of an op are parts."""

    def __post_init__(self) -> None:
        self.mesh_of = mesh_lookup(self.module)

    def axes(self, value: SSAValue) -> tuple[Axes, ...]:
        """The axes of more than one device that split each dimension."""
        sharding = sdy.get_sharding(value)
        if sharding is None:
            return ((),) * sdy.tensor_rank(value.type)
        mesh = self.mesh_of(sharding)
        return tuple(without_trivial(axes, mesh) for axes in sharding.axes_per_dim)

    def mesh(self, value: SSAValue, op: Operation) -> Mesh:
        """The mesh of a value that is split."""
        sharding = sdy.get_sharding(value)
        if sharding is None:
            raise CompileError("no sharding says over which mesh it is split", op)
        return self.mesh_of(sharding)

    def is_whole(self, value: SSAValue) -> bool:
        """Whether every device has all of a value."""
        return not any(self.axes(value))

    def local_type(self, value: SSAValue, op: Operation) -> Attribute:
        """The type of a device's shard.

        Raises:
            UnsupportedError: axes do not divide a dimension.
        """
        return self.shard_type(value.type, sdy.get_sharding(value), op)

    def shard_type(
        self, type: Attribute, sharding: TensorSharding | None, op: Operation
    ) -> Attribute:
        """The type of a shard of a tensor of some type; see `local_type`."""
        if sharding is None or not isinstance(type, TensorType):
            return type
        try:
            shape = sharding.local_shape(type.get_shape(), self.mesh_of(sharding))
        except ValueError as error:
            raise UnsupportedError(
                str(error), op, hint="run sdy-pad-for-divisibility before"
            ) from error
        whole = cast(Tensor, type)
        return TensorType(whole.element_type, shape, whole.encoding)

    def local_tensor(self, value: SSAValue, op: Operation) -> Tensor:
        """`local_type` of what is known to be a tensor."""
        return cast(Tensor, self.local_type(value, op))

    def groups(self, ref: str | Mesh, mesh: Mesh, axes: Axes) -> Attribute:
        """The groups of devices that differ along some axes only."""
        if self.wording.groups_by_axes:
            name = SymbolRefAttr(ref) if isinstance(ref, str) else stablehlo_mesh(ref)
            said: Callable[[AxisRef], Attribute] = sdy.AxisRefAttr
            if self.wording.newest:
                said, axes = stablehlo_axis, concatenate_merged((), axes, mesh)
            listed = ArrayAttr[Attribute](said(axis) for axis in axes)
            return stablehlo.ReplicaGroupMeshAxesAttr(name, listed)
        groups = groups_along(mesh, axes)
        type_ = TensorType(i64, [len(groups), len(groups[0])])
        flat = [device for group in groups for device in group]
        return DenseIntOrFPElementsAttr.from_list(type_, flat)

    def combiner(self, op: sdy.AllReduceOp | sdy.ReduceScatterOp) -> Combiner:
        """How a collective joins parts: as the op in front of it, or else as it says."""
        return self.combiners.get(op) or COMBINERS[op.reduction]
