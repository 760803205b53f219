"""Answers about objects by which objects they are, not by what they are equal to.

Attributes are hashed by all that is in them; an identity is a number. It stands for an
object only as long as that lives, so the objects are kept with the answers.
"""

from typing import Any, TypeVar

V = TypeVar("V")


class IdentityMemo(dict[Any, V]):
    """A dictionary by `id(thing)`, or tuples of such, as fast to look into as any.

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
