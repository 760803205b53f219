"""The programs that a command line names: files, standard input, Python functions."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.cli.options.common import function_of
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.hints import near_hint
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.loading.plugins import import_file
from ttxdsl.loading.program import parse_program, read_text, text_of

# commands that need no `Program` and no JAX start faster without
if TYPE_CHECKING:
    from ttxdsl.api import Program
    from ttxdsl.bridges.jax.programs import Traced
    from ttxdsl.insight.run.engines import Array
    from ttxdsl.interpreters.runtime.limits import Limits


def read_input(path: Path, options: argparse.Namespace) -> tuple[str, str]:
    """The text of a program that the command line names, and what to call it.

    Args:
        path: of a file, `-` for standard input, or FILE.py:FUNCTION, which is executed.
        options: how to read it, see `add_source_options`.

    Raises:
        CompileError: it cannot be read, or the function fails.
    """
    sizes: dict[str, int] = options.shapes
    if str(path) == "-":
        return text_of(sys.stdin.buffer.read(), "<stdin>", sizes), "<stdin>"
    called = function_of(path)
    if called is not None:
        return _traced(*called, options.jax_devices, sizes).text, str(path)
    if path.suffix == ".py":
        raise CompileError(
            f"'{visible(str(path))}' is Python",
            hint="name the function in it that makes the program: FILE.py:FUNCTION",
        )
    return read_text(path, sizes), str(path)


def read_module(
    path: Path, options: argparse.Namespace, *, context: Context | None = None
) -> ModuleOp:
    """The module that the command line names; see `read_input` and `parse_program`."""
    return parse_program(*read_input(path, options), context=context)


def read_as_program(path: Path, options: argparse.Namespace) -> Program:
    """The `Program` that the command line names; see `read_input`."""
    from ttxdsl.api import Program

    return Program.of_text(*read_input(path, options))


def inputs_of(
    options: argparse.Namespace, program: Program, limits: Limits
) -> list[Array]:
    """Read or make the inputs that `add_input_options` describes, if memory allows.

    Raises:
        CompileError: the limits say no, or see `load_inputs`.
    """
    from ttxdsl.insight.run.inputs import load_inputs
    from ttxdsl.interpreters.runtime.run import Runner

    runner = Runner(program.module, limits=limits)
    runner.require_room()
    if options.inputs is not None:
        return load_inputs(options.inputs, runner.function)
    return program.random_inputs(options.seed, max_memory=limits.memory)


def _traced(path: Path, name: str, devices: int, sizes: dict[str, int]) -> Traced:
    """Return JAX's trace of the function that a Python file's maker returns."""
    if "jax" not in sys.modules:
        # JAX reads this when it is first imported, which the file does
        flag = f"--xla_force_host_platform_device_count={devices}"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()
    called = visible(f"{path}:{name}")
    try:
        # standard output is the command's
        with redirect_stdout(sys.stderr):
            return _trace(path, name, sizes)
    except CompileError:
        raise
    except (Exception, SystemExit) as error:
        from traceback import extract_tb

        frames = [
            frame
            for frame in extract_tb(error.__traceback__)
            if Path(frame.filename) == path.absolute()
        ]
        position = None
        if frames:
            position = f"{path}:{frames[-1].lineno}:{(frames[-1].colno or 0) + 1}"
        raise CompileError(
            f"'{called}' fails: {type(error).__name__}: {error}", position=position
        ) from error


def _trace(path: Path, name: str, sizes: dict[str, int]) -> Traced:
    called = visible(f"{path}:{name}")
    module = import_file(path)
    maker: Any = getattr(module, name, None)
    if not callable(maker):
        there = [
            known
            for known, member in vars(module).items()
            if isinstance(member, FunctionType) and member.__module__ == module.__name__
        ]
        raise CompileError(
            f"'{visible(str(path))}' has no function '{visible(name)}'",
            hint=near_hint([name], there, "functions there"),
        )
    _require_arguments(f"'{called}' is called without arguments", maker, ())
    result: Any = maker()
    parts = cast("tuple[Any, ...]", result if isinstance(result, tuple) else (result,))
    if not parts or not (
        callable(parts[0]) or hasattr(parts[0], "mlir_module") or _is_lowered(parts[0])
    ):
        given = type(parts[0]).__name__ if parts else "an empty tuple"
        given = "nothing" if result is None else given
        raise CompileError(f"'{called}' returns {given}", hint=_FORM)
    if not hasattr(parts[0], "in_tree"):  # it has its arguments already
        message = (
            f"'{called}' returns other arguments than the function beside them takes"
        )
        _require_arguments(message, parts[0], parts[1:])
    from ttxdsl.bridges.jax.programs import trace

    return trace(parts[0], *parts[1:], shapes=sizes or None)


_FORM = (
    "it is to be a function without arguments that returns (jitted, *arguments), or what"
    " JAX lowered or exported"
)


def _is_lowered(value: Any) -> bool:
    """Whether an object is one of JAX's lowered functions, or wraps one."""
    return hasattr(getattr(value, "lowered", value), "compiler_ir")


def _require_arguments(message: str, function: Any, arguments: tuple[Any, ...]) -> None:
    """Refuse arguments that a function does not take."""
    from inspect import signature

    try:
        expected = signature(function)
    except (TypeError, ValueError):
        return  # nobody knows
    try:
        expected.bind(*arguments)
    except TypeError as error:
        raise CompileError(f"{message}: {error}", hint=_FORM) from error
