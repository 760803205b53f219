"""Hints of errors about names that are not there."""

from collections.abc import Iterable

from ttxdsl.ir.near_names import near_names

_MOST_LISTED = 8
"""Names that are listed where none is near."""


def near_hint(given: Iterable[str], names: Iterable[str], kind: str) -> str:
    """Return the hint of an error about unknown names: those that are near, or all.

    Args:
        kind: what they are called, in the plural: `axes`.
    """
    known = list(names)
    near = dict.fromkeys(other for name in given for other in near_names(name, known))
    if near:
        return f"did you mean {' or '.join(near)}?"
    if not known:
        return f"there are no {kind}"
    more = ", …" if len(known) > _MOST_LISTED else ""
    return f"the {kind} are {', '.join(known[:_MOST_LISTED])}{more}"
