"""Dialects and passes by name: what `xdsl-opt` learns from this package, and all others.

Everything is a `name -> "module:Class"` line, imported when first used, so that
`xdsl-opt` starts no slower because ttxdsl is installed.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from xdsl.dialects import get_all_dialects
from xdsl.ir import Dialect
from xdsl.passes import ModulePass, PassPipeline
from xdsl.transforms import get_all_passes
from xdsl.universe import Universe
from xdsl.utils.exceptions import ArgSpecParseError

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.ir import compat
from ttxdsl.loading.doors import is_there, load
from ttxdsl.loading.plugins import installed_universes, universes

DIALECTS: dict[str, str] = {
    "check": "ttxdsl.dialects.check:Check",
    "chlo": "ttxdsl.dialects.chlo:Chlo",
    "interpreter": "ttxdsl.dialects.interpreter:Interpreter",
    "quant": "ttxdsl.dialects.quant:Quant",
    "sdy": "ttxdsl.dialects.sdy:Sdy",
    "stablehlo": "ttxdsl.dialects.stablehlo:StableHLO",
    "ttcore": "ttxdsl.dialects.ttcore:TTCore",
    "ttir": "ttxdsl.dialects.ttir:TTIR",
    "ttnn": "ttxdsl.dialects.ttnn:TTNN",
}

_STAGES = "ttxdsl.transforms.stages"
_SHARDY = "ttxdsl.transforms.shardy"
_IMPORTING = f"{_SHARDY}.importing"
_PROPAGATION = f"{_SHARDY}.propagation"
_EXPORTING = f"{_SHARDY}.exporting"
_LEGALIZE = "ttxdsl.bridges.tt_mlir.legalize"

PASSES: dict[str, str] = {
    # the thirteen stages, in order; the last, `canonicalize`, is xDSL's own
    "inline": f"{_STAGES}.inline:InlinePass",
    "apply-tt-argument-annotations": f"{_STAGES}.apply_tt_argument_annotations:ApplyTTArgumentAnnotationsPass",
    "apply-argument-shard-status": f"{_STAGES}.apply_argument_shard_status:ApplyArgumentShardStatusPass",
    "apply-shardy-argument-annotations": f"{_STAGES}.apply_shardy_argument_annotations:ApplyShardyArgumentAnnotationsPass",
    "sdy-apply-sharding-constraints": f"{_IMPORTING}.sdy_apply_sharding_constraints:ApplyShardingConstraintsPass",
    "sdy-aggressive-propagate": f"{_PROPAGATION}.aggressive:AggressivePropagatePass",
    "sdy-sharding-constraint-to-reshard": f"{_EXPORTING}.sdy_sharding_constraint_to_reshard:ShardingConstraintToReshardPass",
    "sdy-insert-explicit-reshards": f"{_EXPORTING}.sdy_insert_explicit_reshards:InsertExplicitReshardsPass",
    "wrap-under-manual-computation": f"{_STAGES}.wrap_under_manual_computation:WrapUnderManualComputationPass",
    "sdy-reshard-to-collectives": f"{_EXPORTING}.sdy_reshard_to_collectives:ReshardToCollectivesPass",
    "update-global-to-local-shapes": f"{_STAGES}.update_global_to_local_shapes:UpdateGlobalToLocalShapesPass",
    "sdy-close-shardings": f"{_EXPORTING}.sdy_close_shardings:CloseShardingsPass",
    "tt-stablehlo-pipeline": "ttxdsl.transforms.pipeline:TTStableHLOPipelinePass",
    # ours, behind stage 11
    "optimize-collectives": "ttxdsl.transforms.collectives.optimize_collectives:OptimizeCollectivesPass",
    # other propagation passes of Shardy
    "sdy-basic-propagate": f"{_PROPAGATION}.basic:BasicPropagatePass",
    "sdy-op-priority-propagate": f"{_PROPAGATION}.op_priority:OpPriorityPropagatePass",
    "sdy-user-priority-propagate": f"{_PROPAGATION}.user_priority:UserPriorityPropagatePass",
    "sdy-populate-op-sharding-rules": f"{_PROPAGATION}.sdy_populate_op_sharding_rules:PopulateOpShardingRulesPass",
    # what tt-mlir's pipeline of 2026 adds
    "batch-counting-indices": f"{_STAGES}.batch_counting_indices:BatchCountingIndicesPass",
    "decouple-const-fanout": f"{_STAGES}.decouple_const_fanout:DecoupleConstFanoutPass",
    "replicate-non-splittable-values": f"{_STAGES}.replicate_non_splittable_values:ReplicateNonSplittableValuesPass",
    "insert-reshards-for-unpropagated-ops": f"{_STAGES}.insert_reshards_for_unpropagated_ops:InsertReshardsForUnpropagatedOpsPass",
    "shardy-ccl-canonicalization": f"{_STAGES}.shardy_ccl_canonicalization:ShardyCCLCanonicalizationPass",
    "import-xla-sdy": "ttxdsl.transforms.frontends.import_xla_sdy:ImportXlaSdyPass",
    "unify-meshes": f"{_STAGES}.unify_meshes:UnifyMeshesPass",
    "open-composites": f"{_STAGES}.open_composites:OpenCompositesPass",
    "flatten-or-convert-composites": f"{_STAGES}.flatten_composites:FlattenCompositesPass",
    "reoutline-composites": f"{_STAGES}.reoutline_composites:ReoutlineCompositesPass",
    "constant-places": f"{_STAGES}.constant_places:ConstantPlacesPass",
    "frame-uneven-values": f"{_STAGES}.frame_uneven_values:FrameUnevenValuesPass",
    "gather-before-slices": f"{_STAGES}.gather_before_slices:GatherBeforeSlicesPass",
    "follow-results": f"{_STAGES}.follow_results:FollowResultsPass",
    "inline-for-xla": f"{_STAGES}.inline_for_xla:InlineForXlaPass",
    "through-hlo": f"{_STAGES}.through_hlo:ThroughHloPass",
    "carry-free-values": f"{_STAGES}.through_hlo:CarryFreeValuesPass",
    "simplify-reshards": f"{_STAGES}.simplify_reshards:SimplifyReshardsPass",
    "sum-dynamic-slices": f"{_STAGES}.sum_dynamic_slices:SumDynamicSlicesPass",
    "fold-tuples": f"{_STAGES}.fold_tuples:FoldTuplesPass",
    "drop-idle-shardings": f"{_STAGES}.drop_idle_shardings:DropIdleShardingsPass",
    "even-out-shardings": f"{_STAGES}.even_out_shardings:EvenOutShardingsPass",
    "pad-borders": f"{_STAGES}.pad_borders:PadBordersPass",
    "pad-carries": f"{_STAGES}.pad_carries:PadCarriesPass",
    "verify-stage": f"{_STAGES}.verify_stage:VerifyStagePass",
    "sdy-drop-sharding-rules": f"{_EXPORTING}.sdy_drop_sharding_rules:DropShardingRulesPass",
    "supply-sharding-rules": f"{_STAGES}.supply_sharding_rules:SupplyShardingRulesPass",
    # import: what happens to a module before propagation
    "sdy-lift-inlined-meshes": f"{_IMPORTING}.sdy_lift_inlined_meshes:LiftInlinedMeshesPass",
    "sdy-inline-meshes": f"{_IMPORTING}.sdy_inline_meshes:InlineMeshesPass",
    "sdy-remove-size-one-axes": f"{_IMPORTING}.sdy_remove_size_one_axes:RemoveSizeOneAxesPass",
    "sdy-manual-axes-cleanup": f"{_IMPORTING}.sdy_manual_axes_cleanup:ManualAxesCleanupPass",
    "sdy-sharding-group-import": f"{_IMPORTING}.sdy_sharding_group_import:ShardingGroupImportPass",
    "sdy-add-data-flow-edges": f"{_IMPORTING}.sdy_add_data_flow_edges:AddDataFlowEdgesPass",
    "sdy-constant-or-scalar-splitter": f"{_IMPORTING}.sdy_constant_or_scalar_splitter:ConstantOrScalarSplitterPass",
    "sdy-flatten-call-graph": f"{_IMPORTING}.sdy_flatten_call_graph:FlattenCallGraphPass",
    "sdy-import-func-calls": f"{_IMPORTING}.sdy_import_func_calls:ImportFuncCallsPass",
    "sdy-propagate-sharding-from-func-to-call": f"{_IMPORTING}.sdy_propagate_sharding_from_func_to_call:PropagateShardingFromFuncToCallPass",
    "sdy-pre-order-funcs": f"{_IMPORTING}.sdy_pre_order_funcs:PreOrderFuncsPass",
    "sdy-add-func-data-flow-edges": f"{_IMPORTING}.sdy_add_func_data_flow_edges:AddFuncDataFlowEdgesPass",
    "sdy-explicit-gather-scatter-batching": f"{_IMPORTING}.sdy_explicit_gather_scatter_batching:ExplicitGatherScatterBatchingPass",
    # export: what happens to a module after propagation
    "sdy-sink-data-flow-edges": f"{_EXPORTING}.sdy_sink_data_flow_edges:SinkDataFlowEdgesPass",
    "sdy-remove-sharding-groups": f"{_EXPORTING}.sdy_remove_sharding_groups:RemoveShardingGroupsPass",
    "sdy-drop-sharding-and-mesh": f"{_EXPORTING}.sdy_drop_sharding_and_mesh:DropShardingAndMeshPass",
    "sdy-constant-or-scalar-merger": f"{_EXPORTING}.sdy_constant_or_scalar_merger:ConstantOrScalarMergerPass",
    "sdy-update-non-divisible-input-output-shardings": f"{_EXPORTING}.sdy_update_non_divisible_input_output_shardings:UpdateNonDivisibleInputOutputShardingsPass",
    "sdy-remove-sub-axes-in-input-output-shardings": f"{_EXPORTING}.sdy_remove_sub_axes_in_input_output_shardings:RemoveSubAxesInInputOutputShardingsPass",
    "sdy-export-named-computations": f"{_EXPORTING}.sdy_export_named_computations:ExportNamedComputationsPass",
    "sdy-propagate-to-func-results": f"{_EXPORTING}.sdy_propagate_to_func_results:PropagateToFuncResultsPass",
    "sdy-unflatten-call-graph": f"{_EXPORTING}.sdy_unflatten_call_graph:UnflattenCallGraphPass",
    "sdy-sink-func-data-flow-edges": f"{_EXPORTING}.sdy_sink_func_data_flow_edges:SinkFuncDataFlowEdgesPass",
    "sdy-verify-unreduced-axes": f"{_EXPORTING}.sdy_verify_unreduced_axes:VerifyUnreducedAxesPass",
    "sdy-insert-func-call-reshards": f"{_EXPORTING}.sdy_insert_func_call_reshards:InsertFuncCallReshardsPass",
    "sdy-remove-propagation-debug-info": f"{_EXPORTING}.sdy_remove_propagation_debug_info:RemovePropagationDebugInfoPass",
    "sdy-remove-all-gather-reduce-scatter-for-cmv1": f"{_EXPORTING}.sdy_remove_all_gather_reduce_scatter_for_cmv1:RemoveAllGatherReduceScatterForCMV1Pass",
    # several of them at once
    "canonicalize": f"{_SHARDY}.canonicalize:LabelledCanonicalizePass",
    "symbol-dce": f"{_SHARDY}.symbol_dce:SymbolDCE",
    "sdy-import-pipeline": f"{_IMPORTING}.sdy_import_pipeline:ImportPipelinePass",
    "sdy-export-pipeline": f"{_EXPORTING}.sdy_export_pipeline:ExportPipelinePass",
    "sdy-propagation-pipeline": f"{_PROPAGATION}.sdy_propagation_pipeline:PropagationPipelinePass",
    # per-device programs for tt-mlir, all of them or one by one
    "prepare-for-tt-mlir": f"{_LEGALIZE}.prepare_for_tt_mlir:PrepareForTTMLIRPass",
    "require-known": f"{_LEGALIZE}.require_known:RequireKnownPass",
    "fit-mesh": f"{_LEGALIZE}.fit_mesh:FitMeshPass",
    "align-collectives": f"{_LEGALIZE}.align_collectives:AlignCollectivesPass",
    "open-chlo": f"{_LEGALIZE}.open_chlo:OpenChloPass",
    "order-sorts": f"{_LEGALIZE}.order_sorts:OrderSortsPass",
    "open-computations": f"{_LEGALIZE}.open_computations:OpenComputationsPass",
    "open-forms": f"{_LEGALIZE}.open_forms:OpenFormsPass",
    "mark-borders": f"{_LEGALIZE}.mark_borders:MarkBordersPass",
    # per-device programs for XLA
    "join-collectives": f"{_LEGALIZE}.join_collectives:JoinCollectivesPass",
    # lowering
    "convert-stablehlo-to-ttir": "ttxdsl.conversion.stablehlo_to_ttir.convert:ConvertStableHLOToTTIRPass",
    "convert-ttir-to-ttnn": "ttxdsl.conversion.ttir_to_ttnn.convert:ConvertTTIRToTTNNPass",
}


def dialects() -> dict[str, Callable[[], Dialect]]:
    """Every dialect by name: xDSL's, those of plug-ins, and before these ours.

    Raises:
        CompileError: two plug-ins have one name, or one cannot be imported.
    """
    return {**get_all_dialects(), **_of_plugins("all_dialects"), **_ours(DIALECTS)}


def passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Every pass by name, as `dialects`."""
    return {**get_all_passes(), **_of_plugins("all_passes"), **_ours(PASSES)}


def named_pass(text: str) -> ModulePass:
    """A pass by its name and options, as `xdsl-opt -p` takes it, a plug-in's too.

    Args:
        text: `sdy-op-priority-propagate`, `NAME{option=value}`.

    Raises:
        CompileError: there is no such pass or option, or several are named.
    """
    try:
        (pass_,) = PassPipeline.parse_spec(passes(), text).passes
    except (ArgSpecParseError, ValueError, TypeError) as error:
        raise CompileError(f"'{visible(text)}' is not one pass: {error}") from error
    return pass_


def _ours(
    table: dict[str, str], load: Callable[[str], Any] = load
) -> dict[str, Callable[[], Any]]:
    """The lines of a table whose part of this package is there."""
    return {
        name: partial(load, target)
        for name, target in table.items()
        if is_there(target)
    }


def _of_plugins(table: str) -> dict[str, Callable[[], Any]]:
    """One table of all universes; names that we have are ours."""
    factories: dict[str, Callable[[], Any]] = {}
    brought: dict[str, str] = {}
    for plugin, universe in universes().items():
        for name, factory in getattr(universe, table).items():
            if name in brought and name not in DIALECTS and name not in PASSES:
                raise CompileError(
                    f"the plug-ins '{brought[name]}' and '{plugin}' both bring '{name}'"
                )
            factories[name], brought[name] = factory, plugin
    return factories


def yield_names_to_ttxdsl(others: dict[str, Universe]) -> None:
    """Take our dialect and pass names out of other plug-ins' universes.

    xDSL refuses to start `xdsl-opt` at all when two universes share a name, and
    xdsl-jax also brings a `stablehlo`. Ours reads everything that xdsl-jax's reads,
    and our passes need our op classes, so ours stays.
    """
    for universe in others.values():
        for name in DIALECTS:
            universe.all_dialects.pop(name, None)
        for name in PASSES:
            universe.all_passes.pop(name, None)


def _with_plugins(target: str) -> Any:
    """Return a line's target for `xdsl-opt`, after loading plug-ins."""
    universes()
    return load(target)


@cache
def _universe() -> Universe:
    yield_names_to_ttxdsl(installed_universes())
    return Universe(
        all_dialects=_ours(DIALECTS, _with_plugins),
        all_passes=_ours(PASSES, _with_plugins),
    )


def __getattr__(name: str) -> Any:
    # not before xDSL asks: a plug-in that is being imported may import this module
    if name == "UNIVERSE":
        return _universe()
    raise AttributeError(f"module 'ttxdsl.universe' has no attribute '{name}'")


compat.mend_xdsl()
