"""How the command speaks: tables on standard output, diagnostics on standard error."""

import errno
import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from io import StringIO
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl.errors import CompileError
from ttxdsl.remarks import Remark, fold_remarks
from ttxdsl.tools.excerpts import Sources
from ttxdsl.visible import visible

if TYPE_CHECKING:  # most commands that go well print plain text, and start faster
    from ttxdsl.terminal import Terminal

PLAIN_WIDTH = 110
"""Columns to use when the output is no terminal."""


_OF_OUTPUT = {
    errno.EBADF,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.ENOSPC,
}
"""How writing fails; whoever writes a file says which."""


def report_console(*, to_stderr: bool = False) -> "Terminal":
    """Where reports go; wide enough for tables also in a file or pipe.

    `COLUMNS` says otherwise there, as on a terminal.
    """
    from ttxdsl.terminal import Terminal

    console = Terminal(stderr=to_stderr)
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        console.width = PLAIN_WIDTH
    return console


_PAGE = '<pre style="line-height: normal; font-family: monospace">{code}</pre>'


def drawing(view: Callable[["Terminal"], None]) -> Callable[[bool], str]:
    """What a view prints where reports go, as `Printed` has it drawn: text, or HTML."""

    def drawn(as_html: bool) -> str:
        from ttxdsl.terminal import Terminal

        stream = StringIO()
        width = PLAIN_WIDTH if as_html else report_console().width
        page = Terminal(file=stream, width=width, plain=True, record=as_html)
        view(page)
        if not as_html:
            return stream.getvalue()
        return page.export_html(code_format=_PAGE, inline_styles=True)

    return drawn


@contextmanager
def working(what: str) -> Generator[None]:
    """A turning sign on standard error while something long goes on; terminals only."""
    if not _is_terminal():
        yield
        return
    from ttxdsl.terminal import Terminal, styled

    with Terminal(stderr=True).status(styled(what)):
        yield


@contextmanager
def progress(total: int, first: str = "") -> Generator[Callable[[str], None]]:
    """A bar on standard error that moves with each step; terminals only.

    Args:
        total: how many steps there are at most.
        first: what is done before the first step.

    Yields:
        What to call with the name of each step as it starts.
    """
    if not _is_terminal():
        yield lambda _: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    what = TextColumn("{task.description}", markup=False)
    console = report_console(to_stderr=True)
    with Progress(
        what, BarColumn(), TimeElapsedColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task(first, total=total)
        yield lambda name: bar.update(task, description=name, advance=1)


def _is_terminal() -> bool:
    return sys.stderr.isatty()


def diagnostic_text(
    error: DiagnosticException | ParseError, sources: Sources | None = None
) -> str:
    """An error as it is printed: what and where, the line of the source, and a hint.

    Messages of the parser have their line already.
    """
    if not isinstance(error, CompileError):
        message = str(error).strip()
        return message if "error:" in message else f"error: {message}"
    text = str(error)
    excerpt = None
    if sources is not None and error.position is not None and "^" not in error.message:
        excerpt = sources.excerpt(error.position)
    if excerpt is None:
        return text
    head, mark, hint = text.rpartition("\n  hint: ") if error.hint else (text, "", "")
    return f"{head}\n{excerpt}{mark}{hint}"


def output_text(error: OSError | UnicodeEncodeError) -> str:
    """An error about standard output as it is printed, or one of the machine."""
    if isinstance(error, UnicodeEncodeError):
        unknown = visible(error.object[error.start : error.end])
        return (
            f"error: cannot write standard output: {error.encoding} has no '{unknown}'\n"
            "  hint: set PYTHONIOENCODING=utf-8"
        )
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"error: '{visible(str(error.filename))}': {reason}"
    what = "cannot write standard output: " if error.errno in _OF_OUTPUT else ""
    return f"error: {what}{reason}"


def print_error(message: str) -> None:
    """One diagnostic, `error:` in red on a terminal; lost if nobody can read it."""
    with suppress(OSError):
        _print_coloured(message, {"error:": "bold red", "hint:": "bold cyan"})


def print_remarks(remarks: Iterable[Remark], *, whole: bool = False) -> None:
    """Remarks and warnings, each kind in one line unless `whole`."""
    colours = {"warning:": "bold yellow", "remark:": "bold blue"}
    for remark in remarks if whole else fold_remarks(remarks):
        _print_coloured(str(remark), colours)


def _print_coloured(message: str, colours: Mapping[str, str]) -> None:
    from ttxdsl.terminal import Terminal, styled

    text = styled(message)
    for word, colour in colours.items():
        text.highlight_words([word], colour)
    # never wrapped, so that positions stay clickable
    Terminal(stderr=True, soft_wrap=True).print(text)
