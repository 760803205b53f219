"""Element types and random arrays for tests of ops beside JAX."""

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)
F16 = np.dtype(np.float16)
F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)
I8 = np.dtype(np.int8)
I32 = np.dtype(np.int32)
U8 = np.dtype(np.uint8)
C64 = np.dtype(np.complex64)
BOOL = np.dtype(bool)
ALL = [BF16, F16, F32, F64, I8, I32, U8, C64, BOOL]


def array(*shape, dtype=F32, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == BOOL:
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -9), 9, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(
            dtype
        )
    return rng.standard_normal(shape).astype(dtype)
