"""Ops that make a tensor from nothing, the same on every device."""

from typing import Generic, TypeVar, cast

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.irdl import prop_def, result_def, traits_def
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.attributes import SI64, UI32, Sizes, ints
from ttxdsl.dialects._tt.op import ComputeOp
from ttxdsl.dialects._tt.tensors import bit_width, expect_dim, expect_shape, expect_type
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.ir.tensors import Tensor, tensor_type

Shape = TypeVar("Shape", bound=Sizes)
"""How a dialect writes a shape."""


class CreationOp(ComputeOp):
    """Base of ops that make a tensor from nothing."""

    result = result_def(AnyTensorTypeConstr)


class Constant(CreationOp):
    """The tensor `value`."""

    name = "constant"
    value = prop_def(DenseIntOrFPElementsAttr)

    traits = traits_def(ConstantLike())

    def __init__(self, value: DenseIntOrFPElementsAttr, type: Tensor):
        super().__init__(properties={"value": value}, result_types=[type])

    def verify_shapes(self) -> None:
        """The type has the shape and the (stored) element type of the value."""
        result, value = tensor_type(self.result), cast(Tensor, self.value.type)
        element = result.element_type
        if isinstance(element, QuantizedType) and (
            element.data.storage_type.bitwidth == bit_width(value.element_type)
        ):
            result = TensorType(value.element_type, result.get_shape())
        expect_type(result, value, "the value")


class FilledOp(CreationOp, Generic[Shape]):
    """Base of tensors of one value."""

    shape: Shape = prop_def(Shape)

    def verify_shapes(self) -> None:
        """The shape is the attribute's."""
        expect_shape(tensor_type(self.result), ints(self.shape), "the attribute shape")


class Zeros(FilledOp[Shape], Generic[Shape]):
    """A tensor of zeros (false)."""

    name = "zeros"


class Ones(FilledOp[Shape], Generic[Shape]):
    """A tensor of ones (true)."""

    name = "ones"


class Full(FilledOp[Shape], Generic[Shape]):
    """A tensor of one value, an f32 or i32 that is converted to the element type."""

    name = "full"
    fill_value = prop_def(Attribute)

    def verify_shapes(self) -> None:
        """The shape is the attribute's; the value is a number."""
        super().verify_shapes()
        if not isinstance(self.fill_value, FloatAttr | IntegerAttr):
            raise VerifyException(f"fill_value is {self.fill_value}, expected a number")


class Arange(CreationOp):
    """`start`, `start + step`, … below `end` along one dimension."""

    name = "arange"
    start = prop_def(IntegerAttr[SI64])
    end = prop_def(IntegerAttr[SI64])
    step = prop_def(IntegerAttr[SI64])

    @property
    def dim(self) -> int:
        """The dimension that the values run along."""
        return 0

    def verify_shapes(self) -> None:
        """The range fills the dimension exactly."""
        type, dim = tensor_type(self.result), self.dim
        start, end, step = (x.value.data for x in (self.start, self.end, self.step))
        expect_dim(type, dim, "arange_dimension")
        if step == 0:
            raise VerifyException("step is 0")
        steps = -(-(end - start) // step)
        if steps != type.get_shape()[dim]:
            raise VerifyException(
                f"{start} to {end} by {step} gives {steps} values for dimension {dim} of "
                f"size {type.get_shape()[dim]}"
            )


class Rand(CreationOp, Generic[Shape]):
    """Random numbers, uniform from `low` up to but not including `high`.

    The generator is up to the implementation; equal seeds give equal numbers.
    """

    name = "rand"
    size: Shape = prop_def(Shape)
    low = prop_def(FloatAttr)
    high = prop_def(FloatAttr)
    seed = prop_def(IntegerAttr[UI32])

    def verify_shapes(self) -> None:
        """The shape is `size`."""
        expect_shape(tensor_type(self.result), ints(self.size), "the attribute shape")
