"""Let equal constants that were sharded alike be one constant again."""

from collections.abc import Hashable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import ConstantLike

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.sdy import tensor_rank


def _attributes(op: Operation) -> frozenset[tuple[str, Attribute]]:
    return frozenset((*op.properties.items(), *op.attributes.items()))


def merge_key(op: Operation) -> Hashable | None:
    """Return the key that two constants or scalar expansions share if they are merged.

    It has their attributes, the sharding among them, and for a broadcast its type and
    its operand, which is a scalar. None for all other ops.
    """
    if isinstance(op, sdy.ConstantOp) or op.has_trait(
        ConstantLike, value_if_unregistered=False
    ):
        return op.parent_region(), _attributes(op)
    if isinstance(op, stablehlo.BroadcastInDimOp) and (
        tensor_rank(op.operand.type) == 0
    ):
        return op.parent_region(), _attributes(op), op.result.type, op.operand
    return None


class ConstantOrScalarMergerPass(ModulePass):
    """Merge constants, and broadcasts of a scalar, that are equal with their shardings.

    Only inside of one region: others may run elsewhere or be sharded otherwise.
    """

    name = "sdy-constant-or-scalar-merger"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp):
                _merge(function)


def _merge(function: FuncOp) -> None:
    first: dict[Hashable, Operation] = {}
    for op in list(function.walk()):
        key = merge_key(op)
        if key is None:
            continue
        kept = first.setdefault(key, op)
        if kept is not op:
            Rewriter.replace_op(op, [], kept.results)
