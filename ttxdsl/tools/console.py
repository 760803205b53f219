"""How the command speaks: tables on standard output, diagnostics on standard error."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl.errors import CompileError
from ttxdsl.remarks import Remark

if TYPE_CHECKING:  # most commands that go well print plain text, and start faster
    from rich.console import Console

PLAIN_WIDTH = 110
"""Columns to use when the output is no terminal."""


_POSITION = re.compile(r"(?P<file>.+):(?P<line>[1-9]\d*):(?P<column>[1-9]\d*)")
_TOKEN = re.compile(r"[%@#!]?[\w.$#'-]+|.")
_BEFORE, _SHOWN = 60, 100
"""Of a long line, what is shown before the place, and in all."""


def report_console(*, to_stderr: bool = False) -> Console:
    """Where reports go; wide enough for tables also in a file or pipe."""
    from rich.console import Console

    console = Console(stderr=to_stderr, highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


@contextmanager
def working(what: str) -> Generator[None]:
    """A turning sign on standard error while something long goes on; terminals only."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def error_console() -> Console:
    """Where diagnostics go; never wrapped, so that positions stay clickable."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def source_excerpt(position: str) -> str | None:
    """The line of a source file with a mark below the place, if the file is there.

    Args:
        position: `file:line:column`, counted from 1.
    """
    match = _POSITION.fullmatch(position)
    if match is None:
        return None
    number, column = int(match["line"]), int(match["column"])
    try:
        with Path(match["file"]).open(encoding="utf-8") as file:
            line = next(islice(file, number - 1, number), None)
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    if line is None or column > len(line.rstrip("\n")):
        return None
    line = line.rstrip("\n").replace("\t", " ")
    start = max(0, column - 1 - _BEFORE)
    shown = line[start : start + _SHOWN]
    place = column - 1 - start
    token = _TOKEN.match(shown, place)
    marks = "^" * (1 if token is None else len(token.group()))
    margin = " " * len(str(number))
    return f"  {number} | {shown}\n  {margin} | {' ' * place}{marks}"


def diagnostic_text(error: DiagnosticException | ParseError) -> str:
    """An error as it is printed: what and where, the line of the source, and a hint.

    Messages of the parser have their line already.
    """
    if not isinstance(error, CompileError):
        message = str(error).strip()
        return message if "error:" in message else f"error: {message}"
    text = str(error)
    excerpt = None
    if error.position is not None and "^" not in error.message:
        excerpt = source_excerpt(error.position)
    if excerpt is None:
        return text
    hint = f"\n  hint: {error.hint}" if error.hint else ""
    return f"{text.removesuffix(hint)}\n{excerpt}{hint}"


def print_error(message: str) -> None:
    """One diagnostic, `error:` in red on a terminal."""
    _print_coloured(message, {"error:": "bold red", "hint:": "bold cyan"})


def print_remark(remark: Remark) -> None:
    """One remark or warning."""
    colours = {"warning:": "bold yellow", "remark:": "bold blue"}
    _print_coloured(str(remark), colours)


def _print_coloured(message: str, colours: Mapping[str, str]) -> None:
    from rich.text import Text

    text = Text(message)
    for word, colour in colours.items():
        text.highlight_words([word], colour)
    error_console().print(text)
