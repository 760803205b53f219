"""Dominators of random graphs, beside their definition."""

from __future__ import annotations

import random

from xdsl.dialects import test as terminators
from xdsl.ir import Block, Region

from tests.work import calls
from ttxdsl.ir.dominators import immediate_dominators


def blocks_of(edges: list[list[int]]) -> list[Block]:
    blocks = [Block() for _ in edges]
    Region(blocks)
    for block, targets in zip(blocks, edges, strict=True):
        block.add_op(terminators.TestTermOp(successors=[blocks[to] for to in targets]))
    return blocks


def reached(edges: list[list[int]], without: int | None = None) -> set[int]:
    found: set[int] = set()
    pending = [] if without == 0 else [0]
    while pending:
        one = pending.pop()
        if one not in found:
            found.add(one)
            pending += [to for to in edges[one] if to != without]
    return found


def test_each_dominator_cuts_off_what_it_dominates():
    rng = random.Random(0)
    for _ in range(300):
        count = rng.randint(1, 9)
        edges = [rng.choices(range(count), k=rng.randint(0, 3)) for _ in range(count)]
        blocks = blocks_of(edges)
        found = immediate_dominators(blocks[0])
        assert {blocks.index(block) for block in found} == reached(edges)
        for number in reached(edges):
            above: set[int] = set()
            block = found[blocks[number]]
            while block is not None:
                above.add(blocks.index(block))
                block = found[block]
            cuts = {
                other
                for other in reached(edges) - {number}
                if number not in reached(edges, without=other)
            }
            assert above == cuts


def test_time_grows_with_the_graph():
    def two_chains(length: int) -> int:
        """Two ways down, with a common exit at every step."""
        edges = [[1, 2]]
        for step in range(length):
            left = 3 * step + 1
            edges += [[left + 3, left + 2], [left + 4, left + 2], []]
        edges += [[], []]
        blocks = blocks_of(edges)
        return calls(lambda: immediate_dominators(blocks[0]))

    assert two_chains(2000) < 5 * two_chains(500)
