"""The pipeline as tt-mlir has it today, where that changes the answer.

`ttxdsl.transforms.pipeline` says how it differs from the design's.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.transforms.pipeline import (
    TTStableHLOPipelinePass,
    Version,
    WrittenShardings,
    is_to_split,
)
from ttxdsl.transforms.shardy.exporting.sdy_reshard_to_collectives import (
    ReshardToCollectivesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_manual_axes_cleanup import (
    ManualAxesCleanupPass,
)
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass
from ttxdsl.transforms.stages.decouple_const_fanout import DecoupleConstFanoutPass
from ttxdsl.transforms.stages.even_out_shardings import EvenOutShardingsPass
from ttxdsl.transforms.stages.flatten_composites import FlattenCompositesPass
from ttxdsl.transforms.stages.insert_reshards_for_unpropagated_ops import (
    InsertReshardsForUnpropagatedOpsPass,
)
from ttxdsl.transforms.stages.reoutline_composites import ReoutlineCompositesPass
from ttxdsl.transforms.stages.replicate_non_splittable_values import (
    ReplicateNonSplittableValuesPass,
)
from ttxdsl.transforms.stages.shardy_ccl_canonicalization import (
    ShardyCCLCanonicalizationPass,
)
from ttxdsl.transforms.stages.supply_sharding_rules import SupplyShardingRulesPass


class _Version2026(Version):
    def propagation(self, pipeline: TTStableHLOPipelinePass) -> ModulePass:
        return UserPriorityPropagatePass(conservative_propagation=True)

    def collectives(self, pipeline: TTStableHLOPipelinePass) -> ModulePass:
        return ReshardToCollectivesPass(cheapest=False)

    def before(
        self,
        pipeline: TTStableHLOPipelinePass,
        number: int,
        module: ModuleOp,
        written: WrittenShardings,
    ) -> list[ModulePass]:
        match number:
            case 1:
                return []
            case 2:
                # here, for calls inside composites are inlined in stage 1
                split = is_to_split(pipeline, module, written)
                return [FlattenCompositesPass()] if split else []
            case 5:
                return [DecoupleConstFanoutPass()]
            case 6:
                return [SupplyShardingRulesPass(), ManualAxesCleanupPass()]
            case 8:
                return [
                    ReplicateNonSplittableValuesPass(),
                    InsertReshardsForUnpropagatedOpsPass(),
                    EvenOutShardingsPass(pipeline.strict),
                ]
            case _:
                return super().before(pipeline, number, module, written)

    def after(self, pipeline: TTStableHLOPipelinePass, number: int) -> list[ModulePass]:
        match number:
            case 8:
                return [EvenOutShardingsPass(pipeline.strict)]
            case 10:
                return [ShardyCCLCanonicalizationPass()]
            case 11:
                return [ReoutlineCompositesPass()]
            case _:
                return super().after(pipeline, number)


VERSION = _Version2026()
