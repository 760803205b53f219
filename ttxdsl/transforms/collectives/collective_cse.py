"""`collective-cse`: replace a collective by an equal one of the same operands.

**Why it is right.** Two ops of one kind with the same properties, regions and operands
compute the same on every device if they depend on nothing else; by induction so do ops
on operands made that way. The first one dominates the second. Other ops stay: they cost
nothing that is counted here.
"""

from collections import Counter, deque
from collections.abc import Sequence

from xdsl.ir import Block, Operation, OpResult, SSAValue

from ttxdsl.analysis.attribution.origins import optimized
from ttxdsl.ir.traversal import operands_of
from ttxdsl.transforms.collectives.program.device_program import DeviceProgram
from ttxdsl.transforms.collectives.program.in_order import places_in
from ttxdsl.transforms.collectives.program.single_ops import (
    compared_attributes,
    depends_on_operands,
    does_the_same,
    erase_unused,
    is_collective,
)

NAME = "collective-cse"


_STEPS = 200
"""How many ops two collectives are compared by: what goes back further is another."""


def eliminate_common_collectives(program: DeviceProgram, block: Block) -> bool:
    """Drop repeated collectives of a block, and return True if there are any."""
    sending = [op for op in program.sending(block) if is_collective(op)]
    if len(sending) < 2:
        return False
    known = program.looked_at(NAME, block)
    if known.issuperset(sending):
        return False
    kinds = _kinds_of(block, sending)
    order = places_in(block)
    by_kind: dict[int, list[Operation]] = {}
    replaced: list[SSAValue] = []
    for op in sorted(sending, key=lambda candidate: candidate not in known):
        alike = by_kind.setdefault(kinds[op.results[0]], [])
        if op in known:
            alike.append(op)
            continue
        known.add(op)
        earlier = next(
            (candidate for candidate in alike if _same(block, candidate, op)), None
        )
        if earlier is None:
            alike.append(op)
            continue
        if order[op] < order[earlier]:
            earlier, op = op, earlier
            alike[alike.index(op)] = earlier
        replaced += _replace(op, earlier)
    erase_unused(reversed(replaced))
    return bool(replaced)


def _replace(op: Operation, earlier: Operation) -> list[SSAValue]:
    """Use an earlier op's results, and return those that have no users any more."""
    for mine, theirs in zip(op.results, earlier.results, strict=True):
        mine.replace_all_uses_with(theirs)
    earlier.location = optimized(earlier.location, NAME)
    return list(op.results)


_MANY = 16
"""Collectives of one kind from which on it pays to look at attributes, too."""


def _kinds_of(block: Block, sending: Sequence[Operation]) -> dict[SSAValue, int]:
    """Number results so that equal values of a block have equal numbers.

    It is made of all that the value is made of. Another op may have it by chance, or
    where it differs in attributes alone and few of the collectives do.
    """
    kinds = _numbered(block, closely=False)
    counts = Counter(kinds[op.results[0]] for op in sending)
    many = any(count > _MANY for count in counts.values())
    return _numbered(block, closely=True) if many else kinds


def _numbered(block: Block, *, closely: bool) -> dict[SSAValue, int]:
    kinds: dict[SSAValue, int] = {}
    kind_of = kinds.get
    for op in block.ops:
        operands = operands_of(op)
        kind = hash((type(op), *map(kind_of, operands, operands)))
        if closely:
            kind = hash((kind, *compared_attributes(op)))
        for result in op.results:
            kinds[result] = kind
    return kinds


def _same(block: Block, op: Operation, other: Operation) -> bool:
    """Whether two ops of a block surely have equal results."""
    waiting = deque([(op, other)])
    seen: set[tuple[Operation, Operation]] = set()
    while waiting:  # the nearest first: most differ there
        pair = mine, theirs = waiting.popleft()
        if mine is theirs or pair in seen:
            continue
        seen.add(pair)
        if (
            len(seen) > _STEPS
            or type(mine) is not type(theirs)
            or mine.parent is not block
            or theirs.parent is not block
            or not depends_on_operands(mine)
        ):
            return False
        operands = _pairs(mine, theirs)
        if operands is None:
            return False
        waiting += operands
    return all(does_the_same(*pair) for pair in seen)


def _pairs(op: Operation, other: Operation) -> list[tuple[Operation, Operation]] | None:
    """Return the pairs of ops behind different operands; None if some cannot agree."""
    if len(op.operands) != len(other.operands):
        return None
    pairs: list[tuple[Operation, Operation]] = []
    for mine, theirs in zip(op.operands, other.operands, strict=True):
        if mine is theirs:
            continue
        if not isinstance(mine, OpResult) or not isinstance(theirs, OpResult):
            return None
        if mine.index != theirs.index:
            return None
        pairs.append((mine.op, theirs.op))
    return pairs
