"""A program run as it is, its results printed as MLIR writes constants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.api.forms import ProgramForm
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.sanitize import visible_lines
from ttxdsl.diagnostics.terminal import Terminal
from ttxdsl.interpreters.ops.printing import tensor_text
from ttxdsl.interpreters.runtime.run import run_module


@dataclass(frozen=True, slots=True)
class Interpretation(Displayed):
    """The results of a program, run as it is."""

    results: tuple[Any, ...]


def interpret(
    program: ProgramForm, arrays: Sequence[ArrayLike], seed: int | None
) -> Interpretation:
    """Run a program as it is.

    Args:
        arrays: one an argument.
        seed: of random ones instead.

    Raises:
        CompileError: the arrays do not fit, or an op cannot be run.
    """
    inputs = arrays if seed is None else program.random_inputs(seed)
    module = program.module
    results = run_module(module, inputs)
    types = entry_function(module).function_type.outputs.data

    def view(console: Terminal) -> None:
        for value, type_ in zip(results, types, strict=True):
            console.print(visible_lines(tensor_text(value, type_)), soft_wrap=True)

    return Interpretation(tuple(results)).shown_by(view)
