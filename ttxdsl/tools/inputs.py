"""Input values for a program, from files or random."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.func import FuncOp

from ttxdsl.api import Program
from ttxdsl.errors import CompileError
from ttxdsl.interpreters.inputs import argument_types
from ttxdsl.interpreters.limits import Limits
from ttxdsl.interpreters.run import Runner
from ttxdsl.tools.stored_arrays import Array, open_archive, shown

_MOST_NAMED = 8
"""Arrays that a message names."""


def inputs_of(
    options: argparse.Namespace, program: Program, limits: Limits
) -> list[Array]:
    """What `flags.add_input_options` asks for, if there is room to run the program.

    Raises:
        CompileError: the limits say no, or see `load_inputs`.
    """
    runner = Runner(program.module, limits=limits)
    runner.require_room()
    if options.inputs is not None:
        return load_inputs(options.inputs, runner.function)
    return program.random_inputs(options.seed, max_memory=limits.memory)


def load_inputs(path: Path, function: FuncOp, *, mapped: bool = False) -> list[Array]:
    """Arrays whose names are `arg0`, `arg1`, … or NumPy's `arr_0`, …, of an `.npz` or a folder.

    A folder has a `.npy` file for each.

    Nothing is read of an array whose header says another shape or element type. With
    `mapped`, and of a folder always, arrays that lie in the file as they are in memory
    stay there until somebody looks at them. Nobody holds the checksums of an archive
    against them then; a folder has none.

    Raises:
        CompileError: the file cannot be read, an array is missing or too many, no plain
            array, or its shape or element type differs from the argument's.
    """
    types = argument_types(function)
    with open_archive(path) as archive:
        names: list[str] = []
        for index in range(len(types)):
            known = (f"arg{index}", f"arr_{index}")
            name = next((one for one in known if one in archive.names), None)
            if name is None:
                raise CompileError(
                    f"'{path}' has no array 'arg{index}'; it has {_some([*archive.names])}"
                )
            names.append(name)
        other = sorted(set(archive.names).difference(names))
        if other:
            raise CompileError(
                f"'{path}' has arrays that are no argument: {_some(other)}", function
            )
        return [
            (archive.mapped if mapped or path.is_dir() else archive.read)(
                name, *type_, f"argument {index} of '@{function.sym_name.data}'"
            )
            for index, (name, type_) in enumerate(zip(names, types, strict=True))
        ]


def _some(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(shown, names[:_MOST_NAMED])) + more or "nothing"
