"""Processes to compile in: they start clean, and end with the work that they are for."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import TypeVar

Job = TypeVar("Job")
Answer = TypeVar("Answer")

_SAFE_PATH = "PYTHONSAFEPATH"


@contextmanager
def _holding_interrupts() -> Generator[None]:
    """Interrupts wait until the end; what is started inside never gets one."""
    if sys.platform == "win32":
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _starting() -> Generator[None]:
    """What the processes that are started inside inherit.

    Python imports nothing from the current folder in them, whatever lies there. An
    interrupt, which a terminal sends to all of them, is not theirs but the parent's,
    who ends them.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        resource_tracker.ensure_running()  # lets interrupts through when it starts
        with _holding_interrupts():
            yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def in_processes(
    count: int,
    start: Callable[[str], None],
    text: str,
    work: Callable[[Job], Answer],
    jobs: Sequence[Job],
) -> Iterator[Answer]:
    """The answers to some jobs, in their order, from so many processes.

    Args:
        count: of processes.
        start: called in each with `text` before its first job.
        text: what all jobs are about.
        work: called with each job.
        jobs: what is to be done.
    """
    children = {*multiprocessing.active_children()}
    with _starting():  # the locks of a pool have a process too
        pool = ProcessPoolExecutor(
            count,
            # a fork would copy the threads of a progress bar in a state nobody knows
            mp_context=multiprocessing.get_context("spawn"),
            initializer=start,
            initargs=(text,),
        )
    try:
        with _starting():
            futures = [pool.submit(work, job) for job in jobs]
        for future in futures:
            yield future.result()
    except BaseException:
        # `pool.map` would cancel what is left, which Python 3.11 stumbles over then
        for child in {*multiprocessing.active_children()} - children:
            child.terminate()
        raise
    finally:
        pool.shutdown()
