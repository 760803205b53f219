"""Lists of a program that print as tables and draw themselves in notebooks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ttxdsl.api.forms import ProgramForm
from ttxdsl.diagnostics.display import DisplayedList, DisplayedTuple

if TYPE_CHECKING:
    from ttxdsl.analysis.usage.collectives import CountedCollective
    from ttxdsl.diagnostics.remarks import Remark
    from ttxdsl.diagnostics.terminal import Terminal


class ListedForm(ProgramForm):
    """A program whose lists can be looked at."""

    def collectives(
        self, trip_count: int | None = None
    ) -> DisplayedList[CountedCollective]:
        """List the collectives as `ProgramForm.collectives` does; printed, they are a table."""
        collectives = DisplayedList(super().collectives(trip_count))
        return collectives.shown_by(partial(_show_collectives, collectives))

    @property
    def remarks(self) -> DisplayedTuple[Remark]:
        """The remarks of the compiler: choices and costs."""
        remarks = DisplayedTuple(super().remarks)
        return remarks.shown_by(partial(_show_remarks, remarks))


def _show_collectives(
    collectives: DisplayedList[CountedCollective], console: Terminal
) -> None:
    from ttxdsl.insight.run.collectives import print_collectives

    print_collectives(console, collectives)


def _show_remarks(remarks: DisplayedTuple[Remark], console: Terminal) -> None:
    for line in remarks or ("no remarks",):
        console.print(str(line), soft_wrap=True)
