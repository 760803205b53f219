"""The StableHLO dialect: every op, type and attribute of the specification.

Ops are spread over modules by the families of the specification; all names are
importable from here. `StableHLO` is the dialect object.
"""

from types import ModuleType

from xdsl.ir import Attribute, Dialect, Operation

from ttxdsl.dialects.stablehlo.attributes import (
    AxisRefAttr as AxisRefAttr,
    ChannelHandle as ChannelHandle,
    ChannelHandleAttr as ChannelHandleAttr,
    ComparisonDirection as ComparisonDirection,
    ComparisonDirectionAttr as ComparisonDirectionAttr,
    ComparisonType as ComparisonType,
    ComparisonTypeAttr as ComparisonTypeAttr,
    ConvDimensionNumbersAttr as ConvDimensionNumbersAttr,
    DotAlgorithm as DotAlgorithm,
    DotAlgorithmAttr as DotAlgorithmAttr,
    DotDimensionNumbersAttr as DotDimensionNumbersAttr,
    FftType as FftType,
    FftTypeAttr as FftTypeAttr,
    GatherDimensionNumbersAttr as GatherDimensionNumbersAttr,
    MeshAttr as MeshAttr,
    MeshAxis as MeshAxis,
    MeshAxisAttr as MeshAxisAttr,
    MeshAxisRef as MeshAxisRef,
    OutputOperandAlias as OutputOperandAlias,
    OutputOperandAliasAttr as OutputOperandAliasAttr,
    Precision as Precision,
    PrecisionAttr as PrecisionAttr,
    ReplicaGroupMeshAxesAttr as ReplicaGroupMeshAxesAttr,
    ResultAccuracyAttr as ResultAccuracyAttr,
    ResultAccuracyMode as ResultAccuracyMode,
    ResultAccuracyModeAttr as ResultAccuracyModeAttr,
    RngAlgorithm as RngAlgorithm,
    RngAlgorithmAttr as RngAlgorithmAttr,
    RngDistribution as RngDistribution,
    RngDistributionAttr as RngDistributionAttr,
    ScatterDimensionNumbersAttr as ScatterDimensionNumbersAttr,
    SubAxisInfo as SubAxisInfo,
    SubAxisInfoAttr as SubAxisInfoAttr,
    Transpose as Transpose,
    TransposeAttr as TransposeAttr,
    TypeExtensionsAttr as TypeExtensionsAttr,
)
from ttxdsl.dialects.stablehlo.calls import (
    CallEffects as CallEffects,
    CompositeOp as CompositeOp,
    CustomCallOp as CustomCallOp,
)
from ttxdsl.dialects.stablehlo.collective import (
    AllGatherOp as AllGatherOp,
    AllReduceOp as AllReduceOp,
    AllToAllOp as AllToAllOp,
    CollectiveBroadcastOp as CollectiveBroadcastOp,
    CollectivePermuteOp as CollectivePermuteOp,
    CollectiveReduceOp as CollectiveReduceOp,
    CrossReplicaSumOp as CrossReplicaSumOp,
    InfeedOp as InfeedOp,
    OutfeedOp as OutfeedOp,
    PartitionIdOp as PartitionIdOp,
    RecvOp as RecvOp,
    ReduceScatterOp as ReduceScatterOp,
    ReplicaIdOp as ReplicaIdOp,
    SendOp as SendOp,
    id_pairs as id_pairs,
)
from ttxdsl.dialects.stablehlo.contraction import (
    CholeskyOp as CholeskyOp,
    DotGeneralOp as DotGeneralOp,
    DotOp as DotOp,
    EinsumOp as EinsumOp,
    FftOp as FftOp,
    TriangularSolveOp as TriangularSolveOp,
    UnaryEinsumOp as UnaryEinsumOp,
)
from ttxdsl.dialects.stablehlo.control_flow import (
    AfterAllOp as AfterAllOp,
    AsyncDoneOp as AsyncDoneOp,
    AsyncStartOp as AsyncStartOp,
    CaseOp as CaseOp,
    IfOp as IfOp,
    OptimizationBarrierOp as OptimizationBarrierOp,
    ReturnOp as ReturnOp,
    WhileOp as WhileOp,
)
from ttxdsl.dialects.stablehlo.data_movement import (
    BitcastConvertOp as BitcastConvertOp,
    BroadcastInDimOp as BroadcastInDimOp,
    BroadcastOp as BroadcastOp,
    ConcatenateOp as ConcatenateOp,
    ConstantOp as ConstantOp,
    DynamicBroadcastInDimOp as DynamicBroadcastInDimOp,
    DynamicIotaOp as DynamicIotaOp,
    DynamicPadOp as DynamicPadOp,
    DynamicReshapeOp as DynamicReshapeOp,
    DynamicSliceOp as DynamicSliceOp,
    DynamicUpdateSliceOp as DynamicUpdateSliceOp,
    GetDimensionSizeOp as GetDimensionSizeOp,
    IotaOp as IotaOp,
    PadOp as PadOp,
    RealDynamicSliceOp as RealDynamicSliceOp,
    ReshapeOp as ReshapeOp,
    ReverseOp as ReverseOp,
    SetDimensionSizeOp as SetDimensionSizeOp,
    SliceOp as SliceOp,
    TransposeOp as TransposeOp,
)
from ttxdsl.dialects.stablehlo.elementwise import (
    AbsOp as AbsOp,
    AddOp as AddOp,
    AndOp as AndOp,
    Atan2Op as Atan2Op,
    CbrtOp as CbrtOp,
    CeilOp as CeilOp,
    ClampOp as ClampOp,
    ClzOp as ClzOp,
    CompareOp as CompareOp,
    ComplexOp as ComplexOp,
    ConvertOp as ConvertOp,
    CosineOp as CosineOp,
    DivOp as DivOp,
    ElementwiseBinaryOp as ElementwiseBinaryOp,
    ElementwiseUnaryOp as ElementwiseUnaryOp,
    Expm1Op as Expm1Op,
    ExpOp as ExpOp,
    FloorOp as FloorOp,
    ImagOp as ImagOp,
    IsFiniteOp as IsFiniteOp,
    Log1pOp as Log1pOp,
    LogisticOp as LogisticOp,
    LogOp as LogOp,
    MaxOp as MaxOp,
    MinOp as MinOp,
    MulOp as MulOp,
    NegOp as NegOp,
    NotOp as NotOp,
    OrOp as OrOp,
    PopulationCountOp as PopulationCountOp,
    PowOp as PowOp,
    RealOp as RealOp,
    ReducePrecisionOp as ReducePrecisionOp,
    RemOp as RemOp,
    RoundNearestEvenOp as RoundNearestEvenOp,
    RoundOp as RoundOp,
    RsqrtOp as RsqrtOp,
    SelectOp as SelectOp,
    ShiftLeftOp as ShiftLeftOp,
    ShiftRightArithmeticOp as ShiftRightArithmeticOp,
    ShiftRightLogicalOp as ShiftRightLogicalOp,
    SignOp as SignOp,
    SineOp as SineOp,
    SqrtOp as SqrtOp,
    SubtractOp as SubtractOp,
    TanhOp as TanhOp,
    TanOp as TanOp,
    TranscendentalUnaryOp as TranscendentalUnaryOp,
    UniformDequantizeOp as UniformDequantizeOp,
    UniformQuantizeOp as UniformQuantizeOp,
    XorOp as XorOp,
)
from ttxdsl.dialects.stablehlo.indexing import (
    DynamicGatherOp as DynamicGatherOp,
    GatherOp as GatherOp,
    ScatterOp as ScatterOp,
    TorchIndexSelectOp as TorchIndexSelectOp,
)
from ttxdsl.dialects.stablehlo.normalization import (
    BatchNormGradOp as BatchNormGradOp,
    BatchNormInferenceOp as BatchNormInferenceOp,
    BatchNormTrainingOp as BatchNormTrainingOp,
)
from ttxdsl.dialects.stablehlo.reduction import (
    MapOp as MapOp,
    ReduceOp as ReduceOp,
    SortOp as SortOp,
    single_op_of as single_op_of,
)
from ttxdsl.dialects.stablehlo.rng import (
    RngBitGeneratorOp as RngBitGeneratorOp,
    RngOp as RngOp,
)
from ttxdsl.dialects.stablehlo.tuples import (
    CreateTokenOp as CreateTokenOp,
    GetTupleElementOp as GetTupleElementOp,
    TupleOp as TupleOp,
)
from ttxdsl.dialects.stablehlo.types import (
    FixedConstraint as FixedConstraint,
    FutureType as FutureType,
    Kind as Kind,
    TokenType as TokenType,
    element_kind as element_kind,
)
from ttxdsl.dialects.stablehlo.windowed import (
    ConvolutionOp as ConvolutionOp,
    DynamicConvOp as DynamicConvOp,
    ReduceWindowOp as ReduceWindowOp,
    SelectAndScatterOp as SelectAndScatterOp,
    padding_pairs as padding_pairs,
    window_flips as window_flips,
    window_values as window_values,
)

_families = [one for one in list(globals().values()) if isinstance(one, ModuleType)]
_defined = [
    one
    for family in _families
    for one in vars(family).values()
    if isinstance(one, type)
    and one.__module__ == family.__name__
    and issubclass(one, Operation | Attribute)
    and "name" in vars(one)
]

StableHLO = Dialect(
    "stablehlo",
    [one for one in _defined if issubclass(one, Operation)],
    [one for one in _defined if issubclass(one, Attribute)],
)
"""Whatever the modules of this package define; an op need not be listed above."""
