"""Remove meshes and shardings: the program as if nobody had sharded it."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy
from ttxdsl.dialects.replica_groups import meshes_of_groups
from ttxdsl.sharding.spec import TensorSharding

MODULE_METADATA = ("sdy.parameters_shardings", "sdy.output_shardings")
"""Module attributes with the shardings of the arguments and results of `@main`."""


def _names_a_mesh(op: Operation) -> bool:
    for value in op.properties.values():
        match value:
            case sdy.TensorShardingAttr(data=sharding):
                shardings: tuple[TensorSharding, ...] = (sharding,)
            case sdy.TensorShardingPerValueAttr(data=shardings):
                pass
            case _:
                continue
        if any(isinstance(sharding.mesh, str) for sharding in shardings):
            return True
    return False


@dataclass(frozen=True)
class DropShardingAndMeshPass(ModulePass):
    """Remove every `sdy.mesh` and every `sdy.sharding` attribute.

    No op may name a mesh; meshes that groups of StableHLO's collectives refer to are
    kept. The module's own attributes with the shardings of arguments and results are
    kept, as in jaxlib 0.10; newer ones drop them unless `keep-module-sharding-metadata`
    is set.
    """

    name = "sdy-drop-sharding-and-mesh"

    keep_module_sharding_metadata: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: if an op of the dialect needs one of the meshes.
        """
        for inner in op.walk():
            if isinstance(inner, sdy.SymbolUserOp) and _names_a_mesh(inner):
                raise CompileError(
                    "its sharding names a mesh that this pass would drop",
                    inner,
                    hint="lower constraints, reshards, collectives and computations of "
                    "the sdy dialect first",
                )
        if not self.keep_module_sharding_metadata:
            for name in MODULE_METADATA:
                op.attributes.pop(name, None)
        kept = meshes_of_groups(op)
        for inner in list(op.walk()):
            inner.attributes.pop(sdy.SHARDING, None)
            inner.attributes.pop(sdy.BLOCK_ARGUMENT_SHARDING, None)
            # which of an op may only speak of its shardings
            inner.attributes.pop(sdy.PROPAGATION_EDGES, None)
            if isinstance(inner, FuncOp):
                sdy.set_func_shardings(
                    inner,
                    [None] * len(sdy.func_argument_shardings(inner)),
                    [None] * len(sdy.func_result_shardings(inner)),
                )
            elif isinstance(inner, sdy.MeshOp) and inner.sym_name.data not in kept:
                Rewriter.erase_op(inner)
