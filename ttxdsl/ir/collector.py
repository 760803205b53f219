"""Python's garbage collector, kept from reading a whole module again and again.

An op, its values and its block refer to each other, so nothing of a module is ever
freed by counting references alone, and nothing of it is garbage while a pass runs. The
collector does not know that: as a module grows it is read over and over, which takes a
quarter of the time of a large compilation and finds the few ops that were erased.

Passes that write a body anew know what is garbage then, the old one, and free it at
once where nobody keeps ops from before a pass: `freeing_old_bodies`.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # its import is a quarter of what rare collections are for
    from xdsl.ir import Block, Operation


@contextmanager
def without_collections() -> Generator[None]:
    """Disable automatic garbage collection inside; use it around one pass.

    Memory grows by the garbage of the pass, see `_keep_unread`. Nested uses count as one,
    and a disabled collector stays disabled. Two threads may both use it: if one ends early
    it enables collections for the other, too, which costs time only.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            _keep_unread()
            gc.enable()


_MOST_UNREAD = 5_000_000
"""Objects, some 500 MB, that passes may leave before the collector looks for garbage."""

_unread = 0


def _keep_unread() -> None:
    """Move new objects to the old ones without looking for garbage among them.

    Enabled again, the collector would read all that a pass made at once, a fourteenth of a
    large compilation, of which hardly any is garbage. It is read once there is much of it.
    """
    global _unread
    new = gc.get_count()[0]
    if new <= _ALLOCATIONS // 10 or gc.get_freeze_count():  # those are somebody's
        return
    if _unread + new > _MOST_UNREAD:
        _unread = 0
        gc.collect()
        return
    _unread += new
    gc.freeze()
    gc.unfreeze()


_ALLOCATIONS = 1_000_000
"""Of objects that may hold others, between two collections; thirty to an op."""


@contextmanager
def few_collections() -> Generator[None]:
    """Automatic collections inside are rare; use it around one command.

    Python's default, one collection every 700 objects, is for programs whose garbage
    comes in small pieces. Starting a command makes some 100,000 objects, none of them
    garbage (a tenth of its start is spent on looking), and compiling makes millions in
    passes. What is garbage meanwhile is a million objects at most, some 100 MB.
    """
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


_freeing = ContextVar("freeing old bodies", default=False)


@contextmanager
def freeing_old_bodies() -> Generator[None]:
    """Free replaced ops inside at once; nothing may refer to them later.

    For callers that keep only the resulting module. Callers that compare ops of several
    stages leave them to the collector.
    """
    token = _freeing.set(True)
    try:
        yield
    finally:
        _freeing.reset(token)


def discard_block(block: Block) -> None:
    """Erase a detached block that is replaced, see `freeing_old_bodies`.

    `Block.erase` leaves it to the collector, since its ops refer to each other. To be
    freed they are emptied, so that reading one later fails.
    """
    if not _freeing.get():
        block.drop_all_references()  # nobody else uses what it makes
        return
    pending = [block]
    while pending:
        block = pending.pop()
        op = block.first_op
        while op is not None:
            following = op.next_op
            for region in op.regions:
                pending += region.blocks
                vars(region).clear()
            _empty(op)
            op = following
        vars(block).clear()


def forget_uses(op: Operation) -> None:
    """Remove an op from the uses of its operands, see `freeing_old_bodies`.

    It is for an op of an old body whose replacement is written: later rewrites ask for
    the users of its operands. Releasing the rest of the op waits until the body is
    freed.
    """
    if _freeing.get():
        uses = op._operand_uses  # pyright: ignore[reportPrivateUsage]
        operands = op._operands  # pyright: ignore[reportPrivateUsage]
        for operand, use in zip(operands, uses, strict=True):
            operand.remove_use(use)
        op._operand_uses = ()  # pyright: ignore[reportPrivateUsage]


def discard_regions(op: Operation) -> None:
    """Erase the regions of an op that was written anew, see `freeing_old_bodies`."""
    if _freeing.get():
        regions, op.regions = op.regions, ()
        for region in regions:
            for block in region.blocks:
                discard_block(block)


def _empty(op: Operation) -> None:
    op.regions = ()  # their ops are freed later
    op.drop_all_references()
    vars(op).clear()
