"""Why each collective of a report is there, as `ttxdsl why` prints it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ttxdsl.api.forms import ProgramForm
from ttxdsl.costs.machines import GENERIC, Machine
from ttxdsl.diagnostics.display import plain_text
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.why.answers import WhyProgram
from ttxdsl.insight.why.layers import fold_collectives
from ttxdsl.insight.why.view import Answer, print_answer

_WIDTH = 84
"""Columns of what stands beside the graph; it can be scrolled."""


def add_reasons(
    data: dict[str, Any],
    program: ProgramForm,
    ask: Callable[[int | None], Answer],
    machine: Machine = GENERIC,
) -> None:
    """Give the collectives of a report their reasons; those of several layers share one.

    `whys` are texts, and each collective has a `why`, the number of one or -1. A program
    that came partitioned has no annotations, and so no reasons.

    Args:
        data: of the report, which is changed.
        program: as it was loaded.
        ask: answers about a collective, by its number, or about all of them.
        machine: for times.
    """
    whys: list[str] = []
    data["whys"] = whys
    for one in data["collectives"]:
        one["why"] = -1
    if program.form != "stablehlo" or program.is_partitioned:
        return
    try:
        found = ask(None)
    except CompileError:
        return  # a report shows what there is
    assert isinstance(found, WhyProgram), "nothing else was asked for"
    if len(found.collectives) != len(data["collectives"]):
        return
    for group in fold_collectives(found.collectives).groups:
        view = partial(print_answer, answer=ask(group[0].number), machine=machine)
        for one in group:
            data["collectives"][one.number]["why"] = len(whys)
        whys.append(plain_text(view, _WIDTH).rstrip("\n"))
