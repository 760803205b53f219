"""Tensors as text."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    TensorType,
    f32,
    f64,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute

from ttxdsl.interpreters.ops.printing import tensor_text


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (np.array(7, np.int32), TensorType(i32, []), "tensor<i32> {7}"),
        (
            np.array([1, -2], np.int8),
            TensorType(i8, [2]),
            "tensor<2xi8> {\n  [1, -2]\n}",
        ),
        (
            np.array([True, False]),
            TensorType(i1, [2]),
            "tensor<2xi1> {\n  [true, false]\n}",
        ),
        (
            np.array([[1.5, np.inf], [-0.0, 0.1]], np.float32),
            TensorType(f32, [2, 2]),
            "tensor<2x2xf32> {\n  [\n    [1.500000e+00, 0x7f800000],\n"
            "    [-0.000000e+00, 1.000000e-01]\n  ]\n}",
        ),
        (
            np.array([1 / 3], np.float64),
            TensorType(f64, [1]),
            "tensor<1xf64> {\n  [0.33333333333333331]\n}",
        ),
        (
            np.array([2], ml_dtypes.bfloat16),
            TensorType(BFloat16Type(), [1]),
            "tensor<1xbf16> {\n  [2.000000e+00]\n}",
        ),
        (
            np.array([1 + 2j], np.complex64),
            TensorType(ComplexType(f32), [1]),
            "tensor<1xcomplex<f32>> {\n  [[1.000000e+00, 2.000000e+00]]\n}",
        ),
        (
            np.zeros((0, 2), np.int8),
            TensorType(i8, [0, 2]),
            "tensor<0x2xi8> {\n  []\n}",
        ),
        (
            np.zeros((2, 0), np.int8),
            TensorType(i8, [2, 0]),
            "tensor<2x0xi8> {\n  [\n    [],\n    []\n  ]\n}",
        ),
    ],
)
def test_tensor_text(value: np.ndarray, type_: Attribute, text: str):
    assert tensor_text(value, type_) == text


def test_three_dimensions():
    lines = tensor_text(
        np.arange(8, dtype=np.int32).reshape(2, 2, 2), TensorType(i32, [2, 2, 2])
    ).splitlines()
    assert lines[2:6] == ["    [", "      [0, 1],", "      [2, 3]", "    ],"]
