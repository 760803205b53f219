"""Random bits as XLA's algorithms make them, from a state, vectorised.

`jax.random` needs none of this with its default keys (it is made of ordinary ops); its
`rbg` keys lead to `rng_bit_generator`.

Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (Threefry-2x32,
Philox-4x32); StableHLO specification, sections rng and rng_bit_generator. How counters
are given to elements, which the specification leaves open, is found from what XLA's
CPU backend answers, and tested against it.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.interpreters.kernels.elements import BOOL, DType, is_float
from ttxdsl.interpreters.kernels.elementwise import convert, lead_shape

Array = NDArray[Any]

_U32 = np.uint32
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)

_THREEFRY_PARITY = _U32(0x1BD11BDA)
_THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))

_PHILOX_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_PHILOX_STEPS = (_U32(0x9E3779B9), _U32(0xBB67AE85))


def _words(x: Array) -> tuple[Array, Array]:
    """Return the low and the high half of 64-bit numbers."""
    return (x & _LOW).astype(_U32), (x >> _HALF).astype(_U32)


def _joined(low: Array, high: Array) -> Array:
    return low.astype(np.uint64) | (high.astype(np.uint64) << _HALF)


def threefry(
    key: tuple[Array, Array], counter: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Threefry-2x32 with 20 rounds of 32-bit counters."""
    keys = (*key, key[0] ^ key[1] ^ _THREEFRY_PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for block in range(5):
        for rotation in _THREEFRY_ROTATIONS[block % 2]:
            x = x + y
            y = (y << _U32(rotation)) | (y >> _U32(32 - rotation))
            y = x ^ y
        x = x + keys[(block + 1) % 3]
        y = y + keys[(block + 2) % 3] + _U32(block + 1)
    return x, y


def philox(
    key: tuple[Array, Array], counter: tuple[Array, Array, Array, Array]
) -> tuple[Array, Array, Array, Array]:
    """Philox-4x32 with 10 rounds of 32-bit counters."""
    a, b, c, d = counter
    k0, k1 = key
    for _ in range(10):
        low0, high0 = _words(a.astype(np.uint64) * _PHILOX_MULTIPLIERS[0])
        low1, high1 = _words(c.astype(np.uint64) * _PHILOX_MULTIPLIERS[1])
        a, b, c, d = high1 ^ b ^ k0, low1, high0 ^ d ^ k1, low0
        k0, k1 = k0 + _PHILOX_STEPS[0], k1 + _PHILOX_STEPS[1]
    return a, b, c, d


def _threefry_64(state: Array, count: int) -> Array:
    """`count` 64-bit numbers, one a counter: [lead…, count]."""
    key = _words(state[..., 0:1])
    counters = state[..., 1:2] + np.arange(count, dtype=np.uint64)
    return _joined(*threefry(key, _words(counters)))


def _threefry_32(state: Array, shape: Sequence[int]) -> tuple[Array, int]:
    """32-bit numbers of a shape, and the counters used.

    A counter gives two numbers, which are neighbours along the first dimension of even
    size (or the largest one, which is then made even).
    """
    lead = state.shape[:-1]
    if not shape:
        numbers, used = _threefry_32(state, (1,))
        return numbers.reshape(lead), used
    even = (at for at, size in enumerate(shape) if size % 2 == 0)
    at = next(even, max(range(len(shape)), key=lambda d: shape[d]))
    half = [*shape]
    half[at] = (shape[at] + 1) // 2
    count = prod(half)
    key = _words(state[..., 0:1])
    counters = state[..., 1:2] + np.arange(count, dtype=np.uint64)
    pair = threefry(key, _words(counters))
    stacked = np.stack(
        [words.reshape((*lead, *half)) for words in pair], len(lead) + at + 1
    )
    whole = [*shape]
    whole[at] = 2 * half[at]
    numbers = stacked.reshape((*lead, *whole))
    cut = (slice(None),) * (len(lead) + at) + (slice(0, shape[at]),)
    return numbers[cut], count


def _philox_32(state: Array, count: int) -> tuple[Array, Array]:
    """At least `count` 32-bit numbers in rows of four, and the next counter."""
    blocks = (count + 3) // 4
    low = state[..., 1:2]
    # a state without an upper half of the counter: XLA puts the key there
    high = state[..., 2:3] if state.shape[-1] > 2 else state[..., 0:1]
    counters = low + np.arange(blocks, dtype=np.uint64)
    carried = high + (counters < low)
    words = philox(_words(state[..., 0:1]), (*_words(counters), *_words(carried)))
    after = low + np.uint64(blocks)
    following = [after, high + (after < low)][: state.shape[-1] - 1]
    return np.stack(words, axis=-1), np.concatenate(following, axis=-1)


def bit_generator(
    algorithm: str, state: Array, shape: Sequence[int], dtype: DType
) -> tuple[Array, Array]:
    """(next state, random bits) for `rng_bit_generator`.

    Args:
        algorithm: THREE_FRY or PHILOX; DEFAULT is PHILOX, as on XLA's CPU backend.
        state: [lead…, 2 or 3] of ui64: a key, then a counter.
    """
    count = prod(shape)
    wide = dtype.itemsize == 8
    lead = state.shape[:-1]
    if algorithm == "THREE_FRY":
        if wide:
            numbers, used = _threefry_64(state, count).reshape((*lead, *shape)), count
        else:
            numbers, used = _threefry_32(state, shape)
        counter = state[..., 1:2] + np.uint64(used)
    else:
        words, counter = _philox_32(state, 2 * count if wide else count)
        if wide:
            words = _joined(words[..., 0::2], words[..., 1::2])
        flat = words.reshape((*lead, -1))[..., :count]
        numbers = flat.reshape((*lead, *shape))
    following = np.concatenate([state[..., 0:1], counter], axis=-1)
    bits = numbers.astype(np.dtype(f"u{dtype.itemsize}"))
    return following, bits.view(dtype)


def distribution(
    kind: str,
    low: Array,
    high: Array,
    shape: Sequence[int],
    dtype: DType,
    seed: int = 0,
) -> Array:
    """Uniform numbers in [low, high), or normal ones of mean low and deviation high.

    The specification leaves the numbers to the implementation; these come from a
    generator with a fixed seed.
    """
    rng = np.random.default_rng(seed)
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
