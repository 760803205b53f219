"""Memo tables keyed by the identity of objects.

Hashing an attribute hashes all of its parts; an identity is a number. It is valid while
the object lives, so the objects are kept with the answers.
"""

from typing import Any, TypeVar

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
