"""Ranks that are threads of this process: MPI's part of the engine without MPI.

They meet in the same calls as processes do, and hand each other arrays.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Barrier, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PATIENCE = 60.0
"""Seconds after which a thread that nobody meets gives up."""


class Meeting:
    """Where threads put what they have for others."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._lock = Lock()
        self._barriers: dict[tuple[int, ...], Barrier] = {}
        self._tables: dict[tuple[int, ...], dict[int, Any]] = {}
        self._queues: dict[tuple[int, int], SimpleQueue[Array]] = {}

    def shared(self, ranks: tuple[int, ...], rank: int, value: Any) -> dict[int, Any]:
        """What each of `ranks` has put there."""
        with self._lock:
            barrier = self._barriers.setdefault(ranks, Barrier(len(ranks)))
            table = self._tables.setdefault(ranks, {})
        table[rank] = value
        barrier.wait(PATIENCE)
        found = dict(table)
        barrier.wait(PATIENCE)
        return found

    def queue(self, source: int, target: int) -> SimpleQueue[Array]:
        with self._lock:
            return self._queues.setdefault((source, target), SimpleQueue())


class ThreadRank:
    """One thread among those of a meeting."""

    def __init__(self, meeting: Meeting, rank: int) -> None:
        self._meeting = meeting
        self.rank, self.size = rank, meeting.size
        self.doing: Any = ""
        self.calls = self.shards = 0

    def gathered(
        self,
        ranks: Sequence[int],
        rows: Array,
        counts: Sequence[int],
        root: int | None = None,
    ) -> Array | None:
        self.calls += 1
        found = self._meeting.shared(tuple(ranks), self.rank, rows)
        assert [len(found[rank]) for rank in ranks] == list(counts)
        if root is not None and root != self.rank:
            return None
        return np.concatenate([found[rank] for rank in ranks])

    def traded(self, sent: Mapping[int, Array], received: Mapping[int, Array]) -> None:
        self.calls += 1
        for rank, array in sent.items():
            self._meeting.queue(self.rank, rank).put(np.array(array))
        for rank, array in received.items():
            array[...] = self._meeting.queue(rank, self.rank).get(timeout=PATIENCE)


def on_ranks(size: int, work: Callable[[ThreadRank], Any]) -> list[Any]:
    """What `work` answers on each of so many threads."""
    meeting = Meeting(size)
    with ThreadPoolExecutor(size) as pool:
        tasks = [pool.submit(work, ThreadRank(meeting, rank)) for rank in range(size)]
        return [task.result(PATIENCE) for task in tasks]
