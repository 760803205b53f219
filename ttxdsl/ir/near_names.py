"""Names that a misspelt one may stand for, as errors suggest them."""

from collections.abc import Iterable


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Return up to four names that a misspelt one may stand for, the nearest first."""
    from difflib import get_close_matches

    known = list(names)
    containing = [other for other in known if len(name) > 1 and name in other]
    return [*dict.fromkeys((*get_close_matches(name, known, 4), *containing))][:4]
