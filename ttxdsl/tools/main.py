"""The `ttxdsl` command: argument parsing, and errors as one diagnostic."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl import __version__
from ttxdsl.tools import check, interpret, run
from ttxdsl.tools.console import print_error


def make_parser() -> argparse.ArgumentParser:
    """The parser with every subcommand."""
    parser = argparse.ArgumentParser(
        prog="ttxdsl",
        description="Compile sharded StableHLO programs and run them on a virtual mesh.",
    )
    parser.add_argument("--version", action="version", version=f"ttxdsl {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run.add_command(commands)
    check.add_command(commands)
    interpret.add_command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit code: 0 if all is well, 1 if a program or a comparison is wrong;
        argparse exits with 2 on a wrong command line.
    """
    options = make_parser().parse_args(arguments)
    try:
        return options.execute(options)
    except (DiagnosticException, ParseError) as error:
        message = str(error).strip()
        print_error(message if "error:" in message else f"error: {message}")
        return 1
    except KeyboardInterrupt:
        print_error("interrupted")
        return 130
    except BrokenPipeError:
        # the reader of our output (head, less) has gone: not an error of ours
        sys.stderr.close()
        return 1


if __name__ == "__main__":
    sys.exit(main())
