"""Input values for a program, from files or random, and what they are good for."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xdsl.dialects.func import FuncOp

from ttxdsl.api import Program
from ttxdsl.cli.input.stored_arrays import Array, open_archive, shown
from ttxdsl.costs.units import number_ranges
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.terminal import Terminal
from ttxdsl.interpreters.compare import Comparison, Verdict
from ttxdsl.interpreters.inputs import argument_types
from ttxdsl.interpreters.runtime.limits import Limits
from ttxdsl.interpreters.runtime.run import JAX_DROPS, Runner

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
    return _first(list(map(shown, names)), ", ") or "nothing"


def _first(texts: Sequence[str], between: str) -> str:
    more = f"{between}…" if len(texts) > _MOST_NAMED else ""
    return between.join(texts[:_MOST_NAMED]) + more


OTHER_INPUTS = "give inputs that make sense with --inputs, or another --seed"


def not_compared(comparisons: Sequence[Comparison]) -> list[int]:
    """The results that are no numbers on either side."""
    return [at for at, one in enumerate(comparisons) if one.verdict is Verdict.NOTHING]


def tell_of_nothing(console: Terminal, results: Sequence[int]) -> None:
    """Say that results are no numbers on these inputs, and what to do."""
    if results:
        console.print(
            f"most of result{'s' if len(results) > 1 else ''} {number_ranges(results)}"
            f" is NaN or infinite on these inputs, so that nothing was compared:"
            f" {OTHER_INPUTS}",
            soft_wrap=True,
        )


def tell_of_special(console: Terminal, comparisons: Sequence[Comparison]) -> None:
    """Say which results hold NaN or infinities, where no table does."""
    texts = [
        f"result {at}: {one.special} elements"
        for at, one in enumerate(comparisons)
        if one.special.is_any
    ]
    if texts:
        console.print(f"not finite: {_first(texts, '; ')}", soft_wrap=True)


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """The verdict, and how many elements are no numbers, for JSON."""
    return {
        "verdict": comparison.verdict.value,
        "nan": comparison.special.nan,
        "infinite": comparison.special.infinite,
        "elements": comparison.special.size,
    }
