"""A `rich` console that programs and file names cannot steer.

All that we print through `rich` goes through a `Terminal`, so that no caller has to
remember to escape: strings are no markup, and what a terminal would obey is shown.
"""

import re
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ttxdsl.diagnostics.sanitize import visible, visible_lines

_WORDS = 12
"""Columns that text needs which may wrap."""
_LONG_WORD = re.compile(rf"\S{{{_WORDS},}}")


def shortened(text: str, most: int) -> str:
    """A long word without its middle: `embedding_0+b…heads+kernel_0`."""
    if len(text) <= most:
        return text
    left = (most - 1) // 2
    return f"{text[:left]}…{text[len(text) - (most - 1 - left) :]}"


def _fitted(text: Text, most: int) -> Text:
    """Text of a table's cell, in which words that are too long have no middle.

    A path loses folders on its left: `…/model/train.py:33`.
    """
    for match in reversed(list(_LONG_WORD.finditer(text.plain))):
        start, end = match.span()
        if end - start > most > 1:
            left, right = start + (most - 1) // 2, end - most // 2
            start += len(match[0]) - len(match[0].lstrip("(["))
            room = most - (start - match.start())
            slash = text.plain.find("/", end - room + 1, end)
            if slash >= 0:
                left, right = start, slash
            text = text[:left] + Text("…") + text[right:]
    return text


def styled(text: str, style: str = "") -> Text:
    """Text in a style, safe to show; `rich`'s own `Text` drops some controls unseen."""
    return Text(visible_lines(text), style)


def heading(name: str, rest: str) -> Text:
    """The line that a report begins with: of what it is, and something about that."""
    return styled(visible(name), "bold").append_text(styled(rest, "not bold"))


class Terminal(Console):
    """Shows what it is given: no markup, no emoji codes, no control characters.

    Styles come from `styled`, colours only where the output is a terminal.

    Args:
        stderr: write to standard error.
        width: in columns; the terminal's by default.
        soft_wrap: leave long lines to the terminal.
        plain: no colours, wherever it goes.
        record: keep what is printed, to be exported.
    """

    def __init__(
        self,
        *,
        stderr: bool = False,
        file: IO[str] | None = None,
        width: int | None = None,
        soft_wrap: bool = False,
        plain: bool = False,
        record: bool = False,
    ):
        super().__init__(
            stderr=stderr,
            file=file,
            width=width,
            soft_wrap=soft_wrap,
            color_system=None if plain else "auto",
            markup=False,
            emoji=False,
            highlight=False,
            record=record,
        )

    def print_wrapped(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """Print text in lines as wide as the terminal, all but the first indented."""
        lines = wrap(
            visible_lines(text),
            self.width,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        self.print(Text("\n".join(lines), style), soft_wrap=True)

    def print_table(
        self, table: Table, drop: Sequence[str] = (), lines: int | None = None
    ) -> None:
        """Print a table whose figures are whole, however narrow the terminal is.

        Args: as of `fit_table`.
        """
        self.fit_table(table, drop, lines)
        for column in table.columns:
            column.min_width = None  # a wish, which is no reason to cut figures
        self.print(table)

    def fit_table(
        self, table: Table, drop: Sequence[str] = (), lines: int | None = None
    ) -> int:
        """Leave out columns until a table fits; the lines that it takes then.

        Args:
            table: figures are in columns that do not wrap.
            drop: headers of columns to leave out where they do not fit, the first first.
            lines: more than these do not fit either.
        """
        for header in drop:
            wide = self._least_width(table) > self.width
            if not wide and (lines is None or len(self.render_lines(table)) <= lines):
                break
            table.columns = [
                column for column in table.columns if column.header != header
            ]
        return len(self.render_lines(table))

    def _least_width(self, table: Table) -> int:
        """Return the least width in which unwrapped columns fit, and words in others."""
        options = self.options.update(max_width=1 << 16)
        total = 1
        for column in table.columns:
            cells = (column.header, *column.cells)
            sizes = [Measurement.get(self, options, cell) for cell in cells]
            if column.no_wrap:
                needed = max(size.maximum for size in sizes)
            else:
                widest = max(size.maximum for size in sizes)
                needed = min(widest, column.min_width or _WORDS)
            total += needed + 3
        return total

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as text, before its width is measured."""
        return super().render_str(visible_lines(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The pieces of whatever is printed; only `rich`'s own ones steer."""
        if options is not None and options.overflow == "ellipsis":
            if isinstance(renderable, str):
                renderable = self.render_str(renderable)
            if isinstance(renderable, Text):
                renderable = _fitted(renderable, options.max_width)
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=visible_lines(segment.text))

    def on_broken_pipe(self) -> None:
        """Leave the error to the command, which ends as with any output that fails."""
        raise
