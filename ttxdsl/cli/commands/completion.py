"""`ttxdsl completion`: a script that lets a shell complete commands and options.

`shtab` writes it from the parsers.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ttxdsl.cli.main import make_parser
from ttxdsl.cli.options.common import Parser
from ttxdsl.diagnostics.errors import CompileError

SHELLS = ("bash", "zsh", "fish", "tcsh")


def _complete_files(parser: argparse.ArgumentParser, files: Any) -> None:
    """Let every argument that is a path be completed with files."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            choices = cast("dict[str, argparse.ArgumentParser]", action.choices)  # pyright: ignore[reportUnknownMemberType]
            for inner in choices.values():
                _complete_files(inner, files)
        elif action.type is Path:
            setattr(action, "complete", files)  # noqa: B010


def execute(options: argparse.Namespace) -> int:
    """Run the command.

    Raises:
        CompileError: `shtab` is not installed.
    """
    try:
        shtab: Any = import_module("shtab")
    except ImportError as error:
        raise CompileError(
            "shtab is not installed, which writes the script",
            hint="pip install 'ttxdsl[completion]'",
        ) from error
    parser = make_parser()
    _complete_files(parser, shtab.FILE)
    sys.stdout.write(shtab.complete(parser, shell=options.shell) + "\n")
    return 0


def add_command(commands: Any) -> None:
    """Add `completion` to the command line."""
    parser: Parser = commands.add_parser(
        "completion",
        help="print a script that completes commands and options in a shell",
        description=(
            "Print a script that lets a shell complete the commands, options and files"
            " of ttxdsl. It needs shtab: pip install 'ttxdsl[completion]'."
        ),
        examples=(
            "  ttxdsl completion bash > ~/.local/share/bash-completion/completions/ttxdsl\n"
            "  ttxdsl completion zsh > ~/.zfunc/_ttxdsl\n"
            "  ttxdsl completion fish > ~/.config/fish/completions/ttxdsl.fish\n"
        ),
        execute=execute,
    )
    parser.add_argument("shell", choices=SHELLS, help="which shell")
