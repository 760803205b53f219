"""Remove meshes and shardings: the program as if nobody had sharded it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects.sdy import (
    SHARDING,
    MeshOp,
    func_argument_shardings,
    func_result_shardings,
    set_func_shardings,
)


@dataclass(frozen=True)
class DropShardingAndMeshPass(ModulePass):
    """Remove every `sdy.mesh` and every `sdy.sharding` attribute.

    Ops of the dialect keep their shardings; run this when none are left.

    Source: Shardy's sdy-drop-sharding-and-mesh.
    """

    name = "sdy-drop-sharding-and-mesh"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        for inner in list(op.walk()):
            inner.attributes.pop(SHARDING, None)
            if isinstance(inner, FuncOp):
                set_func_shardings(
                    inner,
                    [None] * len(func_argument_shardings(inner)),
                    [None] * len(func_result_shardings(inner)),
                )
            elif isinstance(inner, MeshOp):
                Rewriter.erase_op(inner)
