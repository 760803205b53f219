"""Values for the arguments of a program: random, or tagged with their own index.

Random numbers are those that a program asks for (`ttxdsl.analysis.values.argument_demands`).

A tag is the place of an element in its argument, counted row-major: data that is only
moved then says in the result where it came from, exactly.
"""

from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.analysis.values.argument_demands import ValueDemand, argument_demands
from ttxdsl.analysis.values.intervals import ANY, NOT_NEGATIVE, Interval
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.interpreters.kernels import elements
from ttxdsl.interpreters.mesh.local_boundary import whole_type

Array = NDArray[Any]

INTEGER_BOUND = 8
"""Random integers that nothing is asked of are below this: counters, lengths, ids."""


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


def random_inputs(
    function: FuncOp, seed: int, demands: Sequence[ValueDemand] | None = None
) -> list[Array]:
    """Return random arguments for which the program computes finite numbers.

    Args:
        demands: what is asked of each argument; by default what the function asks.
    """
    generator = np.random.default_rng(seed)
    types = argument_types(function)
    demands = argument_demands(function) if demands is None else demands
    return [
        _fill(generator, np.empty(*type_), demand)
        for type_, demand in zip(types, demands, strict=True)
    ]


def _fill(generator: np.random.Generator, array: Array, demand: ValueDemand) -> Array:
    """Fill the array with numbers drawn, some at a time, and return it."""
    draw = _distribution(generator, array.dtype, demand)
    flat: Array = array.reshape(-1)
    parts: tuple[Array, ...] = (flat,)
    if array.dtype.kind == "c":
        parts = np.real(flat), np.imag(flat)
    for part in parts:
        for start in range(0, part.size, _DRAWN):
            some = part[start : start + _DRAWN]
            some[...] = draw(some.size).astype(part.dtype)
    if demand.is_definite and array.ndim > 1 and array.shape[-1] == array.shape[-2]:
        for index in np.ndindex(array.shape[:-2]):
            array[index] = _definite(array[index])
    return array


_DRAWN = 1 << 16
"""Numbers to draw at a time."""

_NEAR_ZERO = Interval(-6, 6)
_NEAR_ONE = Interval(0.4, 1.6)


def _distribution(
    generator: np.random.Generator, dtype: elements.DType, demand: ValueDemand
) -> Callable[[int], Array]:
    """Draw numbers of an element type that meet a demand.

    Integers are small, or all over the places that they index; booleans are fair.
    Floats are normal, with the deviation of weights where products of them are summed
    up, near one where they scale, and away from the ends of bounds where there are any.
    """
    if dtype.kind == "b":
        return lambda count: generator.integers(0, 2, count)
    if elements.is_integer(dtype):
        low, high = _integers(dtype, demand)
        return lambda count: generator.integers(low, high, count, endpoint=True)
    within = demand.within
    if elements.is_complex(dtype):
        within = ANY
    elif within == ANY and demand.not_zero:
        within = NOT_NEGATIVE
    if demand.is_scale and _NEAR_ONE.within(within):
        return lambda count: 1 + 0.1 * generator.standard_normal(count).clip(-6, 6)
    if not _NEAR_ZERO.within(within):
        low = within.low if np.isfinite(within.low) else within.high - 1.2
        high = within.high if np.isfinite(within.high) else low + 1.2
        start, size = low + (high - low) / 12, (high - low) * 5 / 6
        return lambda count: start + size * generator.random(count)
    scale = 1.0
    if demand.summed > 1 and dtype.itemsize > 1:
        scale = demand.summed**-0.5
    most = min(-within.low, within.high)

    def normal(count: int) -> Array:
        numbers = generator.standard_normal(count).clip(-most, most) * scale
        # some types have no negative numbers
        return (
            numbers if elements.is_complex(dtype) or _has_minus(dtype) else abs(numbers)
        )

    return normal


def _has_minus(dtype: elements.DType) -> bool:
    return bool(np.asarray(-1.0).astype(dtype) < 0)


def _integers(dtype: elements.DType, demand: ValueDemand) -> tuple[int, int]:
    """Return the least and the greatest integer to draw."""
    low, high = elements.integer_range(dtype)
    bottom, top = demand.within
    if demand.is_open:
        bottom, top = np.floor(bottom) + 1, np.ceil(top) - 1
    bottom = max(np.ceil(bottom), 1 if demand.not_zero else 0)
    if not np.isfinite(top):
        top = bottom + INTEGER_BOUND - 1
    low, high = max(low, int(bottom)), min(high, int(np.floor(top)))
    return (low, high) if low <= high else (min(0, high), high)


def _definite(x: Array) -> Array:
    """Return a positive definite matrix of random numbers, far from a singular one."""
    wide = x.astype(np.result_type(elements.compute_dtype(x.dtype), np.float32))
    whole = np.eye(len(x)) + wide @ np.conj(wide.T) / len(x)
    return whole.astype(x.dtype)


def write_random_inputs(
    function: FuncOp, seed: int, folder: Path, demands: Sequence[ValueDemand]
) -> list[Array]:
    """Write the arrays of `random_inputs` to files; none is read whole.

    The files are in `folder`. The arrays are writable, and outlive the folder.
    """
    generator = np.random.default_rng(seed)
    arrays = _mapped(function, folder, "w+")
    return [
        _fill(generator, *array_and_demand)
        for array_and_demand in zip(arrays, demands, strict=True)
    ]


def map_random_inputs(function: FuncOp, folder: Path) -> list[Array]:
    """Return the arrays that `write_random_inputs` wrote into `folder`."""
    return _mapped(function, folder, "r")


def _mapped(function: FuncOp, folder: Path, mode: Literal["r", "w+"]) -> list[Array]:
    return [
        np.memmap(folder / f"arg{at}", dtype, mode, shape=shape)
        if 0 not in shape
        else np.empty(shape, dtype)
        for at, (shape, dtype) in enumerate(argument_types(function))
    ]


def tagged_inputs(function: FuncOp, *, fractions: bool = False) -> list[Array]:
    """Return one array an argument, each element its own index in it.

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
            # np.ldexp has no complex numbers
            values *= dtype.type(0.5 ** int(tags.max()).bit_length())
        inputs.append(values)
    return inputs


def tag_modulus(dtype: elements.DType) -> int:
    """Return the number of distinct tags in an element type.

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
