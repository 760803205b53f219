"""The output of commands: tables on standard output, diagnostics on standard error."""

import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, ParseError

from ttxdsl.diagnostics.display import PLAIN_WIDTH
from ttxdsl.diagnostics.errors import CompileError, near
from ttxdsl.diagnostics.excerpts import Sources
from ttxdsl.diagnostics.remarks import Remark, doing, fold_remarks, what_is_done
from ttxdsl.diagnostics.sanitize import visible

if TYPE_CHECKING:
    from ttxdsl.diagnostics.terminal import Terminal

_OF_OUTPUT = {
    errno.EBADF,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.ENOSPC,
}
"""How writing fails; whoever writes a file says which."""


@contextmanager
def progress(first: str = "") -> Generator[Callable[[str], None]]:
    """Show the name of the current step.

    Args:
        first: what is done before the first step.

    Yields:
        What to call with the name of each step as it starts.
    """
    now = first

    def step(name: str) -> None:
        nonlocal now
        now = name.strip()

    with doing(lambda: now):
        yield step


_SILENT = 3.0
"""Seconds before a command shows its current step."""

_EVERY = 0.25
"""Seconds after which the line is written again."""


class _Line:
    """A line at the end of a terminal; other output goes above it."""

    def __init__(self, stream: TextIO):
        self._stream, self._lock = stream, threading.RLock()
        self._shown = False

    def show(self, text: str) -> None:
        """Replace the line by another text."""
        with self._lock, suppress(OSError, ValueError):
            columns = os.get_terminal_size(self._stream.fileno()).columns or PLAIN_WIDTH
            text = visible(text)
            if len(text) >= columns:  # the end of a text is the most specific part
                left = columns // 3
                text = f"{text[:left]}…{text[len(text) - (columns - 2 - left) :]}"
            self._write(f"\r\x1b[2K{text}")
            self._shown = True

    def write(self, stream: TextIO, text: str) -> int:
        """Print a text above the line."""
        with self._lock:
            self.clear()
            return stream.write(text)

    def clear(self) -> None:
        """Take it away."""
        with self._lock:
            if self._shown:
                self._shown = False
                with suppress(OSError, ValueError):
                    self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class _MakingWay:
    """A terminal's stream whose output replaces the line at its end."""

    def __init__(self, stream: TextIO, line: _Line):
        self._stream, self._line = stream, line

    def write(self, text: str) -> int:
        """Write some text."""
        return self._line.write(self._stream, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def watching(command: str) -> Generator[None]:
    """Show the current step: on a terminal after some seconds, and when interrupted."""
    with doing(command):
        if not sys.stderr.isatty():
            yield
            return
        begun, over = time.monotonic(), threading.Event()
        line, streams = _Line(sys.stderr), (sys.stdout, sys.stderr)

        def watch() -> None:
            wait = _SILENT
            while not over.wait(wait):
                seconds = time.monotonic() - begun
                line.show(f"{seconds:.0f} s: {what_is_done()}")
                wait = _EVERY

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        sys.stdout, sys.stderr = (
            cast(TextIO, _MakingWay(stream, line) if stream.isatty() else stream)
            for stream in streams
        )
        try:
            yield
        finally:
            over.set()
            thread.join()
            line.clear()
            sys.stdout, sys.stderr = streams


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
    if sources is not None and error.position is None and error.op_name is not None:
        names = [visible(near(str(file))) for file in sources.files]
        text = f"{names[0]}: {text}" if len(names) == 1 else text
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
    cause = "cannot write standard output: " if error.errno in _OF_OUTPUT else ""
    return f"error: {cause}{reason}"


def print_error(message: str) -> None:
    """One diagnostic, `error:` in red on a terminal; lost if nobody can read it."""
    with suppress(OSError):
        _print_coloured(message, {"error:": "bold red", "hint:": "bold cyan"})


def print_remarks(remarks: Iterable[Remark], *, whole: bool = False) -> None:
    """Remarks and warnings, each kind in one line unless `whole`."""
    colours = {"warning:": "bold yellow", "remark:": "bold blue"}
    for remark in remarks if whole else fold_remarks(remarks):
        _print_coloured(str(remark), colours)


def print_lines_hint(console: "Terminal", *modules: ModuleOp) -> None:
    """Say how to get lines and names, where JAX wrote a program without them."""
    from ttxdsl.analysis.attribution.authored import lines_hint

    hints = filter(None, map(lines_hint, modules))
    if hint := next(hints, None):
        console.print(hint, soft_wrap=True)


def _print_coloured(message: str, colours: Mapping[str, str]) -> None:
    from ttxdsl.diagnostics.terminal import Terminal, styled

    text = styled(message)
    for word, colour in colours.items():
        text.highlight_words([word], colour)
    # never wrapped, so that positions stay clickable
    Terminal(stderr=True, soft_wrap=True).print(text)
