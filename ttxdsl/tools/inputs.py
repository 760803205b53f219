"""Input values for a program: random from a seed, or from an `.npz` file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttxdsl.errors import CompileError, UnsupportedError
from ttxdsl.interpreters.elements import tensor_of

Array = NDArray[Any]

INTEGER_BOUND = 8
"""Random integers are below this: they are often indices or token ids."""


def _argument_types(function: FuncOp) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
    types: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
    for index, type in enumerate(function.function_type.inputs):
        if not isinstance(type, TensorType) or -1 in type.get_shape():
            raise UnsupportedError(
                f"argument {index} of '@{function.sym_name.data}' has type {type};"
                " only tensors of static shape can be given values",
                function,
            )
        types.append(tensor_of(cast(Attribute, type)))
    return types


def random_inputs(function: FuncOp, seed: int) -> list[Array]:
    """One array an argument: normal floats, small integers, fair booleans."""
    generator = np.random.default_rng(seed)
    inputs: list[Array] = []
    for shape, dtype in _argument_types(function):
        if dtype.kind == "b":
            values: Array = generator.integers(0, 2, shape)
        elif dtype.kind in "iu":
            values = generator.integers(
                0, min(INTEGER_BOUND, np.iinfo(dtype).max), shape
            )
        elif dtype.kind == "c":
            values = generator.normal(size=shape) + 1j * generator.normal(size=shape)
        else:
            values = generator.normal(size=shape)
        inputs.append(np.asarray(values).astype(dtype))
    return inputs


def load_inputs(path: Path, function: FuncOp) -> list[Array]:
    """Arrays from an `.npz` whose names are `arg0`, `arg1`, … or NumPy's `arr_0`, ….

    Raises:
        CompileError: the file cannot be read, an array is missing or too many, or a
            shape or element type differs from the argument's.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            stored = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, BadZipFile, AttributeError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "it is no .npz archive of arrays"
        raise CompileError(f"cannot read inputs from '{path}': {reason}") from error
    inputs: list[Array] = []
    for index, (shape, dtype) in enumerate(_argument_types(function)):
        name = next((n for n in (f"arg{index}", f"arr_{index}") if n in stored), None)
        if name is None:
            found = ", ".join(stored) or "nothing"
            raise CompileError(f"'{path}' has no array 'arg{index}'; it has {found}")
        array = stored.pop(name)
        if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
            array = array.view(dtype)  # NumPy stores bfloat16 and float8 as raw bytes
        if array.shape != shape:
            raise CompileError(
                f"'{name}' in '{path}' has shape {array.shape}, but argument {index} of"
                f" '@{function.sym_name.data}' has shape {shape}",
                function,
            )
        if array.dtype != dtype:
            raise CompileError(
                f"'{name}' in '{path}' has element type {array.dtype}, but argument"
                f" {index} of '@{function.sym_name.data}' has {dtype}",
                function,
            )
        inputs.append(array)
    if stored:
        raise CompileError(
            f"'{path}' has arrays that are no argument: {', '.join(stored)}", function
        )
    return inputs
