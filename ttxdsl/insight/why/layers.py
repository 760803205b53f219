"""Collectives that repeat over the layers of a model, as one with a count."""

import re
from collections.abc import Sequence
from operator import attrgetter

from ttxdsl.diagnostics.folding import Folded, fold
from ttxdsl.insight.why.answers import WhyCollective

_NUMBER = re.compile(r"\d+")


def _likeness(one: WhyCollective) -> tuple[object, ...]:
    """Return the key that collectives of several layers share, names without numbers."""
    origins = (f"{axis} {name}" for axis in one.origins for name in one.origins[axis])
    texts = (one.summary, *origins, one.op.scope or "")
    names = tuple(_NUMBER.sub("", text) for text in texts)
    return one.kind, one.axes, str(one.times), one.tensor, one.op.op, names


def fold_collectives(
    all_: Sequence[WhyCollective], rows: Sequence[str] = ()
) -> Folded[WhyCollective]:
    """Those of several layers together, the slowest first.

    Args:
        all_: in program order.
        rows: of each one the row that it is to be in; of those in a row the slowest is the
            first.
    """
    if not rows:
        return fold(all_, _likeness, attrgetter("seconds"))
    seconds = attrgetter("seconds")
    found = fold(all_, lambda one: rows[one.number], seconds)
    groups = [sorted(group, key=seconds, reverse=True) for group in found.groups]
    return Folded(groups, found.hidden)
