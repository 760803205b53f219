"""The ops that have no sharding rule, each with its reason.

Propagation does not pass through them, and their values are whole on every device
unless something else shards them, as data-flow edges do.
"""

from xdsl.ir import Operation

from ttxdsl.dialects import stablehlo

_ONE_TENSOR = "has nothing on the other side to agree with"
_DATA_FLOW = "its operands, results and regions are joined by data-flow edges"
_UNSHARDED = "its values are not tensors, or belong to one device each"
_RUN_TIME = "its shapes are known only at run time"
_TERMINATOR = "ends a region; what it passes on is joined by data-flow edges"
_EQUIVALENT = "Shardy has none: {} says the same and has one"
_UNKNOWN = "Shardy has none"

WITHOUT_RULE: dict[type[Operation], str] = {
    stablehlo.AfterAllOp: _UNSHARDED,
    stablehlo.AsyncDoneOp: _UNSHARDED,
    stablehlo.AsyncStartOp: _UNSHARDED,
    stablehlo.BatchNormGradOp: _UNKNOWN,
    stablehlo.BatchNormTrainingOp: _UNKNOWN,
    stablehlo.BroadcastOp: _EQUIVALENT.format("broadcast_in_dim"),
    stablehlo.CaseOp: _DATA_FLOW,
    stablehlo.CollectiveReduceOp: _UNKNOWN,
    stablehlo.CompositeOp: "its decomposition says what it computes",
    stablehlo.ConstantOp: _ONE_TENSOR,
    stablehlo.CreateTokenOp: _UNSHARDED,
    stablehlo.DynamicBroadcastInDimOp: _RUN_TIME,
    stablehlo.DynamicConvOp: _RUN_TIME,
    stablehlo.DynamicGatherOp: _RUN_TIME,
    stablehlo.DynamicIotaOp: _RUN_TIME,
    stablehlo.DynamicPadOp: _RUN_TIME,
    stablehlo.DynamicReshapeOp: _RUN_TIME,
    stablehlo.EinsumOp: _EQUIVALENT.format("dot_general"),
    stablehlo.GetDimensionSizeOp: _RUN_TIME,
    stablehlo.GetTupleElementOp: _UNSHARDED,
    stablehlo.IfOp: _DATA_FLOW,
    stablehlo.InfeedOp: _UNSHARDED,
    stablehlo.IotaOp: _ONE_TENSOR,
    stablehlo.MapOp: _EQUIVALENT.format("an elementwise op"),
    stablehlo.OptimizationBarrierOp: _DATA_FLOW,
    stablehlo.OutfeedOp: _UNSHARDED,
    stablehlo.PartitionIdOp: _UNSHARDED,
    stablehlo.RealDynamicSliceOp: _RUN_TIME,
    stablehlo.RecvOp: _UNSHARDED,
    stablehlo.ReplicaIdOp: _UNSHARDED,
    stablehlo.ReturnOp: _TERMINATOR,
    stablehlo.RngOp: _UNKNOWN,
    stablehlo.SendOp: _UNSHARDED,
    stablehlo.SetDimensionSizeOp: _RUN_TIME,
    stablehlo.TorchIndexSelectOp: _EQUIVALENT.format("gather"),
    stablehlo.TupleOp: _UNSHARDED,
    stablehlo.UnaryEinsumOp: _EQUIVALENT.format("dot_general"),
    stablehlo.UniformDequantizeOp: _UNKNOWN,
    stablehlo.UniformQuantizeOp: _UNKNOWN,
    stablehlo.WhileOp: _DATA_FLOW,
}
"""StableHLO's ops without a rule."""
