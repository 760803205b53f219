"""How the command speaks: tables on standard output, diagnostics on standard error."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ttxdsl.remarks import Remark

PLAIN_WIDTH = 110
"""Columns to use when the output is no terminal."""


def report_console(*, to_stderr: bool = False) -> Console:
    """Where reports go; wide enough for tables also in a file or pipe."""
    console = Console(stderr=to_stderr, highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


def error_console() -> Console:
    """Where diagnostics go; never wrapped, so that positions stay clickable."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_error(message: str) -> None:
    """One diagnostic, `error:` in red on a terminal."""
    text = Text(message)
    text.highlight_words(["error:"], "bold red")
    text.highlight_words(["hint:"], "bold cyan")
    error_console().print(text)


def print_remark(remark: Remark) -> None:
    """One remark or warning."""
    text = Text(str(remark))
    text.highlight_words(["warning:"], "bold yellow")
    text.highlight_words(["remark:"], "bold blue")
    error_console().print(text)
