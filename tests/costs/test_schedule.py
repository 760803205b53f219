"""When tasks run on a device that computes and sends at the same time."""

import random
from itertools import pairwise

import pytest

from ttxdsl.costs.schedule import Lane, Task, schedule


def compute(seconds: float, *after: int) -> Task:
    return Task(Lane.COMPUTE, seconds, after)


def link(seconds: float, *after: int) -> Task:
    return Task(Lane.LINK, seconds, after)


def test_what_does_not_need_each_other_overlaps():
    tasks = [compute(2), link(3, 0), compute(4, 0), compute(1, 1, 2)]
    assert schedule(tasks).seconds == 2 + 4 + 1
    assert schedule(tasks).starts == (0, 2, 2, 6)
    assert schedule(tasks, overlap=False).seconds == 10


def test_a_chain_is_a_sum():
    assert schedule([compute(2), link(3, 0), compute(4, 1)]).seconds == 9


def test_what_the_most_waits_for_goes_first():
    """The short task starts a long collective, which the other hides behind."""
    tasks = [compute(5), compute(1), link(5, 1)]
    found = schedule(tasks)
    assert found.starts[1] == 0 and found.seconds == 6


def test_a_loop_takes_both_lanes():
    tasks = [link(3), Task(Lane.BOTH, 2), compute(1)]
    assert schedule(tasks).seconds == 5


def test_what_takes_no_time_hands_on():
    tasks = [link(3), Task(Lane.NONE, 0, (0,)), compute(1, 1)]
    assert schedule(tasks).seconds == 4


def test_no_task_waits_for_itself():
    with pytest.raises(ValueError, match="wait for each other"):
        schedule([compute(1, 1), compute(1, 0)])


def test_random_schedules_keep_their_promises():
    chance = random.Random(0)
    for _ in range(200):
        tasks = [
            Task(
                chance.choice(list(Lane)[:3]),
                chance.randrange(5),
                tuple(before for before in range(at) if chance.random() < 0.2),
            )
            for at in range(12)
        ]
        found = schedule(tasks)
        ends = [s + t.seconds for s, t in zip(found.starts, tasks, strict=True)]
        for task, start in zip(tasks, found.starts, strict=True):
            assert all(ends[before] <= start for before in task.after)
        for lane in (Lane.COMPUTE, Lane.LINK):
            spans = sorted(
                (start, end)
                for task, start, end in zip(tasks, found.starts, ends, strict=True)
                if task.lane in (lane, Lane.BOTH) and task.seconds
            )
            assert all(a[1] <= b[0] for a, b in pairwise(spans))
        assert found.seconds == max(ends)
        assert found.seconds <= schedule(tasks, overlap=False).seconds + 1e-9
