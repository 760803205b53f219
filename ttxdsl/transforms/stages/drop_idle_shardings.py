"""`drop-idle-shardings`: remove sdy ops and attributes where nothing can be split.

In the body of a reduction, a sort or a scatter a constraint, barrier or collective is
an identity on a scalar. (Shardy would all-reduce a constraint to partial sums there.)
Inside a computation that is manual on all axes nothing is left to split either: its
border is closed, and a computation in it is inlined. This happens after stage 1, as
solved programs skip later stages.
"""

from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.analysis.graph_state import is_manual, leaves_axes_free
from ttxdsl.dialects import sdy
from ttxdsl.ir.data_flow import data_flow_of
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.sharding.axes import Axes
from ttxdsl.sharding.spec import TensorSharding


def _is_scalar(type_: Attribute) -> bool:
    return isinstance(type_, TensorType) and not type_.shape.data


def _is_body_of_scalars(holder: Operation) -> bool:
    """Whether an op's regions take single numbers, and no value flows through them."""
    blocks = [block for region in holder.regions for block in region.blocks]
    types = [type_ for block in blocks for type_ in block.arg_types]
    return (
        bool(types)
        and data_flow_of(type(holder)) is None
        and all(map(_is_scalar, types))
    )


def _is_idle(holder: Operation) -> bool:
    """Whether nothing in an op's regions can be split."""
    if isinstance(holder, sdy.ManualComputationOp):
        return is_manual(holder) and not leaves_axes_free(holder)
    return not isinstance(holder, FuncOp) and _is_body_of_scalars(holder)


@dataclass
class _Search:
    """Finds out where ops are, and looks once at each op that is around some."""

    known: dict[Operation, bool] = field(default_factory=dict[Operation, bool])

    def is_idle_at(self, op: Operation) -> bool:
        """Whether nothing can be split where an op is."""
        around: list[Operation] = []
        holder = op.parent_op()
        while holder is not None and holder not in self.known:
            around.append(holder)
            holder = holder.parent_op()
        answer = holder is not None and self.known[holder]
        for around_op in reversed(around):
            answer = self.known[around_op] = answer or _is_idle(around_op)
        return answer


class DropIdleShardingsPass(ModulePass):
    """Replace the ops of sdy by their operands where nothing can be split."""

    name = "drop-idle-shardings"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        search = _Search()
        identities = (
            sdy.ShardingOp,
            sdy.PropagationBarrierOp,
            sdy.CollectiveOp,
            sdy.DataFlowEdgeOp,
        )
        kinds = *identities, sdy.ShardingGroupOp, sdy.ManualComputationOp
        computations: list[sdy.ManualComputationOp] = []
        for inner_op in ops_of_type(op, *kinds):
            if isinstance(inner_op, sdy.ManualComputationOp):
                computations.append(inner_op)
            elif not search.is_idle_at(inner_op):
                continue
            elif isinstance(inner_op, sdy.ShardingGroupOp):
                Rewriter.erase_op(inner_op)
            else:
                Rewriter.replace_op(inner_op, [], [inner_op.operands[0]])
        for computation in computations:
            if search.is_idle_at(computation):
                inline_computation(computation)
            elif _is_idle(computation):
                _close(computation)
        for inner in all_ops(op):
            names = [*filter(sdy.is_of_sdy, inner.attributes)]
            if names and (_is_idle(inner) or search.is_idle_at(inner)):
                for name in names:
                    del inner.attributes[name]


def inline_computation(computation: sdy.ManualComputationOp) -> None:
    """Put what a computation does in its place, where its border splits nothing."""
    block = computation.body.block
    returned = block.last_op
    assert returned is not None
    results = [*returned.operands]
    Rewriter.erase_op(returned)
    Rewriter.inline_block(block, InsertPoint.before(computation), computation.tensors)
    Rewriter.replace_op(computation, [], results)


def _close(computation: sdy.ManualComputationOp) -> None:
    """Close the dimensions of an idle computation's border and drop its free axes.

    The axes are of size one. Propagation would ask for free ones inside.
    """
    manual = set(computation.manual_axes.data)

    def closed(sharding: TensorSharding) -> TensorSharding:
        def kept(axes: Axes) -> Axes:
            return tuple(axis for axis in axes if axis.name in manual)

        return sharding.map_axes(kept).closed_like()

    for name in ("in_shardings", "out_shardings"):
        shardings = cast(sdy.TensorShardingPerValueAttr, computation.properties[name])
        computation.properties[name] = sdy.TensorShardingPerValueAttr(
            map(closed, shardings.data)
        )
