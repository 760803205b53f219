"""`simplify-reshards`: a value is sent once to all that want it split alike.

Stage 8 looks at one op at a time. Behind it the pipeline lets the ops of one block that
want the same value under the same sharding share one reshard.

Where the axes of a dimension do not fit the dimensions that a reshape makes of it, stage 8
hands them out anew, to any dimension that has room, and moves the operand there and the
result back. The reshape then takes those axes, or parts of them, that it can keep, for
which the moves before and behind it send least.
"""

from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.rewriting import rewrite_type
from ttxdsl.ir.tensors import shape_of
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.local.agreement import agree
from ttxdsl.transforms.local.layout import Layout
from ttxdsl.transforms.local.resharding import reshard_price
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup


@dataclass
class SameReshard(RewritePattern):
    """The result of a reshard before it in the same block that does the same."""

    known: dict[tuple[SSAValue, TensorSharding, Block | None], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, TensorSharding, "Block | None"], SSAValue]
    )

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: sdy.ReshardOp, rewriter: PatternRewriter, /
    ) -> None:
        """Drop one reshard."""
        key = op.input, op.sharding.data, op.parent
        first = self.known.setdefault(key, op.result)
        if first is not op.result:
            rewriter.replace(op, [], [first])


@dataclass
class CheapestReshape(RewritePattern):
    """A reshape split so that the reshards around it send least.

    Attributes:
        mesh_of: finds the mesh of a sharding.
    """

    mesh_of: MeshOf

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.ReshapeOp, rewriter: PatternRewriter, /
    ) -> None:
        """Move the reshards of one reshape."""
        before, behind = op.operand.owner, _reshards_behind(op.result)
        if not isinstance(before, sdy.ReshardOp) or not before.result.has_one_use():
            before = None
        if before is None and not behind:
            return
        source = op.operand if before is None else before.input
        on_the_way = [reshard.result for reshard in behind]
        layouts = self._layouts(source, op.operand, op.result, *on_the_way)
        rule = sharding_rule(op)
        if layouts is None or rule is None:
            return
        first, operand, *results = layouts
        last = results[-1]
        wanted, kept = agree(
            rule,
            (first,),
            (last,),
            range(len(rule.factor_sizes)),
            (op.operand, op.result),
            first.mesh,
        )
        new_operand, new_result = wanted[0], kept[0]
        assert new_operand is not None and new_result is not None, "both are tensors"
        now = reshard_price(first, operand)
        for result, wanted_next in pairwise(results):
            now = now.and_then(reshard_price(result, wanted_next))
        to, back = reshard_price(first, new_operand), reshard_price(new_result, last)
        if to.and_then(back) >= now:
            return
        target = on_the_way[-1] if on_the_way else op.result
        self._move(op, source, target, new_operand, new_result)
        for reshard in (before, *reversed(behind)):
            if reshard is not None and not reshard.result.uses:
                rewriter.erase(reshard)

    def _layouts(self, *values: SSAValue) -> list[Layout] | None:
        """Return how values lie, all over one mesh and in even shards; None if not so."""
        shardings = [sdy.get_sharding(value) for value in values]
        meshes = {self.mesh_of(sharding) for sharding in shardings if sharding}
        if len(meshes) != 1 or any(one and one.unreduced for one in shardings):
            return None
        (mesh,) = meshes
        layouts = [
            Layout.of(sharding, mesh, shape_of(value))
            for sharding, value in zip(shardings, values, strict=True)
        ]
        even = not mesh.is_maximal and all(one.uneven is None for one in layouts)
        return layouts if even else None

    def _move(
        self,
        op: stablehlo.ReshapeOp,
        source: SSAValue,
        target: SSAValue,
        operand: Layout,
        result: Layout,
    ) -> None:
        """Let a reshape run under other layouts, from a value to what another is."""
        old = sdy.get_sharding(target) or sdy.get_sharding(source)
        assert old is not None, "one of them is split"
        of_operand = TensorSharding.closed(old.mesh, operand.axes)
        of_result = TensorSharding.closed(old.mesh, result.axes)
        last = sdy.get_sharding(target) or TensorSharding.fully_closed(
            old.mesh, len(result.shape)
        )
        to, back = sdy.ReshardOp(source, of_operand), sdy.ReshardOp(op.result, last)
        to.location = back.location = op.location
        Rewriter.insert_op(to, InsertPoint.before(op))
        op.operands[0] = to.result
        Rewriter.insert_op(back, InsertPoint.after(op))
        target.replace_uses_with_if(back.result, lambda use: use.operation is not back)
        sdy.set_sharding(op.result, of_result)


def _reshards_behind(value: SSAValue) -> list[sdy.ReshardOp]:
    """Return reshards in a row, each the only user of what is before it."""
    reshards: list[sdy.ReshardOp] = []
    while value.has_one_use():
        (use,) = value.uses
        if not isinstance(use.operation, sdy.ReshardOp):
            break
        reshards.append(use.operation)
        value = use.operation.result
    return reshards


class SimplifyReshardsPass(ModulePass):
    """Share reshards that do the same, and take those around reshapes that send least."""

    name = "simplify-reshards"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        rewrite_type(op, sdy.ReshardOp, SameReshard())
        rewrite_type(op, stablehlo.ReshapeOp, CheapestReshape(mesh_lookup(op)))
