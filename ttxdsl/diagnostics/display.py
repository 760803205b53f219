"""Answers that print as the command that gives them, and draw themselves in notebooks."""

import math
import os
from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:  # most commands that go well print plain text, and start faster
    from ttxdsl.diagnostics.terminal import Terminal

_Item = TypeVar("_Item")

PLAIN_WIDTH = 110
"""Columns to use when the output is no terminal."""

_PAGE = (
    '<pre style="line-height: normal; font-family: monospace; white-space: pre;'
    ' overflow-x: auto">{code}</pre>'
)
"""Tables are not wrapped: what is wider than the notebook is scrolled."""


class Displayed:
    """An answer to a question that a command answers too.

    Its view, which draws tables, is loaded by whoever hands the answer to a user. An
    answer without one prints in fewer words.
    """

    def shown_by(self, view: "Callable[[Terminal], None]") -> Self:
        """Return the same answer, printed as `view` prints it."""
        object.__setattr__(self, "_view", view)
        return self

    def few_words(self) -> str:
        """Return the text of an answer that has no view."""
        return repr(self)

    def __str__(self) -> str:
        view = self.__dict__.get("_view")
        if view is None:
            return self.few_words()
        return plain_text(view, report_console().width).rstrip("\n")

    def _repr_html_(self) -> str | None:
        """For notebooks; None leaves it to `repr`."""
        view = self.__dict__.get("_view")
        if view is None:
            return None
        from ttxdsl.diagnostics.terminal import Terminal

        page = Terminal(file=StringIO(), width=PLAIN_WIDTH, plain=True, record=True)
        view(page)
        return page.export_html(code_format=_PAGE, inline_styles=True)


class DisplayedList(Displayed, list[_Item]):
    """A list that draws itself as a table."""


class DisplayedTuple(Displayed, tuple[_Item, ...]):
    """A tuple that draws itself line by line."""


def plain_text(view: "Callable[[Terminal], None]", width: int = PLAIN_WIDTH) -> str:
    """Return what a view prints on a page of so many columns, without colours."""
    from ttxdsl.diagnostics.terminal import Terminal

    stream = StringIO()
    view(Terminal(file=stream, width=width, plain=True))
    return stream.getvalue()


def report_console(*, to_stderr: bool = False) -> "Terminal":
    """Return where reports go; wide enough for tables also in a file or pipe.

    `COLUMNS` says otherwise there, as on a terminal.
    """
    from ttxdsl.diagnostics.terminal import Terminal

    console = Terminal(stderr=to_stderr)
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        console.width = PLAIN_WIDTH
    return console


def finite(number: float) -> float | None:
    """Return the number for JSON, None for a NaN or an infinity, which JSON has not."""
    return number if math.isfinite(number) else None
