"""The sdy dialect: meshes, shardings, and the ops that constrain or move shards.

Attributes wrap the values of `ttxdsl.sharding`; algorithms stay there. The pieces:

- `_sdy.attributes`: the attributes; their text is in `_sdy.syntax`, payloads that the
  theory does not need in `_sdy.values`;
- `_sdy.ops`: the ops;
- `_sdy.access`: where values keep their shardings, which mesh a sharding means;
- `_sdy.verify`, `_sdy.verify_ops`: the constraints of values, and of ops in modules.

Importing this gives xDSL's module op a trait that checks `sdy.` attributes.

Everything is imported from here.

Source: Shardy's dialect documentation.
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect

from ttxdsl.dialects._sdy.access import (
    BLOCK_ARGUMENT_SHARDING as BLOCK_ARGUMENT_SHARDING,
    IS_PLAIN as IS_PLAIN,
    PROPAGATION_EDGES as PROPAGATION_EDGES,
    SHARDING as SHARDING,
    SHARDING_RULE as SHARDING_RULE,
    behind_barriers as behind_barriers,
    drop_func_shardings as drop_func_shardings,
    edge_owner as edge_owner,
    enclosing_function as enclosing_function,
    enclosing_module as enclosing_module,
    find_data_flow_edge as find_data_flow_edge,
    find_mesh as find_mesh,
    fully_open_shardings as fully_open_shardings,
    func_argument_shardings as func_argument_shardings,
    func_result_shardings as func_result_shardings,
    get_func_argument_sharding as get_func_argument_sharding,
    get_func_result_sharding as get_func_result_sharding,
    get_mesh as get_mesh,
    get_sharding as get_sharding,
    is_of_sdy as is_of_sdy,
    mesh_table as mesh_table,
    owning_op as owning_op,
    set_func_argument_sharding as set_func_argument_sharding,
    set_func_result_sharding as set_func_result_sharding,
    set_func_shardings as set_func_shardings,
    set_sharding as set_sharding,
    shardable_value as shardable_value,
    tensor_rank as tensor_rank,
    transform_func_shardings as transform_func_shardings,
    transform_shardings as transform_shardings,
    transform_shardings_of_values as transform_shardings_of_values,
    without_sdy as without_sdy,
    written_shardings as written_shardings,
)
from ttxdsl.dialects._sdy.attributes import (
    ATTRIBUTES,
    AllToAllParamAttr as AllToAllParamAttr,
    AllToAllParamListAttr as AllToAllParamListAttr,
    AxisRefAttr as AxisRefAttr,
    AxisRefListAttr as AxisRefListAttr,
    AxisToPropagationDetailsAttr as AxisToPropagationDetailsAttr,
    DimensionShardingAttr as DimensionShardingAttr,
    DimMappingAttr as DimMappingAttr,
    EdgeValueRefAttr as EdgeValueRefAttr,
    ListOfAxisRefListsAttr as ListOfAxisRefListsAttr,
    ManualAxesAttr as ManualAxesAttr,
    MeshAttr as MeshAttr,
    MeshAxisAttr as MeshAxisAttr,
    OpShardingRuleAttr as OpShardingRuleAttr,
    PropagationEdgesAttr as PropagationEdgesAttr,
    PropagationOneStepAttr as PropagationOneStepAttr,
    SubAxisInfoAttr as SubAxisInfoAttr,
    TensorMappingAttr as TensorMappingAttr,
    TensorShardingAttr as TensorShardingAttr,
    TensorShardingPerValueAttr as TensorShardingPerValueAttr,
)
from ttxdsl.dialects._sdy.canonicalize import (
    COLLECTIVE_LABEL as COLLECTIVE_LABEL,
    PATTERNS,
    RESHARD_LABEL as RESHARD_LABEL,
    rewrite_label as rewrite_label,
)
from ttxdsl.dialects._sdy.ops import (
    OPS,
    AllGatherOp as AllGatherOp,
    AllReduceOp as AllReduceOp,
    AllSliceOp as AllSliceOp,
    AllToAllOp as AllToAllOp,
    AnySharding as AnySharding,
    CollectiveOp as CollectiveOp,
    CollectivePermuteOp as CollectivePermuteOp,
    CombiningOp as CombiningOp,
    ConstantOp as ConstantOp,
    DataFlowEdgeOp as DataFlowEdgeOp,
    FuncDataFlowEdgeOp as FuncDataFlowEdgeOp,
    ManualComputationOp as ManualComputationOp,
    MeshOp as MeshOp,
    NamedComputationOp as NamedComputationOp,
    PropagationBarrierOp as PropagationBarrierOp,
    ReduceScatterOp as ReduceScatterOp,
    ReplicatedToUnreducedOp as ReplicatedToUnreducedOp,
    ReshardOp as ReshardOp,
    ReturnOp as ReturnOp,
    ShardedToUnreducedOp as ShardedToUnreducedOp,
    ShardingConstraintOp as ShardingConstraintOp,
    ShardingGroupOp as ShardingGroupOp,
    ShardingOp as ShardingOp,
    SymbolUserOp as SymbolUserOp,
)
from ttxdsl.dialects._sdy.registry import CHECKS, REWRITES
from ttxdsl.dialects._sdy.values import (
    AxisPropagation as AxisPropagation,
    EdgeNodeType as EdgeNodeType,
    EdgeValueRef as EdgeValueRef,
    PropagationStep as PropagationStep,
)
from ttxdsl.dialects._sdy.verify_ops import (
    ShardingsVerify as ShardingsVerify,
    bound_axes as bound_axes,
    common_mesh as common_mesh,
    verify_op as verify_op,
    verify_sharding as verify_sharding,
    verify_shardings as verify_shardings,
    verify_transition as verify_transition,
)
from ttxdsl.sharding.reshard.collectives import AllToAllParam as AllToAllParam
from ttxdsl.sharding.step import PropagationDirection as PropagationDirection

CHECKS.append(verify_op)
REWRITES.update(PATTERNS)

Sdy = Dialect("sdy", OPS, ATTRIBUTES)

ModuleOp.traits.add_trait(ShardingsVerify())
