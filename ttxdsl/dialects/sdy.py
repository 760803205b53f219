"""The sdy dialect: meshes, shardings, and the ops that constrain or move shards.

Attributes wrap the values of `ttxdsl.sharding`; algorithms stay there. The pieces:

- `_sdy_attributes`: the attributes; their text is in `_sdy_syntax`, payloads that the
  theory does not need in `_sdy_values`;
- `_sdy_ops`: the ops;
- `_sdy_access`: where values keep their shardings, which mesh a sharding means;
- `_sdy_verify`, `_sdy_verify_ops`: the constraints of values, and of ops in modules.

Importing this gives xDSL's module op a trait that checks `sdy.` attributes.

Everything is imported from here.

Source: Shardy's dialect documentation.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Dialect

from ttxdsl.dialects._sdy_access import (
    BLOCK_ARGUMENT_SHARDING,
    IS_PLAIN,
    PROPAGATION_EDGES,
    SHARDING,
    SHARDING_RULE,
    edge_owner,
    enclosing_module,
    find_data_flow_edge,
    find_mesh,
    fully_open_shardings,
    func_argument_shardings,
    func_result_shardings,
    get_func_argument_sharding,
    get_func_result_sharding,
    get_mesh,
    get_sharding,
    mesh_table,
    owning_op,
    set_func_argument_sharding,
    set_func_result_sharding,
    set_func_shardings,
    set_sharding,
    shardable_value,
    tensor_rank,
    transform_shardings,
)
from ttxdsl.dialects._sdy_attributes import (
    ATTRIBUTES,
    AllToAllParamAttr,
    AllToAllParamListAttr,
    AxisRefAttr,
    AxisRefListAttr,
    AxisToPropagationDetailsAttr,
    DimensionShardingAttr,
    DimMappingAttr,
    EdgeValueRefAttr,
    ListOfAxisRefListsAttr,
    ManualAxesAttr,
    MeshAttr,
    MeshAxisAttr,
    OpShardingRuleAttr,
    PropagationEdgesAttr,
    PropagationOneStepAttr,
    SubAxisInfoAttr,
    TensorMappingAttr,
    TensorShardingAttr,
    TensorShardingPerValueAttr,
)
from ttxdsl.dialects._sdy_ops import (
    OPS,
    AllGatherOp,
    AllReduceOp,
    AllSliceOp,
    AllToAllOp,
    AnySharding,
    CollectiveOp,
    CollectivePermuteOp,
    ConstantOp,
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    ManualComputationOp,
    MeshOp,
    NamedComputationOp,
    PropagationBarrierOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ReshardOp,
    ReturnOp,
    ShardedToUnreducedOp,
    ShardingConstraintOp,
    ShardingGroupOp,
    ShardingOp,
    SymbolUserOp,
)
from ttxdsl.dialects._sdy_values import (
    AllToAllParam,
    AxisPropagation,
    EdgeNodeType,
    EdgeValueRef,
    PropagationDirection,
    PropagationStep,
)
from ttxdsl.dialects._sdy_verify_ops import (
    ShardingsVerify,
    bound_axes,
    common_mesh,
    verify_sharding,
    verify_shardings,
)

Sdy = Dialect("sdy", OPS, ATTRIBUTES)

ModuleOp.traits.add_trait(ShardingsVerify())

__all__ = [
    "BLOCK_ARGUMENT_SHARDING",
    "IS_PLAIN",
    "PROPAGATION_EDGES",
    "SHARDING",
    "SHARDING_RULE",
    "AllGatherOp",
    "AllReduceOp",
    "AllSliceOp",
    "AllToAllOp",
    "AllToAllParam",
    "AllToAllParamAttr",
    "AllToAllParamListAttr",
    "AnySharding",
    "AxisPropagation",
    "AxisRefAttr",
    "AxisRefListAttr",
    "AxisToPropagationDetailsAttr",
    "CollectiveOp",
    "CollectivePermuteOp",
    "ConstantOp",
    "DataFlowEdgeOp",
    "DimMappingAttr",
    "DimensionShardingAttr",
    "EdgeNodeType",
    "EdgeValueRef",
    "EdgeValueRefAttr",
    "FuncDataFlowEdgeOp",
    "ListOfAxisRefListsAttr",
    "ManualAxesAttr",
    "ManualComputationOp",
    "MeshAttr",
    "MeshAxisAttr",
    "MeshOp",
    "NamedComputationOp",
    "OpShardingRuleAttr",
    "PropagationBarrierOp",
    "PropagationDirection",
    "PropagationEdgesAttr",
    "PropagationOneStepAttr",
    "PropagationStep",
    "ReduceScatterOp",
    "ReplicatedToUnreducedOp",
    "ReshardOp",
    "ReturnOp",
    "Sdy",
    "ShardedToUnreducedOp",
    "ShardingConstraintOp",
    "ShardingGroupOp",
    "ShardingOp",
    "ShardingsVerify",
    "SubAxisInfoAttr",
    "SymbolUserOp",
    "TensorMappingAttr",
    "TensorShardingAttr",
    "TensorShardingPerValueAttr",
    "bound_axes",
    "common_mesh",
    "edge_owner",
    "enclosing_module",
    "find_data_flow_edge",
    "find_mesh",
    "fully_open_shardings",
    "func_argument_shardings",
    "func_result_shardings",
    "get_func_argument_sharding",
    "get_func_result_sharding",
    "get_mesh",
    "get_sharding",
    "mesh_table",
    "owning_op",
    "set_func_argument_sharding",
    "set_func_result_sharding",
    "set_func_shardings",
    "set_sharding",
    "shardable_value",
    "tensor_rank",
    "transform_shardings",
    "verify_sharding",
    "verify_shardings",
]
