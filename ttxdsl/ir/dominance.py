"""A check that every value is defined where it is used.

In a block whose ops have an order a value is defined for the ops behind its own and in
their regions. In a graph region (of a module) values are defined for all ops of the
region. No value is defined inside an op that is isolated from above, but those of its own
regions.

The regions of ops that are not known here may be graphs, which xDSL does not tell;
so MLIR, too, takes the regions of ops that it does not know. A region of several blocks is
taken for a graph: no frontend writes jumps between blocks, and no pass compiles them.

Source: MLIR's language reference, "Control Flow and SSACFG Regions", "Graph Regions".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

_WITH_ORDER = frozenset(
    {
        "check",
        "chlo",
        "func",
        "interpreter",
        "sdy",
        "stablehlo",
        "ttcore",
        "ttir",
        "ttnn",
    }
)
"""Dialects whose regions run their ops in order; those of others may be graphs."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An operand whose value is not defined where `op` uses it."""

    op: Operation
    index: int
    """Which operand."""

    @property
    def value(self) -> SSAValue:
        """The value that is used."""
        return self.op.operands[self.index]

    def reason(self) -> str:
        """Why it is not, as the end of a sentence about the value."""
        owner = self.value.owner
        if owner is self.op:
            return "it is the op's own result"
        block = owner if isinstance(owner, Block) else owner.parent
        inside = self.op
        while inside.parent is not block and (parent := inside.parent_op()) is not None:
            if parent.has_trait(IsolatedFromAbove) and not parent.is_ancestor(owner):
                return f"it is defined outside of '{parent.name}', which is isolated"
            inside = parent
        if inside is owner:
            return "it is the result of an op that this one is inside of"
        if inside.parent is block:
            return "it is defined below"
        return "it is defined inside a region that this op is not in"


class _Border(NamedTuple):
    """A point where the values of some blocks start to be defined, or stop."""

    blocks: Sequence[Block]
    defined: bool


class _GoOn(NamedTuple):
    """The rest of a block: its ops from `op` on, `done` being the one before."""

    done: Operation | None
    op: Operation | None


_Task = Block | _GoOn | _Border
"""A block to check, or a part of one."""


def find_violation(root: Operation) -> Violation | None:
    """Return the first use of a value that is not defined there, None if there is none.

    Takes time in proportion to the ops and their operands.
    """
    isolated = [root]
    while isolated:
        walk = _Walk(isolated.pop())
        violation = walk.find_violation()
        if violation is not None:
            return violation
        isolated += reversed(walk.isolated)
    return None


class _Walk:
    """A look at the ops inside one that sees nothing from above."""

    def __init__(self, scope: Operation):
        self.isolated: list[Operation] = []
        """The ops inside that see nothing of `scope`."""
        self._visible: set[int] = set()
        """The defined values by identity, since values take long to hash."""
        self._pending: list[_Task] = []
        self._enter_regions(scope)

    def find_violation(self) -> Violation | None:
        """Return the first one."""
        visible, pending = self._visible, self._pending
        while pending:
            task = pending.pop()
            if isinstance(task, _Border):
                change = visible.update if task.defined else visible.difference_update
                change(_identities(task.blocks))
                continue
            if isinstance(task, Block):
                visible.update(map(id, task.args))
                pending.append(_Border((task,), False))
                op = task.first_op
            else:
                if task.done is not None:
                    visible.update(map(id, task.done.results))
                op = task.op
            while op is not None:
                # fields, where properties would be calls: this is asked of every op
                for operand in op._operands:  # pyright: ignore[reportPrivateUsage]
                    if id(operand) not in visible:
                        index = next(
                            i for i, v in enumerate(op.operands) if v is operand
                        )
                        return Violation(op, index)
                if op.regions:
                    if not op.has_trait(IsolatedFromAbove):
                        pending.append(_GoOn(op, op.next_op))
                        self._enter_regions(op)
                        break
                    self.isolated.append(op)
                for result in op.results:
                    visible.add(id(result))
                op = op._next_op  # pyright: ignore[reportPrivateUsage]
        return None

    def _enter_regions(self, op: Operation) -> None:
        """Look at the regions of an op next, at the first one first."""
        has_order = op.name.partition(".")[0] in _WITH_ORDER
        for region in reversed(op.regions):
            blocks = tuple(region.blocks)
            if not has_order or len(blocks) > 1:
                self._pending.append(_Border(blocks, False))
                self._pending += [_GoOn(None, block.first_op) for block in blocks[::-1]]
                self._pending.append(_Border(blocks, True))
                continue
            self._pending += blocks


def _identities(blocks: Iterable[Block]) -> Iterable[int]:
    for block in blocks:
        yield from map(id, block.args)
        for op in block.ops:
            yield from map(id, op.results)
