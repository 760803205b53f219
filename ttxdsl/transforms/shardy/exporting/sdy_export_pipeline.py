"""The passes on a module after propagation, in one pass.

Edges and groups go, constraints become reshards, what propagation left open is closed,
and ops get reshards, or collectives, where their operands do not fit.

Source: Shardy's `addExportPipeline`.
"""

from dataclasses import dataclass

from xdsl.passes import ModulePass

from ttxdsl.dialects import sdy
from ttxdsl.transforms.shardy.canonicalize import LabelledCanonicalizePass
from ttxdsl.transforms.shardy.exporting.sdy_close_shardings import CloseShardingsPass
from ttxdsl.transforms.shardy.exporting.sdy_constant_or_scalar_merger import (
    ConstantOrScalarMergerPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_drop_sharding_rules import (
    DropShardingRulesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_insert_explicit_reshards import (
    InsertExplicitReshardsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_remove_all_gather_reduce_scatter_for_cmv1 import (
    RemoveAllGatherReduceScatterForCMV1Pass,
)
from ttxdsl.transforms.shardy.exporting.sdy_remove_propagation_debug_info import (
    RemovePropagationDebugInfoPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_remove_sharding_groups import (
    RemoveShardingGroupsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_remove_sub_axes_in_input_output_shardings import (
    RemoveSubAxesInInputOutputShardingsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_reshard_to_collectives import (
    ReshardToCollectivesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_sharding_constraint_to_reshard import (
    ShardingConstraintToReshardPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_sink_data_flow_edges import (
    SinkDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_update_non_divisible_input_output_shardings import (
    UpdateNonDivisibleInputOutputShardingsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_verify_unreduced_axes import (
    VerifyUnreducedAxesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_inline_meshes import InlineMeshesPass
from ttxdsl.transforms.shardy.save_module import SaveModule
from ttxdsl.transforms.shardy.sequence import PassSequence


@dataclass(frozen=True)
class ExportPipelinePass(PassSequence):
    """Turn a propagated module into one for a partitioner.

    Options:
        dump_directory: where to write the module before, between and after the passes
            that insert reshards, as numbered `.mlir` files.
        avoid_export_for_partitioning: keep groups and constraints and insert no
            reshards, so that the module can be propagated again.
        enable_insert_explicit_collectives: insert reshards wherever shardings do not
            fit, and make collectives of them.
        remove_all_gather_reduce_scatter_for_cmv1: with these, leave out the ones beside
            matrix products.
        keep_sharding_rules: keep the rules that propagation wrote on ops.
        dump_sharding_origins: read by the passes that sink edges; the debugging
            attributes go at the end.
        dump_propagation_edges: the same.
        avoid_reshards_on_calls: changes nothing, as in C++.
        update_non_divisible_input_output_shardings: cut the shardings of arguments and
            results down to what divides their dimensions.
        mark_partial_result_with_unreduced_axes: see `sdy-insert-explicit-reshards`.
        inline_meshes: write meshes into shardings at the end (false; jaxlib 0.12: true).
        newest: check unreduced axes before reshards are inserted, as jaxlib 0.12 does.
    """

    name = "sdy-export-pipeline"

    dump_directory: str = ""
    avoid_export_for_partitioning: bool = False
    enable_insert_explicit_collectives: bool = False
    remove_all_gather_reduce_scatter_for_cmv1: bool = False
    keep_sharding_rules: bool = False
    dump_sharding_origins: bool = False
    dump_propagation_edges: bool = False
    avoid_reshards_on_calls: bool = False
    update_non_divisible_input_output_shardings: bool = True
    mark_partial_result_with_unreduced_axes: bool = False
    inline_meshes: bool = False
    newest: bool = False

    def passes(self) -> list[ModulePass]:
        """Return all passes in order."""
        partition = not self.avoid_export_for_partitioning
        passes: list[ModulePass] = [
            ConstantOrScalarMergerPass(),
            SinkDataFlowEdgesPass(
                self.dump_sharding_origins, self.dump_propagation_edges
            ),
        ]
        if partition:
            passes += [RemoveShardingGroupsPass(), ShardingConstraintToReshardPass()]
        if self.update_non_divisible_input_output_shardings:
            passes += [
                UpdateNonDivisibleInputOutputShardingsPass(),
                RemoveSubAxesInInputOutputShardingsPass(),
            ]
        passes += [CloseShardingsPass(), self._save("after_propagation", 0)]
        if partition:
            passes += self._partition()
        if self.dump_sharding_origins or self.dump_propagation_edges:
            passes.append(RemovePropagationDebugInfoPass())
        if not self.keep_sharding_rules:
            passes.append(DropShardingRulesPass())
        if self.inline_meshes and partition:
            passes.append(InlineMeshesPass())
        return passes

    def _partition(self) -> list[ModulePass]:
        """Return the passes that insert reshards and, as an option, collectives."""
        explicit = self.enable_insert_explicit_collectives
        tidy = LabelledCanonicalizePass(sdy.COLLECTIVE_LABEL)
        reshards: list[ModulePass] = [
            *([VerifyUnreducedAxesPass()] if self.newest else ()),
            InsertExplicitReshardsPass(
                enable_full_version=explicit,
                mark_partial_result_with_unreduced_axes=self.mark_partial_result_with_unreduced_axes,
            ),
        ]
        if not explicit:
            minimal = self._save("after_minimal_partitioner_with_global_shapes", 1)
            return [*reshards, tidy, minimal]
        collectives: list[ModulePass] = [
            *reshards,
            self._save("after_explicit_reshards", 1),
            LabelledCanonicalizePass(sdy.RESHARD_LABEL),
            ReshardToCollectivesPass(),
            tidy,
        ]
        if self.remove_all_gather_reduce_scatter_for_cmv1:
            collectives.append(RemoveAllGatherReduceScatterForCMV1Pass())
        return [*collectives, self._save("after_partitioner_with_global_shapes", 2)]

    def _save(self, file: str, index: int) -> SaveModule:
        return SaveModule(self.dump_directory, file, index)
