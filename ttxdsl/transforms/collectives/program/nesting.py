"""The loops and branches of a per-device program, and what is in them."""

from collections.abc import Iterable
from functools import cached_property

from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.collectives.program.single_ops import (
    MOVED,
    is_collective,
    makes_results_alone,
)

PROGRAMS = frozenset((stablehlo.WhileOp, stablehlo.IfOp, stablehlo.CaseOp))
"""Ops whose regions are programs, of several values on all devices."""


class Nesting:
    """The loops and branches in the block that every device runs."""

    def __init__(self, block: Block):
        self._block = block

    def blocks(self) -> list[Block]:
        """Return the blocks that have collectives, the outermost first."""
        blocks = (
            [self._block] if any(type(op) in MOVED for op in self._block.ops) else []
        )
        for op in self._outermost():
            for inner in ops_of_type(op, *MOVED):
                assert inner.parent is not None, "in the op"
                blocks.append(inner.parent)
        return [*dict.fromkeys(blocks)]

    def _outermost(self) -> list[Operation]:
        """Return the loops and branches that are in no other, in program order."""
        return [op for op in self._block.ops if type(op) in PROGRAMS]

    def sends(self, op: Operation) -> bool:
        """Whether an op is a collective, or had some in it when it was first asked of."""
        return op in self._senders if type(op) in PROGRAMS else is_collective(op)

    def has_no_effect(self, op: Operation) -> bool:
        """Whether an op, with its regions, has results and no effects."""
        if type(op) in PROGRAMS:
            return op not in self._acting
        return makes_results_alone(op)

    @cached_property
    def _senders(self) -> set[Operation]:
        """The loops and branches with collectives in them."""
        return self._around(self.blocks())

    @cached_property
    def _acting(self) -> set[Operation]:
        """The loops and branches that do more than make results."""
        return self._around(
            block
            for outermost in self._outermost()
            for inner in outermost.walk()
            if type(inner) in PROGRAMS
            for region in inner.regions
            for block in region.blocks
            if not all(
                op.has_trait(IsTerminator)
                or type(op) in PROGRAMS
                or makes_results_alone(op)
                for op in block.ops
            )
        )

    def _around(self, blocks: Iterable[Block]) -> set[Operation]:
        """Return the loops and branches that some blocks are in."""
        around: set[Operation] = set()
        for block in blocks:
            while block is not self._block:
                op = block.parent_op()
                assert op is not None and op.parent is not None, "in a body that is"
                if op in around:
                    break
                around.add(op)
                block = op.parent
        return around
