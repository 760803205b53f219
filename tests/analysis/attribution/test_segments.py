"""Long rows of ops are cut between blocks that repeat, else where little is alive."""

from itertools import pairwise
from random import Random

from ttxdsl.analysis.attribution.segments import segments_of


def block(length: int, seed: int) -> list[str]:
    random = Random(seed)
    return [random.choice("abcdefgh") for _ in range(length)]


def test_each_block_is_a_segment():
    head, layer, middle, back = block(9, 1), block(60, 2), block(30, 3), block(80, 4)
    labels = [*head, *layer * 12, *middle, *back * 12]
    alive = [5] * (len(labels) + 1)
    alive[9::60] = [1] * len(alive[9::60])
    pieces = segments_of(labels, alive)
    assert pieces[0][0] == 0 and pieces[-1][1] == len(labels)
    assert all(one[1] == other[0] for one, other in pairwise(pieces))
    sizes = [end - start for start, end in pieces]
    assert sizes.count(60) == sizes.count(80) == 12
    # of all ways to cut blocks that repeat it is the one with the fewest values alive
    assert (9, 69) in pieces


def test_short_blocks_go_together():
    pieces = segments_of(block(10, 1) * 30, [1] * 301)
    assert {end - start for start, end in pieces} == {30}


def test_without_blocks_it_is_where_little_is_alive():
    labels = block(300, 1)
    alive = [9 if at % 40 else 1 for at in range(301)]
    pieces = segments_of(labels, alive)
    assert len(pieces) > 3
    assert all(end % 40 == 0 for _, end in pieces[:-1])


def test_three_alike_are_the_fewest():
    twice = [*block(60, 1) * 2, *block(100, 2)]
    assert not any(end - start == 60 for start, end in segments_of(twice, [1] * 221))
