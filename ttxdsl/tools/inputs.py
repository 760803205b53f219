"""Input values for a program from an `.npz` file."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from ttxdsl.errors import CompileError
from ttxdsl.interpreters.inputs import argument_types

Array = NDArray[Any]


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
    for index, (shape, dtype) in enumerate(argument_types(function)):
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
