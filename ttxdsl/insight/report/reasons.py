"""Why each collective of a report is there, as `ttxdsl why` prints it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from ttxdsl.costs.machines import Machine
from ttxdsl.diagnostics.display import plain_text
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.insight.why.layers import fold_collectives
from ttxdsl.insight.why.view import print_answer

_WIDTH = 84
"""Columns of what stands beside the graph; it can be scrolled."""


def add_reasons(
    collectives: Sequence[dict[str, Any]],
    explainer: Explainer,
    machine: Machine,
    jobs: int,
) -> list[str]:
    """Give the collectives of a report their reasons; those of several layers share one.

    Args:
        collectives: each gets a `why`, the number of a reason.
        explainer: of the same program.
        machine: for times.
        jobs: processes to compile changes in.

    Returns:
        The reasons, as texts.
    """
    whys: list[str] = []
    listed = explainer.collectives()
    if len(listed) != len(collectives):
        return whys
    for group in fold_collectives(listed).groups:
        answer = explainer.collective(group[0].number, jobs=jobs)
        view = partial(print_answer, answer=answer, machine=machine)
        for collective in group:
            collectives[collective.number]["why"] = len(whys)
        whys.append(plain_text(view, _WIDTH).rstrip("\n"))
    return whys
