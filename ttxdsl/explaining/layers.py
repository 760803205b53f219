"""Collectives that repeat over the layers of a model, as one with a count."""

import re
from collections.abc import Sequence
from operator import attrgetter

from ttxdsl.explaining.answers import WhyCollective
from ttxdsl.reporting.alike import Folded, fold

_NUMBER = re.compile(r"\d+")


def _likeness(one: WhyCollective) -> tuple[object, ...]:
    """What collectives of several layers have in common: all but names' numbers."""
    origins = (f"{axis} {name}" for axis in one.origins for name in one.origins[axis])
    texts = (one.summary, *origins, one.op.scope or "")
    names = tuple(_NUMBER.sub("", text) for text in texts)
    return one.kind, one.axes, str(one.times), one.tensor, one.op.op, names


def fold_collectives(all_: Sequence[WhyCollective]) -> Folded[WhyCollective]:
    """Those of several layers together, the slowest first."""
    return fold(all_, _likeness, attrgetter("seconds"))
