"""The immediate dominators of a region's blocks.

xDSL's `DominanceInfo` keeps all dominators of each block, which takes the square of
their number, and knows no blocks that are never reached.

Source: Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph",
1979, in its simple form.
"""

from xdsl.ir import Block


def immediate_dominators(entry: Block) -> dict[Block, Block | None]:
    """For each block that is reached the last one that every way to it passes.

    None for the entry itself.
    """
    blocks, parent, predecessors = _depth_first(entry)
    count = len(blocks)
    semi = list(range(count))
    above = [-1] * count
    best = list(range(count))
    waiting: list[list[int]] = [[] for _ in blocks]
    dominator = [0] * count

    def evaluate(block: int) -> int:
        """The block of the least `semi` on the way up to the root of its tree."""
        way: list[int] = []
        top = block
        while above[top] >= 0 and above[above[top]] >= 0:
            way.append(top)
            top = above[top]
        for vertex in reversed(way):
            up = above[vertex]
            if semi[best[up]] < semi[best[vertex]]:
                best[vertex] = best[up]
            above[vertex] = above[up]
        return best[block]

    for block in range(count - 1, 0, -1):
        semi[block] = min(
            semi[evaluate(predecessor)] for predecessor in predecessors[block]
        )
        waiting[semi[block]].append(block)
        above[block] = parent[block]
        for vertex in waiting[parent[block]]:
            least = evaluate(vertex)
            dominator[vertex] = least if semi[least] < semi[vertex] else parent[block]
        waiting[parent[block]] = []
    for block in range(1, count):
        if dominator[block] != semi[block]:
            dominator[block] = dominator[dominator[block]]
    dominators: dict[Block, Block | None] = {entry: None}
    for block in range(1, count):
        dominators[blocks[block]] = blocks[dominator[block]]
    return dominators


def _depth_first(entry: Block) -> tuple[list[Block], list[int], list[list[int]]]:
    """Return the blocks that are reached, in the order in which a search meets them.

    Returns:
        The blocks; then for each, as numbers of blocks, from where it was met first,
        and from where it can be reached directly.
    """
    blocks: list[Block] = []
    parent: list[int] = []
    predecessors: list[list[int]] = []
    numbers: dict[Block, int] = {}
    pending = [(entry, -1)]
    while pending:
        block, before = pending.pop()
        number = numbers.get(block)
        if number is None:
            number = numbers[block] = len(blocks)
            blocks.append(block)
            parent.append(before)
            predecessors.append([])
            last = block.last_op
            if last is not None:
                pending += [(target, number) for target in reversed(last.successors)]
        if before >= 0:
            predecessors[number].append(before)
    return blocks, parent, predecessors
