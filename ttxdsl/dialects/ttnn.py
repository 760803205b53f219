"""The ttnn dialect: ttir's programs as calls of the ttnn library.

Names and attributes follow tt-mlir (`TTNNOps.td`); the five collectives and
`mesh_shard` follow the design request. Against ttir:

- there is no destination operand, an op makes its result;
- `ttnn.get_device` makes the handle `!ttnn.device` of a mesh, which `mesh_shard` and
  every collective take; collectives say how many ethernet links they use (`num_links`);
- what the library lacks is spelled with other ops by the lowering: `dot_general`,
  `reverse`, `reduce_and`, `reduce_or`; a broadcast is a `repeat`, an `arange` has one
  dimension, a `prod` reduces one.

Places, shapes and the meaning of each op are ttir's: see the op of the same name
there. Ops print in MLIR's generic form with their attributes as properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Literal, TypeAlias, cast

from xdsl.dialects.builtin import (
    I32,
    AnyTensorTypeConstr,
    ArrayAttr,
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    i1,
    i32,
)
from xdsl.ir import (
    Attribute,
    Dialect,
    Operation,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects import _tt_verify as check
from ttxdsl.dialects._tt_additions import ADDITIONS, Addition, as_source, fields_of
from ttxdsl.dialects._tt_attrs import (
    SI32,
    SI64,
    UI32,
    DenseInts,
    I32Array,
    ints,
)
from ttxdsl.dialects._tt_elementwise import (
    ELEMENTWISE,
    REDUCTIONS,
    Elementwise,
    class_name,
)
from ttxdsl.dialects._tt_verify import Tensor, tensor_type
from ttxdsl.dialects._verify_once import VerifiedOnce
from ttxdsl.dialects.ttcore import (
    MeshShardDirectionAttr,
    MeshShardTypeAttr,
    ReduceTypeAttr,
)

SI8: TypeAlias = IntegerType[Literal[8], Literal[Signedness.SIGNED]]

_PLACE_FREE = ("ttnn.mesh_shard",)
"""Ops whose operands and results live in different places by their nature."""


# --- types and attributes ---------------------------------------------------


@irdl_attr_definition
class DeviceType(ParametrizedAttribute, TypeAttribute):
    """The handle of a mesh of devices: `!ttnn.device`."""

    name = "ttnn.device"


@dataclass(frozen=True, init=False)  # else the sizes would not be compared
class _Dimensions(ParametrizedAttribute):
    """Base of attributes that are a list of sizes, `2x4`."""

    sizes: ArrayAttr[IntAttr]

    def values(self) -> tuple[int, ...]:
        """The sizes as integers."""
        return tuple(size.data for size in self.sizes)


@irdl_attr_definition
class ShapeAttr(_Dimensions):
    """A tensor shape, or factors for each dimension: `#ttnn.shape<16x32>`."""

    name = "ttnn.shape"

    def __init__(self, sizes: Iterable[int]):
        super().__init__(ArrayAttr(IntAttr(size) for size in sizes))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<16x32>`."""
        with parser.in_angle_brackets():
            sizes = parser.parse_dimension_list()
        return [ArrayAttr(IntAttr(size) for size in sizes)]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<16x32>`."""
        with printer.in_angle_brackets():
            printer.print_dimension_list(self.values())


@irdl_attr_definition
class MeshShapeAttr(_Dimensions, SpacedOpaqueSyntaxAttribute):
    """The shape of a mesh: `#ttnn<mesh_shape 2x4>`."""

    name = "ttnn.mesh_shape"

    def __init__(self, sizes: Iterable[int]):
        super().__init__(ArrayAttr(IntAttr(size) for size in sizes))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `2x4`."""
        return [ArrayAttr(IntAttr(size) for size in parser.parse_dimension_list())]

    def print_parameters(self, printer: Printer) -> None:
        """Write `2x4`."""
        printer.print_dimension_list(self.values())


# --- bases ------------------------------------------------------------------


class TTNNOp(VerifiedOnce):
    """Base of ops on tensors. Constraint: these all live in one place."""

    def verify_(self) -> None:
        """Check what holds for all ops, then the op's own shapes."""
        if self.name not in _PLACE_FREE:
            check.one_mesh(self)
        self.verify_shapes()

    def verify_shapes(self) -> None:
        """The constraints of the op itself."""


class ComputeOp(TTNNOp):
    """Base of ops that do nothing but compute their results."""

    traits = traits_def(Pure())


class OneInputOp(ComputeOp):
    """Base of ops with one tensor and one result."""

    input = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    @property
    def types(self) -> tuple[Tensor, Tensor]:
        """The types of input and result."""
        return tensor_type(self.input), tensor_type(self.result)


class DeviceInputOp(ComputeOp):
    """Base of ops with one tensor, the device handle and one result."""

    input = operand_def(AnyTensorTypeConstr)
    device = operand_def(DeviceType)
    result = result_def(AnyTensorTypeConstr)

    @property
    def types(self) -> tuple[Tensor, Tensor]:
        """The types of input and result."""
        return tensor_type(self.input), tensor_type(self.result)


@irdl_op_definition
class GetDeviceOp(VerifiedOnce):
    """The handle of the mesh of that shape."""

    name = "ttnn.get_device"
    mesh_shape = prop_def(MeshShapeAttr)
    device = result_def(DeviceType)

    traits = traits_def(Pure())

    def __init__(self, mesh_shape: Iterable[int]):
        super().__init__(
            properties={"mesh_shape": MeshShapeAttr(mesh_shape)},
            result_types=[DeviceType()],
        )


# --- element by element -----------------------------------------------------


class ElementwiseOp(ComputeOp):
    """Base of the elementwise ops; what each computes is in `_tt_elementwise.py`."""

    SPEC: ClassVar[Elementwise]

    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Shapes stretch, element types as the table's typing says."""
        check.elementwise(
            [tensor_type(value) for value in self.operands],
            tensor_type(self.result),
            self.SPEC.typing,
        )


class UnaryOp(ElementwiseOp):
    """Base of elementwise ops of one operand."""

    input = operand_def(AnyTensorTypeConstr)


class BinaryOp(ElementwiseOp):
    """Base of elementwise ops of two operands."""

    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)


class TernaryOp(ElementwiseOp):
    """Base of elementwise ops of three operands."""

    first = operand_def(AnyTensorTypeConstr)
    second = operand_def(AnyTensorTypeConstr)
    third = operand_def(AnyTensorTypeConstr)


def _define_elementwise(spec: Elementwise) -> type[ElementwiseOp]:
    base = (UnaryOp, BinaryOp, TernaryOp)[spec.arity - 1]
    fields = {
        "name": f"ttnn.{spec.ttnn}",
        "__doc__": spec.summary,
        "__module__": __name__,
    }
    made = type(class_name(spec.ttnn), (base,), fields)
    defined = irdl_op_definition(cast(type[ElementwiseOp], made))
    defined.SPEC = spec
    return defined


ELEMENTWISE_OPS: dict[str, type[ElementwiseOp]] = {
    spec.ttir: _define_elementwise(spec) for spec in ELEMENTWISE
}
"""The elementwise op classes by *ttir* mnemonic: `ELEMENTWISE_OPS["div"]` is
`ttnn.divide`."""


# --- reductions -------------------------------------------------------------


class ReductionOp(OneInputOp):
    """Base of reductions over the dimensions `dim_arg` (all, when it is absent)."""

    keep_dim = prop_def(BoolAttr)
    dim_arg = opt_prop_def(I32Array)

    def reduced_dims(self) -> tuple[int, ...]:
        """The dimensions that are reduced."""
        if self.dim_arg is None:
            return tuple(range(len(self.types[0].get_shape())))
        return ints(self.dim_arg)

    def verify_shapes(self) -> None:
        """Reduced dimensions vanish or have size 1; the element type stays."""
        _verify_reduction(*self.types, self.reduced_dims(), bool(self.keep_dim))


def _verify_reduction(
    input: Tensor, result: Tensor, dims: Sequence[int], keep_dim: bool
) -> None:
    check.reduction(input, result, dims, keep_dim)
    if input.element_type != result.element_type:
        raise VerifyException(
            f"reduces {input.element_type} to {result.element_type}: "
            "the element type must stay"
        )


def _define_reduction(mnemonic: str, summary: str) -> type[ReductionOp]:
    fields = {
        "name": f"ttnn.{mnemonic}",
        "__doc__": summary,
        "__module__": __name__,
    }
    made = type(class_name(mnemonic), (ReductionOp,), fields)
    return irdl_op_definition(cast(type[ReductionOp], made))


REDUCTION_OPS: dict[str, type[ReductionOp]] = {
    entry.ttir: _define_reduction(entry.ttir, entry.summary)
    for entry in REDUCTIONS
    if entry.in_ttnn and entry.ttir != "prod"
}
"""The reduction op classes by mnemonic: `REDUCTION_OPS["sum"]` is `ttnn.sum`."""


@irdl_op_definition
class ProdOp(OneInputOp):
    """The product over one dimension (all, when `dim_arg` is absent)."""

    name = "ttnn.prod"
    dim_arg = opt_prop_def(IntegerAttr[SI64])
    keep_dim = prop_def(BoolAttr)

    def reduced_dims(self) -> tuple[int, ...]:
        """The dimensions that are reduced."""
        if self.dim_arg is None:
            return tuple(range(len(self.types[0].get_shape())))
        return (self.dim_arg.value.data,)

    def verify_shapes(self) -> None:
        """The reduced dimension vanishes or has size 1; the element type stays."""
        _verify_reduction(*self.types, self.reduced_dims(), bool(self.keep_dim))


@irdl_op_definition
class ArgMaxOp(OneInputOp):
    """Index of the largest element along `dim`, the first of equals; NaN is largest."""

    name = "ttnn.argmax"
    dim = prop_def(IntegerAttr[SI32])
    keep_dim = prop_def(BoolAttr)

    def verify_shapes(self) -> None:
        """The dimension vanishes or has size 1; the result holds integers."""
        input, result = self.types
        check.reduction(input, result, (self.dim.value.data,), bool(self.keep_dim))
        if not isinstance(result.element_type, IntegerType):
            raise VerifyException("argmax answers with integers")


# --- data movement ----------------------------------------------------------


@irdl_op_definition
class ReshapeOp(OneInputOp):
    """The same elements in row-major order, in another shape."""

    name = "ttnn.reshape"
    shape = prop_def(I32Array)

    def verify_shapes(self) -> None:
        """The result has the shape of the attribute and as many elements."""
        check.reshape(*self.types, ints(self.shape))


@irdl_op_definition
class PermuteOp(OneInputOp):
    """Dimensions reordered: result dimension i is input dimension `permutation[i]`."""

    name = "ttnn.permute"
    permutation = prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """A permutation, and the shape it gives."""
        check.permute(*self.types, ints(self.permutation))


@irdl_op_definition
class RepeatOp(OneInputOp):
    """The input repeated as a whole `repeat_dims[i]` times along each dimension i."""

    name = "ttnn.repeat"
    repeat_dims = prop_def(ShapeAttr)

    def verify_shapes(self) -> None:
        """Each dimension times its factor."""
        check.broadcast(*self.types, self.repeat_dims.values())


@irdl_op_definition
class ConcatOp(ComputeOp):
    """The inputs one after the other along dimension `dim`."""

    name = "ttnn.concat"
    inputs = var_operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[SI32])
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Inputs agree but in `dim`, which adds up."""
        check.concat(
            [tensor_type(value) for value in self.inputs],
            tensor_type(self.result),
            self.dim.value.data,
        )


@irdl_op_definition
class SliceStaticOp(OneInputOp):
    """Elements `begins[i]`, `begins[i] + step[i]`, … below `ends[i]` of dimension i."""

    name = "ttnn.slice_static"
    begins = prop_def(I32Array)
    ends = prop_def(I32Array)
    step = prop_def(I32Array)

    def verify_shapes(self) -> None:
        """Bounds inside the input and the result they give."""
        check.slice_static(
            *self.types, ints(self.begins), ints(self.ends), ints(self.step)
        )


@irdl_op_definition
class SliceDynamicOp(ComputeOp):
    """A slice whose place is computed; see `ttir.slice_dynamic`."""

    name = "ttnn.slice_dynamic"
    input = operand_def(AnyTensorTypeConstr)
    begins = operand_def(AnyTensorTypeConstr)
    ends = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """One integer a dimension; the result fits in the input."""
        input, begins, ends = map(tensor_type, (self.input, self.begins, self.ends))
        check.slice_dynamic(input, begins, ends, tensor_type(self.result))


@irdl_op_definition
class PadOp(OneInputOp):
    """The input with `value` around: `padding` is [low0, high0, low1, high1, …]."""

    name = "ttnn.pad"
    padding = prop_def(DenseInts)
    value = prop_def(FloatAttr)
    use_multicore = prop_def(BoolAttr)

    def verify_shapes(self) -> None:
        """Two amounts a dimension and the shape they give."""
        check.pad(*self.types, ints(self.padding))


@irdl_op_definition
class EmbeddingOp(ComputeOp):
    """Row `input[i…]` of `weight` for every index, clamped; see `ttir.embedding`."""

    name = "ttnn.embedding"
    input = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Integer indices, a weight of rank 2, a row an index."""
        input, weight = tensor_type(self.input), tensor_type(self.weight)
        check.embedding(input, weight, tensor_type(self.result))


@irdl_op_definition
class GatherOp(ComputeOp):
    """Elements picked along `dim`; see `ttir.gather`."""

    name = "ttnn.gather"
    input = operand_def(AnyTensorTypeConstr)
    index = operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[SI32])
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """The index has the result's shape, and the input's but in `dim`."""
        input, index = tensor_type(self.input), tensor_type(self.index)
        check.gather(input, index, tensor_type(self.result), self.dim.value.data)


@irdl_op_definition
class ScatterOp(ComputeOp):
    """Elements put along `dim`, combined; see `ttir.scatter`."""

    name = "ttnn.scatter"
    input = operand_def(AnyTensorTypeConstr)
    index = operand_def(AnyTensorTypeConstr)
    source = operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[SI32])
    scatter_reduce_type = prop_def(ReduceTypeAttr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Index and source of one shape, the input's but in `dim`."""
        input, index, source = map(tensor_type, (self.input, self.index, self.source))
        result = tensor_type(self.result)
        check.scatter(input, index, source, result, self.dim.value.data)


@irdl_op_definition
class SortOp(ComputeOp):
    """Values sorted along `dim`, and the places they came from; see `ttir.sort`."""

    name = "ttnn.sort"
    input = operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[SI8])
    descending = prop_def(BoolAttr)
    stable = prop_def(BoolAttr)
    values = result_def(AnyTensorTypeConstr)
    indices = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Values as the input, one integer index a value."""
        input, values = tensor_type(self.input), tensor_type(self.values)
        check.sort(input, values, tensor_type(self.indices), self.dim.value.data)


@irdl_op_definition
class TopKOp(ComputeOp):
    """The `k` largest or smallest along `dim`, and their places; see `ttir.topk`."""

    name = "ttnn.topk"
    input_tensor = operand_def(AnyTensorTypeConstr)
    k = prop_def(IntegerAttr[I32])
    dim = prop_def(IntegerAttr[SI32])
    largest = prop_def(BoolAttr)
    sorted = prop_def(BoolAttr)
    values = result_def(AnyTensorTypeConstr)
    indices = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """`k` values and integer indices along `dim`."""
        input, values = tensor_type(self.input_tensor), tensor_type(self.values)
        indices = tensor_type(self.indices)
        check.topk(input, values, indices, self.k.value.data, self.dim.value.data)


@irdl_op_definition
class CumSumOp(OneInputOp):
    """Sum of all elements up to and with each one along `dim`."""

    name = "ttnn.cumsum"
    dim = prop_def(IntegerAttr[SI32])

    def verify_shapes(self) -> None:
        """The shape stays."""
        check.along(*self.types, self.dim.value.data)


@irdl_op_definition
class CumProdOp(OneInputOp):
    """Product of all elements up to and with each one along `dim`."""

    name = "ttnn.cumprod"
    dim = prop_def(IntegerAttr[SI32])

    def verify_shapes(self) -> None:
        """The shape stays."""
        check.along(*self.types, self.dim.value.data)


@irdl_op_definition
class MatmulOp(ComputeOp):
    """`a @ b` over the last two dimensions; see `ttir.matmul`."""

    name = "ttnn.matmul"
    a = operand_def(AnyTensorTypeConstr)
    b = operand_def(AnyTensorTypeConstr)
    transpose_a = prop_def(BoolAttr)
    transpose_b = prop_def(BoolAttr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Inner sizes and leading dimensions agree."""
        a, b = tensor_type(self.a), tensor_type(self.b)
        flags = bool(self.transpose_a), bool(self.transpose_b)
        check.matmul(a, b, tensor_type(self.result), *flags)


@irdl_op_definition
class Conv2dOp(ComputeOp):
    """See `ttir.conv2d`; here the image is flattened.

    Input `[1, 1, n * h * w, c]`, weight `[o, c / groups, kh, kw]`, result
    `[1, 1, n * h' * w', o]`. `padding` is [top, bottom, left, right].
    """

    name = "ttnn.conv2d"
    input = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    device = operand_def(DeviceType)
    in_channels = prop_def(IntegerAttr[I32])
    out_channels = prop_def(IntegerAttr[I32])
    batch_size = prop_def(IntegerAttr[I32])
    input_height = prop_def(IntegerAttr[I32])
    input_width = prop_def(IntegerAttr[I32])
    kernel_size = prop_def(DenseInts)
    stride = prop_def(DenseInts)
    padding = prop_def(DenseInts)
    dilation = prop_def(DenseInts)
    groups = prop_def(IntegerAttr[I32])
    result = result_def(AnyTensorTypeConstr)

    def image_shape(self) -> tuple[int, int, int, int]:
        """The input's shape `[n, h, w, c]` before it was flattened."""
        return (
            self.batch_size.value.data,
            self.input_height.value.data,
            self.input_width.value.data,
            self.in_channels.value.data,
        )

    def result_shape(self) -> tuple[int, int, int, int]:
        """The result's shape `[n, h', w', o]` before it was flattened."""
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
        """The attributes say the shapes of the flattened tensors."""
        check.exactly(4, "padding", ints(self.padding))
        for name in ("kernel_size", "stride", "dilation"):
            check.exactly(2, name, ints(getattr(self, name)))
        *image, channels = self.image_shape()
        check.has_shape("input", tensor_type(self.input), (1, 1, prod(image), channels))
        *image, channels = self.result_shape()
        check.has_shape(
            "result", tensor_type(self.result), (1, 1, prod(image), channels)
        )
        groups = self.groups.value.data
        if groups < 1:
            raise VerifyException(f"groups is {groups}, expected at least 1")
        shape = (channels, self.in_channels.value.data // groups)
        check.has_shape(
            "weight", tensor_type(self.weight), (*shape, *ints(self.kernel_size))
        )


@irdl_op_definition
class Conv3dOp(ComputeOp):
    """See `ttir.conv3d`, which has the same fields but the device handle."""

    name = "ttnn.conv3d"
    input = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    device = operand_def(DeviceType)
    stride = prop_def(DenseInts)
    padding = prop_def(DenseInts)
    groups = prop_def(IntegerAttr[I32])
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Channels fit the groups; windows give the result."""
        padding = check.exactly(3, "padding", ints(self.padding))
        check.convolution(
            tensor_type(self.input),
            tensor_type(self.weight),
            tensor_type(self.result),
            check.exactly(3, "stride", ints(self.stride)),
            [(amount, amount) for amount in padding],
            (1, 1, 1),
            self.groups.value.data,
        )


# --- creation ---------------------------------------------------------------


class CreationOp(VerifiedOnce):
    """Base of ops that make a tensor from nothing, the same on every device."""

    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Pure())


@irdl_op_definition
class ConstantOp(CreationOp):
    """The tensor `value`."""

    name = "ttnn.constant"
    value = prop_def(DenseIntOrFPElementsAttr)

    traits = traits_def(ConstantLike())

    def verify_(self) -> None:
        """Shape and element type are the value's."""
        check.constant(tensor_type(self.result), cast(Tensor, self.value.type))


class NamedFullOp(CreationOp):
    """Base of tensors of one value that the op's name says."""

    shape = prop_def(ShapeAttr)

    def verify_(self) -> None:
        """The shape is the attribute's."""
        check.filled(tensor_type(self.result), self.shape.values())


@irdl_op_definition
class ZerosOp(NamedFullOp):
    """A tensor of zeros (false)."""

    name = "ttnn.zeros"


@irdl_op_definition
class OnesOp(NamedFullOp):
    """A tensor of ones (true)."""

    name = "ttnn.ones"


@irdl_op_definition
class FullOp(CreationOp):
    """A tensor of one value, an f32 or i32 that is converted to the element type."""

    name = "ttnn.full"
    shape = prop_def(ShapeAttr)
    fill_value = prop_def(Attribute)

    def verify_(self) -> None:
        """The shape is the attribute's; the value is a number."""
        check.filled(tensor_type(self.result), self.shape.values())
        if not isinstance(self.fill_value, FloatAttr | IntegerAttr):
            raise VerifyException(f"fill_value is {self.fill_value}, expected a number")


@irdl_op_definition
class ArangeOp(CreationOp):
    """`start`, `start + step`, … below `end`, in one dimension."""

    name = "ttnn.arange"
    start = prop_def(IntegerAttr[SI64])
    end = prop_def(IntegerAttr[SI64])
    step = prop_def(IntegerAttr[SI64])

    def verify_(self) -> None:
        """One dimension that the range fills exactly."""
        type = tensor_type(self.result)
        if len(type.get_shape()) != 1:
            raise VerifyException("an arange has one dimension")
        start, end = self.start.value.data, self.end.value.data
        check.arange(type, start, end, self.step.value.data, 0)


@irdl_op_definition
class RandOp(CreationOp):
    """Uniform random numbers; see `ttir.rand`."""

    name = "ttnn.rand"
    device = operand_def(DeviceType)
    size = prop_def(ShapeAttr)
    low = prop_def(FloatAttr)
    high = prop_def(FloatAttr)
    seed = prop_def(IntegerAttr[UI32])

    def verify_(self) -> None:
        """The shape is `size`."""
        check.filled(tensor_type(self.result), self.size.values())


# --- quantization -----------------------------------------------------------


class QuantizationOp(ComputeOp):
    """Base of ops between real numbers and stored integers.

    Scales and zero points are operands: one number, or one for each slice along `axis`.
    The tensor's quantized type says them too.
    """

    axis = opt_prop_def(IntegerAttr[I32])
    result = result_def(AnyTensorTypeConstr)

    STORED: ClassVar[tuple[bool, bool]]
    """Whether the input, and whether the result, is quantized."""

    def verify_shapes(self) -> None:
        """Quantized or not as the name says; parameters of the axis' size."""
        input, result = tensor_type(self.operands[0]), tensor_type(self.result)
        check.quantization(input, result, stored=self.STORED)
        axis = None if self.axis is None else self.axis.value.data
        for parameter in self.operands[1:]:
            check.quantization_parameter(input, tensor_type(parameter), axis)


@irdl_op_definition
class QuantizeOp(QuantizationOp):
    """`round(input / scale + zero_point)`, kept in the stored range."""

    name = "ttnn.quantize"
    input = operand_def(AnyTensorTypeConstr)
    scale = operand_def(AnyTensorTypeConstr)
    zero_point = operand_def(AnyTensorTypeConstr)

    STORED: ClassVar[tuple[bool, bool]] = (False, True)


@irdl_op_definition
class DequantizeOp(QuantizationOp):
    """`(input - zero_point) * scale`."""

    name = "ttnn.dequantize"
    input = operand_def(AnyTensorTypeConstr)
    scale = operand_def(AnyTensorTypeConstr)
    zero_point = operand_def(AnyTensorTypeConstr)

    STORED: ClassVar[tuple[bool, bool]] = (True, False)


@irdl_op_definition
class RequantizeOp(QuantizationOp):
    """`dequantize` by the first scale and zero point, `quantize` by the second."""

    name = "ttnn.requantize"
    input = operand_def(AnyTensorTypeConstr)
    in_scale = operand_def(AnyTensorTypeConstr)
    in_zero_point = operand_def(AnyTensorTypeConstr)
    out_scale = operand_def(AnyTensorTypeConstr)
    out_zero_point = operand_def(AnyTensorTypeConstr)

    STORED: ClassVar[tuple[bool, bool]] = (True, True)


# --- meshes and collectives -------------------------------------------------


@irdl_op_definition
class MeshShardOp(DeviceInputOp):
    """Moves a tensor between the host and the devices; see `ttir.mesh_shard`."""

    name = "ttnn.mesh_shard"
    shard_direction = prop_def(MeshShardDirectionAttr)
    shard_type = prop_def(MeshShardTypeAttr)
    shard_shape = prop_def(DenseInts)
    shard_dims = prop_def(DenseInts)
    device_parts = opt_prop_def(DenseInts)
    device_summands = opt_prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """Shapes, places and the arrays fit together."""
        check.mesh_shard(
            self,
            *self.types,
            self.shard_type.data,
            self.shard_direction.data,
            ints(self.shard_shape),
            ints(self.shard_dims),
            None if self.device_parts is None else ints(self.device_parts),
            None if self.device_summands is None else ints(self.device_summands),
        )


class LinkedOp(DeviceInputOp):
    """Base of collectives, which use `num_links` ethernet links (at least one)."""

    num_links = prop_def(IntegerAttr[UI32])

    def verify_(self) -> None:
        """A positive number of links, then the op's own constraints."""
        if self.num_links.value.data < 1:
            raise VerifyException(
                f"num_links is {self.num_links.value.data}, expected at least 1"
            )
        super().verify_()


@irdl_op_definition
class AllGatherOp(LinkedOp):
    """Inputs of all devices along a mesh axis, concatenated; see `ttir.all_gather`."""

    name = "ttnn.all_gather"
    all_gather_dim = prop_def(IntegerAttr[SI32])
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The dimension grows by the number of devices along the axis."""
        dim, axis = self.all_gather_dim.value.data, self.cluster_axis.value.data
        check.all_gather(self, *self.types, dim, axis)


@irdl_op_definition
class ReduceScatterOp(LinkedOp):
    """As all_reduce, then each device keeps its part; see `ttir.reduce_scatter`."""

    name = "ttnn.reduce_scatter"
    reduce_type = prop_def(ReduceTypeAttr)
    scatter_dim = prop_def(IntegerAttr[SI32])
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The dimension shrinks by the number of devices along the axis."""
        kind, dim = self.reduce_type.data, self.scatter_dim.value.data
        axis = self.cluster_axis.value.data
        check.reduce_scatter(self, *self.types, kind, dim, axis)


@irdl_op_definition
class AllReduceOp(LinkedOp):
    """Inputs of all devices along a mesh axis, combined; see `ttir.all_reduce`."""

    name = "ttnn.all_reduce"
    reduce_type = prop_def(ReduceTypeAttr)
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The shape stays."""
        kind, axis = self.reduce_type.data, self.cluster_axis.value.data
        check.all_reduce(self, *self.types, kind, axis)


@irdl_op_definition
class CollectivePermuteOp(DeviceInputOp):
    """Each target gets its source's input, else zeros; see `ttir.collective_permute`."""

    name = "ttnn.collective_permute"
    source_target_pairs = prop_def(DenseIntOrFPElementsAttr)

    def verify_shapes(self) -> None:
        """Devices of the mesh, no source and no target twice."""
        check.collective_permute(self, *self.types, self.source_target_pairs)


@irdl_op_definition
class AllToAllOp(LinkedOp):
    """Parts exchanged along a mesh axis; see `ttir.all_to_all`."""

    name = "ttnn.all_to_all"
    split_dim = prop_def(IntegerAttr[SI32])
    concat_dim = prop_def(IntegerAttr[SI32])
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """One dimension shrinks, one grows, by the devices along the axis."""
        split, concat = self.split_dim.value.data, self.concat_dim.value.data
        axis = self.cluster_axis.value.data
        check.all_to_all(self, *self.types, split, concat, axis)


@irdl_op_definition
class MeshPartitionOp(OneInputOp):
    """Each device keeps its part of `dim`; see `ttir.mesh_partition`."""

    name = "ttnn.mesh_partition"
    dim = prop_def(IntegerAttr[SI32])
    cluster_axis = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The dimension shrinks by the number of devices along the axis."""
        dim, axis = self.dim.value.data, self.cluster_axis.value.data
        check.mesh_partition(self, *self.types, dim, axis)


# --- control flow (additions: tt-mlir leaves it to the host) ------------------


class RegionOp(VerifiedOnce):
    """Base of ops with regions, whose ops may use the values around them."""

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class WhileOp(RegionOp):
    """While `cond` of the carried values is true, `body` replaces them."""

    name = "ttnn.while"
    operand = var_operand_def()
    cond = region_def("single_block")
    body = region_def("single_block")
    res = var_result_def()

    def verify_(self) -> None:
        """Carried types stay; the condition is one truth value."""
        check.while_loop(self, self.operand, self.cond, self.body)


@irdl_op_definition
class IfOp(RegionOp):
    """The values of `true_branch` if the i1 scalar is true, else of `false_branch`."""

    name = "ttnn.if"
    pred = operand_def(AnyTensorTypeConstr)
    true_branch = region_def("single_block")
    false_branch = region_def("single_block")
    res = var_result_def()

    def verify_(self) -> None:
        """A scalar condition; both branches yield the results."""
        check.branches(self, self.pred, i1)


@irdl_op_definition
class CaseOp(RegionOp):
    """The values of branch number `index`; of the last when there is no such branch."""

    name = "ttnn.case"
    index = operand_def(AnyTensorTypeConstr)
    branches = var_region_def("single_block")
    res = var_result_def()

    def verify_(self) -> None:
        """A scalar i32 index; all branches yield the results."""
        check.branches(self, self.index, i32)


@irdl_op_definition
class YieldOp(VerifiedOnce):
    """The values that a region answers with."""

    name = "ttnn.yield"
    operand = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())


# --- what tt-mlir has no op for ------------------------------------------------


class AdditionOp(TTNNOp):
    """Base of StableHLO's and chlo's ops that tt-mlir has no form of.

    Fields, constraints and meaning are the op's that `ADDITION` names.
    """

    ADDITION: ClassVar[Addition]

    def as_source(self) -> Operation:
        """The op that this one stands for, on operands of its own."""
        return as_source(self, self.ADDITION.source, self.operands)

    def verify_shapes(self) -> None:
        """What the op that this one stands for demands."""
        self.as_source().verify()


def _define_addition(addition: Addition) -> type[AdditionOp]:
    fields = fields_of(addition, destinations=False)
    fields |= {
        "name": f"ttnn.{addition.mnemonic}",
        "__doc__": f"As `{addition.source}`.",
        "__module__": __name__,
    }
    made = type(class_name(addition.mnemonic), (AdditionOp,), fields)
    defined = irdl_op_definition(cast(type[AdditionOp], made))
    defined.ADDITION = addition
    return defined


ADDITION_OPS: dict[str, type[AdditionOp]] = {
    addition.source: _define_addition(addition) for addition in ADDITIONS
}
"""Their classes by the name of the op that they stand for."""


TTNN = Dialect(
    "ttnn",
    [
        *ADDITION_OPS.values(),
        *ELEMENTWISE_OPS.values(),
        *REDUCTION_OPS.values(),
        AllGatherOp,
        AllReduceOp,
        AllToAllOp,
        ArangeOp,
        ArgMaxOp,
        CaseOp,
        CollectivePermuteOp,
        ConcatOp,
        ConstantOp,
        Conv2dOp,
        Conv3dOp,
        CumProdOp,
        CumSumOp,
        DequantizeOp,
        EmbeddingOp,
        FullOp,
        GatherOp,
        GetDeviceOp,
        IfOp,
        MatmulOp,
        MeshPartitionOp,
        MeshShardOp,
        OnesOp,
        PadOp,
        PermuteOp,
        ProdOp,
        QuantizeOp,
        RandOp,
        ReduceScatterOp,
        RepeatOp,
        RequantizeOp,
        ReshapeOp,
        ScatterOp,
        SliceDynamicOp,
        SliceStaticOp,
        SortOp,
        TopKOp,
        WhileOp,
        YieldOp,
        ZerosOp,
    ],
    [
        DeviceType,
        MeshShapeAttr,
        ShapeAttr,
    ],
)
"""The dialect object that a context registers."""
