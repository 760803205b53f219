"""The passes on a module before propagation, in one pass.

Meshes get names, axes of size one go, each use of a constant gets one of its own, and
data flow edges become ops.

Source: Shardy's `addImportPipeline`.
"""

from dataclasses import dataclass

from xdsl.passes import ModulePass

from ttxdsl.transforms.shardy.importing.sdy_add_data_flow_edges import (
    AddDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_apply_sharding_constraints import (
    ApplyShardingConstraintsPass,
)
from ttxdsl.transforms.shardy.importing.sdy_constant_or_scalar_splitter import (
    ConstantOrScalarSplitterPass,
)
from ttxdsl.transforms.shardy.importing.sdy_lift_inlined_meshes import (
    LiftInlinedMeshesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_manual_axes_cleanup import (
    ManualAxesCleanupPass,
)
from ttxdsl.transforms.shardy.importing.sdy_propagate_sharding_from_func_to_call import (
    PropagateShardingFromFuncToCallPass,
)
from ttxdsl.transforms.shardy.importing.sdy_remove_size_one_axes import (
    RemoveSizeOneAxesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_sharding_group_import import (
    ShardingGroupImportPass,
)
from ttxdsl.transforms.shardy.sequence import PassSequence
from ttxdsl.transforms.shardy.symbol_dce import SymbolDCE


def import_constraints() -> list[ModulePass]:
    """Return the passes that apply constraints and groups.

    Groups come behind the constraints: members may get shardings from them.
    """
    return [ApplyShardingConstraintsPass(), ShardingGroupImportPass()]


@dataclass(frozen=True)
class ImportPipelinePass(PassSequence):
    """Bring a module into the form in which propagation does what users mean.

    Options:
        dedup_functions_fully: functions stay functions, so that constraints and groups
            are imported here too; otherwise each call first gets its own copy of the
            callee (see `sdy-propagation-pipeline`).
    """

    name = "sdy-import-pipeline"

    dedup_functions_fully: bool = False

    def passes(self) -> list[ModulePass]:
        """Return all passes in order."""
        return [
            SymbolDCE(),
            LiftInlinedMeshesPass(),
            RemoveSizeOneAxesPass(),
            PropagateShardingFromFuncToCallPass(),
            ConstantOrScalarSplitterPass(),
            SymbolDCE(),
            ManualAxesCleanupPass(),
            AddDataFlowEdgesPass(),
            *(import_constraints() if self.dedup_functions_fully else ()),
        ]
