"""Input arrays of a program, from an archive or a folder."""

from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.func import FuncOp

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.run.comparisons import first_few
from ttxdsl.insight.run.stored_arrays import Array, open_archive, shown
from ttxdsl.interpreters.inputs import argument_types
from ttxdsl.interpreters.runtime.run import JAX_DROPS


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
            name = next(
                (candidate for candidate in known if candidate in archive.names), None
            )
            if name is None:
                raise CompileError(
                    f"'{path}' has no array 'arg{index}'; it has {_some([*archive.names])}"
                )
            names.append(name)
        other = sorted(set(archive.names).difference(names))
        if other:
            raise CompileError(
                f"'{path}' has arrays that are no argument of {len(types)}:"
                f" {_some(other)}",
                function,
                hint=JAX_DROPS,
            )
        return [
            (archive.mapped if mapped or path.is_dir() else archive.read)(
                name, *type_, f"argument {index} of '@{function.sym_name.data}'"
            )
            for index, (name, type_) in enumerate(zip(names, types, strict=True))
        ]


def _some(names: Sequence[str]) -> str:
    return first_few(list(map(shown, names)), ", ") or "nothing"
