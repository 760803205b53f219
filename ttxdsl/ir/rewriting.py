"""Patterns on ops of a few classes, each asked once and in program order.

xDSL's walker asks a pattern about every op of a module, and again about what a rewrite
touched. Where few ops are meant, and what a pattern makes is not to be rewritten again,
one walk does.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint, Rewriter

from ttxdsl.ir.traversal import ops_of_type

_OpT = TypeVar("_OpT", bound=Operation)


def take_body(holder: Operation, end: type[Operation]) -> Region:
    """Take the only region of an op, whose terminator becomes one of class `end`."""
    body = holder.detach_region(holder.regions[0])
    old = body.block.last_op
    assert old is not None, "a body ends in a terminator"
    new = end.create(operands=old.operands, location=old.location)
    Rewriter.replace_op(old, new, [])
    return body


def rewrite(ops: Iterable[Operation], pattern: RewritePattern) -> None:
    """Apply a pattern to ops, in order and in place, but those it erased on the way."""
    for op in ops:
        if op.parent is not None:
            pattern.match_and_rewrite(op, PatternRewriter(op))


def rewrite_type(
    root: Operation, op_class: type[Operation], pattern: RewritePattern
) -> None:
    """Apply a pattern to the ops of a class that are in `root` now."""
    rewrite(ops_of_type(root, op_class), pattern)


def for_each(
    root: Operation, op_class: type[_OpT], change: Callable[[_OpT], None]
) -> None:
    """Apply a function to the ops of a class that are in `root` now, as `rewrite` does."""
    for op in ops_of_type(root, op_class):
        if op.parent is not None:
            change(op)


def point_behind(value: SSAValue) -> InsertPoint:
    """Return the insertion point right after the definition of a value."""
    if isinstance(value.owner, Block):
        return InsertPoint.at_start(value.owner)
    return InsertPoint.after(value.owner)
