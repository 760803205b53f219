"""Lines of source files below diagnostics.

A location in a program is text that anybody may have written. It opens no file but those
that the command line names, and those below a folder that it names as the sources'.
"""

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path

from ttxdsl.diagnostics.sanitize import visible

_POSITION = re.compile(r"(?P<file>.+):(?P<line>[1-9]\d*):(?P<column>[1-9]\d*)", re.S)
_TOKEN = re.compile(r"[%@#!]?[\w.$#'-]+|.")
_BEFORE, _SHOWN = 60, 100
"""Of a long line, what is shown before the place, and in all."""

_LARGEST = 1 << 26
"""Bytes of the largest file that a line is shown of."""


class Sources:
    """The files of which lines may be shown.

    Args:
        files: that the command line names.
        root: a folder whose files may be shown too; relative names are looked for there.
    """

    def __init__(self, files: Iterable[Path] = (), root: Path | None = None):
        self.files = frozenset(_resolved(file) for file in files)
        self.root = None if root is None else _resolved(root)

    def excerpt(self, position: str) -> str | None:
        """The line at `file:line:column` with a mark below, if it may be shown."""
        match = _POSITION.fullmatch(position)
        if match is None:
            return None
        # numbers beyond any file's are no places, and may be longer than Python reads
        if max(map(len, match.group("line", "column"))) > len(str(_LARGEST)):
            return None
        path = self._allowed(match["file"])
        text = None if path is None else _text(path)
        if text is None:
            return None
        number, column = int(match["line"]), int(match["column"])
        line = next(islice(BytesIO(text), number - 1, number), None)
        return None if line is None else _marked(line, number, column)

    def _allowed(self, name: str) -> Path | None:
        """The file that a location names, if it may be shown."""
        with suppress(OSError, ValueError):
            if (path := _resolved(Path(name))) in self.files:
                return path
            if self.root is not None:
                path = _resolved(self.root / name)
                return path if path.is_relative_to(self.root) else None
        return None


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _text(path: Path) -> bytes | None:
    """The content of a regular file of moderate size."""
    try:
        if not path.is_file():
            return None
        # it may have become something else, which blocks or answers for ever
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                return None
            return file.read(status.st_size)
    except OSError:
        return None


def _marked(content: bytes, number: int, column: int) -> str | None:
    """A line and a mark below the token at a column."""
    try:
        line = content.decode().rstrip("\r\n").replace("\t", " ")
    except UnicodeDecodeError:
        return None
    if column > len(line):
        return None
    start = max(0, column - 1 - _BEFORE)
    shown = line[start : start + _SHOWN]
    place = column - 1 - start
    token = _TOKEN.match(shown, place)
    before, marked = shown[:place], "^" if token is None else token.group()
    marks = " " * len(visible(before)) + "^" * len(visible(marked))
    margin = " " * len(str(number))
    return f"  {number} | {visible(shown)}\n  {margin} | {marks}"
