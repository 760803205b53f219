"""Write each mesh into the shardings that use it, so that they stand alone."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects.replica_groups import inline_mesh_of_groups
from ttxdsl.dialects.sdy import MeshOp, mesh_table, transform_shardings
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.meshes import mesh_lookup


class InlineMeshesPass(ModulePass):
    """Replace the names of meshes by the meshes, and drop the `sdy.mesh`es.

    Source: Shardy's sdy-inline-meshes.
    """

    name = "sdy-inline-meshes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        meshes = mesh_table(op)
        mesh_of = mesh_lookup(op)

        def inlined(sharding: TensorSharding) -> TensorSharding:
            return sharding.with_mesh(mesh_of(sharding))

        transform_shardings(op, inlined)
        inline_mesh_of_groups(op, meshes)
        for inner in list(op.ops):
            if isinstance(inner, MeshOp):
                Rewriter.erase_op(inner)
