"""Answers that print as the command that gives them, and draw themselves in notebooks."""

from collections.abc import Callable
from typing import Self


class Printed:
    """An answer to a question that a command answers too.

    Tables are made far above of where answers are found: whoever hands one to a user
    says how it is shown. One that nobody showed prints in fewer words.
    """

    def shown_by(self, drawn: Callable[[bool], str]) -> Self:
        """The same, printed so.

        Args:
            drawn: text, or HTML if it is told so.
        """
        object.__setattr__(self, "_drawn", drawn)
        return self

    def few_words(self) -> str:
        """What it prints where nobody said how it is shown."""
        return repr(self)

    def __str__(self) -> str:
        drawn = self.__dict__.get("_drawn")
        return self.few_words() if drawn is None else drawn(False).rstrip("\n")

    def _repr_html_(self) -> str | None:
        """For notebooks; None leaves it to `repr`."""
        drawn = self.__dict__.get("_drawn")
        return None if drawn is None else drawn(True)
