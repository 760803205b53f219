"""Element types as NumPy dtypes, and what to compute them in.

MLIR's types map to NumPy's own and to `ml_dtypes`. The narrow ones are stored, not
computed in: an operation widens them (bf16, f16, f8… to f32; i2 and i4 to i8), works
there and rounds once, which is what the hardware and XLA on the CPU do.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    ComplexType,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects.quant import QuantizedType
from ttxdsl.ir.memo import IdentityMemo

Array = NDArray[Any]
_KernelT = TypeVar("_KernelT", bound=Callable[..., Array])
DType = np.dtype[Any]


def _dtype(scalar: Any) -> DType:
    return np.dtype(scalar)


_FLOATS: dict[type[Attribute], DType] = {
    builtin.Float16Type: _dtype(np.float16),
    builtin.Float32Type: _dtype(np.float32),
    builtin.Float64Type: _dtype(np.float64),
    builtin.BFloat16Type: _dtype(ml_dtypes.bfloat16),
    builtin.Float8E3M4Type: _dtype(ml_dtypes.float8_e3m4),
    builtin.Float8E4M3Type: _dtype(ml_dtypes.float8_e4m3),
    builtin.Float8E4M3FNType: _dtype(ml_dtypes.float8_e4m3fn),
    builtin.Float8E4M3FNUZType: _dtype(ml_dtypes.float8_e4m3fnuz),
    builtin.Float8E4M3B11FNUZType: _dtype(ml_dtypes.float8_e4m3b11fnuz),
    builtin.Float8E5M2Type: _dtype(ml_dtypes.float8_e5m2),
    builtin.Float8E5M2FNUZType: _dtype(ml_dtypes.float8_e5m2fnuz),
    builtin.Float8E8M0FNUType: _dtype(ml_dtypes.float8_e8m0fnu),
    builtin.Float6E2M3FNType: _dtype(ml_dtypes.float6_e2m3fn),
    builtin.Float6E3M2FNType: _dtype(ml_dtypes.float6_e3m2fn),
    builtin.Float4E2M1FNType: _dtype(ml_dtypes.float4_e2m1fn),
}

_INTEGERS: dict[tuple[int, bool], DType] = {
    (2, True): _dtype(ml_dtypes.int2),
    (4, True): _dtype(ml_dtypes.int4),
    (8, True): _dtype(np.int8),
    (16, True): _dtype(np.int16),
    (32, True): _dtype(np.int32),
    (64, True): _dtype(np.int64),
    (2, False): _dtype(ml_dtypes.uint2),
    (4, False): _dtype(ml_dtypes.uint4),
    (8, False): _dtype(np.uint8),
    (16, False): _dtype(np.uint16),
    (32, False): _dtype(np.uint32),
    (64, False): _dtype(np.uint64),
}

F32 = _dtype(np.float32)
F64 = _dtype(np.float64)
BOOL = _dtype(np.bool_)

WIDER: dict[DType, DType] = {
    **{dtype: F32 for dtype in _FLOATS.values() if dtype not in (F32, F64)},
    _INTEGERS[2, True]: _dtype(np.int8),
    _INTEGERS[4, True]: _dtype(np.int8),
    _INTEGERS[2, False]: _dtype(np.uint8),
    _INTEGERS[4, False]: _dtype(np.uint8),
}
"""The type that values of a narrow type are computed in."""

_ML_FLOATS = frozenset(_FLOATS.values())
BITS: dict[DType, int] = {dtype: width for (width, _), dtype in _INTEGERS.items()}
"""Widths of the integer types (a narrow one fills a whole byte of memory)."""


def is_float(dtype: DType) -> bool:
    """Whether this is a real floating-point type."""
    return dtype in _ML_FLOATS


def is_complex(dtype: DType) -> bool:
    """Whether this is a complex type."""
    return dtype.kind == "c"


def is_integer(dtype: DType) -> bool:
    """Whether this is an integer type; booleans are not."""
    return dtype in BITS


def is_signed(dtype: DType) -> bool:
    """Whether this is a signed integer type."""
    return is_integer(dtype) and compute_dtype(dtype).kind == "i"


def integer_range(dtype: DType) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type."""
    bits = BITS[dtype]
    if is_signed(dtype):
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


def epsilon(dtype: DType) -> float:
    """Return the distance from 1 to the next float of a type; 0 of other types."""
    if is_complex(dtype):
        return float(np.finfo(dtype).eps)
    if not is_float(dtype):
        return 0.0
    info = cast(Any, ml_dtypes.finfo(dtype))
    return float(info.eps)


def element_dtype(element: Attribute) -> DType:
    """Return the dtype of an element type (of the stored integers of a quantized one).

    Raises:
        UnsupportedError: types without one (f80, f128, tf32, odd widths).
    """
    if (dtype := _FLOATS.get(type(element))) is not None:
        return dtype
    match element:
        case IntegerType():
            width = element.width.data
            if width == 1:
                return BOOL
            signed = element.signedness.data != Signedness.UNSIGNED
            if (dtype := _INTEGERS.get((width, signed))) is not None:
                return dtype
        case IndexType():
            return _dtype(np.int64)
        case QuantizedType():
            # the stored integers; `quantized.py` converts them to real numbers
            width = element.data.storage_type.width.data
            if (dtype := _INTEGERS.get((width, element.data.is_signed))) is not None:
                return dtype
        case ComplexType():
            part = element_dtype(cast(Attribute, element.element_type))
            if part in (F32, F64):
                return _dtype(np.complex64 if part == F32 else np.complex128)
        case _:
            pass
    raise UnsupportedError(
        f"no values of element type {element} can be computed here",
        hint="convert to a type that NumPy or ml_dtypes has",
    )


MOST_DIMENSIONS = 64
"""Of a NumPy array, which has the axes of the mesh in front."""


def tensor_of(type: Attribute) -> tuple[tuple[int, ...], DType]:
    """Shape (-1 where dynamic) and dtype of a ranked tensor type.

    Raises:
        UnsupportedError: it is another type, or NumPy has no arrays of so many
            dimensions.
    """
    known = _tensors.get(id(type))
    if known is None:
        if len(_tensors) >= _MOST_KEPT:
            _tensors.clear()
        known = _tensors.keep(id(type), _read(type), type)
    return known


_tensors = IdentityMemo[tuple[tuple[int, ...], DType]]()
"""By the identity of the type: programs have few, and values by the thousand."""
_MOST_KEPT = 1 << 14


def _read(type: Attribute) -> tuple[tuple[int, ...], DType]:
    if not isinstance(type, TensorType):
        raise UnsupportedError(f"a value of type {type} is not a ranked tensor")
    tensor_type = cast("TensorType[Attribute]", type)
    shape = tuple(max(size, -1) for size in tensor_type.get_shape())
    if len(shape) > MOST_DIMENSIONS:
        raise UnsupportedError(
            f"a tensor of {len(shape)} dimensions cannot be run: NumPy's arrays have at"
            f" most {MOST_DIMENSIONS}"
        )
    return shape, element_dtype(tensor_type.element_type)


def rank_of(type: Attribute) -> int:
    """Return the rank of a ranked tensor type."""
    return len(tensor_of(type)[0])


def compute_dtype(dtype: DType) -> DType:
    """Return the type to compute values of `dtype` in."""
    return WIDER.get(dtype, dtype)


def widen(x: Array) -> Array:
    """`x` in the type it is to be computed in (itself if that is its own)."""
    wider = WIDER.get(x.dtype)
    return x if wider is None else x.astype(wider)


def widened(kernel: _KernelT) -> _KernelT:
    """Return a kernel of arrays that computes narrow types in their wider ones.

    The result has the dtype of the first array, unless the kernel turned it into
    another kind (booleans of a comparison, say).
    """

    def run(*arrays: Array) -> Array:
        dtype = arrays[0].dtype
        wider = WIDER.get(dtype)
        if wider is None:
            return kernel(*arrays)
        result = kernel(*(widen(array) for array in arrays))
        return result.astype(dtype) if result.dtype == wider else result

    return cast(_KernelT, run)


def read_constant(op: Operation, value: object) -> Array:
    """Return the array of a constant op, read-only.

    Raises:
        UnsupportedError: its numbers are not in the module.
    """
    if isinstance(value, DenseIntOrFPElementsAttr):
        return constant(cast(Any, value))
    raise UnsupportedError(
        "the value is not in the module, only a reference to a resource",
        op,
        hint="print the module with its constants (dense<…>)",
    )


def constant(value: DenseIntOrFPElementsAttr) -> Array:
    """Return the array that a dense attribute stands for, read-only.

    A splat is one element in memory, broadcast to its shape.
    """
    shape, dtype = tensor_of(value.type)
    raw = value.data.data
    if dtype == BOOL:
        flat: Array = np.frombuffer(raw, np.uint8) != 0
    else:
        flat = np.frombuffer(raw, compute_dtype(dtype) if dtype in BITS else dtype)
        if flat.dtype != dtype:
            flat = flat.astype(dtype)
    if value.is_splat():
        return np.broadcast_to(flat.reshape((1,) * len(shape)), shape)
    return flat.reshape(shape)
