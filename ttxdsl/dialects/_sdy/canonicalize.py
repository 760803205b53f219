"""Rewrites that `canonicalize` applies to reshards, collectives and manual computations.

Collectives without effect are erased, an all_reduce whose result is only sliced becomes
a reduce_scatter, all_to_alls between different dimensions are merged, and a collective
and its inverse cancel out.

Source: the canonicalization patterns of Shardy's dialect.
"""

from itertools import compress

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from ttxdsl.dialects._sdy.access import get_mesh, get_sharding
from ttxdsl.dialects._sdy.attributes import TensorShardingPerValueAttr
from ttxdsl.dialects._sdy.ops import (
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
    ManualComputationOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ReshardOp,
    ShardedToUnreducedOp,
)
from ttxdsl.sharding.axes import Axes, concatenate_merged, sort_and_merge
from ttxdsl.sharding.spec import TensorSharding


def _replace(rewriter: PatternRewriter, op: Operation, value: SSAValue) -> None:
    """Use `value` in place of the one result of `op`."""
    rewriter.replace(op, [], [value])


def _drop(rewriter: PatternRewriter, op: CollectiveOp, value: SSAValue) -> None:
    """Use what was there before in place of the result of `op`.

    Not where its dimensions are open or closed otherwise and a user wants its operand's to
    be as its own are: Shardy makes a module there that does not verify.
    """
    given = get_sharding(value)
    if given is None or given.dims == op.out_sharding.data.dims:
        return _replace(rewriter, op, value)
    users = (use.operation for use in op.results[0].uses)
    if not any(isinstance(user, ReplicatedToUnreducedOp) for user in users):
        _replace(rewriter, op, value)


def _insert(
    rewriter: PatternRewriter, place: Operation, new: Operation, like: Operation
) -> SSAValue:
    """Insert an op before `place` with the location of `like`; its result."""
    new.location = like.location
    rewriter.insert(new, InsertPoint.before(place))
    return new.results[0]


class DropNothing(RewritePattern):
    """A gather, slice, reduction or scatter along no axes is its operand."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        match op:
            case AllGatherOp():
                axes = op.gathering_axes
            case AllSliceOp():
                axes = op.slicing_axes
            case AllReduceOp():
                axes = op.reduction_axes
            case ReduceScatterOp():
                axes = op.reduce_scatter_axes
            case _:
                return
        if not any(axes.data):
            _drop(rewriter, op, op.tensor)


class DropPermuteToTheSame(RewritePattern):
    """A collective_permute that leaves every shard where it is, is its operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: CollectivePermuteOp, rewriter: PatternRewriter, /
    ) -> None:
        if op.out_sharding.data.same_layout(get_sharding(op.tensor)):
            _drop(rewriter, op, op.tensor)


class SliceOfGather(RewritePattern):
    """A slice of a gather along the same axes: replace it by the gather's operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllSliceOp, rewriter: PatternRewriter, /) -> None:
        gather = op.tensor.owner
        if isinstance(gather, AllGatherOp) and gather.gathering_axes == op.slicing_axes:
            _drop(rewriter, op, gather.tensor)


class ReductionOfReplicated(RewritePattern):
    """Summing a value and zeros in its place gives the value."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllReduceOp, rewriter: PatternRewriter, /) -> None:
        source = op.tensor.owner
        if (
            isinstance(source, ReplicatedToUnreducedOp)
            and source.axes == op.reduction_axes
        ):
            _drop(rewriter, op, source.tensor)


class ReductionOfShards(RewritePattern):
    """Summing shards that are surrounded by zeros is gathering them."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllReduceOp, rewriter: PatternRewriter, /) -> None:
        source = op.tensor.owner
        if not isinstance(source, ShardedToUnreducedOp):
            return
        axes = [axis for dim in source.axes.data for axis in dim]
        mesh = get_mesh(op, source.out_sharding.data)
        if sort_and_merge(axes, mesh) == op.reduction_axes.data:
            gather = AllGatherOp(source.tensor, source.axes, op.out_sharding)
            _replace(rewriter, op, _insert(rewriter, op, gather, op))


class FormReduceScatter(RewritePattern):
    """An all_reduce whose result is only sliced, all alike, is a reduce_scatter.

    All reduced axes must be the first ones that some dimension is sliced along;
    slices along further axes stay.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllSliceOp, rewriter: PatternRewriter, /) -> None:
        reduction = op.tensor.owner
        if not isinstance(reduction, AllReduceOp):
            return
        slices = [use.operation for use in reduction.result.uses]
        for other in slices:
            if (
                not isinstance(other, AllSliceOp)
                or other.slicing_axes != op.slicing_axes
                or other.parent is not op.parent
                or (other is not op and other.is_before_in_block(op))
            ):
                return
        scattered: list[Axes] = []
        left: list[Axes] = []
        pending = set(reduction.reduction_axes.data)
        for axes in op.slicing_axes.data:
            count = 0
            while count < len(axes) and axes[count] in pending:
                pending.remove(axes[count])
                count += 1
            scattered.append(axes[:count])
            left.append(axes[count:])
        if pending:
            return
        out = op.out_sharding.data
        given = get_sharding(reduction.tensor)
        mesh = get_mesh(op, reduction.out_sharding.data)
        before = given.axes_per_dim if given is not None else ((),) * out.rank
        sharding = TensorSharding.closed(
            reduction.out_sharding.data.mesh,
            [
                concatenate_merged(old, new, mesh)
                for old, new in zip(before, scattered, strict=True)
            ],
        )
        sharding = sharding.with_replicated(out.replicated).with_unreduced(
            out.unreduced, out.reduction
        )
        value = _insert(
            rewriter,
            op,
            ReduceScatterOp(reduction.tensor, scattered, sharding).by(
                reduction.reduction
            ),
            reduction,
        )
        if any(left):
            value = _insert(rewriter, op, AllSliceOp(value, left, out), op)
        for user in slices:
            _replace(rewriter, user, value)
        rewriter.erase(reduction)


class JoinMoves(RewritePattern):
    """Two all_to_alls between different dimensions are one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllToAllOp, rewriter: PatternRewriter, /) -> None:
        inner = op.tensor.owner
        if not isinstance(inner, AllToAllOp) or not inner.result.has_one_use():
            return
        params = [*inner.params.data, *op.params.data]
        dims = [dim for param in params for dim in (param.src_dim, param.tgt_dim)]
        if len(set(dims)) != len(dims):
            return
        params.sort(key=lambda param: param.src_dim)
        joined = AllToAllOp(inner.tensor, params, op.out_sharding)
        _replace(rewriter, op, _insert(rewriter, op, joined, op))
        rewriter.erase(inner)


class DropUnusedMove(RewritePattern):
    """An all_to_all without users: erase it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AllToAllOp, rewriter: PatternRewriter, /) -> None:
        if op.result.first_use is None:
            rewriter.erase(op)


class ShareReshard(RewritePattern):
    """A value is resharded to one layout once; the first time counts for all."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshardOp, rewriter: PatternRewriter, /) -> None:
        wanted = op.sharding.data
        for use in op.input.uses:
            other = use.operation
            if (
                isinstance(other, ReshardOp)
                and other is not op
                and other.parent is op.parent
                and other.sharding.data.mesh == wanted.mesh
                and other.sharding.data.same_layout(wanted)
                and other.sharding.data.replicated == wanted.replicated
                and other.is_before_in_block(op)
            ):
                _replace(rewriter, op, other.result)
                return


class ReshardOfReshard(RewritePattern):
    """A reshard of a reshard with no other user: reshard its operand directly."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshardOp, rewriter: PatternRewriter, /) -> None:
        inner = op.input.owner
        if isinstance(inner, ReshardOp) and inner.result.has_one_use():
            direct = ReshardOp(inner.input, op.sharding)
            _replace(rewriter, op, _insert(rewriter, op, direct, op))
            rewriter.erase(inner)


class DropUnusedArguments(RewritePattern):
    """A manual computation with operands that its body does not use: drop them.

    Shardy also inlines a computation whose manual axes all have size one. The one in
    jaxlib never does, so neither does this pattern.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: ManualComputationOp, rewriter: PatternRewriter, /
    ) -> None:
        arguments = op.body.block.args
        used = [argument.first_use is not None for argument in arguments]
        if all(used):
            return
        op.in_shardings = TensorShardingPerValueAttr(
            compress(op.in_shardings.data, used)
        )
        op.operands = tuple(compress(op.operands, used))
        for argument, stays in zip(arguments, used, strict=True):
            if not stays:
                rewriter.erase_block_argument(argument)
        rewriter.notify_op_modified(op)


PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = {
    AllGatherOp: (DropNothing(),),
    AllReduceOp: (
        DropNothing(),
        ReductionOfReplicated(),
        ReductionOfShards(),
    ),
    AllSliceOp: (DropNothing(), SliceOfGather(), FormReduceScatter()),
    AllToAllOp: (DropUnusedMove(), JoinMoves()),
    CollectivePermuteOp: (DropPermuteToTheSame(),),
    ManualComputationOp: (DropUnusedArguments(),),
    ReduceScatterOp: (DropNothing(),),
    ReshardOp: (ShareReshard(), ReshardOfReshard()),
}
"""The patterns by the class of the root op."""

COLLECTIVE_LABEL = "sdy-collective"
RESHARD_LABEL = "sdy-reshard"


def rewrite_label(root: type[Operation], pattern: RewritePattern) -> str | None:
    """Return the label by which Shardy's pipelines choose a rewrite, if it has one."""
    if issubclass(root, CollectiveOp):
        return COLLECTIVE_LABEL
    return RESHARD_LABEL if isinstance(pattern, ReshardOfReshard) else None
