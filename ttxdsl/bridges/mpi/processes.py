"""Processes of MPI: arrays between them as plain bytes, and how all of them end.

Whoever waits polls: it lets others have the processor, hears of a process that failed,
and tells where it waits itself, so that processes that wait for each other for ever are
found out. One diagnostic is printed whatever happens, by one process.

Source: MPI standard 4.1, chapters 3, 6 and 7; mpi4py's documentation.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ttxdsl.diagnostics.errors import CompileError, source_position

Array = NDArray[Any]

_BEAT = 1.0
"""Seconds between messages of a process that waits."""
_GRACE = 10.0
"""Seconds in which all processes are to hear that one of them failed."""
_EAGER = 0.002
"""Seconds of waiting in which a process only lets others go first; later it sleeps."""
_EAGER_BYTES = 2e8
"""The least bytes a second to expect of a transfer: MPI only moves them when polled."""
_WAITS, _FAILED, _ENDED = range(3)
_MEET = 1
"""Tag of the messages that go before a communicator is made."""
_TRADE = 2
"""Tag of arrays from process to process."""


class Ended(Exception):
    """Another process failed: this one has nothing left to do."""


class World:
    """All processes that mpiexec started.

    Attributes:
        doing: what this one does, for a diagnostic.
        patience: seconds that all processes may wait, each for another one, until that
            is called a deadlock.
        sent: bytes that this process had others have.
        shards: bytes of its parts of whole values.
        waited: seconds that it waited.
    """

    def __init__(self, patience: float = 20.0) -> None:
        """Join the others; a process that no mpiexec started is alone.

        Raises:
            CompileError: mpi4py is not installed, or finds no MPI.
        """
        try:
            mpi: Any = import_module("mpi4py.MPI")
        except (ImportError, RuntimeError) as error:
            raise CompileError(
                f"there is no MPI: {error}",
                hint="install it: pip install 'ttxdsl[mpi]'",
            ) from error
        self._mpi = mpi
        self._data: Any = mpi.COMM_WORLD.Dup()
        self._news: Any = mpi.COMM_WORLD.Dup()
        self._gate: Any = mpi.COMM_WORLD.Dup()
        self.rank: int = self._data.Get_rank()
        self.size: int = self._data.Get_size()
        self.patience = patience
        self.doing: Operation | str = "the start"
        self.sent, self.shards, self.waited = 0, 0, 0.0
        self._communicators: dict[tuple[int, ...], Any] = {
            tuple(range(self.size)): self._data
        }
        self._steps = 0
        self._heard: dict[int, tuple[float, float, str]] = {}
        """For each process that waits: since when, its last message, and the op."""
        self._ended: dict[int, str | None] = {}
        """Of each process that came to its end: its diagnostic, if it failed."""
        self._posted: list[Any] = []

    # arrays

    def gathered(
        self,
        ranks: Sequence[int],
        rows: Array,
        counts: Sequence[int],
        root: int | None = None,
    ) -> Array | None:
        """Return the rows of all `ranks` in order, on all of them or on `root`."""
        rows = np.ascontiguousarray(rows)
        if len(ranks) == 1:
            return rows
        receives = root is None or root == self.rank
        gathered = np.empty(
            (sum(counts) if receives else 0, *rows.shape[1:]), rows.dtype
        )
        row = _row_bytes(rows)
        communicator = self._among(ranks)
        into = [_bytes(gathered), [n * row for n in counts], self._mpi.BYTE]
        if root is None:
            request = communicator.Iallgatherv(_bytes(rows), into)
            self.sent += rows.nbytes * (len(ranks) - 1)
        else:
            at = list(ranks).index(root)
            request = communicator.Igatherv(
                _bytes(rows), into if receives else None, root=at
            )
            self.sent += 0 if receives else rows.nbytes
        self._wait([request], ranks, gathered.nbytes)
        return gathered if receives else None

    def traded(self, sent: Mapping[int, Array], received: Mapping[int, Array]) -> None:
        """Send arrays to some ranks, and receive into the memory of `received`."""
        requests: list[Any] = []
        for rank, array in received.items():
            requests.append(self._data.Irecv(_bytes(array), rank, _TRADE))
        kept = {rank: np.ascontiguousarray(array) for rank, array in sent.items()}
        for rank, array in kept.items():
            requests.append(self._data.Isend(_bytes(array), rank, _TRADE))
            self.sent += array.nbytes
        if requests:
            size = sum(array.nbytes for array in received.values())
            self._wait(requests, sorted({self.rank, *sent, *received}), size)

    def text(self, text: str | None) -> str:
        """Return the text that process 0 has."""
        data = np.frombuffer((text or "").encode(), np.uint8)
        everyone = range(self.size)
        own = data if self.rank == 0 else data[:0]
        sizes = self.gathered(everyone, np.array([len(own)]), [1] * self.size)
        assert sizes is not None
        gathered = self.gathered(everyone, own, [int(n) for n in sizes])
        assert gathered is not None
        return gathered.tobytes().decode()

    def together(self) -> None:
        """Go on when all have come here."""
        if self.size > 1:
            self._wait([self._gate.Ibarrier()], range(self.size))

    def _among(self, ranks: Sequence[int]) -> Any:
        """Return the communicator of some processes, made when they first need one."""
        key = tuple(ranks)
        if key not in self._communicators:
            # creating a communicator cannot be interrupted, so all processes meet first
            token = np.array([crc32(str(key).encode())])
            tokens = np.zeros(len(key), token.dtype)
            others = [rank for rank in key if rank != self.rank]
            self._wait(
                [self._data.Isend(token, rank, _MEET) for rank in others]
                + [
                    self._data.Irecv(tokens[at : at + 1], rank, _MEET)
                    for at, rank in enumerate(others)
                ],
                key,
            )
            for at, rank in enumerate(others):
                if tokens[at] != token[0]:
                    raise CompileError(
                        f"process {rank} is in a collective with other processes than"
                        f" {', '.join(map(str, key))}"
                    )
            group = self._data.Get_group().Incl(key)
            self._communicators[key] = self._data.Create_group(group, _MEET)
            group.Free()
        return self._communicators[key]

    # waiting

    def _wait(self, requests: list[Any], ranks: Sequence[int], size: int = 0) -> None:
        """Until all that was asked for is there, so many bytes.

        Raises:
            Ended: a process failed, or all are found to wait for each other.
        """
        self._steps += 1
        start = time.perf_counter()
        told, pause, eager = start, 0.0, _EAGER + size / _EAGER_BYTES
        while not self._mpi.Request.Testall(requests):
            now = time.perf_counter()
            if now - start > eager:
                pause = min(0.001, max(2e-5, pause * 1.5))
                self._listen()
            if now - told > _BEAT:
                told = now
                self._tell(start, ranks)
            time.sleep(pause)
        self.waited += time.perf_counter() - start

    def _where(self, ranks: Sequence[int]) -> str:
        others = ", ".join(str(rank) for rank in ranks if rank != self.rank)
        doing = self.doing
        if not isinstance(doing, str):
            position = source_position(doing.location)
            doing = f"'{doing.name}'{f' at {position}' if position else ''}"
        return f"{doing} (step {self._steps}, with {others or 'nobody'})"

    def _tell(self, since: float, ranks: Sequence[int]) -> None:
        """Say that this process waits, and see whether everybody does."""
        where = self._where(ranks)
        self._post(_WAITS, where)
        now = time.perf_counter()
        self._heard[self.rank] = (since, now, where)
        fresh = {
            rank: (begun, where)
            for rank, (begun, last, where) in self._heard.items()
            if now - last < 3 * _BEAT
        }
        everyone = set(range(self.size))
        stuck = everyone - set(self._ended) == set(fresh) and all(
            now - begun > self.patience for begun, _ in fresh.values()
        )
        if stuck or now - since > 30 * self.patience:
            lines = [
                f"  process {rank}: "
                + (
                    f"waits in {fresh[rank][1]}"
                    if rank in fresh
                    else "has ended"
                    if rank in self._ended
                    else "does not answer"
                )
                for rank in sorted(everyone)
            ]
            raise CompileError(
                "the processes wait for each other and none goes on:\n"
                + "\n".join(lines)
            )

    # news

    def _post(self, kind: int, text: str) -> None:
        data = np.frombuffer(bytes([kind]) + text.encode(), np.uint8)
        self._posted = [message for message in self._posted if not message[0].Test()]
        for rank in range(self.size):
            if rank != self.rank:
                request = self._news.Isend(data, rank, 0)
                self._posted.append((request, data))

    def _listen(self) -> None:
        """Wait for messages of the other processes.

        Raises:
            Ended: one of them failed.
        """
        self._hear()
        if any(text is not None for text in self._ended.values()):
            raise Ended

    def _hear(self) -> None:
        status = self._mpi.Status()
        while self._news.Iprobe(status=status):
            rank = status.Get_source()
            data = np.empty(status.Get_count(self._mpi.BYTE), np.uint8)
            self._news.Recv(data, rank, 0)
            kind, text = int(data[0]), data[1:].tobytes().decode()
            if kind == _WAITS:
                now = time.perf_counter()
                since, _, before = self._heard.get(rank, (now, now, ""))
                self._heard[rank] = (since if text == before else now, now, text)
            else:
                self._ended[rank] = text if kind == _FAILED else None

    # the end

    def run(self, work: Callable[[], int], explain: Callable[[Exception], str]) -> int:
        """Return the exit code of `work`, on all processes; 1 if it failed on any.

        Args:
            explain: the diagnostic of what it raised.
        """
        failure: str | None = None
        try:
            code = work()
            self.doing = "the end of the program"
            self.together()
            return code
        except Ended:
            self._post(_ENDED, "")
        except Exception as error:
            failure = explain(error)
            self._ended[self.rank] = failure
            self._post(_FAILED, failure)
        self._ended.setdefault(self.rank, None)
        deadline = time.perf_counter() + _GRACE
        while len(self._ended) < self.size and time.perf_counter() < deadline:
            self._hear()
            time.sleep(0.001)
        self._report()
        return 1

    def _report(self) -> None:
        """Print the diagnostic of the first that failed, by the first that is here."""
        failed = {rank: text for rank, text in self._ended.items() if text is not None}
        if min(self._ended) == self.rank and failed:
            rank, text = min(failed.items())
            prefix = f"process {rank} of {self.size}: " if self.size > 1 else ""
            sys.stderr.write(f"{prefix}{text}\n")
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        # errors of cancelled requests are ignored
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        if hasattr(signal, "alarm"):
            # MPI may wait at its end for what will never come
            signal.alarm(int(_GRACE))
        if len(self._ended) < self.size:
            self._mpi.COMM_WORLD.Abort(1)


def _bytes(x: Array) -> Array:
    """Return the memory of a contiguous array."""
    return x.reshape(-1).view(np.uint8)


def _row_bytes(rows: Array) -> int:
    """Return the bytes of a row."""
    count = 1
    for size in rows.shape[1:]:
        count *= size
    return count * rows.itemsize
