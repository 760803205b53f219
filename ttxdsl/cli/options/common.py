"""Options that several commands share, and their meaning."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

from ttxdsl.costs.units import parse_bytes
from ttxdsl.diagnostics.excerpts import Sources
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.loading.files import require_writable

# commands that run nothing start faster without
if TYPE_CHECKING:
    from ttxdsl.interpreters.runtime.limits import Limits
    from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

Execute = Callable[[argparse.Namespace], int]
"""Runs a command; returns its exit code."""

FORMS = ("sdy", "stablehlo", "ttir", "ttnn")
"""What `--emit` prints: after stage 10, after stage 13, and after each lowering."""

FILES = "MLIR text or bytecode, what jax.export wrote, or FILE.py:FUNCTION"
"""The help text of a program argument."""

_HOW_TO_PARTITION = (
    "mesh_shape",
    "argument_types",
    "automatic_arg_analysis",
    "result_presharded",
    "version",
    "optimize",
    "pad_borders",
    "local_random_bits",
    "propagation",
    "reshards",
)
"""The options of the pipeline that every command has which partitions."""


def sizes(text: str) -> tuple[int, ...]:
    """Numbers like `2,4` or `2x4`.

    Raises:
        argparse.ArgumentTypeError: the text is no such list.
    """
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list like 2,4") from None


def _folder(text: str) -> str:
    return str(Path(text))


_CHOICES = re.compile(
    r"(?P<head>.*'(?P<given>.*)'.*) \(choose from (?P<known>.*)\)", re.DOTALL
)
"""A refusal of a command or of an option's value, by argparse or `unknown_name`."""


def unknown_name(
    kind: str, given: str, known: Iterable[str]
) -> argparse.ArgumentTypeError:
    """Return the error about a value of a fixed set; `Parser` suggests one that is near."""
    return argparse.ArgumentTypeError(
        f"there is no {kind} '{given}' (choose from {', '.join(known)})"
    )


class Parser(argparse.ArgumentParser):
    """A parser whose errors quote the argument as typed and suggest close options.

    Args:
        examples: command lines, one a line, that the help ends with.
    """

    def __init__(
        self, *, execute: Execute | None = None, examples: str = "", **settings: Any
    ) -> None:
        if examples:
            settings["epilog"] = f"examples:\n{examples}"
            settings["formatter_class"] = argparse.RawDescriptionHelpFormatter
        super().__init__(**settings)
        if execute is not None:
            self.set_defaults(execute=execute)

    def flag(self, name: str, help: str) -> None:
        """Add an option that is given or not."""
        self.add_argument(name, action="store_true", help=help)

    def count(self, name: str, help: str, default: int | None = None) -> None:
        """Add an option that is a whole number from 1 up."""
        self.add_argument(name, type=count_of, default=default, metavar="N", help=help)

    def shared(self, *names: str) -> None:
        """Add options that several commands have, see `_SHARED`."""
        for name in names:
            self.add_argument(name, **_SHARED[name])

    def path(self, name: str, metavar: str, help: str, **settings: Any) -> None:
        """Add an argument that is the name of a file or folder."""
        self.add_argument(name, type=Path, metavar=metavar, help=help, **settings)

    def parse_known_args(self, *words: Any, **named: Any) -> Any:
        """Parse arguments; unknown ones are reported by the subcommand's parser."""
        options, unknown = super().parse_known_args(*words, **named)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        if getattr(options, "slices", 1) > 1 and options.chip is None:
            self.error("argument --slices: needs --chip, of which the slices are")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """End with a diagnostic and exit code 2."""
        near = list(dict.fromkeys(self._near(message)))
        if near:
            message = _CHOICES.sub(r"\g<head>", message)
        hint = f"did you mean {', '.join(near)}?" if near else f"see {self.prog} --help"
        for action in self._get_positional_actions():
            if f"--{action.dest}" in message.split():
                hint = f"{action.metavar or action.dest} stands alone: no --{action.dest} before it"
        self.exit(2, f"{self.prog}: error: {visible(message)}\n  {hint}\n")

    def _near(self, message: str) -> Iterator[str]:
        """Return names close to the argument that an error of argparse is about."""
        from ttxdsl.ir.near_names import near_names

        if (choice := _CHOICES.search(message)) is not None:
            known = [name.strip("'") for name in choice["known"].split(", ")]
            yield from near_names(choice["given"], known)
        _, unknown, words = message.partition("unrecognized arguments: ")
        if not unknown:
            return
        for word in words.split():
            if word.startswith("--"):
                options = self._option_string_actions
                yield from near_names(word.partition("=")[0], options)

    def _print_message(
        self, message: str, file: SupportsWrite[str] | None = None
    ) -> None:
        """Print; argparse's own does not tell when it cannot."""
        (file or sys.stderr).write(message)


def _shapes(text: str) -> dict[str, int]:
    named = [part.partition("=") for part in text.split(",")]
    if not all(name.isidentifier() for name, _, _ in named):
        raise argparse.ArgumentTypeError(f"'{text}' is no list like b=8,n=16")
    return {name: count_of(size) for name, _, size in named}


def add_file_option(parser: Parser) -> None:
    """Add the program, and how it is read, see `add_source_options`."""
    parser.path("file", "FILE", f"the program, {FILES}")
    add_source_options(parser)


def add_source_options(parser: Parser) -> None:
    """Add how programs are read: a command that names programs has these options."""
    parser.path(
        "--source-root",
        "DIR",
        "diagnostics may show lines of files below DIR that locations name",
    )
    parser.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE",
        help="import a module, or FILE.py, of ops, passes, rules, lowerings or kernels",
    )
    parser.add_argument(
        "--shapes",
        type=_shapes,
        default={},
        metavar="SIZES",
        help="of the symbolic dimensions of what jax.export wrote, b=8,n=16",
    )
    parser.count(
        "--jax-devices", "virtual CPU devices that FILE.py:FUNCTION finds (8)", 8
    )


def function_of(path: Path) -> tuple[Path, str] | None:
    """The file and the function that FILE.py:FUNCTION names, None for another name."""
    file, colon, name = str(path).rpartition(":")
    return (Path(file), name) if colon and file.endswith(".py") else None


def program_files(options: argparse.Namespace) -> Iterator[Path]:
    """The files that the command line names as programs."""
    named = [*getattr(options, "files", ())]
    for name in ("file", "with_annotations", "beside"):
        if isinstance(path := getattr(options, name, None), Path):
            named.append(path)
    for path in named:
        called = function_of(path)
        yield path if called is None else called[0]


def sources_of(options: argparse.Namespace) -> Sources:
    """The files of which diagnostics may show lines."""
    root: Path | None = getattr(options, "source_root", None)
    return Sources(program_files(options), root)


def require_outputs(options: argparse.Namespace, *outputs: Path | None) -> None:
    """Refuse files that may not or cannot be written, before the work.

    Args:
        options: what the command reads, and its `--dump-dir` if it has one.
        outputs: what it writes; None is standard output.

    Raises:
        CompileError: one is what is read too, a folder, or not writable.
    """
    inputs = [*program_files(options)]
    for name in ("inputs", "args"):
        if (path := getattr(options, name, None)) is not None:
            inputs.append(Path(path))
    for output in outputs:
        if output is not None:
            require_writable(output, inputs)
    dump_dir: str | None = getattr(options, "dump_dir", None)
    if dump_dir is not None and (folder := Path(dump_dir)).is_dir():
        from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass, dumped_file

        for number, stage in enumerate(TTStableHLOPipelinePass().stages(), 1):
            path = dumped_file(folder, number, stage.name)
            if path.exists():
                require_writable(path, inputs)


def add_compiler_options(parser: Parser) -> None:
    """Add the options of the thirteen stages and of the lowerings."""
    add_stage_options(parser, *_HOW_TO_PARTITION)
    parser.add_argument(
        "--num-links", type=int, default=1, help="links of ttnn collectives (1)"
    )


def add_stage_options(parser: Parser, *names: str) -> None:
    """Add options of the pipeline as flags, as its fields describe them."""
    from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

    known = {field.name: field for field in fields(TTStableHLOPipelinePass)}
    for name in names:
        field = known[name]
        default = field.metadata.get("command_default", field.default)
        settings: dict[str, Any] = {
            "dest": name,
            "default": default,
            "help": field.metadata["help"],
        }
        if default is True:
            settings["action"] = argparse.BooleanOptionalAction
        elif default is False:
            settings["action"] = "store_true"
        else:
            settings["metavar"] = field.metadata["metavar"]
        if isinstance(field.default, tuple):
            settings["type"] = sizes
        if choices := field.metadata.get("choices"):
            settings["choices"] = choices
            del settings["metavar"]
        if settings.get("metavar") == "DIR":
            settings["type"] = _folder
        flag = field.metadata.get("flag", name).replace("_", "-")
        parser.add_argument(f"--{flag}", **settings)


def pipeline_of(options: argparse.Namespace, **more: Any) -> TTStableHLOPipelinePass:
    """The thirteen stages with the options that the command has, and others."""
    from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

    names = (field.name for field in fields(TTStableHLOPipelinePass))
    given = {name: getattr(options, name) for name in names if name in options}
    return TTStableHLOPipelinePass(**given, **more)


def partition_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_compiler_options` read, as arguments of `Program.partition`."""
    given = {name: getattr(options, name) for name in _HOW_TO_PARTITION}
    return {"mesh": given.pop("mesh_shape"), **given}


def limits_of(options: argparse.Namespace) -> Limits:
    """Return the limits of `--max-memory` and `--max-steps`."""
    from ttxdsl.interpreters.runtime.limits import Limits

    return Limits(options.max_memory, options.max_steps)


def size_of(text: str) -> int:
    """A number of bytes like `8GiB`.

    Raises:
        argparse.ArgumentTypeError: the text is no size.
    """
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def count_of(text: str) -> int:
    """A whole number from 1 up.

    Raises:
        argparse.ArgumentTypeError: the text is no such number.
    """
    return _whole(text, 1)


def from_zero(text: str) -> int:
    """A whole number from 0 up.

    Raises:
        argparse.ArgumentTypeError: the text is no such number.
    """
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from {least} up")
    return number


def add_by_option(parser: Parser) -> None:
    """Add `--by`, for tables of collectives."""
    from ttxdsl.analysis.attribution.locations import WAYS

    parser.add_argument(
        "--by", choices=WAYS, help="one row for all collectives that share this"
    )


def print_json(data: Any, *, indent: int | None = 2) -> None:
    """Write one JSON value on standard output.

    Args:
        indent: None for one line, which takes a tenth of the time.

    Raises:
        TypeError: the data has something that JSON has not.
        ValueError: there is a NaN or an infinity, which have to be None or text here.
    """
    import json  # commands that print tables start faster without

    sys.stdout.write(json.dumps(data, indent=indent, allow_nan=False) + "\n")


_SHARED: dict[str, dict[str, Any]] = {
    "--all-axes": {
        "action": "store_true",
        "help": "print the mesh's axes of size one, too",
    },
    "--devices": {
        "type": count_of,
        "metavar": "N",
        "help": "virtual CPU devices of JAX (what it has, or as many as the mesh)",
    },
    "--inputs": {
        "type": Path,
        "metavar": "NPZ",
        "help": "arrays arg0, arg1, … of an archive, or a folder of arg0.npy, …; else random",
    },
    "--jobs": {
        "type": count_of,
        "default": os.cpu_count() or 1,
        "metavar": "N",
        "help": "processes to compile in when that pays (one a core)",
    },
    "--json": {"action": "store_true", "help": "print one JSON object, no tables"},
    "--max-memory": {
        "type": size_of,
        "metavar": "SIZE",
        "help": "refuse what needs more memory, 8GiB (three quarters of what is free)",
    },
    "--max-steps": {
        "type": count_of,
        "metavar": "N",
        "help": "iterations that the loops of a run may take together (any number)",
    },
    "--seed": {"type": from_zero, "default": 0, "help": "of random inputs (0)"},
    "--trip-count": {
        "type": count_of,
        "metavar": "N",
        "help": "iterations of loops whose count the program does not say (1, and said)",
    },
}
"""Options that several commands have, as argparse takes them."""
