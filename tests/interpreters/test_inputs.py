"""Values for arguments: random ones of the right type, tags that tell elements apart."""

import ml_dtypes
import numpy as np
import pytest

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.interpreters.inputs import random_inputs, tag_modulus, tagged_inputs
from ttxdsl.loading.program import parse_program


def function(*types: str):
    arguments = ", ".join(f"%a{at}: {type}" for at, type in enumerate(types))
    return entry_function(parse_program(f"func.func @main({arguments}) {{ return }}"))


def test_random_inputs_have_the_types_of_the_arguments():
    x, n, b, c = random_inputs(
        function(
            "tensor<4x3xbf16>", "tensor<5xi8>", "tensor<i1>", "tensor<2xcomplex<f32>>"
        ),
        seed=3,
    )
    assert (x.shape, x.dtype) == ((4, 3), ml_dtypes.bfloat16)
    assert n.dtype == np.int8
    assert n.max() < 8
    assert b.dtype == np.bool_
    assert c.dtype == np.complex64


def test_random_inputs_follow_the_seed():
    one = random_inputs(function("tensor<9xf32>"), 0)[0]
    assert np.array_equal(one, random_inputs(function("tensor<9xf32>"), 0)[0])
    assert not np.array_equal(one, random_inputs(function("tensor<9xf32>"), 1)[0])


def test_dynamic_shapes_have_no_inputs():
    with pytest.raises(UnsupportedError, match="static shape"):
        random_inputs(function("tensor<?xf32>"), 0)


@pytest.mark.parametrize(
    ("dtype", "modulus"),
    [
        (np.float32, 1 << 24),
        (np.float64, 1 << 53),
        (np.float16, 2039),
        (ml_dtypes.bfloat16, 251),
        (ml_dtypes.float8_e4m3fn, 13),
        (np.complex64, 1 << 24),
        (np.int32, 1 << 31),
        (np.uint8, 251),
        (np.int8, 127),
        (ml_dtypes.int4, 7),
        (np.bool_, 2),
    ],
)
def test_tags_stay_exact(dtype: type, modulus: int):
    assert tag_modulus(np.dtype(dtype)) == modulus


def test_tags_of_a_small_type_do_not_repeat_with_power_of_two_shards():
    (x,) = tagged_inputs(function("tensor<2x512xbf16>"))
    assert not np.array_equal(x[0], x[1])
    assert len(np.unique(x)) == 251
