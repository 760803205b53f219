"""When each of some tasks runs on a device that computes and sends at the same time.

A device has two lanes: it computes in one and its links work in the other. A task waits
for those that it needs and for its lane; of several that could start, the one goes first
on which the most time waits (the longest way to the end). So the time of all is that of
the critical path where the lanes have room, and the sum where one of them has none.

Source: list scheduling by critical path (Graham, 1966; Hu, 1961).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush


class Lane(Enum):
    """The resource that a task keeps busy."""

    COMPUTE = "compute"
    LINK = "link"
    BOTH = "both"
    """A loop or a branch: nothing outside runs beside it."""
    NONE = "none"
    """It takes no time and waits for nobody."""


@dataclass(frozen=True, slots=True)
class Task:
    """Something that takes time.

    Attributes:
        lane: what it keeps busy.
        seconds: how long.
        after: the tasks, by number, that come first.
    """

    lane: Lane
    seconds: float
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """When each task starts, and when all are done."""

    starts: tuple[float, ...]
    seconds: float


def schedule(tasks: Sequence[Task], *, overlap: bool = True) -> Schedule:
    """Run tasks as early as what they need and their lanes allow.

    Args:
        tasks: numbered by their places; none needs itself, through others either.
        overlap: whether the lanes work at the same time; else one waits for the other.

    Raises:
        ValueError: tasks wait for each other.
    """
    users: list[list[int]] = [[] for _ in tasks]
    waiting = [len(set(task.after)) for task in tasks]
    for at, task in enumerate(tasks):
        for before in set(task.after):
            users[before].append(at)
    order = _order(waiting, users)
    ahead = [0.0] * len(tasks)
    for at in reversed(order):
        behind = max((ahead[user] for user in users[at]), default=0.0)
        ahead[at] = tasks[at].seconds + behind
    return _Running(tasks, users, waiting, ahead, overlap).run()


def _order(waiting: Sequence[int], users: Sequence[Sequence[int]]) -> list[int]:
    """Return the tasks, each behind those that it needs."""
    left = list(waiting)
    order = [at for at, count in enumerate(left) if not count]
    for at in order:  # it grows
        for user in users[at]:
            left[user] -= 1
            if not left[user]:
                order.append(user)
    if len(order) < len(left):
        raise ValueError("tasks wait for each other")
    return order


class _Running:
    """Time goes from the end of one task to the end of the next."""

    def __init__(
        self,
        tasks: Sequence[Task],
        users: Sequence[Sequence[int]],
        waiting: Sequence[int],
        ahead: Sequence[float],
        overlap: bool,
    ):
        self.tasks, self.users, self.waiting = tasks, users, list(waiting)
        self.ahead, self.overlap = ahead, overlap
        self.ready: dict[Lane, list[tuple[float, int]]] = {lane: [] for lane in Lane}
        self.ends: list[tuple[float, int]] = []
        self.starts = [0.0] * len(tasks)
        self.busy = {Lane.COMPUTE: 0, Lane.LINK: 0}
        self.now = 0.0

    def run(self) -> Schedule:
        for at, count in enumerate(self.waiting):
            if not count:
                self._is_ready(at)
        self._start()
        while self.ends:
            self.now, at = heappop(self.ends)
            self._done(at)
            while self.ends and self.ends[0][0] <= self.now:
                self._done(heappop(self.ends)[1])
            self._start()
        return Schedule(tuple(self.starts), self.now)

    def _is_ready(self, at: int) -> None:
        heappush(self.ready[self.tasks[at].lane], (-self.ahead[at], at))

    def _lanes(self, lane: Lane) -> tuple[Lane, ...]:
        if lane is Lane.NONE:
            return ()
        if lane is Lane.BOTH or not self.overlap:
            return Lane.COMPUTE, Lane.LINK
        return (lane,)

    def _start(self) -> None:
        """Start what can start, what the most waits for first."""
        while True:
            free = [
                lane
                for lane, heap in self.ready.items()
                if heap and not any(self.busy[part] for part in self._lanes(lane))
            ]
            if not free:
                return
            lane = min(free, key=lambda lane: self.ready[lane][0])
            at = heappop(self.ready[lane])[1]
            self.starts[at] = self.now
            for part in self._lanes(lane):
                self.busy[part] += 1
            heappush(self.ends, (self.now + self.tasks[at].seconds, at))

    def _done(self, at: int) -> None:
        for part in self._lanes(self.tasks[at].lane):
            self.busy[part] -= 1
        for user in self.users[at]:
            self.waiting[user] -= 1
            if not self.waiting[user]:
                self._is_ready(user)
