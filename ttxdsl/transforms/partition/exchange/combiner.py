"""Combiners of partial results: what an all-reduce does after a sharded reduction.

The function follows from the op that made the partial results: a maximum of maxima is a
maximum, a sum of sums is a sum. Shardings and `sdy.all_reduce` know sums, and of late
maxima and minima.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import operands_of
from ttxdsl.sharding.spec import ReductionKind
from ttxdsl.transforms.partition.emitter import binary_region

_NEUTRAL: dict[type[Operation], float] = {
    stablehlo.AddOp: -0.0,
    stablehlo.OrOp: 0,
    stablehlo.XorOp: 0,
    stablehlo.MulOp: 1,
}
"""Numbers that leave any other unchanged; maxima, minima and conjunctions need none.

Positive zero would make a negative one positive.
"""

_IDEMPOTENT: frozenset[type[Operation]] = frozenset(
    (stablehlo.MaxOp, stablehlo.MinOp, stablehlo.AndOp, stablehlo.OrOp)
)
"""Joining a value with itself leaves it: it may be counted once a device."""

_COMBINING: frozenset[type[Operation]] = frozenset(_NEUTRAL) | _IDEMPOTENT


class Combiner(NamedTuple):
    """An associative and commutative binary op on scalars."""

    op_class: type[Operation]

    @property
    def is_idempotent(self) -> bool:
        """Whether a value may be counted several times."""
        return self.op_class in _IDEMPOTENT

    @property
    def neutral(self) -> float | None:
        """The number that changes nothing, if it is the same for all types."""
        return _NEUTRAL.get(self.op_class)

    def body(self, element: Attribute) -> Region:
        """Return the region of a reducing op."""
        return binary_region(self.op_class, element)


_COMBINERS = {kind: Combiner(kind) for kind in _COMBINING}

SUM = _COMBINERS[stablehlo.AddOp]

COMBINERS = {
    ReductionKind.SUM: SUM,
    ReductionKind.MAX: Combiner(stablehlo.MaxOp),
    ReductionKind.MIN: Combiner(stablehlo.MinOp),
}
"""The combination of each reduction that a sharding can name."""


def _on(owner: Operation | Block, arguments: Sequence[SSAValue]) -> Combiner | None:
    """Return the combiner that an op is, if it is one, on these two arguments."""
    combiner = _COMBINERS.get(cast(type[Operation], type(owner)))
    if combiner is None:
        return None
    first, second = arguments
    left, other = operands_of(cast(Operation, owner))
    fits = (left is first and other is second) or (left is second and other is first)
    return combiner if fits else None


def combiners_of(region: Region) -> list[Combiner]:
    """Return the combiner of each value of a reduction's body, if these are independent.

    Each is then one known op on the value's two arguments. Empty for other bodies.
    """
    block = region.first_block
    if block is None or block.next_block is not None or block.last_op is None:
        return []
    end, arguments = block.last_op, block.args
    owners, count = [value.owner for value in end.operands], len(arguments) // 2
    if len(owners) != count or {*block.ops} != {*owners, end}:
        return []
    pairs = zip(arguments[:count], arguments[count:], strict=False)
    pairwise = [_on(owner, pair) for owner, pair in zip(owners, pairs, strict=True)]
    known = [combiner for combiner in pairwise if combiner is not None]
    return known if len(known) == len(pairwise) else []


def combiner_of(region: Region) -> Combiner | None:
    """The combiner that a reduction's body is: one known op on its two arguments.

    None for bodies of several values or several ops.
    """
    block = region.first_block
    if block is None or block.next_block is not None or len(block.args) != 2:
        return None
    op, end = block.first_op, block.last_op
    if op is None or end is None or op.next_op is not end:
        return None
    combiner = _on(op, block.args)
    returned = operands_of(end)
    return combiner if returned == op.results else None


def selects(region: Region) -> bool:
    """Whether a reduction's body passes on one of two candidates, as argmax's does.

    Each result is one of its own two arguments, so that a candidate that competes with
    itself stays what it is: the initial values may take part several times, and the
    best of the best of each part is the best of all. The specification lets initial
    values take part anywhere and any number of times for every body; only here does it
    make no difference.

    Source: StableHLO specification, reduce.
    """
    block = region.blocks.first
    if block is None or block.next_block is not None or block.last_op is None:
        return False
    returned = block.last_op.operands
    count = len(block.args) // 2
    if len(returned) != count:
        return False
    for index, value in enumerate(returned):
        candidates = {block.args[index], block.args[count + index]}
        match value.owner:
            case stablehlo.SelectOp() as op:
                chosen = {op.on_true, op.on_false}
            case stablehlo.MaxOp() | stablehlo.MinOp() as op:
                chosen = set(op.operands)
            case _:
                return False
        if chosen != candidates:
            return False
    return True


def reduction_of(op: Operation) -> ReductionKind | None:
    """Return the reduction of an op's partial results, None if it has no name."""
    if not op.regions:
        return ReductionKind.SUM
    combiners = set(combiners_of(op.regions[0]))
    known = (kind for kind, combiner in COMBINERS.items() if combiners == {combiner})
    return next(known, None)
