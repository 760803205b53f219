"""The factors of a reshape: how two ways to cut one row of elements fit together.

Read in row-major order, both shapes cut the same elements into nested pieces. A common
factor of operand and result exists where a cut of one is a cut of the other; between
such places, each side has factors of its own, which cannot be propagated through.
"""

from collections.abc import Iterator
from functools import partial
from math import gcd, prod

from ttxdsl.rules.builder import Factor, Shape


class _Side:
    """One of the two shapes, cut from its major end."""

    def __init__(self, shape: Shape):
        self._shape = shape
        self.dim = 0
        """The dimension that is being cut; the rank when all are."""
        self.uncut = shape[0] if shape else 1
        """The part of its size that no factor has taken yet."""
        self.pieces = 1
        """Product of all factors so far."""

    @property
    def done(self) -> bool:
        return self.dim == len(self._shape)

    @property
    def at_unit(self) -> bool:
        """Whether the next dimension has size 1, and so nothing to cut."""
        return not self.done and self._shape[self.dim] == 1

    def cut(self, size: int) -> int:
        """Take a factor off the current dimension and answer with that dimension."""
        dim = self.dim
        self.pieces *= size
        self.uncut //= size
        if self.uncut == 1:
            self.skip()
        return dim

    def skip(self) -> int:
        """Leave the current dimension and answer with it."""
        dim = self.dim
        self.dim += 1
        self.uncut = 1 if self.done else self._shape[self.dim]
        return dim


def reshape_factors(before: Shape, after: Shape) -> Iterator[Factor]:
    """The factors that lead from one shape to another of as many elements, at least 1.

    While both sides are cut into equally many pieces, their greatest common divisor is
    a factor of both. Where it is 1 the sides part: each takes its own factor, and the
    side with fewer pieces goes on alone until they meet again: there, elements of one
    shard end up in several.
    """
    if prod(before) != prod(after) or prod(before) == 0:
        raise ValueError(f"no factors lead from {before} to {after}")
    source, target = _Side(before), _Side(after)
    apart = partial(Factor, local=False)

    while not (source.done and target.done):
        if source.at_unit:
            yield Factor(1, (source.skip(),), None)
        elif target.at_unit:
            yield Factor(1, None, (target.skip(),))
        elif source.pieces < target.pieces:
            size = _catch_up(source, target)
            yield apart(size, (source.cut(size),), None)
        elif target.pieces < source.pieces:
            size = _catch_up(target, source)
            yield apart(size, None, (target.cut(size),))
        elif (size := gcd(source.uncut, target.uncut)) > 1:
            yield Factor(size, (source.cut(size),), (target.cut(size),))
        else:
            own, other = source.uncut, target.uncut
            yield apart(own, (source.cut(own),), None)
            yield apart(other, None, (target.cut(other),))


def _catch_up(behind: _Side, ahead: _Side) -> int:
    """Return the next factor of the side with fewer pieces.

    The best factor makes both sides have as many pieces. Otherwise it is the largest
    one that keeps the common divisor of the two uncut parts, which they may share
    later.
    """
    gap, misfit = divmod(ahead.pieces, behind.pieces)
    if not misfit and behind.uncut % gap == 0:
        return gap
    spare = behind.uncut // gcd(behind.uncut, ahead.uncut)
    return spare if spare > 1 else behind.uncut
