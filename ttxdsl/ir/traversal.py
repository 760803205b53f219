"""Walks over whole modules, made for modules of a hundred thousand ops.

xDSL's `Operation.walk` is a generator within a generator for every level of regions:
each op of a deep region passes through all of them, and a very deep one is a
`RecursionError`. Most passes look at every op and have to do with few, so the walk
itself is most of what they cost. It goes along the links between ops, and for a large
module waits for the memory that they lie in: `ops_of_type` looks at each op once and
while it is there, where a list of all that is filtered afterwards comes by again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar, cast

from xdsl.ir import Block, Operation, SSAValue

operands_of: Callable[[Operation], tuple[SSAValue, ...]] = attrgetter("_operands")
"""The operands of an op as a tuple.

`op.operands` is a view that follows changes; making and iterating it takes three times
as long, and a compilation asks some twenty times for each op.
"""


def ops_of(block: Block) -> list[Operation]:
    """Return the ops of a block; `list(block.ops)` counts them before it lists them."""
    return [op for op in block.ops]  # noqa: C416


class OpOrder:
    """The order of ops in blocks that stay as they are.

    `op.is_before_in_block` walks to the other op, or to the end.
    """

    def __init__(self) -> None:
        self._places: dict[Block, dict[Operation, int]] = {}

    def is_behind(self, op: Operation, other: Operation) -> bool:
        """Return True if an op comes behind another of the same block."""
        block = op.parent
        if block is None or block is not other.parent:
            return False
        if block not in self._places:
            self._places[block] = {each: at for at, each in enumerate(ops_of(block))}
        places = self._places[block]
        return places[other] < places[op]


def parent_of(op: Operation) -> Operation | None:
    """Return the op around another, as `op.parent_op()` does in three calls more.

    A program may be a thousand regions deep, and many ask what is around them.
    """
    block = op.parent
    region = None if block is None else block.parent
    return None if region is None else region.parent


_OperationT = TypeVar("_OperationT", bound=Operation)

Chosen = Mapping[type[Any], object]
"""Which ops are meant: those whose class has a true answer."""


class _AreOf(dict[type[Any], bool]):
    """The classes that are subclasses of some others; each class is asked once."""

    def __init__(self, classes: tuple[type[Operation], ...]):
        super().__init__()
        self._classes = classes

    def __missing__(self, op_class: type[Any]) -> bool:
        answer = self[op_class] = issubclass(op_class, self._classes)
        return answer


are_of = lru_cache(maxsize=256)(_AreOf)
_ALL = are_of((Operation,))


def ancestors(op: Operation | Block) -> Iterator[Operation]:
    """Yield the ops around an op or a block, the innermost first."""
    while (above := op.parent_op()) is not None:
        yield above
        op = above


def enclosing(op: Operation, kind: type[_OperationT]) -> _OperationT | None:
    """Return the innermost op of a kind around an op."""
    return next((above for above in ancestors(op) if isinstance(above, kind)), None)


def all_ops(root: Operation) -> list[Operation]:
    """`root` and every op inside it, each before the ops of its regions.

    A list, so that whoever walks may change the module.
    """
    return chosen_ops(root, _ALL)


def all_ops_inside_out(root: Operation) -> list[Operation]:
    """Return the same ops in program order, but each behind the ops of its regions."""
    return _chosen_ops_inside_out(root, _ALL)


def ops_of_type(root: Operation, *classes: type[_OperationT]) -> list[_OperationT]:
    """Return the ops of `all_ops` that are of one of the classes."""
    return cast(list[_OperationT], chosen_ops(root, are_of(classes)))


def ops_of_type_inside_out(
    root: Operation, *classes: type[_OperationT]
) -> list[_OperationT]:
    """Return the ops of `all_ops_inside_out` that are of one of the classes."""
    return cast(list[_OperationT], _chosen_ops_inside_out(root, are_of(classes)))


def chosen_ops(root: Operation, chosen: Chosen) -> list[Operation]:
    """Return the ops of `all_ops` whose class is chosen."""
    ops: list[Operation] = [root] if chosen[type(root)] else []
    pending: list[Operation] = []
    _add_first_ops(root, pending)
    while pending:
        op: Operation | None = pending.pop()
        while op is not None:
            if chosen[type(op)]:
                ops.append(op)
            following = op._next_op  # pyright: ignore[reportPrivateUsage]  # no call
            if op.regions:
                if following is not None:
                    pending.append(following)
                _add_first_ops(op, pending)
                break
            op = following
    return ops


def _chosen_ops_inside_out(root: Operation, chosen: Chosen) -> list[Operation]:
    """Return the ops of `all_ops_inside_out` whose class is chosen."""
    ops: list[Operation] = [root] if chosen[type(root)] else []  # the last first
    pending: list[Operation] = []
    _add_last_ops(root, pending)
    while pending:
        op: Operation | None = pending.pop()
        while op is not None:
            if chosen[type(op)]:
                ops.append(op)
            preceding = op._prev_op  # pyright: ignore[reportPrivateUsage]  # no call
            if op.regions:
                if preceding is not None:
                    pending.append(preceding)
                _add_last_ops(op, pending)
                break
            op = preceding
    ops.reverse()
    return ops


def _add_first_ops(op: Operation, pending: list[Operation]) -> None:
    """Add the first op of each block of `op`, the last block's first."""
    for region in reversed(op.regions):
        block = region._last_block  # pyright: ignore[reportPrivateUsage]  # no call
        while block is not None:
            first = block._first_op  # pyright: ignore[reportPrivateUsage]  # no call
            if first is not None:
                pending.append(first)
            block = block._prev_block  # pyright: ignore[reportPrivateUsage]  # no call


def _add_last_ops(op: Operation, pending: list[Operation]) -> None:
    """Add the last op of each block of `op`, the first block's first."""
    for region in op.regions:
        block = region.first_block
        while block is not None:
            if block.last_op is not None:
                pending.append(block.last_op)
            block = block.next_block


def needed_by(op: Operation, inside: Collection[Operation]) -> set[Operation]:
    """Return an op and those of a block that it depends on."""
    needed, pending = {op}, [op]
    while pending:
        operands = (v for inner in with_inner(pending.pop()) for v in inner.operands)
        owners = {v.owner for v in operands if isinstance(v.owner, Operation)}
        new = {owner for owner in owners if owner in inside} - needed
        needed |= new
        pending += new
    return needed


def operands_in(op: Operation) -> Iterator[SSAValue]:
    """Yield the operands of an op and of those inside it."""
    return (value for inner in with_inner(op) for value in inner.operands)


def with_inner(op: Operation) -> Iterable[Operation]:
    """Return an op and those inside it."""
    return op.walk() if op.regions else (op,)
