"""The whole of Shardy in one pass: import, propagation by priorities, export.

Import brings the program into the form in which propagation does what users mean:
meshes have names, axes of size one are gone, each use of a constant is one of its own,
each call has its own copy of the callee, and data flow edges are ops. Export goes back:
computations are functions again, copies that were sharded alike are one, constraints
are reshards, and what propagation left open is closed.

Source: Shardy's `addPropagationPipeline`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.dead_code_elimination import region_dce

from ttxdsl.analysis.symbols import remove_unused_private_functions
from ttxdsl.dialects.sdy import CollectiveOp
from ttxdsl.transforms.shardy.exporting.sdy_close_shardings import CloseShardingsPass
from ttxdsl.transforms.shardy.exporting.sdy_constant_or_scalar_merger import (
    ConstantOrScalarMergerPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_drop_sharding_rules import (
    DropShardingRulesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_export_named_computations import (
    ExportNamedComputationsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_insert_explicit_reshards import (
    InsertExplicitReshardsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_insert_func_call_reshards import (
    InsertFuncCallReshardsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_propagate_to_func_results import (
    PropagateToFuncResultsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_remove_sharding_groups import (
    RemoveShardingGroupsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_remove_sub_axes_in_input_output_shardings import (
    RemoveSubAxesInInputOutputShardingsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_sharding_constraint_to_reshard import (
    ShardingConstraintToReshardPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_sink_data_flow_edges import (
    SinkDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_sink_func_data_flow_edges import (
    SinkFuncDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_unflatten_call_graph import (
    UnflattenCallGraphPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_update_non_divisible_input_output_shardings import (
    UpdateNonDivisibleInputOutputShardingsPass,
)
from ttxdsl.transforms.shardy.importing.sdy_add_data_flow_edges import (
    AddDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_add_func_data_flow_edges import (
    AddFuncDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_apply_sharding_constraints import (
    ApplyShardingConstraintsPass,
)
from ttxdsl.transforms.shardy.importing.sdy_constant_or_scalar_splitter import (
    ConstantOrScalarSplitterPass,
)
from ttxdsl.transforms.shardy.importing.sdy_flatten_call_graph import (
    FlattenCallGraphPass,
)
from ttxdsl.transforms.shardy.importing.sdy_import_func_calls import ImportFuncCallsPass
from ttxdsl.transforms.shardy.importing.sdy_lift_inlined_meshes import (
    LiftInlinedMeshesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_manual_axes_cleanup import (
    ManualAxesCleanupPass,
)
from ttxdsl.transforms.shardy.importing.sdy_pre_order_funcs import PreOrderFuncsPass
from ttxdsl.transforms.shardy.importing.sdy_propagate_sharding_from_func_to_call import (
    PropagateShardingFromFuncToCallPass,
)
from ttxdsl.transforms.shardy.importing.sdy_remove_size_one_axes import (
    RemoveSizeOneAxesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_sharding_group_import import (
    ShardingGroupImportPass,
)
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass


class SymbolDCE(ModulePass):
    """Remove private functions that nothing refers to, as MLIR's symbol-dce does."""

    name = "symbol-dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        remove_unused_private_functions(op)


class _CollectiveRewritePattern(CanonicalizationRewritePattern):
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, CollectiveOp):
            super().match_and_rewrite(op, rewriter)


class CanonicalizeCollectives(ModulePass):
    """Apply the rewrites of the dialect's collectives, and remove dead ops."""

    name = "canonicalize-collectives"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        walker = PatternRewriteWalker(
            _CollectiveRewritePattern(), post_walk_func=region_dce
        )
        walker.rewrite_module(op)


@dataclass(frozen=True)
class PropagationPipelinePass(ModulePass):
    """Import, propagate in the order of user and op priorities, and export.

    Options:
        dedup_functions_fully: keep one function for all calls of it, and reshard where
            calls do not agree, instead of one for each way to shard it.
    """

    name = "sdy-propagation-pipeline"

    dedup_functions_fully: bool = False

    def import_passes(self) -> list[ModulePass]:
        """What happens before propagation."""
        to_the_form_users_mean: list[ModulePass] = [
            SymbolDCE(),
            LiftInlinedMeshesPass(),
            RemoveSizeOneAxesPass(),
            PropagateShardingFromFuncToCallPass(),
            ConstantOrScalarSplitterPass(),
            SymbolDCE(),
            ManualAxesCleanupPass(),
            AddDataFlowEdgesPass(),
        ]
        constraints: list[ModulePass] = [
            ApplyShardingConstraintsPass(),
            # behind the constraints: members of a group may get shardings from them
            ShardingGroupImportPass(),
        ]
        if self.dedup_functions_fully:
            return [*to_the_form_users_mean, *constraints, AddFuncDataFlowEdgesPass()]
        return [
            *to_the_form_users_mean,
            FlattenCallGraphPass(),
            SymbolDCE(),
            ImportFuncCallsPass(),
            SymbolDCE(),
            *constraints,
        ]

    def export_passes(self) -> list[ModulePass]:
        """What happens after propagation."""
        to_functions: list[ModulePass] = (
            [PropagateToFuncResultsPass(), SinkFuncDataFlowEdgesPass()]
            if self.dedup_functions_fully
            else [ExportNamedComputationsPass(), PropagateToFuncResultsPass()]
        )
        return [
            *to_functions,
            UnflattenCallGraphPass(),
            SymbolDCE(),
            InsertFuncCallReshardsPass(),
            ConstantOrScalarMergerPass(),
            SinkDataFlowEdgesPass(),
            RemoveShardingGroupsPass(),
            ShardingConstraintToReshardPass(),
            UpdateNonDivisibleInputOutputShardingsPass(),
            RemoveSubAxesInInputOutputShardingsPass(),
            CloseShardingsPass(),
            InsertExplicitReshardsPass(enable_full_version=False),
            CanonicalizeCollectives(),
            DropShardingRulesPass(),
        ]

    def passes(self) -> list[ModulePass]:
        """All passes in order."""
        return [
            *self.import_passes(),
            PreOrderFuncsPass(),
            UserPriorityPropagatePass(keep_sharding_rules=True),
            *self.export_passes(),
        ]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: what one of the passes refuses.
        """
        for one in self.passes():
            one.apply(ctx, op)
