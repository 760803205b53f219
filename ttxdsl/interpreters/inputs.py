"""Values for the arguments of a program: random, or tagged with their own index.

A tag is the place of an element in its argument, counted row-major: data that is only
moved then says in the result where it came from, exactly.
"""

from collections.abc import Callable
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.errors import UnsupportedError
from ttxdsl.interpreters import elements
from ttxdsl.interpreters.local_boundary import whole_type

Array = NDArray[Any]

INTEGER_BOUND = 8
"""Random integers are below this: they are often indices or token ids."""


def argument_types(function: FuncOp) -> list[tuple[tuple[int, ...], elements.DType]]:
    """Shape and element type of every argument.

    Raises:
        UnsupportedError: an argument that is no tensor of static shape.
    """
    types: list[tuple[tuple[int, ...], elements.DType]] = []
    for index, local in enumerate(function.function_type.inputs):
        type = whole_type(local, function.arg_attrs, index)
        if not isinstance(type, TensorType) or not type.has_static_shape():
            raise UnsupportedError(
                f"argument {index} of '@{function.sym_name.data}' has type {type};"
                " only tensors of static shape can be given values",
                function,
            )
        types.append(elements.tensor_of(cast(Attribute, type)))
    return types


def random_inputs(function: FuncOp, seed: int) -> list[Array]:
    """One array an argument: normal floats, small integers, fair booleans."""
    generator = np.random.default_rng(seed)
    return [
        _fill(generator, np.empty(shape, dtype))
        for shape, dtype in argument_types(function)
    ]


def _fill(generator: np.random.Generator, array: Array) -> Array:
    """The array with numbers drawn, some at a time, the same however many these are."""
    flat: Array = array.reshape(-1)
    parts: tuple[Array, ...] = (flat,)
    draw: Callable[..., Any] = generator.standard_normal
    if array.dtype.kind == "c":
        parts = np.real(flat), np.imag(flat)
    elif array.dtype.kind == "b":
        draw = partial(generator.integers, 0, 2)
    elif array.dtype.kind in "iu":
        bound = min(INTEGER_BOUND, np.iinfo(array.dtype).max)
        draw = partial(generator.integers, 0, bound)
    for part in parts:
        for start in range(0, part.size, _DRAWN):
            some = part[start : start + _DRAWN]
            some[...] = np.asarray(draw(size=some.size)).astype(part.dtype)
    return array


_DRAWN = 1 << 16
"""Numbers to draw at a time."""


def write_random_inputs(function: FuncOp, seed: int, folder: Path) -> list[Array]:
    """What `random_inputs` gives, in files: none of it is in memory as a whole.

    The files are in `folder`; the arrays, which may be written, stay when it is removed.
    """
    generator = np.random.default_rng(seed)
    return [_fill(generator, x) for x in _mapped(function, folder, "w+")]


def map_random_inputs(function: FuncOp, folder: Path) -> list[Array]:
    """What `write_random_inputs` wrote into `folder`."""
    return _mapped(function, folder, "r")


def _mapped(function: FuncOp, folder: Path, mode: Literal["r", "w+"]) -> list[Array]:
    return [
        np.memmap(folder / f"arg{at}", dtype, mode, shape=shape)
        if 0 not in shape
        else np.empty(shape, dtype)
        for at, (shape, dtype) in enumerate(argument_types(function))
    ]


def tagged_inputs(function: FuncOp, *, fractions: bool = False) -> list[Array]:
    """One array an argument, each element its own index in it.

    An element type that cannot tell so many numbers apart counts modulo
    `tag_modulus`. With `fractions` floats are divided by a power of two, exactly, so
    that all are below one.
    """
    inputs: list[Array] = []
    for shape, dtype in argument_types(function):
        tags: Array = np.arange(prod(shape), dtype=np.int64)
        modulus = tag_modulus(dtype)
        if prod(shape) > modulus:
            tags %= modulus
        values = tags.reshape(shape).astype(dtype)
        if fractions and dtype.kind not in "biu" and values.size > 1:
            # np.ldexp knows no complex numbers
            values *= dtype.type(0.5 ** int(tags.max()).bit_length())
        inputs.append(values)
    return inputs


def tag_modulus(dtype: elements.DType) -> int:
    """How many tags the element type can tell apart.

    It is a prime for small types: shards whose sizes are powers of two would all look
    alike if tags repeated after a power of two.
    """
    if dtype.kind == "b":
        return 2
    if elements.is_float(dtype) or elements.is_complex(dtype):
        numbers = round(2 / elements.epsilon(dtype))
    else:
        numbers = elements.integer_range(dtype)[1] + 1
    return numbers if numbers > 1 << 20 else _prime_up_to(numbers)


def _prime_up_to(number: int) -> int:
    while number > 2 and any(number % k == 0 for k in range(2, int(number**0.5) + 1)):
        number -= 1
    return max(number, 2)
