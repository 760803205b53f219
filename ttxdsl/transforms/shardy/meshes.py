"""The mesh of a sharding, for many look-ups."""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from ttxdsl.dialects.sdy import get_mesh, mesh_table
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.sharding.spec import TensorSharding

MeshOf = Callable[[TensorSharding], Mesh]


def mesh_lookup(module: ModuleOp) -> MeshOf:
    """Return a function from a sharding to its mesh, which may be written in it.

    It raises CompileError for names that the module does not declare.
    """
    meshes = mesh_table(module)

    def mesh_of(sharding: TensorSharding) -> Mesh:
        named = sharding.mesh
        if isinstance(named, Mesh):
            return named
        mesh = meshes.get(named)
        return get_mesh(module, named) if mesh is None else mesh

    return mesh_of
