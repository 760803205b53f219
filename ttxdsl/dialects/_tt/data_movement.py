"""Ops that move elements: another shape, order, or part of the input."""

from math import prod

from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
)
from xdsl.irdl import operand_def, prop_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.attributes import SI32, DenseInts, I32Array, ints
from ttxdsl.dialects._tt.op import ComputeOp, OneInputOp
from ttxdsl.dialects._tt.tensors import (
    differ_only_in,
    expect_dim,
    expect_element_type,
    expect_elements,
    expect_shape,
    resized,
    shape_text,
    tensor_types,
)
from ttxdsl.dialects.quant import permuted, repeated, reshaped
from ttxdsl.ir.tensors import Tensor, tensor_type


class Reshape(OneInputOp):
    """The same elements in row-major order, in another shape."""

    name = "reshape"
    shape = prop_def(I32Array)

    def verify_shapes(self) -> None:
        """The result has the shape of the attribute and as many elements."""
        input, result = self.types
        before, shape = input.get_shape(), ints(self.shape)
        expect_shape(result, shape, "the attribute shape")
        if prod(before) != prod(shape):
            raise VerifyException(
                f"{shape_text(input)} and {shape_text(result)} have different numbers "
                "of elements"
            )
        try:
            wanted = reshaped(input.element_type, before, shape)
        except ValueError as error:
            raise VerifyException(str(error)) from error
        # where several dimensions of size 1 could have the scale, any may
        expect_elements(reshaped(result.element_type, shape, shape), wanted)


class Permute(OneInputOp):
    """Dimensions reordered: result dimension i is input dimension `permutation[i]`."""

    name = "permute"
    permutation = prop_def(DenseInts)

    def verify_shapes(self) -> None:
        """A permutation, and the shape it gives."""
        input, result = self.types
        permutation, shape = ints(self.permutation), input.get_shape()
        if sorted(permutation) != list(range(len(shape))):
            raise VerifyException(
                f"{list(permutation)} is no permutation of {len(shape)} dimensions"
            )
        expect_shape(result, [shape[dim] for dim in permutation], "the permutation")
        expect_elements(result.element_type, permuted(input.element_type, permutation))


def verify_repetition(input: Tensor, result: Tensor, factors: tuple[int, ...]) -> None:
    """Each dimension of the result is the input's times its factor."""
    shape = input.get_shape()
    if len(factors) != len(shape):
        raise VerifyException(
            f"{len(factors)} factors for a tensor of rank {len(shape)}"
        )
    wanted = [size * factor for size, factor in zip(shape, factors, strict=True)]
    expect_shape(result, wanted, "each dimension times its factor")
    expect_elements(result.element_type, repeated(input.element_type, factors))


class Concat(ComputeOp):
    """The inputs one after the other along dimension `dim`."""

    name = "concat"
    inputs = var_operand_def(AnyTensorTypeConstr)
    dim = prop_def(IntegerAttr[SI32])
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Inputs agree but in `dim`, which adds up."""
        types, dim = tensor_types(*self.reads), self.dim.value.data
        if not types:
            raise VerifyException("nothing to concatenate")
        first = types[0]
        expect_dim(first, dim, "dim")
        for type in types:
            expect_element_type(type, first)
            if not differ_only_in(dim, first, type):
                raise VerifyException(
                    f"{shape_text(first)} and {shape_text(type)} differ not only in "
                    f"dimension {dim}"
                )
        result = tensor_type(self.result)
        total = sum(type.get_shape()[dim] for type in types)
        expect_element_type(result, first)
        wanted = resized(first, dim, total)
        expect_shape(result, wanted, "the sizes of the operands added up")


class SliceStatic(OneInputOp):
    """Elements `begins[i]`, `begins[i] + step[i]`, … below `ends[i]` of dimension i."""

    name = "slice_static"
    begins = prop_def(I32Array)
    ends = prop_def(I32Array)
    step = prop_def(I32Array)

    def verify_shapes(self) -> None:
        """`begins <= ends <= size`, positive steps, and the result they give."""
        input, result = self.types
        shape = input.get_shape()
        cut = ints(self.begins), ints(self.ends), ints(self.step)
        expect_element_type(result, input)
        if any(len(numbers) != len(shape) for numbers in cut):
            raise VerifyException(
                f"begins, ends and step need {len(shape)} entries, one a dimension"
            )
        wanted: list[int] = []
        for dim, (size, low, high, by) in enumerate(zip(shape, *cut, strict=True)):
            if not (0 <= low <= high <= size and by >= 1):
                raise VerifyException(
                    f"dimension {dim} of size {size}: [{low}:{high}:{by}] is no slice "
                    "of it"
                )
            wanted.append(-(-(high - low) // by))
        expect_shape(result, wanted, "begins, ends and step")


class SliceDynamic(ComputeOp):
    """A slice whose place is computed: dimension i from `begins[i]`, by step 1.

    `begins` and `ends` are integer tensors with one entry a dimension; `ends` is
    `begins` plus the result's shape, which is what the size of the slice comes from.
    A begin that would leave the input is undefined; the lowering clamps before.
    """

    name = "slice_dynamic"
    input = operand_def(AnyTensorTypeConstr)
    begins = operand_def(AnyTensorTypeConstr)
    ends = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """One integer a dimension; the result fits in the input."""
        input, result = tensor_types(self.input, self.result)
        expect_element_type(result, input)
        rank = len(input.get_shape())
        for name, value in (("begins", self.begins), ("ends", self.ends)):
            type = tensor_type(value)
            if type.get_shape() != (rank,) or not isinstance(
                type.element_type, IntegerType
            ):
                raise VerifyException(f"{name} must be a tensor of {rank} integers")
        if len(result.get_shape()) != rank or any(
            part > size
            for part, size in zip(result.get_shape(), input.get_shape(), strict=True)
        ):
            raise VerifyException(
                f"a slice of {shape_text(input)} cannot have shape {shape_text(result)}"
            )


class Pad(OneInputOp):
    """The input with `value` around: `padding` is [low0, high0, low1, high1, …].

    `value` is converted to the element type; negative padding takes away.
    """

    name = "pad"
    padding = prop_def(DenseInts)
    value = prop_def(FloatAttr)

    def verify_shapes(self) -> None:
        """Check the amounts and the resulting shape."""
        input, result = self.types
        padding, shape = ints(self.padding), input.get_shape()
        expect_element_type(result, input)
        if len(padding) != 2 * len(shape):
            raise VerifyException(
                f"padding has {len(padding)} entries, expected a low and a high for "
                f"each of {len(shape)} dimensions"
            )
        amounts = zip(shape, padding[0::2], padding[1::2], strict=True)
        expect_shape(
            result, [sum(of) for of in amounts], "the operand with its padding"
        )
