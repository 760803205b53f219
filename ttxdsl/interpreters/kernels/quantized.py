"""Quantized tensors: integers that stand for real numbers.

A value of a quantized type is the array of its stored integers. Ops that only move
elements work on these. Every other op is run as the specification says it is meant:
operands dequantized, the op on floats (`dialects/expressed.py`), the result quantized.

Source: StableHLO specification, sections "Quantized types", "quantize", "dequantize".
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects.expressed import quantization_of
from ttxdsl.dialects.quant import Quantization
from ttxdsl.interpreters.kernels.elements import DType, element_dtype, tensor_of, widen

Array = NDArray[Any]


def _along_axis(
    values: tuple[float, ...] | tuple[int, ...],
    how: Quantization,
    rank: int,
    dtype: DType,
) -> Array:
    """Scales or zero points, to be broadcast over the tensor's dimensions."""
    array = np.array(values).astype(dtype)
    if how.axis is None:
        return array.reshape(())
    return array.reshape((-1,) + (1,) * (rank - how.axis - 1))


def dequantize(stored: Array, how: Quantization, rank: int) -> Array:
    """Return the real numbers that stored integers stand for."""
    dtype = element_dtype(how.expressed_type)
    zero = _along_axis(how.zero_points, how, rank, np.dtype(np.int32))
    scale = _along_axis(how.scales, how, rank, dtype)
    return ((widen(stored).astype(np.int32) - zero).astype(dtype) * scale).astype(dtype)


def quantize(x: Array, how: Quantization, rank: int, storage: DType) -> Array:
    """Return the stored integers nearest to real numbers, within the stored range."""
    dtype = np.dtype(np.float32) if x.dtype.itemsize < 4 else x.dtype
    zero = _along_axis(how.zero_points, how, rank, dtype)
    scale = _along_axis(how.scales, how, rank, dtype)
    real = x.astype(dtype) / scale + zero
    # no number is stored as 0, whatever that stands for
    real = np.where(real != real, 0, real)
    inside = np.clip(real, how.storage_min, how.storage_max)
    return np.rint(inside).astype(np.int32).astype(storage)


def with_parameters(how: Quantization, scale: Array, zero: Array) -> Quantization:
    """Return the same with scales and zero points that are values of the program.

    Raises:
        UnsupportedError: they differ by device.
    """
    sizes = {1, len(how.scales)}
    if scale.size not in sizes or zero.size not in sizes:
        raise UnsupportedError("scales or zero points that differ by device")
    return replace(
        how,
        scales=tuple(float(number) for number in scale.reshape(-1)),
        zero_points=tuple(int(number) for number in zero.reshape(-1)),
    )


def to_floats(op: Operation, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the operands of `op`, quantized ones dequantized."""
    return tuple(
        value
        if (how := quantization_of(operand.type)) is None
        else dequantize(value, how, len(tensor_of(operand.type)[0]))
        for value, operand in zip(values, op.operands, strict=True)
    )


def from_floats(op: Operation, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Results of `op` on floats, quantized where the op's own are."""
    quantized: list[Any] = []
    for value, result in zip(values, op.results, strict=True):
        how = quantization_of(result.type)
        if how is None:
            quantized.append(value)
            continue
        shape, dtype = tensor_of(result.type)
        quantized.append(quantize(np.asarray(value), how, len(shape), dtype))
    return tuple(quantized)
