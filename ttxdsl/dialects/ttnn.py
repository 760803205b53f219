"""The ttnn dialect: ttir's programs as calls of the ttnn library.

Names and attributes follow tt-mlir (`TTNNOps.td`); the five collectives and
`mesh_shard` follow the design request. Against ttir:

- there is no destination operand, an op makes its result;
- `ttnn.get_device` makes the handle `!ttnn.device` of a mesh, which `mesh_shard` and
  every collective take; collectives say how many ethernet links they use (`num_links`);
- what the library lacks is spelled with other ops by the lowering: `dot_general`,
  `reverse`, `reduce_and`, `reduce_or`; a broadcast is a `repeat`, an `arange` has one
  dimension, a `prod` reduces one.

What both have is declared in `_tt/`, each op in its family's file, which says what it
means; here ops get device handles and links. Ops print in MLIR's generic form with
their attributes as properties.
"""

# an op that says no more than its bases has its declaration's docstring
# ruff: noqa: D101

from collections.abc import Iterable, Sequence
from functools import partial
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    I32,
    AnyTensorTypeConstr,
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt import (
    collective,
    contraction,
    control_flow,
    creation,
    data_movement,
    elementwise,
    extension_ops,
    indexing,
    quantization,
    reduction,
    tt_mlir_ops,
)
from ttxdsl.dialects._tt.attributes import (
    SI8,
    SI32,
    SI64,
    UI32,
    DenseInts,
    Dimensions,
    ShapeAttr,
    ints,
)
from ttxdsl.dialects._tt.data_movement import verify_repetition
from ttxdsl.dialects._tt.extension_ops import AdditionOp
from ttxdsl.dialects._tt.op import LineOps, OneInputOp, TTDialect, TTOp, op_of
from ttxdsl.dialects._tt.tensors import exactly, expect_dim, shape_text, tensor_types
from ttxdsl.dialects._tt.verbatim import TTNN_TEXTS, SpacedVerbatim, verbatim
from ttxdsl.ir.compat.speed.definitions import irdl_attr_definition
from ttxdsl.ir.tensors import Tensor, tensor_type

# --- types and attributes ---------------------------------------------------


@irdl_attr_definition
class DeviceType(ParametrizedAttribute, TypeAttribute):
    """The handle of a mesh of devices: `!ttnn.device`."""

    name = "ttnn.device"


@irdl_attr_definition
class MeshShapeAttr(Dimensions, SpacedOpaqueSyntaxAttribute):
    """The shape of a mesh: `#ttnn<mesh_shape 2x4>`."""

    name = "ttnn.mesh_shape"

    def __init__(self, sizes: Iterable[int]):
        super().__init__(ArrayAttr(IntAttr(size) for size in sizes))


# --- bases ------------------------------------------------------------------


class TTNNOp(TTOp):
    """Base of all ops of the dialect."""

    DIALECT: ClassVar[str] = "ttnn"
    OPS: ClassVar[list[type[TTOp]]] = []

    # configurations of kernels, which do not affect results
    compute_config = opt_prop_def(Attribute)
    dtype = opt_prop_def(Attribute)
    layout = opt_prop_def(Attribute)
    memory_config = opt_prop_def(Attribute)

    @property
    def reads(self) -> Sequence[SSAValue]:
        """The operands before the device handle."""
        operands = self.operands
        named = bool(operands) and isinstance(operands[-1].type, DeviceType)
        return operands[:-1] if named else operands


class OnDevice(TTNNOp):
    """Base of ops whose last operand is the device handle, if they name it."""

    device = opt_operand_def(DeviceType)


class PerhapsBiased(TTNNOp):
    """Base of ops that end with perhaps a bias, and then perhaps the device handle."""

    rest = var_operand_def()


class Made(TTNNOp):
    """Base of ops that make a tensor; tt-mlir says on which devices."""

    device = opt_operand_def(DeviceType)


class Linked(OnDevice):
    """Base of collectives, which may say how many ethernet links they use."""

    num_links = opt_prop_def(IntegerAttr[UI32])
    topology = opt_prop_def(Attribute)
    sub_device_id = opt_prop_def(Attribute)

    def verify_(self) -> None:
        """A positive number of links, then the op's own constraints."""
        if self.num_links is not None and self.num_links.value.data < 1:
            raise VerifyException(
                f"num_links is {self.num_links.value.data}, expected at least 1"
            )
        super().verify_()


class Parametrized(TTNNOp):
    """Base of ops that take scales and zero points: one number, or one a slice of `axis`.

    The tensor's quantized type says them too.
    """

    axis = opt_prop_def(IntegerAttr[I32])
    output_dtype = opt_prop_def(Attribute)

    def verify_(self) -> None:
        """The op's own constraints, then parameters of the axis' size."""
        super().verify_()
        input, *parameters = tensor_types(*self.operands)
        size = 1
        if self.axis is not None:
            expect_dim(input, self.axis.value.data, "axis")
            size = input.get_shape()[self.axis.value.data]
        for parameter in parameters:
            if parameter.get_shape() not in ((), (size,)):
                raise VerifyException(
                    f"a scale or zero point has shape {shape_text(parameter)}, expected "
                    f"one number or {size}"
                )


class Scaled(Parametrized):
    """Base of ops with one scale and one zero point."""

    scale = operand_def(AnyTensorTypeConstr)
    zero_point = operand_def(AnyTensorTypeConstr)


class Rescaled(Parametrized):
    """Base of ops with two scales and two zero points."""

    in_scale = operand_def(AnyTensorTypeConstr)
    in_zero_point = operand_def(AnyTensorTypeConstr)
    out_scale = operand_def(AnyTensorTypeConstr)
    out_zero_point = operand_def(AnyTensorTypeConstr)


class GetDeviceOp(TTNNOp):
    """The handle of the mesh of that shape."""

    name = "get_device"
    mesh_shape = prop_def(MeshShapeAttr)
    mesh_offset = opt_prop_def(Attribute)
    device = result_def(DeviceType)

    traits = traits_def(Pure())

    def __init__(self, mesh_shape: Iterable[int]):
        super().__init__(
            properties={"mesh_shape": MeshShapeAttr(mesh_shape)},
            result_types=[DeviceType()],
        )


# --- element by element, and reductions ---------------------------------------


ELEMENTWISE_OPS = LineOps(
    {
        line.ttir: partial(elementwise.op_of_line, line, TTNNOp, line.ttnn)
        for line in elementwise.ELEMENTWISE
    }
)
"""The elementwise op classes by *ttir* mnemonic: `ELEMENTWISE_OPS["div"]` is
`ttnn.divide`."""

REDUCTION_OPS = LineOps(
    {
        line.ttir: partial(
            op_of, reduction.DimsReductionOp, TTNNOp, line.ttir, line.summary
        )
        for line in reduction.REDUCTIONS
        if line.in_ttnn
    }
)
"""The reduction op classes by mnemonic: `REDUCTION_OPS["sum"]` is `ttnn.sum`."""


class ProdOp(reduction.ReductionOp, TTNNOp):
    """The product over one dimension (all, when `dim_arg` is absent)."""

    name = "prod"
    dim_arg = opt_prop_def(IntegerAttr[SI64])

    def reduced_dims(self) -> tuple[int, ...]:
        """Return the dimensions that are reduced."""
        if self.dim_arg is None:
            return tuple(range(len(self.types[0].get_shape())))
        return (self.dim_arg.value.data,)


class ArgMaxOp(reduction.ArgMax, TTNNOp):
    dim = prop_def(IntegerAttr[SI32])

    def reduced_dims(self) -> tuple[int, ...]:
        """Return the dimension that is reduced."""
        return (self.dim.value.data,)


# --- ops of both dialects, one a line: the declaration and what is added to it --


# fmt: off
class ReshapeOp(data_movement.Reshape, TTNNOp): ...
class ConcatOp(data_movement.Concat, TTNNOp): ...
class SliceStaticOp(data_movement.SliceStatic, TTNNOp): ...

class EmbeddingOp(indexing.Embedding, TTNNOp): ...
class GatherOp(indexing.Gather[IntegerAttr[SI32]], TTNNOp): ...
class ScatterOp(indexing.Scatter[IntegerAttr[SI32]], TTNNOp): ...
class SortOp(indexing.Sort[IntegerAttr[SI8]], TTNNOp): ...
class TopKOp(indexing.TopK[IntegerAttr[SI32]], TTNNOp): ...
class CumSumOp(indexing.CumSum[IntegerAttr[SI32]], TTNNOp): ...
class CumProdOp(indexing.CumProd[IntegerAttr[SI32]], TTNNOp): ...

class Conv3dOp(contraction.Conv3d, PerhapsBiased):
    """See `ttir.conv3d`.

    A weight of two dimensions is a prepared one: its rows are the positions of the
    window times the input channels of a group.
    """

    conv3d_config = opt_prop_def(Attribute)
    batch_size = opt_prop_def(IntegerAttr[I32])
    in_channels = opt_prop_def(IntegerAttr[I32])
    out_channels = opt_prop_def(IntegerAttr[I32])
    input_depth = opt_prop_def(IntegerAttr[I32])
    input_height = opt_prop_def(IntegerAttr[I32])
    input_width = opt_prop_def(IntegerAttr[I32])
    kernel_size = opt_prop_def(DenseInts)

    def kernel_shape(self) -> Sequence[int]:
        """Return the kernel's shape before it was prepared."""
        shape = super().kernel_shape()
        if len(shape) != 2 or self.in_channels is None or self.kernel_size is None:
            return shape
        window = ints(self.kernel_size)
        channels = self.in_channels.value.data // self.groups.value.data
        if shape[0] != channels * prod(window):
            raise VerifyException(
                f"a prepared weight of {channels} channels has "
                f"{channels * prod(window)} rows, got {shape[0]}"
            )
        return (shape[1], channels, *window)

class ConstantOp(creation.Constant, OnDevice):
    def __init__(self, value: DenseIntOrFPElementsAttr, type: Tensor):
        TTNNOp.__init__(
            self, operands=[None], properties={"value": value}, result_types=[type]
        )

class ZerosOp(creation.Zeros[ShapeAttr], Made): ...
class OnesOp(creation.Ones[ShapeAttr], Made): ...
class FullOp(creation.Full[ShapeAttr], Made): ...
class RandOp(creation.Rand[ShapeAttr], OnDevice): ...

class QuantizeOp(quantization.Quantize, Scaled): ...
class DequantizeOp(quantization.Dequantize, Scaled): ...
class RequantizeOp(quantization.Requantize, Rescaled): ...

class MeshShardOp(collective.MeshShard, OnDevice):
    IN_TT_MLIR: ClassVar[bool] = False
class AllGatherOp(collective.AllGather, Linked): ...
class AllReduceOp(collective.AllReduce, Linked): ...
class ReduceScatterOp(collective.ReduceScatter, Linked): ...
class CollectivePermuteOp(collective.CollectivePermute, OnDevice):
    IN_TT_MLIR: ClassVar[bool] = False
class AllToAllOp(collective.AllToAll, Linked):
    IN_TT_MLIR: ClassVar[bool] = False
class DistributeTensorOp(collective.DistributeTensor, OnDevice): ...
class FromDeviceOp(collective.FromDevice, TTNNOp): ...
class AggregateTensorOp(collective.AggregateTensor, OnDevice): ...
class PointToPointOp(collective.PointToPoint, TTNNOp): ...
class MeshPartitionOp(collective.MeshPartition, TTNNOp): ...

class WhileOp(control_flow.While, TTNNOp): ...
class IfOp(control_flow.If, TTNNOp): ...
class CaseOp(control_flow.Case, TTNNOp): ...
class YieldOp(control_flow.Yield, TTNNOp): ...
# fmt: on


# --- data movement ----------------------------------------------------------


class RepeatOp(OneInputOp, TTNNOp):
    """The input repeated as a whole `repeat_dims[i]` times along each dimension i."""

    name = "repeat"
    repeat_dims = prop_def(ShapeAttr)

    def verify_shapes(self) -> None:
        """Each dimension times its factor."""
        verify_repetition(*self.types, self.repeat_dims.values())


class PermuteOp(data_movement.Permute, TTNNOp):
    pad_value = opt_prop_def(Attribute)


class SliceDynamicOp(data_movement.SliceDynamic, TTNNOp):
    step = opt_prop_def(Attribute)


class PadOp(data_movement.Pad, TTNNOp):
    use_multicore = prop_def(BoolAttr)


# --- contraction ------------------------------------------------------------


class MatmulOp(contraction.Matmul, TTNNOp):
    activation = opt_prop_def(StringAttr)
    matmul_program_config = opt_prop_def(Attribute)


class Biased(TTNNOp):
    """Base of ops with perhaps a bias, and then the device handle."""

    bias = opt_operand_def(AnyTensorTypeConstr)
    device = operand_def(DeviceType)


class Conv2dOp(contraction.Conv2d, Biased):
    """See `ttir.conv2d`; here the image is flattened.

    Input `[1, 1, n * h * w, c]`, weight `[o, c / groups, kh, kw]`, result
    `[1, 1, n * h' * w', o]`. `padding` is [top, bottom, left, right].
    """

    conv2d_config = opt_prop_def(Attribute)
    conv2d_slice_config = opt_prop_def(Attribute)
    in_channels = prop_def(IntegerAttr[I32])
    out_channels = prop_def(IntegerAttr[I32])
    batch_size = prop_def(IntegerAttr[I32])
    input_height = prop_def(IntegerAttr[I32])
    input_width = prop_def(IntegerAttr[I32])
    kernel_size = prop_def(DenseInts)

    def image_shape(self) -> tuple[int, int, int, int]:
        """Return the input's shape `[n, h, w, c]` before it was flattened."""
        return (
            self.batch_size.value.data,
            self.input_height.value.data,
            self.input_width.value.data,
            self.in_channels.value.data,
        )

    def result_shape(self) -> tuple[int, int, int, int]:
        """Return the result's shape `[n, h', w', o]` before it was flattened."""
        batch, height, width, _ = self.image_shape()
        pads = ints(self.padding)
        sizes = [
            (size + low + high - gap * (window - 1) - 1) // by + 1
            for size, low, high, gap, window, by in zip(
                (height, width),
                pads[0::2],
                pads[1::2],
                ints(self.dilation),
                ints(self.kernel_size),
                ints(self.stride),
                strict=True,
            )
        ]
        return (batch, sizes[0], sizes[1], self.out_channels.value.data)

    def verify_shapes(self) -> None:
        """Check the shapes of the flattened tensors against the attributes."""
        exactly(4, "padding", ints(self.padding))
        exactly(2, "kernel_size", ints(self.kernel_size))
        exactly(2, "stride", ints(self.stride))
        exactly(2, "dilation", ints(self.dilation))
        *image, channels = self.image_shape()
        _expect("input", self.input, (1, 1, prod(image), channels))
        *image, channels = self.result_shape()
        _expect("result", self.result, (1, 1, prod(image), channels))
        groups = self.groups.value.data
        if groups < 1:
            raise VerifyException(f"groups is {groups}, expected at least 1")
        of_group = self.in_channels.value.data // groups
        _expect("weight", self.weight, (channels, of_group, *ints(self.kernel_size)))


def _expect(name: str, value: SSAValue, wanted: Sequence[int]) -> None:
    """An operand or result has the shape that the attributes say."""
    type = tensor_type(value)
    if type.get_shape() != tuple(wanted):
        text = "x".join(str(size) for size in wanted)
        raise VerifyException(
            f"the {name} has shape {shape_text(type)}, the attributes say {text}"
        )


# --- creation ---------------------------------------------------------------


class ArangeOp(creation.Arange, Made):
    """`start`, `start + step`, … below `end`, in one dimension."""

    def verify_shapes(self) -> None:
        """One dimension that the range fills exactly."""
        if len(tensor_type(self.result).get_shape()) != 1:
            raise VerifyException("an arange has one dimension")
        super().verify_shapes()


# --- what tt-mlir has no op for ------------------------------------------------


TODAY_OPS = LineOps(
    {
        op.name: partial(tt_mlir_ops.op_of_line, op, TTNNOp, operand_def(DeviceType))
        for op in tt_mlir_ops.TODAY
        if op.only != "ttir"
    }
)
"""The classes of tt-mlir's other ops, by mnemonic."""


def _addition(addition: extension_ops.Addition) -> type[AdditionOp]:
    takes = addition.registered and addition.each
    activations = elementwise.ACTIVATIONS if takes else ()
    fields = {where: opt_prop_def(ArrayAttr) for where in activations}
    return extension_ops.op_of_line(addition, TTNNOp, **fields)


ADDITION_OPS = LineOps(
    {
        addition.source: partial(_addition, addition)
        for addition in extension_ops.ADDITIONS
    }
)
"""Their classes by the name of the op that they stand for."""


TEXTS = {
    attribute.name: attribute
    for attribute in (
        *verbatim("ttnn", TTNN_TEXTS),
        *verbatim("ttnn", ["mesh_offset"], SpacedVerbatim),
    )
}
"""ttnn's attributes that are kept as text, by name."""


TTNN = TTDialect(
    "ttnn",
    TTNNOp,
    [ELEMENTWISE_OPS, REDUCTION_OPS, TODAY_OPS, ADDITION_OPS],
    [DeviceType, MeshShapeAttr, ShapeAttr, *TEXTS.values()],
)
"""The dialect object that a context registers."""
