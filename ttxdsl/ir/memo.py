"""Memo tables keyed by the identity of objects.

Hashing an attribute hashes all of its parts; an identity is a number. It is valid while
the object lives, so the objects are kept with the answers.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")
V = TypeVar("V")


class IdentityMemo(dict[Any, V]):
    """A dictionary whose keys are identities: `id(thing)`, or tuples of them.

    known = memo.get(id(thing))
    if known is None:
        known = memo.keep(id(thing), work_out(thing), thing)
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[object] = []

    def keep(self, key: object, answer: V, *things: object) -> V:
        """Remember an answer, and keep the things whose identities the key has."""
        self[key] = answer
        self._kept.append(things)
        return answer

    def clear(self) -> None:
        """Forget all answers, and let go of the things."""
        super().clear()
        self._kept.clear()


_MOST_KEPT = 1 << 16


def by_identity(function: Callable[[T], V]) -> Callable[[T], V]:
    """Let a function remember its answers about objects that do not change."""
    known = IdentityMemo[V]()

    @wraps(function)
    def remembered(thing: T) -> V:
        key = id(thing)
        if key not in known:
            answer = function(thing)
            if len(known) >= _MOST_KEPT:
                known.clear()
            known.keep(key, answer, thing)
        return known[key]

    return remembered
