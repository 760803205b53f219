"""Buffers in the order of the program: gaps are used, and what lives long splits them."""

from ttxdsl.analysis.usage.buffers.allocation import Heap


def test_the_smallest_gap_that_holds_it():
    heap = Heap()
    large, _, small, _ = (heap.allocate(size) for size in (10, 1, 4, 1))
    heap.free(large, 10)
    heap.free(small, 4)
    assert heap.allocate(3) == small
    assert heap.allocate(9) == large
    assert heap.bytes == 16


def test_what_stays_in_the_middle_costs_its_place():
    heap = Heap()
    first = heap.allocate(4)
    heap.allocate(1)
    heap.free(first, 4)
    # five are free in all when this one goes, and not in one piece
    assert heap.allocate(5) == 5
    assert heap.bytes == 10


def test_neighbours_become_one_gap():
    heap = Heap()
    starts = [heap.allocate(2) for _ in range(3)]
    heap.allocate(1)
    for start in (starts[0], starts[2], starts[1]):
        heap.free(start, 2)
    assert heap.allocate(6) == 0
    assert heap.bytes == 7


def test_the_top_comes_down():
    heap = Heap()
    start = heap.allocate(8)
    heap.free(start, 8)
    assert (heap.allocate(3), heap.bytes) == (0, 8)
