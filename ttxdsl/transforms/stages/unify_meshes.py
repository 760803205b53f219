"""`unify-meshes`: one mesh for all of a program, before the first stage.

JAX declares a mesh for each `Mesh` of a script, the empty one `<[]>` for scalars and
keys that nobody placed, and maximal ones for host callbacks. The stages know one mesh:

- What is on the empty mesh is replicated. Without another mesh the program is for one
  device.
- Meshes over the same devices become the mesh whose axes make up those of all
  (`sharding/devices/common_mesh.py`), in shardings, manual axes and replica groups.
  Where there is none, an error names two; but meshes that differ only in the order of
  their devices stay, as Shardy reshards between them.
- What is on one device of several is whole on all of them, with a warning. A call there
  is made by every device if it only tells the host something, or has no side effect.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.diagnostics.remarks import emit_remark, emit_warning
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.replica_groups import (
    REPLICA_GROUPS,
    mesh_of_groups,
    stablehlo_mesh,
    with_mesh,
)
from ttxdsl.dialects.stablehlo.types import TokenType
from ttxdsl.ir.collector import without_collections
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.sharding.axes import Axes, AxisRef, concatenate_merged, sort_and_merge
from ttxdsl.sharding.devices.common_mesh import ApartError, CommonMesh, common_mesh
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.sharding.text import symbol
from ttxdsl.transforms.shardy.exporting.sdy_drop_sharding_and_mesh import (
    DropShardingAndMeshPass,
)
from ttxdsl.transforms.stages.drop_idle_shardings import inline_computation


@dataclass
class _Named:
    """The meshes that a module declares, and the axes that it names.

    Attributes:
        axes: of the meshes that shardings are over, the axes that they name.
        manual: the mesh of each manual computation, if it names one with axes.
    """

    declared: dict[str, Mesh]
    axes: dict[Mesh, set[str]] = field(default_factory=dict[Mesh, set[str]])
    manual: dict[sdy.ManualComputationOp, Mesh] = field(
        default_factory=dict[sdy.ManualComputationOp, Mesh]
    )

    @staticmethod
    def in_module(module: ModuleOp) -> "_Named":
        """All that is named in a module."""
        named = _Named(sdy.mesh_table(module))

        for sharding in sdy.written_shardings(module):
            if (mesh := named.mesh_of(sharding.mesh)) is not None:
                names = named.axes.setdefault(mesh, set())
                names.update(axis.name for axis in sharding.all_axes)
        for op in ops_of_type(module, sdy.ManualComputationOp):
            for sharding in (*op.in_shardings.data, *op.out_shardings.data):
                mesh = named.mesh_of(sharding.mesh)
                if mesh is not None and mesh.axes:
                    named.manual[op] = mesh
                    named.axes[mesh].update(op.manual_axes.data)
                    break
        return named

    def mesh_of(self, mesh: str | Mesh) -> Mesh | None:
        """Return the mesh that a name stands for, or None."""
        return mesh if isinstance(mesh, Mesh) else self.declared.get(mesh)

    def place_of(self, mesh: Mesh, module: ModuleOp) -> Operation:
        """Return the op that declares a mesh; the module for one that is not declared."""
        ops = (op for op in module.ops if isinstance(op, sdy.MeshOp))
        return next((op for op in ops if op.mesh.data == mesh), module)

    def shown(self, mesh: Mesh) -> str:
        """Return a mesh with its name, if it has one."""
        name = next(
            (name for name, declared in self.declared.items() if declared == mesh), None
        )
        return mesh.title if name is None else f"{symbol(name)} = {mesh.title}"


@dataclass(frozen=True)
class UnifyMeshesPass(ModulePass):
    """Say all shardings of a program over one mesh.

    Options:
        strict: what is on one device of several is an error.
    """

    name = "unify-meshes"

    strict: bool = False

    @without_collections()
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: two meshes are of different numbers of devices, or there is no
                device of a maximal one.
            UnsupportedError: no axes describe two meshes, or what is to happen on one
                device cannot happen on all.
        """
        named = _Named.in_module(op)
        if _free_calls(op, named):
            named = _Named.in_module(op)
        used = [mesh for mesh in named.axes if mesh.axes]
        if not used:
            # nothing is split, but a mesh may be declared
            used = [mesh for mesh in named.declared.values() if mesh.axes][:1]
        if not used:
            _place_on_one_device(ctx, op)
            return
        for mesh in used:
            if mesh.total_size != used[0].total_size:
                raise CompileError(
                    f"{named.shown(used[0])} has {used[0].total_size} devices,"
                    f" {named.shown(mesh)} has {mesh.total_size}",
                    named.place_of(mesh, op),
                    hint="one program runs on the same devices throughout",
                )
        if len(used) > 1 or any(not mesh.axes for mesh in _all_meshes(named)):
            _Rewrite(op, named, used).apply(strict=self.strict)


def _all_meshes(named: _Named) -> Iterator[Mesh]:
    yield from named.declared.values()
    yield from named.axes


def _free_calls(module: ModuleOp, named: _Named) -> bool:
    """Let calls on a maximal mesh be made wherever their operands are.

    Returns:
        Whether there are some.

    Raises:
        UnsupportedError: each device would have to make the call, and would notice.
    """
    several = any(mesh.total_size > 1 for mesh in _all_meshes(named))
    has_calls = False
    on_one = set[Operation | None]()
    for op in all_ops(module):
        attribute = op.attributes.get(sdy.SHARDING)
        meshes = (
            [named.mesh_of(sharding.mesh) for sharding in attribute.data]
            if isinstance(attribute, sdy.TensorShardingPerValueAttr)
            else []
        )
        alone = [mesh is not None and mesh.is_maximal for mesh in meshes]
        if not (any(alone) or op.parent_op() in on_one):
            continue
        on_one.add(op)
        if several:
            _require_unnoticed(op)
        if alone and all(alone) and isinstance(op, stablehlo.CustomCallOp):
            del op.attributes[sdy.SHARDING]
            has_calls = True
    return has_calls


def _require_unnoticed(op: Operation) -> None:
    """Raise for an op of one device with effects that show if all devices run it."""
    match op:
        case stablehlo.CustomCallOp():
            answers = not all(isinstance(type_, TokenType) for type_ in op.result_types)
            if op.has_side_effect.value.data and answers:
                raise UnsupportedError(
                    f"@{op.call_target_name.data} is to be called on one device only: it"
                    " has a side effect, and the other devices need its results",
                    op,
                    hint="call what is pure (jax.pure_callback), or do without results",
                )
        case (
            stablehlo.InfeedOp()
            | stablehlo.OutfeedOp()
            | stablehlo.RecvOp()
            | stablehlo.SendOp()
        ):
            raise UnsupportedError(
                "it is to run on one device only, and all devices run one program",
                op,
            )
        case _:
            pass


def _place_on_one_device(ctx: Context, module: ModuleOp) -> None:
    """Remove all meshes and shardings of a program that has none with axes."""
    for op in list(all_ops(module)):
        match op:
            case sdy.ShardingOp() | sdy.CollectiveOp():
                Rewriter.replace_op(op, [], [op.operands[0]])
            case sdy.ManualComputationOp():
                inline_computation(op)
            case sdy.NamedComputationOp():
                op.in_shardings = op.out_shardings = None
            case sdy.DataFlowEdgeOp():
                op.sharding = None
            case _:
                pass
    DropShardingAndMeshPass().apply(ctx, module)


class _Rewrite:
    """A rewrite of the shardings of a module to one mesh.

    Attributes:
        name: of it; None until it is declared.
        common: where the axes of others are in it; None if none are needed.
        apart: meshes that stay.
    """

    def __init__(self, module: ModuleOp, named: _Named, used: list[Mesh]):
        """Find the mesh."""
        self.module = module
        self.named = named
        self.used = used
        self.common: CommonMesh | None = None
        self.apart: frozenset[Mesh] = frozenset()
        split = {mesh: names for mesh in used if (names := named.axes.get(mesh))}
        self.mesh = next(iter(split), used[0])
        if len(split) > 1:
            try:
                self.common = common_mesh(split)
                self.mesh = self.common.mesh
            except ApartError as error:
                if not all(mesh.same_axes(self.mesh) for mesh in split):
                    first, second = map(named.shown, error.meshes)
                    raise UnsupportedError(
                        f"no axes describe both {first} and {second}",
                        named.place_of(error.meshes[1], module),
                        hint="give the meshes of a program their devices in one order,"
                        " and axes of which one divides another",
                    ) from error
                self.apart = frozenset(split)
        declared = named.declared.items()
        known = next(
            (name for name, declared_mesh in declared if declared_mesh == self.mesh),
            None,
        )
        self.gone = {
            op.sym_name.data: op
            for op in module.ops
            if isinstance(op, sdy.MeshOp) and op.sym_name.data != known
            if not op.mesh.data.axes
            or (op.mesh.data in used and op.mesh.data not in self.apart)
        }
        self.name = known or self._declare()

    def _declare(self) -> str:
        symbols = Symbols(self.module)
        for name in self.gone:
            symbols.free(name)
        name = symbols.take("mesh")
        point = InsertPoint.at_start(self.module.body.block)
        Rewriter.insert_op(sdy.MeshOp(name, self.mesh), point)
        return name

    def apply(self, *, strict: bool) -> None:
        """Change the module in place.

        Raises:
            CompileError: a value is on a device that the mesh has not.
            UnsupportedError: a part of an axis, or a collective of sdy, cannot be said
                over the mesh; with `strict`, a value is on one device.
        """
        self._tell()
        self._spread(strict=strict)
        for op in ops_of_type(self.module, sdy.CollectiveOp):
            mesh = self.named.mesh_of(op.out_sharding.data.mesh)
            if mesh is not None and self._moves(mesh):
                raise UnsupportedError(
                    f"its axes are of {self.named.shown(mesh)}, and the program is over"
                    f" {self.mesh.title}",
                    op,
                    hint="write the collectives of sdy over the mesh of the program",
                )
        for op, mesh in self.named.manual.items():
            if self._moves(mesh):
                axes = (AxisRef(name) for name in op.manual_axes.data)
                manual = self._axes_of(axes, mesh)
                op.manual_axes = sdy.ManualAxesAttr(axis.name for axis in manual)
        for op in all_ops(self.module):
            self._write_mesh_into_groups(op)
        sdy.transform_shardings(self.module, self._rewritten)
        for op in self.gone.values():
            Rewriter.erase_op(op)

    def _tell(self) -> None:
        """Tell what the axes of other meshes are called from here on."""
        for mesh in self.used:
            if self._moves(mesh):
                axes = (
                    f"{name} is {' x '.join(str(part).replace(chr(34), '') for part in parts)}"
                    for name, size in mesh.axes
                    if size > 1
                    and name in self.named.axes[mesh]
                    and (parts := self._axes_of((AxisRef(name),), mesh))
                    and parts != (AxisRef(name),)
                )
                if names := ", ".join(axes):
                    emit_remark(
                        f"{self.named.shown(mesh)} as {self.mesh.title}: {names}",
                        self.named.place_of(mesh, self.module),
                    )

    def _spread(self, *, strict: bool) -> None:
        """Replicate a value of one device on every device."""
        devices = self.mesh.total_size
        alone: dict[int, list[Operation]] = {}

        def spread(sharding: TensorSharding, op: Operation, type_: Attribute):
            mesh = self.named.mesh_of(sharding.mesh)
            if mesh is None or not mesh.is_maximal:
                return sharding
            (device,) = mesh.device_ids
            if device >= devices:
                raise CompileError(
                    f"a value on device {device}; {self.mesh.title} has {devices} devices",
                    op,
                )
            alone.setdefault(device, []).append(op)
            return TensorSharding.fully_closed(self.name, sdy.tensor_rank(type_))

        sdy.transform_shardings_of_values(self.module, spread)
        for device, (first, *more) in alone.items():
            others = f", as {len(more)} others are" if more else ""
            message = (
                f"a value of device {device} alone is on every device, whole{others}"
            )
            if strict:
                raise UnsupportedError(
                    message,
                    first,
                    hint="replicate it over the mesh of the other values, or leave"
                    " strict off",
                )
            emit_warning(f"'{first.name}' op {message}", first)

    def _moves(self, mesh: Mesh) -> bool:
        """Whether axes of a mesh are to be expressed by those of the unified mesh."""
        return bool(mesh.axes) and mesh != self.mesh and mesh not in self.apart

    def _write_mesh_into_groups(self, op: Operation) -> None:
        """Replica groups keep their mesh, which they can have by themselves."""
        groups = op.properties.get(REPLICA_GROUPS)
        if isinstance(groups, stablehlo.ReplicaGroupMeshAxesAttr):
            mesh = mesh_of_groups(groups)
            if isinstance(mesh, str) and mesh in self.gone:
                written = stablehlo_mesh(self.named.declared[mesh])
                op.properties[REPLICA_GROUPS] = with_mesh(groups, written)

    def _rewritten(self, sharding: TensorSharding) -> TensorSharding:
        mesh = self.named.mesh_of(sharding.mesh)
        if mesh is None or mesh in self.apart:
            return sharding
        moved = sharding.with_mesh(self.name)
        if not self._moves(mesh):
            return moved
        moved = moved.map_axes(lambda axes: self._axes_of(axes, mesh))
        return moved.with_replicated(
            sort_and_merge(moved.replicated, self.mesh)
        ).with_unreduced(sort_and_merge(moved.unreduced, self.mesh))

    def _axes_of(self, axes: Iterable[AxisRef], mesh: Mesh) -> Axes:
        """Return the axes of the common mesh that axes of a mesh are."""
        joined: Axes = ()
        for axis in axes:
            parts = None if self.common is None else self.common.axes_of(axis, mesh)
            if parts is None:
                raise UnsupportedError(
                    f"{axis} of {self.named.shown(mesh)} is no part of the axes of"
                    f" {self.mesh.title}, which the program is over",
                    self.named.place_of(mesh, self.module),
                )
            joined = concatenate_merged(joined, parts, self.mesh)
        return joined
