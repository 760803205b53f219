"""Names that a misspelt one may stand for, as errors suggest them."""

from collections.abc import Iterable

_MOST_LISTED = 8
"""Names that are listed where none is near."""


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Return up to four names that a misspelt one may stand for, the nearest first."""
    from difflib import get_close_matches

    known = list(names)
    containing = [other for other in known if len(name) > 1 and name in other]
    return [*dict.fromkeys((*get_close_matches(name, known, 4), *containing))][:4]


def near_hint(given: Iterable[str], names: Iterable[str], kind: str) -> str:
    """Return the hint of an error about unknown names: those that are near, or all.

    Args:
        given: the unknown ones.
        names: those that there are.
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
