"""A `rich` console that programs and file names cannot steer.

All that we print through `rich` goes through a `Terminal`, so that no caller has to
remember to escape: strings are no markup, and what a terminal would obey is shown.
"""

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ttxdsl.visible import visible, visible_lines


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
        file: write there.
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

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as text, before its width is measured."""
        return super().render_str(visible_lines(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The pieces of whatever is printed; only `rich`'s own ones steer."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=visible_lines(segment.text))

    def on_broken_pipe(self) -> None:
        """Leave the error to the command, which ends as with any output that fails."""
        raise
