"""Products that are summed: matrices and windows."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I32,
    AnyTensorTypeConstr,
    BoolAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
)
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.attributes import DenseInts, ints
from ttxdsl.dialects._tt.op import ComputeOp
from ttxdsl.dialects._tt.tensors import (
    exactly,
    expect_shape,
    shape_text,
    sizes_text,
    tensor_types,
)
from ttxdsl.ir.tensors import tensor_type


class Matmul(ComputeOp):
    """`a @ b` over the last two dimensions, leading dimensions equal.

    `transpose_a` and `transpose_b` swap the last two dimensions of an operand first.
    The sum accumulates in the result's element type, at least in f32 for floats.
    """

    name = "matmul"
    a = operand_def(AnyTensorTypeConstr)
    b = operand_def(AnyTensorTypeConstr)
    transpose_a = prop_def(BoolAttr)
    transpose_b = prop_def(BoolAttr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Inner sizes and leading dimensions agree."""
        a, b, result = tensor_types(self.a, self.b, self.result)
        left, right = a.get_shape(), b.get_shape()
        if len(left) < 2 or len(left) != len(right):
            raise VerifyException(
                f"{shape_text(a)} @ {shape_text(b)}: both need the same rank, at least 2"
            )
        if bool(self.transpose_a):
            left = (*left[:-2], left[-1], left[-2])
        if bool(self.transpose_b):
            right = (*right[:-2], right[-1], right[-2])
        if left[:-2] != right[:-2] or left[-1] != right[-2]:
            raise VerifyException(
                f"{shape_text(a)} @ {shape_text(b)}: batch or contracted dimensions "
                "differ"
            )
        expect_shape(result, (*left[:-1], right[-1]), "the matrix product")


class ConvolutionOp(ComputeOp):
    """Base of windows of the input times a kernel, summed: no kernel is flipped."""

    input = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    stride = prop_def(DenseInts)
    padding = prop_def(DenseInts)
    groups = prop_def(IntegerAttr[I32])
    result = result_def(AnyTensorTypeConstr)

    def image_dims(self) -> tuple[int, ...]:
        """Return the dimensions of the image: batch, spatial dimensions, channels."""
        return tuple(range(len(tensor_type(self.input).get_shape())))

    def _named_dims(self, *names: str) -> tuple[int, ...]:
        """The dimensions that properties name; its own place where one is missing."""
        attributes = [self.properties.get(f"{name}_dim") for name in names]
        return tuple(
            attribute.value.data if isinstance(attribute, IntegerAttr) else at
            for at, attribute in enumerate(attributes)
        )

    def kernel_shape(self) -> Sequence[int]:
        """Return the kernel's shape `[o, c / groups, kernel…]`."""
        return tensor_type(self.weight).get_shape()

    def verify_windows(
        self, padding: Sequence[tuple[int, int]], dilation: Sequence[int]
    ) -> None:
        """Input `[n, spatial…, c]`, weight `[o, c / groups, kernel…]`."""
        spatial = len(padding)
        stride = exactly(spatial, "stride", ints(self.stride))
        exactly(spatial, "dilation", dilation)
        input, _, result = tensor_types(self.input, self.weight, self.result)
        image, kernel = input.get_shape(), self.kernel_shape()
        order = self.image_dims()
        if len(image) == len(order) == len(result.get_shape()):
            image = tuple(image[dim] for dim in order)
            shape = tuple(result.get_shape()[dim] for dim in order)
            result = TensorType(result.element_type, shape)
        groups = self.groups.value.data
        if len(image) != spatial + 2 or len(kernel) != spatial + 2:
            raise VerifyException(
                f"input of {shape_text(input)} and weight of {sizes_text(kernel)}: both "
                f"need rank {spatial + 2}"
            )
        if groups < 1 or image[-1] != kernel[1] * groups or kernel[0] % groups:
            raise VerifyException(
                f"{image[-1]} input channels and {kernel[0]} output channels do not fit "
                f"{groups} groups of {kernel[1]} input channels"
            )
        wanted = [image[0]]
        for size, window, by, (low, high), gap in zip(
            image[1:-1], kernel[2:], stride, padding, dilation, strict=True
        ):
            room = size + low + high - gap * (window - 1) - 1
            wanted.append(room // by + 1 if room >= 0 else 0)
        expect_shape(result, [*wanted, kernel[0]], "windows in the padded input")


class Conv2d(ConvolutionOp):
    """Windows of an image times a kernel, summed: no kernel is flipped.

    Weight `[o, c / groups, kh, kw]`; `dilation` spreads the kernel. The sum accumulates
    at least in f32 for floats.
    """

    name = "conv2d"
    dilation = prop_def(DenseInts)


class Conv3d(ConvolutionOp):
    """As conv2d with a depth: `[n, d, h, w, c]` and `[o, c / groups, kd, kh, kw]`.

    `padding` is one number a dimension, the same on both sides, of zeros.
    """

    name = "conv3d"
    dilation = opt_prop_def(DenseInts)
    padding_mode = opt_prop_def(StringAttr)

    def verify_shapes(self) -> None:
        """Check the groups, and the result's shape against the windows."""
        mode = self.padding_mode
        if mode is not None and mode.data != "zeros":
            raise VerifyException(f'padding_mode is "{mode.data}", expected "zeros"')
        padding = exactly(3, "padding", ints(self.padding))
        dilation = (1, 1, 1) if self.dilation is None else ints(self.dilation)
        self.verify_windows([(amount, amount) for amount in padding], dilation)
