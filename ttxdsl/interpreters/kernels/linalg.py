"""Decompositions and transforms of matrices, batched over all leading dimensions.

Source: StableHLO specification, sections cholesky, triangular_solve and fft.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.interpreters.kernels.elements import widen, widened

Array = NDArray[Any]


def _adjoint(x: Array) -> Array:
    return np.conj(x.swapaxes(-1, -2))


def cholesky(a: Array, lower: bool) -> Array:
    """L of a = L Lᴴ, or its adjoint; NaN where `a` is not positive definite."""
    dtype = a.dtype
    a = widen(a)
    # only one triangle is read, and NumPy's reads the lower
    factor = _cholesky(a if lower else _adjoint(a))
    return (factor if lower else _adjoint(factor)).astype(dtype)


def _cholesky(a: Array) -> Array:
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        pass
    # column by column, so that one bad matrix does not take the others with it
    factor = np.zeros_like(a)
    for j in range(a.shape[-1]):
        row = factor[..., j, :j]
        pivot = np.real(a[..., j, j]) - np.sum(np.real(row * np.conj(row)), axis=-1)
        root = np.sqrt(np.where(pivot > 0, pivot, np.nan))
        factor[..., j, j] = root
        rest = factor[..., j + 1 :, :j] @ np.conj(row)[..., None]
        factor[..., j + 1 :, j] = (a[..., j + 1 :, j] - rest[..., 0]) / root[..., None]
    return factor


def triangular_solve(
    a: Array,
    b: Array,
    *,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose_a: str,
) -> Array:
    """x of op(a) x = b, or of x op(a) = b: forward or backward substitution."""
    dtype = b.dtype
    a, b = widen(a), widen(b)
    if transpose_a == "ADJOINT":
        a, lower = _adjoint(a), not lower
    elif transpose_a == "TRANSPOSE":
        a, lower = a.swapaxes(-1, -2), not lower
    if not left_side:
        a, b, lower = a.swapaxes(-1, -2), b.swapaxes(-1, -2), not lower
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, (*lead, *b.shape[-2:])))
    size = a.shape[-1]
    for i in range(size) if lower else reversed(range(size)):
        done = slice(0, i) if lower else slice(i + 1, size)
        known = a[..., i : i + 1, done] @ x[..., done, :]
        row = x[..., i, :] - known[..., 0, :]
        x[..., i, :] = row if unit_diagonal else row / a[..., i, i][..., None]
    return (x if left_side else x.swapaxes(-1, -2)).astype(dtype)


def fft(x: Array, kind: str, lengths: Sequence[int]) -> Array:
    """FFT, IFFT, RFFT or IRFFT over the last `len(lengths)` dimensions."""
    axes = tuple(range(-len(lengths), 0))
    if not axes:
        return x
    match kind:
        case "FFT":
            return np.fft.fftn(x, axes=axes)
        case "IFFT":
            return np.fft.ifftn(x, axes=axes)
        case "RFFT":
            return np.fft.rfftn(x, axes=axes)
        case _:
            return np.fft.irfftn(x, s=tuple(lengths), axes=axes)


@widened
def _batch_norm(
    x: Array, scale: Array, offset: Array, mean: Array, variance: Array, epsilon: Array
) -> Array:
    return (x - mean) / np.sqrt(variance + epsilon) * scale + offset


def batch_norm_inference(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    epsilon: float,
    rank: int,
    feature: int,
) -> Array:
    """Return `x` normalized by the given statistics of each feature."""
    given = (scale, offset, mean, variance)
    scale, offset, mean, variance = (spread(v, rank, feature) for v in given)
    return _batch_norm(x, scale, offset, mean, variance, np.array(epsilon, x.dtype))


def spread(vector: Array, rank: int, feature: int) -> Array:
    """Return a vector of one entry a feature with the other dimensions of size 1."""
    after = rank - feature - 1
    lead = vector.shape[:-1]
    return vector.reshape((*lead, *(1,) * feature, -1, *(1,) * after))


def _over_others(x: Array, rank: int, feature: int) -> tuple[int, ...]:
    return tuple(x.ndim - rank + d for d in range(rank) if d != feature)


def batch_norm_training(
    x: Array, scale: Array, offset: Array, epsilon: float, rank: int, feature: int
) -> tuple[Array, Array, Array]:
    """`x` normalised by its own statistics, and these: (output, mean, variance)."""
    dtype = x.dtype
    wide = widen(x)
    axes = _over_others(wide, rank, feature)
    mean = wide.mean(axis=axes)
    centred = wide - spread(mean, rank, feature)
    variance = np.square(centred).mean(axis=axes)
    statistics = mean.astype(dtype), variance.astype(dtype)
    output = batch_norm_inference(
        wide, widen(scale), widen(offset), mean, variance, epsilon, rank, feature
    )
    return (output.astype(dtype), *statistics)


def batch_norm_grad(
    x: Array,
    scale: Array,
    mean: Array,
    variance: Array,
    grad: Array,
    epsilon: float,
    rank: int,
    feature: int,
) -> tuple[Array, Array, Array]:
    """Gradients of the training form: (operand, scale, offset)."""
    dtype = x.dtype
    x, scale, mean, variance, grad = map(widen, (x, scale, mean, variance, grad))
    x, grad = np.broadcast_arrays(x, grad)
    axes = _over_others(x, rank, feature)
    count = prod(x.shape[axis] for axis in axes)
    root = np.sqrt(variance + np.array(epsilon, variance.dtype))
    normal = (x - spread(mean, rank, feature)) / spread(root, rank, feature)
    grad_scale = (grad * normal).sum(axis=axes)
    grad_offset = grad.sum(axis=axes)
    both = spread(grad_offset, rank, feature) + normal * spread(
        grad_scale, rank, feature
    )
    grad_x = spread(scale / root, rank, feature) * (grad - both / count)
    return (
        grad_x.astype(dtype),
        grad_scale.astype(dtype),
        grad_offset.astype(dtype),
    )
