"""Work on large arrays, cut into stretches that the processor's cores take in turns.

A stretch is small enough that what is computed on the way stays in a core's cache, and
does not depend on how many cores there are: neither do the numbers. BLAS's own threads
are not used: they wait for each other by spinning, and on a busy machine (tests in
parallel, a shared CI) the last one gets its turn milliseconds later. Ours take the next
stretch when they are done with one, and nobody waits for one that has not started.
"""

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from itertools import product
from math import prod
from threading import Lock
from typing import Any

from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # pyright: ignore[reportMissingTypeStubs]

Array = NDArray[Any]
Stretch = tuple[slice, ...]
"""A part of an array, by its leading dimensions."""


@cache
def _blas() -> Any:
    controller: Any = ThreadpoolController()
    return controller.select(user_api="blas")


@cache
def threads() -> int:
    """Return how many threads share work: as many as BLAS takes."""
    return max((pool["num_threads"] for pool in _blas().info()), default=1)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads() - 1, thread_name_prefix="ttxdsl-stretch")


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    # threads are not there any more after one
    os.register_at_fork(after_in_child=_pool.cache_clear)


class _Alone:
    """The number of users that need BLAS on one thread, and its limit otherwise."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.users = 0
        self.limit: Any = None


_alone = _Alone()


@contextmanager
def blas_alone() -> Generator[None]:
    """Let BLAS use one thread inside; at the last exit it gets its threads back."""
    if threads() == 1:
        yield
        return
    with _alone.lock:
        _alone.users += 1
        if _alone.users == 1:
            _alone.limit = _blas().limit(limits=1)
    try:
        yield
    finally:
        with _alone.lock:
            _alone.users -= 1
            if not _alone.users:
                _alone.limit.restore_original_limits()


def stretches(shape: Sequence[int], size: int) -> list[Stretch]:
    """Parts of an array of `shape`, of at most `size` elements or of one.

    Cuts go through its outermost dimensions; each part is contiguous if the array is.
    """
    inner, at = prod(shape), -1
    while inner > max(1, size):
        at += 1
        inner //= shape[at]
    if at < 0:
        return [()]
    count = -(-shape[at] // max(1, size // inner))
    step = -(-shape[at] // count)
    heads = product(*([slice(i, i + 1) for i in range(n)] for n in shape[:at]))
    ends = [slice(start, start + step) for start in range(0, shape[at], step)]
    return [(*head, end) for head in heads for end in ends]


def share(work: Callable[[Stretch], object], parts: Sequence[Stretch]) -> None:
    """Run `work` on every part; each thread takes the next free part.

    Raises:
        Exception: what `work` raised.
    """
    left = iter(parts)  # its `next` is one step under the interpreter's lock
    task = [work]  # emptied at the end: a thread may hold on to it for a moment

    def take(parts: Iterable[Stretch]) -> None:
        for part in parts:
            task[0](part)

    helpers = min(threads(), len(parts)) - 1
    started = [_pool().submit(copy_context().run, take, left) for _ in range(helpers)]
    try:
        take(left)
    finally:
        for _ in left:
            pass  # after an error no further task is started
        for helper in started:
            if not helper.cancel():
                helper.result()
        task.clear()


SIZE = 1 << 17
"""Elements of a stretch: with its temporaries it fits a core's cache."""

LARGE = 1 << 18
"""Elements of an array from which on stretches are worth it."""


def outermost_first(x: Array) -> tuple[int, ...]:
    """Return the dimensions of `x` by how far apart their elements lie in memory."""
    return tuple(sorted(range(x.ndim), key=lambda dim: -abs(x.strides[dim])))
