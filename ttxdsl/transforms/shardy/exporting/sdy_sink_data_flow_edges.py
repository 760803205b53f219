"""Move the shardings of data flow edges to the ops that own the edges."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ttxdsl.dialects import sdy
from ttxdsl.ir.data_flow import data_flow_ops
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.sharding.manual import with_manual_axes
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.data_flow_edges import (
    edge_shardings,
    owned_arguments,
    owned_results,
    remove_edges,
)
from ttxdsl.transforms.shardy.propagation.history import SHARDING_ORIGINS


def _set_argument_shardings(
    op: Operation, owners: Sequence[SSAValue], shardings: Sequence[TensorSharding]
) -> None:
    """Set the inner shardings of the block arguments that own edges."""
    if isinstance(op, sdy.ManualComputationOp):
        manual = op.manual_axes.data
        op.in_shardings = sdy.TensorShardingPerValueAttr(
            with_manual_axes(outer, inner, manual)
            for outer, inner in zip(op.in_shardings.data, shardings, strict=True)
        )
    elif isinstance(op, sdy.NamedComputationOp):
        op.in_shardings = sdy.TensorShardingPerValueAttr(shardings)
    else:
        for owner, sharding in zip(owners, shardings, strict=True):
            sdy.set_sharding(owner, sharding)


def _set_result_shardings(
    op: Operation, owners: Sequence[SSAValue], shardings: Sequence[TensorSharding]
) -> None:
    """Set the shardings of the results that own edges."""
    attribute = sdy.TensorShardingPerValueAttr(shardings)
    if isinstance(op, sdy.ManualComputationOp | sdy.NamedComputationOp):
        op.out_shardings = attribute
    elif len(owners) == len(op.results):
        op.attributes[sdy.SHARDING] = attribute
    else:
        for owner, sharding in zip(owners, shardings, strict=True):
            sdy.set_sharding(owner, sharding)


def _edge_attributes(owners: Sequence[SSAValue], name: str) -> list[Attribute | None]:
    """Return the attribute of each edge."""
    edges = (sdy.find_data_flow_edge(owner) for owner in owners)
    return [edge.attributes.get(name) for edge in edges if edge is not None]


@dataclass(frozen=True)
class SinkDataFlowEdgesPass(ModulePass):
    """Remove every `sdy.data_flow_edge`; its sharding moves to the edge's operand.

    Options:
        sink_debug_sharding_origins: also move what edges say about where their
            shardings came from, as `sdy.block_arg_sharding_origins` and
            `sdy.result_sharding_origins`.
        sink_debug_propagation_edge_sharding: the same for the steps they travelled.
    """

    name = "sdy-sink-data-flow-edges"

    sink_debug_sharding_origins: bool = False
    sink_debug_propagation_edge_sharding: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in data_flow_ops(op):
            if inner.parent is not None:
                self._sink(inner)
        # those that a program has where nothing owns them say nothing to anybody
        for edge in ops_of_type(op, sdy.DataFlowEdgeOp):
            Rewriter.replace_op(edge, [], [edge.input])

    def _sink(self, op: Operation) -> None:
        arguments, results = owned_arguments(op), owned_results(op)
        if not arguments and not results:
            return
        of_arguments, of_results = edge_shardings(arguments), edge_shardings(results)
        self._keep_debug_info(op, arguments, "block_arg")
        self._keep_debug_info(op, results, "result")
        remove_edges(arguments)
        remove_edges(results)
        if of_arguments is not None:
            _set_argument_shardings(op, arguments, of_arguments)
        if of_results is not None:
            _set_result_shardings(op, results, of_results)

    def _keep_debug_info(
        self, op: Operation, owners: Sequence[SSAValue], which: str
    ) -> None:
        if self.sink_debug_sharding_origins:
            # one entry for each edge, so that an entry's place names the edge (the C++
            # pass leaves empty ones out)
            op.attributes[f"sdy.{which}_sharding_origins"] = ArrayAttr(
                origins if isinstance(origins, DictionaryAttr) else DictionaryAttr({})
                for origins in _edge_attributes(owners, SHARDING_ORIGINS)
            )
        if self.sink_debug_propagation_edge_sharding:
            op.attributes[f"sdy.{which}_propagation_edges"] = ArrayAttr(
                steps
                for steps in _edge_attributes(owners, sdy.PROPAGATION_EDGES)
                if isinstance(steps, sdy.PropagationEdgesAttr) and steps.data
            )
