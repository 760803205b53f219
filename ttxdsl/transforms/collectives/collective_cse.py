"""`collective-cse`: replace a collective by an equal one of the same operands.

**Why it is right.** Two ops of one kind with the same properties, regions and operands
compute the same on every device if they depend on nothing else; by induction so do ops
on operands made that way. The first one dominates the second, which may be in a loop or
branch behind it. Other ops stay: they cost nothing that is counted here.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence

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
    changed = _share_in(program, block)
    return _share_inside(program, block) or changed


def _share_in(program: DeviceProgram, block: Block) -> bool:
    """Drop collectives of the block."""
    sending = [op for op in program.sending(block) if is_collective(op)]
    if len(sending) < 2:
        return False
    known = program.looked_at(NAME, block)
    if known.issuperset(sending):
        return False
    kinds = _kinds_of((block,), sending)
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
            (candidate for candidate in alike if _same((block,), candidate, op)), None
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


def _share_inside(program: DeviceProgram, block: Block) -> bool:
    """Drop collectives of loops and branches of the block."""
    above = [op for op in program.sending(block) if is_collective(op)]
    around = program.nesting.inner_blocks(block) if above else {}
    glances = {_glance(op, _NEAR) for op in above}
    if not any(
        is_collective(op) and _glance(op, _NEAR) in glances
        for inner in around
        for op in program.sending(inner)
    ):
        return False
    kinds = _kinds_of((block, *around), above)
    by_kind: dict[int, list[Operation]] = {}
    for op in above:
        by_kind.setdefault(kinds[op.results[0]], []).append(op)
    order = places_in(block)
    blocks = {block, *around}
    replaced: list[SSAValue] = []
    for inner, outermost in around.items():
        for op in filter(is_collective, program.sending(inner)):
            for earlier in by_kind.get(kinds[op.results[0]], ()):
                ahead = order[earlier] < order[outermost]
                if ahead and _same(blocks, earlier, op):
                    replaced += _replace(op, earlier)
                    break
    erase_unused(reversed(replaced))
    return bool(replaced)


def _glance(op: Operation, depth: int) -> int:
    """Return a number that ops with equal results share, made of few ops behind them.

    In a loop most are made of what it carries, which is seen without a look at all ops.
    """
    operands = operands_of(op)
    if not depth or len(operands) > _FEW:
        return hash((type(op), len(operands)))
    behind = (
        _glance(value.op, depth - 1) if isinstance(value, OpResult) else hash(value)
        for value in operands
    )
    return hash((type(op), *[result.type for result in op.results], *behind))


def _replace(op: Operation, earlier: Operation) -> list[SSAValue]:
    """Use an earlier op's results, and return those that have no users any more."""
    for mine, theirs in zip(op.results, earlier.results, strict=True):
        mine.replace_all_uses_with(theirs)
    earlier.location = optimized(earlier.location, NAME)
    return list(op.results)


_MANY = 16
"""Collectives of one kind from which on it pays to look at attributes, too."""


def _kinds_of(
    blocks: Iterable[Block], sending: Sequence[Operation]
) -> dict[SSAValue, int]:
    """Number results so that equal values of some blocks have equal numbers.

    It is made of all that the value is made of. Another op may have it by chance, or
    where it differs in attributes alone and few of the collectives do.
    """
    kinds = _numbered(blocks, closely=False)
    counts = Counter(kinds[op.results[0]] for op in sending)
    many = any(count > _MANY for count in counts.values())
    return _numbered(blocks, closely=True) if many else kinds


def _numbered(blocks: Iterable[Block], *, closely: bool) -> dict[SSAValue, int]:
    kinds: dict[SSAValue, int] = {}
    kind_of = kinds.get
    for block in blocks:
        for op in block.ops:
            operands = operands_of(op)
            kind = hash((type(op), *map(kind_of, operands, operands)))
            if closely:
                kind = hash((kind, *compared_attributes(op)))
            for result in op.results:
                kinds[result] = kind
    return kinds


def first_alike(block: Block, values: Iterable[SSAValue]) -> dict[SSAValue, SSAValue]:
    """Map each value of a block to the first one that is surely equal.

    Only of those that the same is made of by few ops: transposes of one value, say.
    """
    order: dict[Operation | Block, int] = {**places_in(block)}
    by_kind: dict[int, list[SSAValue]] = {}
    first: dict[SSAValue, SSAValue] = {}
    for value in sorted(values, key=lambda value: order.get(value.owner, -1)):
        alike = by_kind.setdefault(_kind_of(block, value, _NEAR), [])
        same = (
            candidate for candidate in alike if _made_alike(block, candidate, value)
        )
        first[value] = next(same, value)
        if first[value] is value:
            alike.append(value)
    return first


_NEAR = 4
"""How many ops, one behind the other, two values are compared by at a glance."""
_FEW = 4
"""Operands of an op up to which a glance follows them."""


def _kind_of(block: Block, value: SSAValue, depth: int) -> int:
    """Return a number that is equal for values made by equal ops of equal values."""
    op = value.owner
    if not depth or not isinstance(op, Operation) or op.parent is not block:
        return hash(value)
    return hash(
        (type(op), *(_kind_of(block, operand, depth - 1) for operand in op.operands))
    )


def _made_alike(block: Block, value: SSAValue, other: SSAValue) -> bool:
    if (
        value is other
        or not isinstance(value, OpResult)
        or not isinstance(other, OpResult)
    ):
        return value is other
    return value.index == other.index and _same((block,), value.op, other.op)


def _same(blocks: Collection[Block], op: Operation, other: Operation) -> bool:
    """Whether two ops of some blocks surely have equal results."""
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
            or mine.parent not in blocks
            or theirs.parent not in blocks
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
