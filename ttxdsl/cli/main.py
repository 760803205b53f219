"""The `ttxdsl` command: argument parsing, and errors as one diagnostic.

The entry point is `script`. Nothing else is imported before it is called, so that an
interrupt is handled from the start.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing `typing` takes longer than all of this module
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

CLOSED_PIPE = 141
"""The exit code after writing to a closed pipe: 128 + SIGPIPE."""


def make_parser(*names: str) -> argparse.ArgumentParser:
    """The parser with some subcommands, which starts faster, or by default with all."""
    from ttxdsl.cli.options.common import Parser
    from ttxdsl.loading.doors import COMMANDS
    from ttxdsl.loading.version import __version__

    parser = Parser(
        prog="ttxdsl",
        description="Compile sharded StableHLO programs and run them on a virtual mesh.",
    )
    parser.add_argument("--version", action="version", version=f"ttxdsl {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in names or COMMANDS:
        COMMANDS[name](commands)
    return parser


def _plugins(words: Sequence[str]) -> tuple[str, ...]:
    """Return the plug-ins that a command line names with `--plugin`, before parsing."""
    named: list[str] = []
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--plugin" and following:
            named.append(following)
        elif word.startswith("--plugin="):
            named.append(word.removeprefix("--plugin="))
    return tuple(named)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit code: 0 if all is well, 1 if a program or a comparison is wrong (a
        command that means a difference by 1 says `error_code`); argparse exits with 2
        on a wrong command line. docs/reference/cli.md has them all.
    """
    words = sys.argv[1:] if arguments is None else arguments
    if not words:
        from ttxdsl.cli.overview import overview

        print(overview())
        return 0
    try:
        from ttxdsl.ir.collector import few_collections

        with few_collections():
            return _execute(words)
    except KeyboardInterrupt:
        return _interrupted()


started: float | None = None
"""When the process began, by the monotonic clock; None if something else calls `main`."""


def script() -> int:
    """`main` as a process of its own, the `ttxdsl` that is installed."""
    from time import monotonic

    global started
    started = monotonic()
    try:
        from ttxdsl.cli.process import run_as_process

        return run_as_process(_last_command)
    except KeyboardInterrupt:
        return _interrupted()


def _last_command() -> int:
    """`main`, and then the process ends: Python need not look for garbage before."""
    import gc

    from ttxdsl.cli.dataclass_methods import compiled_when_called

    with compiled_when_called():  # from the first import of xDSL on
        from ttxdsl.ir.collector import few_collections

        with few_collections():
            code = main()
            gc.freeze()
    return code


def _execute(words: Sequence[str]) -> int:
    import argparse

    from xdsl.utils.exceptions import DiagnosticException, ParseError

    from ttxdsl.cli.console import (
        diagnostic_text,
        output_text,
        print_error,
        watching,
    )
    from ttxdsl.cli.options.common import sources_of
    from ttxdsl.diagnostics.errors import memory_errors
    from ttxdsl.loading.doors import COMMANDS

    needed = [word for word in words[:1] if COMMANDS.is_ours(word)]
    if list(words) == ["--version"]:
        needed = ["completion"]  # nothing of the compiler is imported for it
    options = argparse.Namespace()
    try:
        try:
            if named := _plugins(words):
                from ttxdsl.loading.plugins import load_plugins

                with memory_errors():
                    load_plugins(named)
            make_parser(*needed).parse_args(words, options)
            with memory_errors(), watching(options.command):
                return options.execute(options)
        finally:
            sys.stdout.flush()
    except (DiagnosticException, ParseError) as error:
        print_error(diagnostic_text(error, sources_of(options)))
    except RecursionError:
        print_error("error: the program calls itself, or nests too deeply")
    except BrokenPipeError:
        return CLOSED_PIPE  # the reader of a pipe, such as `head`, has closed it
    except (OSError, UnicodeEncodeError) as error:
        # the command tells of files itself: this is its output, or the machine's
        print_error(output_text(error))
    return getattr(options, "error_code", 1)


def _interrupted() -> int:
    from contextlib import suppress

    text = "interrupted"
    if "ttxdsl.diagnostics.remarks" in sys.modules:  # otherwise no command has started
        from ttxdsl.diagnostics.remarks import interrupted_text

        text = interrupted_text()
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")
    return 130


if __name__ == "__main__":
    sys.exit(script())
