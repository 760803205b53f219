"""Ops that pick, put and order elements by their index along a dimension."""

from typing import Generic, TypeVar

from xdsl.dialects.builtin import I32, AnyTensorTypeConstr, BoolAttr, IntegerAttr
from xdsl.irdl import operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ttxdsl.dialects._tt.op import ComputeOp, OneInputOp
from ttxdsl.dialects._tt.tensors import (
    differ_only_in,
    expect_along,
    expect_dim,
    expect_element_type,
    expect_indices,
    expect_shape,
    resized,
    shape_text,
    tensor_types,
)
from ttxdsl.dialects.ttcore import ReduceTypeAttr
from ttxdsl.ir.tensors import Tensor

Dim = TypeVar("Dim", bound=IntegerAttr)
"""How a dialect writes a dimension: tt-mlir has another integer type in each."""


class Embedding(ComputeOp):
    """Row `input[i…]` of `weight` for every index: shape of input, then of a row.

    An index is clamped into 0 to rows - 1, as stablehlo.gather clamps.
    """

    name = "embedding"
    input = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Integer indices, a weight of rank 2, a row an index."""
        indices, weight, result = tensor_types(self.input, self.weight, self.result)
        expect_element_type(result, weight)
        expect_indices(indices)
        if len(weight.get_shape()) != 2:
            raise VerifyException(
                f"the weight has shape {shape_text(weight)}, expected rows and columns"
            )
        wanted = (*indices.get_shape(), weight.get_shape()[1])
        expect_shape(result, wanted, "the indices, then a row of the weight")


def _expect_index(input: Tensor, index: Tensor, dim: int) -> None:
    if not differ_only_in(dim, input, index):
        raise VerifyException(
            f"the operand of {shape_text(input)} and the index of {shape_text(index)} "
            f"may differ in dimension {dim} only"
        )


class Gather(ComputeOp, Generic[Dim]):
    """`result[…, j, …] = input[…, index[…, j, …], …]` along dimension `dim`.

    Other dimensions of index and input agree. An index outside the input is
    undefined; the lowering makes none.
    """

    name = "gather"
    input = operand_def(AnyTensorTypeConstr)
    index = operand_def(AnyTensorTypeConstr)
    dim: Dim = prop_def(Dim)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """The index has the result's shape, and the input's but in `dim`."""
        input, index, result = tensor_types(self.input, self.index, self.result)
        expect_element_type(result, input)
        expect_dim(input, self.dim.value.data, "dim")
        expect_shape(result, index.get_shape(), "the index")
        _expect_index(input, index, self.dim.value.data)


class Scatter(ComputeOp, Generic[Dim]):
    """The input with `source[…, j, …]` put at `index[…, j, …]` along dimension `dim`.

    Where several indices are equal, values combine by `scatter_reduce_type` (sum, prod,
    max, min) with each other and with the input's value; with `invalid` the last in
    row-major order replaces it. An index outside the input is undefined.
    """

    name = "scatter"
    input = operand_def(AnyTensorTypeConstr)
    index = operand_def(AnyTensorTypeConstr)
    source = operand_def(AnyTensorTypeConstr)
    dim: Dim = prop_def(Dim)
    scatter_reduce_type = prop_def(ReduceTypeAttr)
    result = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Index and source of one shape, the input's but in `dim`."""
        input, result = tensor_types(self.input, self.result)
        index, source = tensor_types(self.index, self.source)
        expect_element_type(result, input)
        expect_element_type(source, input)
        expect_dim(input, self.dim.value.data, "dim")
        expect_shape(result, input.get_shape(), "a scatter keeps the shape")
        if source.get_shape() != index.get_shape():
            raise VerifyException(
                f"index of {shape_text(index)} and source of {shape_text(source)} must "
                "agree"
            )
        _expect_index(input, index, self.dim.value.data)


class Sort(ComputeOp, Generic[Dim]):
    """Values sorted along `dim`, and the places they came from (integers).

    With `stable` equals keep their order. NaN sorts as the largest.
    """

    name = "sort"
    input = operand_def(AnyTensorTypeConstr)
    dim: Dim = prop_def(Dim)
    descending = prop_def(BoolAttr)
    stable = prop_def(BoolAttr)
    values = result_def(AnyTensorTypeConstr)
    indices = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """Values as the input, one integer index a value."""
        input, values, indices = tensor_types(self.input, self.values, self.indices)
        expect_along(input, values, self.dim.value.data)
        expect_shape(indices, input.get_shape(), "one index a value")
        expect_indices(indices)


class TopK(ComputeOp, Generic[Dim]):
    """The `k` largest (or smallest) along `dim`, best first, and their places.

    Of equals the one that comes first wins. NaN is larger than every number.
    """

    name = "topk"
    input_tensor = operand_def(AnyTensorTypeConstr)
    k = prop_def(IntegerAttr[I32])
    dim: Dim = prop_def(Dim)
    largest = prop_def(BoolAttr)
    sorted = prop_def(BoolAttr)
    values = result_def(AnyTensorTypeConstr)
    indices = result_def(AnyTensorTypeConstr)

    def verify_shapes(self) -> None:
        """`k` values and integer indices along `dim`."""
        input, values = tensor_types(self.input_tensor, self.values)
        (indices,) = tensor_types(self.indices)
        k, dim = self.k.value.data, self.dim.value.data
        expect_dim(input, dim, "dim")
        expect_element_type(values, input)
        if not 0 <= k <= input.get_shape()[dim]:
            raise VerifyException(f"k is {k} of {input.get_shape()[dim]} elements")
        for type in (values, indices):
            expect_shape(type, resized(input, dim, k), "k along dim")
        expect_indices(indices)


class CumulativeOp(OneInputOp, Generic[Dim]):
    """Base of cumulative ops: each element combines all elements up to its place."""

    dim: Dim = prop_def(Dim)

    def verify_shapes(self) -> None:
        """The shape stays."""
        expect_along(*self.types, self.dim.value.data)


class CumSum(CumulativeOp[Dim], Generic[Dim]):
    """Sum of all elements up to and with each one along `dim`."""

    name = "cumsum"


class CumProd(CumulativeOp[Dim], Generic[Dim]):
    """Product of all elements up to and with each one along `dim`."""

    name = "cumprod"
