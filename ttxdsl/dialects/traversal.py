"""Walks over whole modules, made for modules of a hundred thousand ops.

xDSL's `Operation.walk` is a generator within a generator for every level of regions:
each op of a deep region passes through all of them, and a very deep one is a
`RecursionError`. Most passes look at every op and have to do with few, so the walk
itself is most of what they cost.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation


def all_ops(root: Operation) -> list[Operation]:
    """`root` and every op inside it, each before the ops of its regions.

    A list, so that whoever walks may change the module.
    """
    found: list[Operation] = [root]
    pending = list(_first_ops(root))
    while pending:
        op: Operation | None = pending.pop()
        while op is not None:
            found.append(op)
            following = op.next_op
            if op.regions:
                if following is not None:
                    pending.append(following)
                pending.extend(_first_ops(op))
                break
            op = following
    return found


def all_ops_inside_out(root: Operation) -> list[Operation]:
    """The same ops in program order, but each behind the ops of its regions."""
    found: list[Operation] = [root]  # from the last to the first
    pending = list(_last_ops(root))
    while pending:
        op: Operation | None = pending.pop()
        while op is not None:
            found.append(op)
            preceding = op.prev_op
            if op.regions:
                if preceding is not None:
                    pending.append(preceding)
                pending.extend(_last_ops(op))
                break
            op = preceding
    found.reverse()
    return found


def _first_ops(op: Operation) -> Iterator[Operation]:
    """The first op of each block of `op`, the last block's first."""
    for region in reversed(op.regions):
        for block in reversed(region.blocks):
            if block.first_op is not None:
                yield block.first_op


def _last_ops(op: Operation) -> Iterator[Operation]:
    """The last op of each block of `op`, the first block's first."""
    for region in op.regions:
        for block in region.blocks:
            if block.last_op is not None:
                yield block.last_op
