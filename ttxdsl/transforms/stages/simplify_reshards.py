"""`simplify-reshards`: send a value once to all that want it split alike.

Stage 8 looks at one op at a time. Behind it, ops of one block that reshard the same
value alike share one reshard.

Where the axes of a dimension do not fit the dimensions that a reshape makes of it,
stage 8 hands them out anew, and reshards operand and result. The reshape then takes
those axes for which these reshards send least. Ops that only move elements of
replicated values are done replicated.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.traits import Collective, MovesData, ops_with
from ttxdsl.ir.compat.speed.operations import replace_operands
from ttxdsl.ir.rewriting import rewrite_type
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import operands_of, ops_of_type
from ttxdsl.rules.registry import sharding_rule
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.partition.agreement import agree
from ttxdsl.transforms.partition.exchange.resharding import reshard_price
from ttxdsl.transforms.partition.layout import Layout
from ttxdsl.transforms.shardy.meshes import MeshOf, mesh_lookup

_MOVES = tuple(
    {*ops_with(MovesData, stablehlo.StableHLO)}
    - {*ops_with(Collective, stablehlo.StableHLO)}
)


def share_reshards(module: ModuleOp) -> None:
    """Use the result of a reshard in place of those behind it that do the same.

    They stand in the same block. The operands of each user are set at once.
    """
    known: dict[tuple[SSAValue, TensorSharding, Block | None], SSAValue] = {}
    replaced: dict[SSAValue, SSAValue] = {}
    for op in ops_of_type(module, sdy.ReshardOp):
        key = replaced.get(op.input, op.input), op.sharding.data, op.parent
        first = known.setdefault(key, op.result)
        if first is not op.result:
            replaced[op.result] = first
    users = {use.operation: None for value in replaced for use in value.uses}
    for user in users:
        new = {
            at: replaced[value]
            for at, value in enumerate(operands_of(user))
            if value in replaced
        }
        replace_operands(user, new)
    for value in replaced:
        Rewriter.erase_op(cast(Operation, value.owner))


@dataclass
class CheapestReshape(RewritePattern):
    """A reshape split so that the reshards around it send least."""

    mesh_of: MeshOf

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: stablehlo.ReshapeOp, rewriter: PatternRewriter, /
    ) -> None:
        before, behind = op.operand.owner, _reshards_behind(op.result)
        if not isinstance(before, sdy.ReshardOp) or not before.result.has_one_use():
            before = None
        if before is None and not behind:
            return
        source = op.operand if before is None else before.input
        on_the_way = [reshard.result for reshard in behind]
        layouts = _layouts(self.mesh_of, source, op.operand, op.result, *on_the_way)
        rule = sharding_rule(op)
        if layouts is None or rule is None:
            return
        first, operand, *results = layouts
        last = results[-1]
        now = reshard_price(first, operand)
        for result, wanted_next in pairwise(results):
            now = now.and_then(reshard_price(result, wanted_next))
        if not now.sent:
            return
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
        to, back = reshard_price(first, new_operand), reshard_price(new_result, last)
        if to.and_then(back) >= now:
            return
        target = on_the_way[-1] if on_the_way else op.result
        old = sdy.get_sharding(target) or sdy.get_sharding(source)
        assert old is not None, "one of them is split"
        if sdy.get_sharding(target) is None:
            rank = len(last.shape)
            sdy.set_sharding(target, TensorSharding.fully_closed(old.mesh, rank))
        before_it = sdy.ReshardOp(
            source, TensorSharding.closed(old.mesh, new_operand.axes)
        )
        before_it.location = op.location
        Rewriter.insert_op(before_it, InsertPoint.before(op))
        op.operands[0] = before_it.result
        _reshard_behind(op, target, new_result)
        _erase_unused(rewriter, before, *reversed(behind))


@dataclass
class WholeMove(RewritePattern):
    """An op that moves whole values, run on every device with its result sliced.

    Stage 8 slices the operands by what the result is split by, often along another
    dimension, and sends the result on.
    """

    mesh_of: MeshOf

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, reshard: sdy.ReshardOp, rewriter: PatternRewriter, /
    ) -> None:
        """Leave out the reshards around the op whose result one moves."""
        op = reshard.input.owner
        if not isinstance(op, _MOVES) or len(op.results) != 1 or op.regions:
            return
        behind = _reshards_behind(op.results[0])
        if not behind or not op.operands:
            return
        reshards = [
            value.owner if isinstance(value.owner, sdy.ReshardOp) else None
            for value in op.operands
        ]
        sources = [
            value if reshard is None else reshard.input
            for value, reshard in zip(op.operands, reshards, strict=True)
        ]
        on_the_way = [op.results[0], *(reshard.result for reshard in behind)]
        layouts = _layouts(self.mesh_of, *sources, *on_the_way)
        if layouts is None or any(
            layout.is_sharded for layout in layouts[: len(sources)]
        ):
            return
        results = layouts[len(sources) :]
        if not any(reshard_price(*pair).sent for pair in pairwise(results)):
            return
        op.operands = sources
        whole = Layout.replicated(results[0].mesh, results[0].shape)
        _reshard_behind(op, on_the_way[-1], whole)
        _erase_unused(rewriter, *reshards, *reversed(behind))


def _layouts(mesh_of: MeshOf, *values: SSAValue) -> list[Layout] | None:
    """Return how values lie, all over one mesh and in even shards; None if not so."""
    shardings = [sdy.get_sharding(value) for value in values]
    meshes = {mesh_of(sharding) for sharding in shardings if sharding}
    if len(meshes) != 1 or any(known and known.unreduced for known in shardings):
        return None
    (mesh,) = meshes
    layouts = [
        Layout.of(sharding, mesh, shape_of(value))
        for sharding, value in zip(shardings, values, strict=True)
    ]
    even = not mesh.is_maximal and all(layout.uneven is None for layout in layouts)
    return layouts if even else None


def _reshard_behind(op: Operation, target: SSAValue, layout: Layout) -> None:
    """Let the result of an op lie otherwise, and bring it to where a value lay."""
    (result,) = op.results
    sharding = sdy.get_sharding(target)
    assert sharding is not None, "what needs no reshard is not looked at"
    back = sdy.ReshardOp(result, sharding)
    back.location = op.location
    Rewriter.insert_op(back, InsertPoint.after(op))
    target.replace_uses_with_if(back.result, lambda use: use.operation is not back)
    sdy.set_sharding(result, TensorSharding.closed(sharding.mesh, layout.axes))


def _erase_unused(rewriter: PatternRewriter, *reshards: sdy.ReshardOp | None) -> None:
    for reshard in dict.fromkeys(reshards):
        if reshard is not None and not reshard.result.uses:
            rewriter.erase(reshard)


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
        share_reshards(op)
        mesh_of = mesh_lookup(op)
        rewrite_type(op, stablehlo.ReshapeOp, CheapestReshape(mesh_of))
        rewrite_type(op, sdy.ReshardOp, WholeMove(mesh_of))
