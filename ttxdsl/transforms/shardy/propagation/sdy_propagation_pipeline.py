"""The whole of Shardy in one pass: import, propagation by priorities, export.

Import brings the program into the form in which propagation does what users mean:
meshes have names, axes of size one are gone, each use of a constant is one of its own,
each call has its own copy of the callee, and data flow edges are ops. Export goes back:
computations are functions again, copies that were sharded alike are one, constraints
are reshards, and what propagation left open is closed.

Source: Shardy's `addPropagationPipeline`.
"""

from dataclasses import dataclass

from xdsl.passes import ModulePass

from ttxdsl.transforms.shardy.exporting.sdy_export_named_computations import (
    ExportNamedComputationsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_export_pipeline import ExportPipelinePass
from ttxdsl.transforms.shardy.exporting.sdy_insert_func_call_reshards import (
    InsertFuncCallReshardsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_propagate_to_func_results import (
    PropagateToFuncResultsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_sink_func_data_flow_edges import (
    SinkFuncDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_unflatten_call_graph import (
    UnflattenCallGraphPass,
)
from ttxdsl.transforms.shardy.importing.sdy_add_func_data_flow_edges import (
    AddFuncDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_flatten_call_graph import (
    FlattenCallGraphPass,
)
from ttxdsl.transforms.shardy.importing.sdy_import_func_calls import ImportFuncCallsPass
from ttxdsl.transforms.shardy.importing.sdy_import_pipeline import (
    ImportPipelinePass,
    import_constraints,
)
from ttxdsl.transforms.shardy.importing.sdy_pre_order_funcs import PreOrderFuncsPass
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass
from ttxdsl.transforms.shardy.sequence import PassSequence
from ttxdsl.transforms.shardy.symbol_dce import SymbolDCE


@dataclass(frozen=True)
class PropagationPipelinePass(PassSequence):
    """Import, propagate in the order of user and op priorities, and export.

    Options:
        dedup_functions_fully: keep one function for all calls of it, and reshard where
            calls do not agree, instead of one for each way to shard it.
        newest: as jaxlib 0.12 does, import constraints while functions are functions,
            and check unreduced axes before reshards are inserted.
    """

    name = "sdy-propagation-pipeline"

    dedup_functions_fully: bool = False
    newest: bool = False

    def _calls_to_edges(self) -> list[ModulePass]:
        """Let shardings through calls."""
        if self.dedup_functions_fully:
            return [AddFuncDataFlowEdgesPass()]
        constraints, groups = import_constraints()
        bodies: list[ModulePass] = [ImportFuncCallsPass(), SymbolDCE()]
        as_functions: list[ModulePass] = [
            AddFuncDataFlowEdgesPass(),
            constraints,
            SinkFuncDataFlowEdgesPass(),
            groups,
            *bodies,
        ]
        return [
            FlattenCallGraphPass(),
            SymbolDCE(),
            *(as_functions if self.newest else [*bodies, constraints, groups]),
        ]

    def _edges_to_calls(self) -> list[ModulePass]:
        """Bring calls back, and reshard their results where they do not fit."""
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
        ]

    def passes(self) -> list[ModulePass]:
        """Return all passes in order."""
        return [
            ImportPipelinePass(self.dedup_functions_fully),
            *self._calls_to_edges(),
            PreOrderFuncsPass(),
            UserPriorityPropagatePass(keep_sharding_rules=True),
            *self._edges_to_calls(),
            ExportPipelinePass(newest=self.newest),
        ]
