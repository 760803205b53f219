"""Groups of a block's independent collectives, and the block's order after joining.

A joined op needs what any member needs, and is needed by all that need a member; so of
three pairs that are independent alone, not all can be joined. The set of what each op
needs is kept, and grows with every join.

**Why it is right.** Joining nodes of an acyclic graph that have no path between them
makes no cycle. By induction the block can be put in order after any number of joins.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator, Pure

from ttxdsl.ir.traversal import all_ops, operands_of
from ttxdsl.transforms.collectives.program.single_ops import (
    MOVED,
    OF_OPERANDS,
    SENDING,
    makes_results_alone,
)

_MOST = 64
"""How many groups of a kind are tried for one op."""


class _Quiet(dict[type[Operation], bool]):
    """The classes whose ops have no effects; each class is asked once."""

    def __missing__(self, kind: type[Operation]) -> bool:
        answer = self[kind] = issubclass(
            kind, (*MOVED, *OF_OPERANDS)
        ) or kind.has_trait(Pure, value_if_unregistered=False)
        return answer


_quiet = _Quiet()


def acts(op: Operation) -> bool:
    """Return whether an op, or one in its regions, does more than make results."""
    if _quiet[type(op)] or makes_results_alone(op):
        return False
    return not op.regions or any(
        not inner.has_trait(IsTerminator, value_if_unregistered=False)
        and not inner.regions
        and not makes_results_alone(inner)
        for inner in all_ops(op)
    )


def _used(op: Operation) -> Sequence[SSAValue]:
    """Return what an op uses, itself or in its regions, some of it several times."""
    if not op.regions or type(op) in MOVED:  # which combine two arguments
        return operands_of(op)
    return [value for inner in all_ops(op) for value in operands_of(inner)]


def _ahead(numbers: Mapping[Operation, int], first: Operation) -> list[int]:
    """Return for each of some ops of a block the set of those that it needs.

    An op with an effect needs the one before it. Sets are the bits of a number.
    """
    ahead: dict[int, int] = {}  # by the identity of a value, which is quicker
    known_of = ahead.get
    needs = [0] * len(numbers)
    of_effects, left = 0, len(numbers)
    following: Operation | None = first
    while left and following is not None:
        op = following
        following = op._next_op  # pyright: ignore[reportPrivateUsage]  # no call
        mask = 0
        for value in _used(op) if op.regions else operands_of(op):
            known = known_of(id(value))
            if known is not None:
                mask |= known
        if not _quiet[type(op)]:
            if acts(op):
                mask |= of_effects
                of_effects = mask
        elif type(op) in SENDING and (number := numbers.get(op)) is not None:
            needs[number] = mask
            mask |= 1 << number
            left -= 1
        if mask:
            for result in op.results:
                ahead[id(result)] = mask
    return needs


@dataclass(slots=True)
class _Group:
    """Ops that become one: a bit for each, their numbers, and what they weigh."""

    members: int
    numbers: list[int]
    weight: int


def independent_groups(
    kinds: Mapping[Operation, Hashable],
    weight: Callable[[Operation], int] = lambda _: 0,
    most: int = 0,
) -> list[list[Operation]]:
    """Group ops of one kind that can be joined, all groups together.

    Each op goes to the first group of its kind that neither needs it nor is needed.

    Args:
        kinds: collectives of one block in program order; only those of equal kinds are
            grouped.
        weight: of an op.
        most: what the ops of a group weigh.

    Returns:
        The groups of at least two ops, each in program order.
    """
    ops = list(kinds)
    if not ops:
        return []
    needs: list[int] = _ahead({op: at for at, op in enumerate(ops)}, ops[0])
    by_kind: dict[Hashable, list[_Group]] = {}
    for at, op in enumerate(ops):
        bit, own, known = 1 << at, weight(op), by_kind.setdefault(kinds[op], [])
        for group in known[:_MOST]:
            needed = needs[group.numbers[0]]
            if needs[at] & group.members or needed & bit or group.weight + own > most:
                continue
            group.members |= bit
            group.numbers.append(at)
            group.weight += own
            both, needed = group.members, needed | needs[at]
            for number in group.numbers:
                needs[number] = needed
            # who needs one of them needs them all, and what they need
            everything = both | needed
            needs = [mask | everything if mask & both else mask for mask in needs]
            break
        else:
            known.append(_Group(bit, [at], own))
    return [
        [ops[number] for number in group.numbers]
        for known in by_kind.values()
        for group in known
        if len(group.numbers) > 1
    ]


def put_in_order(block: Block, joint: Iterable[Operation]) -> None:
    """Let those that use what ops joined make stand behind these, in their order.

    Args:
        block: in order but for the users of the joint ops.
        joint: where the last of each op's members stood.
    """
    awaited = {op: list[_Waiting]() for op in joint}
    """Ops that do not stand where they can yet, and who waits for each."""
    late = {id(result) for op in awaited for result in op.results}
    acting: dict[Operation, None] = {}
    joints = frozenset(map(id, awaited))
    following, place = block.first_op, 0
    while awaited and following is not None:
        op, place = following, place + 1
        following = op._next_op  # pyright: ignore[reportPrivateUsage]  # no call
        used = _used(op) if op.regions else operands_of(op)
        if not acting and late.isdisjoint(map(id, used)) and id(op) not in joints:
            continue
        needed = {value.owner for value in used if id(value) in late}
        needed.discard(op)
        if acting and acts(op):
            needed.add(next(reversed(acting)))
        if needed:
            waiting = _Waiting(place, op, len(needed))
            for owner in needed:
                assert isinstance(owner, Operation), "a result"
                awaited[owner].append(waiting)
            awaited.setdefault(op, [])
            late.update(map(id, op.results))
            if acts(op):
                acting[op] = None
            continue
        if id(op) not in joints:
            continue
        ready, last = _placed(op, awaited, acting), op
        late.difference_update(map(id, op.results))
        while ready:
            _, free = heappop(ready)
            free.detach()
            block.insert_op_after(free, last)
            last = free
            late.difference_update(map(id, free.results))
            for entry in _placed(free, awaited, acting):
                heappush(ready, entry)


@dataclass(slots=True)
class _Waiting:
    """An op, where it stood, and for how many others it waits."""

    place: int
    op: Operation
    count: int


def _placed(
    op: Operation,
    awaited: dict[Operation, list[_Waiting]],
    acting: dict[Operation, None],
) -> list[tuple[int, Operation]]:
    """Return who need not wait any longer, as an op stands where it can, as a heap."""
    ready: list[tuple[int, Operation]] = []
    acting.pop(op, None)
    for waiting in awaited.pop(op, ()):
        waiting.count -= 1
        if not waiting.count:
            heappush(ready, (waiting.place, waiting.op))
    return ready
