"""`ttxdsl interpret`: run a program as it is, one or several in a file."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    ShapedType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from ttxdsl.analysis.calls.function_attributes import entry_function, entry_functions
from ttxdsl.cli.options import common as flags
from ttxdsl.cli.programs import read_input
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible_lines
from ttxdsl.insight.run.inputs import load_inputs
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.kernels.elements import constant, widen
from ttxdsl.interpreters.mesh.local_boundary import whole_type
from ttxdsl.interpreters.ops.printing import tensor_text
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.files import write_whole
from ttxdsl.loading.program import make_context, parse_program, split_programs

Array = NDArray[Any]

_MOST_SHOWN = 1 << 18
"""Elements of a result that are printed: some megabytes of text."""


def _entries(module: ModuleOp, entry: str | None) -> list[FuncOp]:
    """The functions to run: the one that is meant, or all that take nothing."""
    public = entry_functions(module)
    names = [function.sym_name.data for function in public]
    if entry is None and "main" not in names and len(public) > 1:
        if all(not function.function_type.inputs.data for function in public):
            return public
        hint = f"say which with --entry: {', '.join('@' + name for name in names)}"
        raise CompileError("several functions could be run", module, hint=hint)
    return [entry_function(module, entry)]


def _dense_arguments(text: str) -> list[Array]:
    """The arrays of `[dense<1> : tensor<2xi32>, …]`."""
    try:
        attribute = Parser(make_context(), text, "--args").parse_attribute()
    except ParseError as error:
        raise CompileError(f"cannot read --args: {error.msg}") from error
    items = cast("ArrayAttr[Attribute]", attribute).data if text[0] == "[" else ()
    if not all(isinstance(item, DenseIntOrFPElementsAttr) for item in items):
        raise CompileError(
            "--args: not a list of constants",
            hint="write --args '[dense<1> : tensor<2xi32>, …]', or name an .npz file",
        )
    return [constant(cast(Any, item)) for item in items]


def _inputs(options: argparse.Namespace, runner: Runner) -> Sequence[Array]:
    function = runner.function
    runner.require_room()
    if options.args is not None:
        if options.args.lstrip().startswith("["):
            return _dense_arguments(options.args.strip())
        return load_inputs(Path(options.args), function)
    if options.seed is not None:
        runner.limits.require_inputs(function)
        return random_inputs(function, options.seed)
    count = len(function.function_type.inputs.data)
    if count:
        raise CompileError(
            f"@{function.sym_name.data} takes {count} arguments",
            function,
            hint="give them with --args, or random ones with --seed 0",
        )
    return ()


def _plain(value: Any) -> Any:
    """An array as nested lists for JSON; what JSON has no number for is text."""
    if isinstance(value, list):
        return [_plain(item) for item in cast("list[Any]", value)]
    if isinstance(value, complex):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _result_data(value: Array, type_: Attribute) -> dict[str, Any]:
    data: dict[str, Any] = {"type": str(type_)}
    if isinstance(type_, ShapedType):
        data["value"] = _plain(widen(np.asarray(value)).tolist())
    return data


def _shown(value: Array, type_: Attribute) -> str:
    """Return a result as text; a large one as its type, since a terminal is no file."""
    if isinstance(type_, ShapedType) and np.size(value) > _MOST_SHOWN:
        return f"{type_} {{{np.size(value)} elements; -o RESULTS.npz writes them}}"
    return visible_lines(tensor_text(value, type_))


@dataclass(frozen=True, slots=True)
class _Run:
    """The results of a function of a program, counted from 0 in its file."""

    program: int
    function: str
    results: tuple[tuple[Array, Attribute], ...]


def _named_arrays(runs: Sequence[_Run]) -> dict[str, Any]:
    """Return the results that are tensors by name: `result0`, … of one function.

    Names of several functions' results begin with the function (`main.result0`), and
    with the program where there are several (`1.main.result0`). Other characters are
    percent-encoded, so that no archive tool reads a name as a path.
    """
    several = len({run.program for run in runs}) > 1
    arrays: dict[str, Any] = {}
    for run in runs:
        whose = f"{quote(run.function, safe='')}." if len(runs) > 1 else ""
        if several:
            whose = f"{run.program}.{whose}"
        for at, (value, type_) in enumerate(run.results):
            if isinstance(type_, ShapedType):
                arrays[f"{whose}result{at}"] = value
    return arrays


def execute(options: argparse.Namespace) -> int:
    """Run the command; an assertion that does not hold is an error."""
    flags.require_outputs(options, options.output)
    runs: list[_Run] = []
    whole, source = read_input(options.file, options)
    for number, text in enumerate([*split_programs(whole)] or [whole]):
        module = parse_program(text, source)
        for function in _entries(module, options.entry):
            name = function.sym_name.data
            runner = Runner(module, name, flags.limits_of(options))
            results = runner.run(_inputs(options, runner))
            types = [
                whole_type(type_, function.res_attrs, at)
                for at, type_ in enumerate(function.function_type.outputs)
            ]
            pairs = tuple(zip(results, types, strict=True))
            if options.json or options.output is not None:
                runs.append(_Run(number, name, pairs))
                continue
            for value, type_ in pairs:
                print(_shown(value, type_))
    if options.output is not None:
        saved = _named_arrays(runs)
        write_whole(options.output, lambda file: np.savez(file, **saved))
    if options.json:
        listed = [
            {
                "function": run.function,
                "results": [_result_data(*r) for r in run.results],
            }
            for run in runs
        ]
        flags.print_json({"file": str(options.file), "runs": listed})
    return 0


def add_command(commands: Any) -> None:
    """Add `interpret` and its options to the command line."""
    parser: flags.Parser = commands.add_parser(
        "interpret",
        help="run a program as it is and print its results",
        description=(
            "Run a StableHLO program, or one in any later form, as it is and print its"
            " results. check.* ops and custom calls are assertions: one that does not"
            " hold is an error, with the first element that differs. A file may hold"
            " several programs, with lines `// -----` between them."
        ),
        examples=(
            "  ttxdsl interpret test.mlir\n"
            "  ttxdsl interpret model.mlir --args in.npz -o out.npz\n"
            "  ttxdsl interpret add.mlir --args '[dense<1> : tensor<2xi32>, …]'\n"
        ),
        execute=execute,
    )
    flags.add_file_option(parser)
    parser.add_argument("--entry", metavar="NAME", help="the function to run (main)")
    parser.add_argument(
        "--args",
        metavar="ARGS",
        help="an .npz with arg0, arg1, …, or a list of dense<…> constants",
    )
    parser.add_argument(
        "--seed",
        type=flags.from_zero,
        metavar="N",
        help="random arguments from this seed",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="NPZ",
        help="write result0, result1, … there, print nothing; see docs/reference/cli.md",
    )
    parser.shared("--max-memory", "--max-steps", "--json")
