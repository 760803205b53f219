"""Layouts that ops ask for: which dimensions of a value may lie along a tile's columns.

Most values are laid out with the least padding. What a convolution reads and writes has its
features or its batch along the columns, the other one or a window's dimension along the rows,
and elementwise ops around it work in the same layout. A product is stored as the matrices that it
is computed as. A Pallas kernel reads and writes its dimensions in their order (queries of heads of 64
as `bf16[2,64,4096,64]{3,2,1,0:T(8,128)(2,1)}`, twice their bytes). An argument that is laid out with less
is copied before its first convolution: libtpu's `bf16[16,256,256,64]{3,0,2,1:T(8,128)}` of an
argument `{2,3,1,0}` takes twice its bytes.
"""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.kernels import is_kernel
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.ir.tensors import (
    element_of,
    is_tensor,
    ordered_bytes,
    shape_of,
    tiled_bytes,
    tiled_order,
)
from ttxdsl.ir.traversal import all_ops

_MOST_VALUES = 256
"""Values around one that are looked at for a convolution."""


class Layouts:
    """The dimensions that may lie along the columns of tiles, by value."""

    def __init__(self, module: ModuleOp) -> None:
        self._convolves = any(
            isinstance(op, stablehlo.ConvolutionOp) for op in all_ops(module)
        )
        self._columns: dict[SSAValue, frozenset[int] | None] = {}

    def stored_bytes(
        self, value: SSAValue, element: Attribute, tile: tuple[int, int]
    ) -> int:
        """Return the bytes of a value in whole tiles, as its readers want it or its op makes it."""
        if _is_of_kernel(value):
            shape = shape_of(value)
            return ordered_bytes(shape, element, tile, range(len(shape)))
        columns = self.columns(value)
        shape = stored_shape(value) if columns is None else shape_of(value)
        return tiled_bytes(shape, element, tile, columns)

    def columns(self, value: SSAValue) -> frozenset[int] | None:
        """Return the dimensions one of which lies along the columns; None: any may."""
        if not self._convolves:
            return None
        if value not in self._columns:
            self._find(value)
        return self._columns[value]

    def _find(self, value: SSAValue) -> None:
        """Look for a convolution among what elementwise ops make of a value, or it of."""
        group = [value]
        seen = {value}
        columns: frozenset[int] | None = None
        for member in group:  # it grows
            columns = columns or _asked_for(member)
            if len(group) < _MOST_VALUES:
                new = [other for other in _alike(member) if other not in seen]
                seen.update(new)
                group += new
        for member in group:
            self._columns.setdefault(member, columns)


def _is_of_kernel(value: SSAValue) -> bool:
    """Whether a Pallas kernel reads or makes a value."""
    ops = [use.operation for use in value.uses]
    if isinstance(value, OpResult):
        ops.append(value.op)
    return any(isinstance(op, stablehlo.CustomCallOp) and is_kernel(op) for op in ops)


def stored_shape(value: SSAValue) -> tuple[int, ...]:
    """Return the shape that a value is stored in: of a product a matrix for each batch."""
    shape = shape_of(value)
    if not isinstance(value, OpResult) or not isinstance(
        op := value.op, stablehlo.DotGeneralOp
    ):
        return shape
    numbers = op.dot_dimension_numbers.data
    batch = len(numbers.lhs_batching_dimensions)
    summed = len(numbers.lhs_contracting_dimensions)
    rows = len(shape_of(op.lhs)) - summed
    return *shape[:batch], prod(shape[batch:rows]), prod(shape[rows:])


def result_bytes(result: SSAValue, local: Sequence[int], tile: tuple[int, int]) -> int:
    """Return the bytes of a device's part of a result that nobody laid out.

    The order of dimensions is the best one for the whole result, since how it is split is not
    known before the partitioner has run. libtpu 0.0.52 so returns a cache in int8 of one head of
    eight a device as `s8[16,32,2048,1,128]{4,3,2,1,0:T(4,128)(4,1)}`, four times its bytes, which
    no donated argument has room for (that is `{4,2,3,1,0:T(32,128)(4,1)}`).
    """
    order = tiled_order(shape_of(result), tile)
    return ordered_bytes(local, element_of(result), tile, order)


def _asked_for(value: SSAValue) -> frozenset[int] | None:
    """Return the dimensions that a convolution wants along the columns."""
    if isinstance(value, OpResult) and isinstance(value.op, stablehlo.ConvolutionOp):
        dims = value.op.dimension_numbers.data
        return frozenset((dims.output_batch_dimension, dims.output_feature_dimension))
    for use in value.uses:
        if isinstance(use.operation, stablehlo.ConvolutionOp):
            dims = use.operation.dimension_numbers.data
            if use.index == 0:
                return frozenset(
                    (dims.input_batch_dimension, dims.input_feature_dimension)
                )
            return frozenset(
                (
                    dims.kernel_input_feature_dimension,
                    dims.kernel_output_feature_dimension,
                )
            )
    return None


def _alike(value: SSAValue) -> list[SSAValue]:
    """Return the values of the same shape that elementwise ops lead to or from."""
    ops: list[Operation] = [use.operation for use in value.uses]
    if isinstance(value, OpResult):
        ops.append(value.op)
    shape = shape_of(value)
    return [
        other
        for op in ops
        if op.get_trait(Elementwise) is not None
        or isinstance(op, stablehlo.ConvertOp | stablehlo.OptimizationBarrierOp)
        for other in (*op.operands, *op.results)
        if is_tensor(other) and shape_of(other) == shape
    ]
