"""Why each collective of a report is there, as `ttxdsl why` prints it."""

from functools import partial

from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.display import plain_text
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.insight.why.layers import fold_collectives
from ttxdsl.insight.why.view import print_answer

_WIDTH = 84
"""Columns of what stands beside the graph; it can be scrolled."""


def reasons_of(
    explainer: Explainer, machine: Machine, jobs: int
) -> tuple[list[str], list[int]]:
    """Return the reasons of collectives, one for several layers, and which is whose."""
    whys: list[str] = []
    listed = explainer.collectives()
    numbers = [-1] * len(listed)
    for group in fold_collectives(listed).groups:
        answer = explainer.collective(group[0].number, jobs=jobs)
        view = partial(print_answer, answer=answer, machine=machine)
        for collective in group:
            numbers[collective.number] = len(whys)
        whys.append(plain_text(view, _WIDTH).rstrip("\n"))
    return whys, numbers
