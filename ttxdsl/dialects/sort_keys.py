"""By what a sort orders: the keys that its comparator compares.

JAX compares the same function of both elements (floats without the sign of zero, NaNs made
one) with LT or GT; where it sorts by several operands, the next one decides where the first
are equal: `first or (equal and others)`.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ttxdsl.dialects import stablehlo


class SortKey(NamedTuple):
    """A value that a comparator computes of both elements and compares.

    Attributes:
        value: it, computed of the first element.
        operands: of the sort, whose elements it is computed from.
        descending: whether the greater one comes first.
    """

    value: SSAValue
    operands: tuple[int, ...]
    compare: stablehlo.CompareOp
    descending: bool

    @property
    def in_total_order(self) -> bool:
        """Whether floats are compared in IEEE's total order."""
        kind = self.compare.compare_type
        return kind is not None and kind.data == stablehlo.ComparisonType.TOTALORDER


def sort_keys(comparator: Region) -> list[SortKey] | None:
    """Return the keys of a comparator, first the one that decides first.

    Returns:
        None of a comparator that is no order by keys.
    """
    block = comparator.block
    end = block.last_op
    if end is None or len(end.operands) != 1:
        return None
    value, keys = end.operands[0], list[SortKey]()
    while isinstance(value.owner, stablehlo.OrOp):
        either = _split(value.owner, ("LT", "GT"))
        if either is None or not isinstance(either[1].owner, stablehlo.AndOp):
            return None
        both = _split(either[1].owner, ("EQ",))
        key = _key(either[0], block)
        if key is None or both is None or not _compare_alike(either[0], both[0]):
            return None
        keys.append(key)
        value = both[1]
    last = value.owner
    # of two elements that LE or GE calls equal neither comes first
    key = _key(last, block) if _compares(last, ("LT", "GT", "LE", "GE")) else None
    return None if key is None else [*keys, key]


def _split(
    op: stablehlo.OrOp | stablehlo.AndOp, directions: Sequence[str]
) -> tuple[stablehlo.CompareOp, SSAValue] | None:
    """The side of an op that compares in one of the directions, and the other side."""
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if _compares(value.owner, directions):
            return value.owner, other
    return None


def _compares(
    owner: Operation | Block, directions: Sequence[str]
) -> TypeGuard[stablehlo.CompareOp]:
    if not isinstance(owner, stablehlo.CompareOp):
        return False
    return owner.comparison_direction.data.value in directions


def _compare_alike(compare: stablehlo.CompareOp, other: stablehlo.CompareOp) -> bool:
    """Whether two comparisons are of the same two values, in the same way."""
    return {compare.lhs, compare.rhs} == {other.lhs, other.rhs} and (
        compare.compare_type == other.compare_type
    )


def _key(compare: stablehlo.CompareOp, block: Block) -> SortKey | None:
    """Return the compared key; None unless it is one function of both elements."""
    greater = compare.comparison_direction.data.value in ("GT", "GE")
    for value, other in ((compare.lhs, compare.rhs), (compare.rhs, compare.lhs)):
        operands = set[int]()
        if _is_same(value, other, block, operands):
            descending = greater == (value is compare.lhs)
            return SortKey(value, tuple(sorted(operands)), compare, descending)
    return None


def _is_same(
    value: SSAValue, other: SSAValue, block: Block, operands: set[int]
) -> bool:
    """Whether a value of the first element is what another is of the second.

    Args:
        block: of the comparator; its arguments are pairs of elements.
        operands: those that the values are computed from are added.
    """
    waiting, seen = [(value, other)], set[tuple[SSAValue, SSAValue]]()
    while waiting:
        mine, two = pair = waiting.pop()
        if pair in seen:
            continue
        seen.add(pair)
        if isinstance(mine, BlockArgument):
            place = mine.index
            if mine.owner is not block or place % 2 or two is not block.args[place + 1]:
                return False
            operands.add(place // 2)
            continue
        first, second = mine.owner, two.owner
        if (
            not isinstance(first, Operation)
            or not isinstance(second, Operation)
            or not (first.parent is second.parent is block)
            or not _do_alike(first, second)
        ):
            return False
        waiting += zip(first.operands, second.operands, strict=True)
    return bool(operands)


def _do_alike(op: Operation, other: Operation) -> bool:
    """Whether two ops without regions make the same of the same operands."""
    return op is other or (
        type(op) is type(other)
        and not op.regions
        and op.properties == other.properties
        and op.attributes == other.attributes
        and len(op.operands) == len(other.operands)
        and list(op.result_types) == list(other.result_types)
        and [x.type for x in op.operands] == [x.type for x in other.operands]
    )
