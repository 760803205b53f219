"""Give meshes that are written inside shardings a name, and equal meshes one name."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.calls.symbols import Symbols
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.replica_groups import REPLICA_GROUPS, mesh_of_groups, with_mesh
from ttxdsl.dialects.sdy import MeshOp, transform_shardings
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

STABLEHLO_MESH = "stablehlo.mesh"
"""Attribute of an `sdy.mesh` that says the same in builtin attributes."""


def wanted_name(mesh: Mesh, maximal: str = "maximal_mesh") -> str:
    """Return the preferred name of a new mesh; one of one device is named by it."""
    if mesh.is_maximal:
        return f"{maximal}_{mesh.device_ids[0]}"
    return "mesh" if mesh.axes else "empty_mesh"


def mesh_dictionary(mesh: Mesh) -> DictionaryAttr:
    """A mesh as a dictionary that needs no dialect: its axes, its order of devices."""
    axes = ArrayAttr(
        DictionaryAttr({"name": StringAttr(name), "size": IntegerAttr(size, i64)})
        for name, size in mesh.axes
    )
    entries: dict[str, Attribute] = {"axes": axes}
    if mesh.device_ids:
        entries["device_ids"] = DenseIntOrFPElementsAttr.from_list(
            TensorType(i64, [len(mesh.device_ids)]), mesh.device_ids
        )
    return DictionaryAttr(entries)


class _MeshNames:
    """One name for each mesh of a module; meshes declared twice lose a declaration."""

    def __init__(self, module: ModuleOp, maximal: str):
        self._maximal = maximal
        self.symbols = Symbols(module)
        self._module = module
        self._new_name: dict[str | Mesh, str] = {}
        self._last: MeshOp | None = None
        for op in list(module.ops):
            if not isinstance(op, MeshOp):
                continue
            name = op.sym_name.data
            kept = self._new_name.setdefault(op.mesh.data, name)
            if kept == name:
                self._last = op
            else:
                self._new_name[name] = kept
                self.symbols.free(name)
                Rewriter.erase_op(op)

    def name_of(self, mesh: str | Mesh) -> str:
        """The name to use for a mesh or instead of a name; declares unknown meshes."""
        name = self._new_name.get(mesh)
        if name is not None:
            return name
        if isinstance(mesh, str):
            return mesh
        name = self._new_name[mesh] = self.symbols.take(
            wanted_name(mesh, self._maximal)
        )
        declaration = MeshOp(name, mesh)
        if self._last is None:
            point = InsertPoint.at_start(self._module.body.block)
        else:
            point = InsertPoint.after(self._last)
        Rewriter.insert_op(declaration, point)
        self._last = declaration
        return name


def _lift_in_replica_groups(op: Operation, names: _MeshNames) -> None:
    groups = op.properties.get(REPLICA_GROUPS)
    if isinstance(groups, stablehlo.ReplicaGroupMeshAxesAttr):
        name = names.name_of(mesh_of_groups(groups))
        op.properties[REPLICA_GROUPS] = with_mesh(groups, SymbolRefAttr(name))


@dataclass(frozen=True)
class LiftInlinedMeshesPass(ModulePass):
    """Name each distinct mesh by one `sdy.mesh`, and let shardings use the names.

    Each mesh also gets an attribute `stablehlo.mesh` that repeats it. With
    `use-single-device-mesh-names`, which jaxlib has after 0.10, the mesh of device 3 is
    `@single_device_3`, else `@maximal_mesh_3`.

    Source: Shardy's sdy-lift-inlined-meshes.
    """

    name = "sdy-lift-inlined-meshes"

    use_single_device_mesh_names: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        word = "single_device" if self.use_single_device_mesh_names else "maximal_mesh"
        names = _MeshNames(op, word)

        def named(sharding: TensorSharding) -> TensorSharding:
            name = names.name_of(sharding.mesh)
            return sharding if name == sharding.mesh else sharding.with_mesh(name)

        transform_shardings(op, named)
        for inner in op.walk():
            _lift_in_replica_groups(inner, names)
        for inner in op.ops:
            if isinstance(inner, MeshOp):
                inner.attributes.setdefault(
                    STABLEHLO_MESH, mesh_dictionary(inner.mesh.data)
                )
