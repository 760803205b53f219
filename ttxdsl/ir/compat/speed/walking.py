"""Mend: xDSL walks regions with a generator inside a generator for every level.

Each op passes through all of them, so a walk takes time with the product of ops and
levels, and a thousand levels are three thousand generators inside each other. Here one
generator keeps the levels itself. What it yields, and when it looks at the next op, is
the same: whoever walks may erase the op that it was given.

A single block is gone through by a generator, too, where xDSL's iterator makes two
calls for each op.
"""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from xdsl.ir import Block, Operation, Region
from xdsl.ir.core import BlockOps


def _forwards(op: Operation | None) -> Iterator[Operation]:
    while op is not None:
        following = op._next_op  # pyright: ignore[reportPrivateUsage]  # no call
        yield op
        op = following


def _backwards(op: Operation | None) -> Iterator[Operation]:
    while op is not None:
        preceding = op._prev_op  # pyright: ignore[reportPrivateUsage]  # no call
        yield op
        op = preceding


def _blocks(regions: Iterable[Region], reverse: bool) -> Iterator[Block]:
    for region in regions:
        yield from reversed(region.blocks) if reverse else region.blocks


def _ops(blocks: Iterable[Block], reverse: bool) -> Iterator[Operation]:
    for block in blocks:
        yield from reversed(block.ops) if reverse else block.ops


def _inside(op: Operation, reverse: bool) -> Iterator[Operation]:
    regions = reversed(op.regions) if reverse else op.regions
    return _ops(_blocks(regions, reverse), reverse)


def _walk(
    ops: Iterator[Operation], reverse: bool, region_first: bool
) -> Iterator[Operation]:
    levels: list[tuple[Operation | None, Iterator[Operation]]] = [(None, ops)]
    while levels:
        around, ops = levels[-1]
        op = next(ops, None)
        if op is None:
            levels.pop()
            if around is not None:
                yield around
        elif not region_first:
            yield op
            if op.regions:
                levels.append((None, _inside(op, reverse)))
        elif op.regions:
            levels.append((op, _inside(op, reverse)))
        else:
            yield op


def mend() -> None:
    """Walk over ops, blocks and regions without a generator a level."""

    def ops(self: BlockOps) -> Iterator[Operation]:
        return _forwards(self.block.first_op)

    def reversed_ops(self: BlockOps) -> Iterator[Operation]:
        return _backwards(self.block.last_op)

    def of_op(
        self: Operation, *, reverse: bool = False, region_first: bool = False
    ) -> Iterator[Operation]:
        return _walk(iter((self,)), reverse, region_first)

    def of_block(
        self: Block, *, reverse: bool = False, region_first: bool = False
    ) -> Iterator[Operation]:
        return _walk(_ops((self,), reverse), reverse, region_first)

    def of_region(
        self: Region, *, reverse: bool = False, region_first: bool = False
    ) -> Iterator[Operation]:
        return _walk(_ops(_blocks((self,), reverse), reverse), reverse, region_first)

    BlockOps.__iter__ = cast(Any, ops)
    BlockOps.__reversed__ = cast(Any, reversed_ops)
    Operation.walk = cast(Any, of_op)
    Block.walk = cast(Any, of_block)
    Region.walk = cast(Any, of_region)
