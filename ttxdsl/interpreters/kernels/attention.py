"""Attention: softmax(query @ key^T * scale + bias) @ value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttxdsl.interpreters.kernels.elementwise import select

Array = NDArray[Any]


def softmax(x: Array, axis: int) -> Array:
    """Return the exponentials over their sum; NaN where everything is -inf."""
    weights = np.exp(x - np.maximum.reduce(x, axis=axis, keepdims=True))
    return weights / np.add.reduce(weights, axis=axis, keepdims=True)


def attend(
    query: Array,
    key: Array,
    value: Array,
    scale: float,
    bias: Array | None = None,
    visible: Array | None = None,
) -> Array:
    """Return `[…, h, s, v]` of `[…, h, s, d]`, `[…, g, t, d]` and `[…, g, t, v]`.

    h is a multiple of g: several queries may share a key. The bias is added to the scaled
    scores; keys that are not `visible` count nothing.
    """
    repeats = query.shape[-3] // key.shape[-3]
    key, value = (np.repeat(x, repeats, axis=-3) for x in (key, value))
    scores = query @ np.swapaxes(key, -1, -2) * query.dtype.type(scale)
    if bias is not None:
        scores = scores + bias
    if visible is not None:
        scores = select(visible, scores, np.asarray(-np.inf, scores.dtype))
    return softmax(scores, -1) @ value
