"""The pipeline with the choices of XLA's partitioner, where those cost otherwise.

Propagation is Shardy's, in the order of its priorities, of the program as HLO has it
(`through-hlo`), where large functions of several calls stay functions (`inline-for-xla`); operands
are split as results are, and products that are split along what they
sum stay partial (`follow-results`); collectives are left as they come, but with `optimize` for what
libtpu does behind its partitioner: sums of which a part is kept are scattered, equal collectives
are one, and sums that a loop accumulates are behind it. Of steps without constraints, or whose shardings contradict each other, this holds and sends
what libtpu's programs do (docs/evidence/plan.md); the design's pipeline makes less of them.
"""

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ttxdsl.transforms.collectives.optimize_collectives import OptimizeCollectivesPass
from ttxdsl.transforms.pipeline import (
    COLLECTIVES_STAGE,
    FIRST_SHARDING_STAGE,
    LOCAL_STAGE,
    PROPAGATION_STAGE,
    RESHARDS_STAGE,
    TTStableHLOPipelinePass,
    Version,
    WrittenShardings,
    optional,
)
from ttxdsl.transforms.shardy.exporting.sdy_propagate_to_func_results import (
    PropagateToFuncResultsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_sink_func_data_flow_edges import (
    SinkFuncDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_add_func_data_flow_edges import (
    AddFuncDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_pre_order_funcs import PreOrderFuncsPass
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass
from ttxdsl.transforms.stages.follow_results import FollowResultsPass
from ttxdsl.transforms.stages.inline import InlinePass
from ttxdsl.transforms.stages.inline_for_xla import InlineForXlaPass
from ttxdsl.transforms.stages.through_hlo import CarryFreeValuesPass, ThroughHloPass


class _XlaVersion(Version):
    def stages(self, pipeline: TTStableHLOPipelinePass) -> list[ModulePass]:
        _, *others = super().stages(_plain(pipeline))
        return [InlineForXlaPass(), *others]

    def propagation(self, pipeline: TTStableHLOPipelinePass) -> ModulePass:
        return UserPriorityPropagatePass()

    def before(
        self,
        pipeline: TTStableHLOPipelinePass,
        number: int,
        module: ModuleOp,
        written: WrittenShardings,
    ) -> list[ModulePass]:
        passes = super().before(_plain(pipeline), number, module, written)
        if number == FIRST_SHARDING_STAGE:
            passes.append(ThroughHloPass())
        if number == PROPAGATION_STAGE:
            passes += [AddFuncDataFlowEdgesPass(), PreOrderFuncsPass()]
        if number == RESHARDS_STAGE:
            passes.append(FollowResultsPass())
        return passes

    def after(self, pipeline: TTStableHLOPipelinePass, number: int) -> list[ModulePass]:
        scatters = number == COLLECTIVES_STAGE
        passes = super().after(pipeline if scatters else _plain(pipeline), number)
        if number == LOCAL_STAGE:
            passes += optional(
                pipeline,
                OptimizeCollectivesPass(("collective-cse", "sink-collectives")),
            )
        if number == PROPAGATION_STAGE:
            passes = [
                PropagateToFuncResultsPass(),
                SinkFuncDataFlowEdgesPass(),
                *passes,
                InlinePass(),
                CarryFreeValuesPass(),
            ]
        return passes


def _plain(pipeline: TTStableHLOPipelinePass) -> TTStableHLOPipelinePass:
    return replace(pipeline, optimize=False)


VERSION = _XlaVersion()
