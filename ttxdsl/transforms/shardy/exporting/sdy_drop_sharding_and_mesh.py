"""Remove meshes and shardings: the program as if nobody had sharded it."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects.sdy import (
    BLOCK_ARGUMENT_SHARDING,
    SHARDING,
    MeshOp,
    SymbolUserOp,
    TensorShardingAttr,
    TensorShardingPerValueAttr,
    func_argument_shardings,
    func_result_shardings,
    set_func_shardings,
)
from ttxdsl.errors import CompileError
from ttxdsl.sharding.spec import TensorSharding


def _names_a_mesh(op: Operation) -> bool:
    for value in op.properties.values():
        match value:
            case TensorShardingAttr(data=sharding):
                shardings: tuple[TensorSharding, ...] = (sharding,)
            case TensorShardingPerValueAttr(data=shardings):
                pass
            case _:
                continue
        if any(isinstance(sharding.mesh, str) for sharding in shardings):
            return True
    return False


@dataclass(frozen=True)
class DropShardingAndMeshPass(ModulePass):
    """Remove every `sdy.mesh` and every `sdy.sharding` attribute.

    Ops of the dialect that name a mesh have to be gone before.
    """

    name = "sdy-drop-sharding-and-mesh"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: if an op of the dialect needs one of the meshes.
        """
        for inner in op.walk():
            if isinstance(inner, SymbolUserOp) and _names_a_mesh(inner):
                raise CompileError(
                    "its sharding names a mesh that this pass would drop",
                    inner,
                    hint="lower constraints, reshards, collectives and computations of "
                    "the sdy dialect first",
                )
        for inner in list(op.walk()):
            inner.attributes.pop(SHARDING, None)
            inner.attributes.pop(BLOCK_ARGUMENT_SHARDING, None)
            if isinstance(inner, FuncOp):
                set_func_shardings(
                    inner,
                    [None] * len(func_argument_shardings(inner)),
                    [None] * len(func_result_shardings(inner)),
                )
            elif isinstance(inner, MeshOp):
                Rewriter.erase_op(inner)
