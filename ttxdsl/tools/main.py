"""The `ttxdsl` command: argument parsing, and errors as one diagnostic."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl import __version__
from ttxdsl.collector import few_collections
from ttxdsl.errors import memory_errors
from ttxdsl.tools.console import diagnostic_text, print_error

COMMANDS: dict[str, str] = {
    "run": "ttxdsl.tools.run",
    "compile": "ttxdsl.tools.compile",
    "check": "ttxdsl.tools.check",
    "interpret": "ttxdsl.tools.interpret",
    "report": "ttxdsl.tools.report",
    "why": "ttxdsl.tools.why",
    "show": "ttxdsl.tools.show",
    "diff": "ttxdsl.tools.diff",
    "doctor": "ttxdsl.tools.doctor",
    "budget": "ttxdsl.tools.budget",
    "compare-xla": "ttxdsl.tools.compare_xla",
    "completion": "ttxdsl.tools.completion",
}
"""Subcommands by name, each a module with `add_command`; the help lists them so."""


def make_parser(*names: str) -> argparse.ArgumentParser:
    """The parser with some subcommands, which starts faster, or by default with all."""
    parser = argparse.ArgumentParser(
        prog="ttxdsl",
        description="Compile sharded StableHLO programs and run them on a virtual mesh.",
    )
    parser.add_argument("--version", action="version", version=f"ttxdsl {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in names or COMMANDS:
        import_module(COMMANDS[name]).add_command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit code: 0 if all is well, 1 if a program or a comparison is wrong (a
        command that means a difference by 1 says `error_code`); argparse exits with 2
        on a wrong command line. docs/cli.md has them all.
    """
    words = sys.argv[1:] if arguments is None else arguments
    with few_collections():
        return _execute(words)


def script() -> int:
    """`main` as a process of its own, the `ttxdsl` that is installed."""
    code = main()
    # what is left goes with the process: Python need not look for garbage in it first
    gc.freeze()
    return code


def _execute(words: Sequence[str]) -> int:
    needed = [word for word in words[:1] if word in COMMANDS]
    if list(words) == ["--version"]:
        needed = ["completion"]  # nothing of the compiler is imported for it
    options = make_parser(*needed).parse_args(words)
    try:
        with memory_errors():
            return options.execute(options)
    except (DiagnosticException, ParseError) as error:
        print_error(diagnostic_text(error))
        return getattr(options, "error_code", 1)
    except RecursionError:
        print_error("error: the program calls itself, or nests too deeply")
        return getattr(options, "error_code", 1)
    except KeyboardInterrupt:
        print_error("interrupted")
        return 130
    except BrokenPipeError:
        # the reader of our output (head, less) has gone: not an error of ours
        sys.stderr.close()
        return 1


if __name__ == "__main__":
    sys.exit(script())
