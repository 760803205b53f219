"""Traits: facts about op classes, stated once, on the op or a base of it.

Code that treats kinds of ops alike reads traits instead of listing ops: rules,
localizers, lowerings, kernels, trials, counters of collectives. Ask by class and keep
the answer:

    EXACT = ops_with(RoundsOnce, StableHLO)
"""

from dataclasses import dataclass

from xdsl.ir import Dialect, Operation
from xdsl.traits import OpTrait

from ttxdsl.costs.ring import Ring


class Elementwise(OpTrait):
    """Each element of a result depends on the operands' elements at its place alone.

    All tensors have one shape; operands may be scalars that belong to every element.
    """


class RoundsOnce(OpTrait):
    """Every number of a result is rounded once at most, however the op is split."""


class MovesData(RoundsOnce):
    """Results are elements of the operands, bit by bit, or of a constant.

    Ops that run regions or functions move what these return; they say it of themselves.
    """


class SameBytes(OpTrait):
    """Results are the operands' bytes under another shape, type or name.

    No memory of their own and nothing to compute. An op of one result shares all of its
    operands; where there are several, each is the operand at its place.
    """


@dataclass(frozen=True)
class Linear(OpTrait):
    """The result of a sum is the sum of the results: f(x + y) = f(x) + f(y).

    Quotients of integers are not, nor are truth values, whose sum is an or.

    Attributes:
        start: the first operand that the op is linear in, where all others are the same.
        stop: the one behind the last such operand; None if that is the last of all.
        is_product: whether it is linear in each of them by itself only.
    """

    start: int = 0
    stop: int | None = None
    is_product: bool = False


@dataclass(frozen=True)
class Collective(OpTrait):
    """Devices send each other data.

    Attributes:
        ring: how its bytes and its time count.
        sends_parts: whether values go to others as they are. Then a channel makes its
            groups ones of partitions; else ones of replicas and partitions.
    """

    ring: Ring
    sends_parts: bool = False

    @property
    def combines(self) -> bool:
        """Return True if the values of a group are combined, not passed on."""
        return self.ring in (Ring.ALL_REDUCE, Ring.REDUCE_SCATTER)


def ops_with(trait: type[OpTrait], *dialects: Dialect) -> tuple[type[Operation], ...]:
    """The ops of dialects that have a trait, in the order of the dialects' lists."""
    return tuple(
        op
        for dialect in dialects
        for op in dialect.operations
        if op.get_trait(trait) is not None
    )
