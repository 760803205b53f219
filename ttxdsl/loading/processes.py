"""Work for several processes: theirs start clean, and end with what they are for.

What is to be done elsewhere is a call without arguments that can be pickled, a `partial`
of a function of a module. Answers come in the order of the work, whoever does it. A copy
of this process takes any call, since it has all that this one has.
"""

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeVar

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.plugins import load_plugins, named_plugins

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Job = TypeVar("Job")
Answer = TypeVar("Answer")

_SAFE_PATH = "PYTHONSAFEPATH"

_WORTH_A_PROCESS = 6.0
"""Seconds of work from which other processes are started; each takes one."""


@contextmanager
def _holding_interrupts() -> Generator[None]:
    """Delay interrupts until the end; processes started inside ignore them."""
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
    """Set up the environment and signals that processes started inside inherit.

    Python imports nothing from the current folder in them. Interrupts, which a
    terminal sends to all of them, are blocked: the parent ends them.
    """
    # imported here, as below: a browser's Python has no processes
    from multiprocessing import resource_tracker

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


def results_of(futures: Sequence[Future[Answer]]) -> Iterator[Answer]:
    """Yield what was computed elsewhere, in order.

    Raises:
        CompileError: a process ended before.
    """
    try:
        for future in futures:
            yield future.result()
    except BrokenExecutor as error:
        raise CompileError(
            "a process that worked on the program ended before it was done",
            hint="it may have run out of memory: fewer jobs take less",
        ) from error


def on_executor(
    executor: Executor, calls: Iterable[Callable[[], Answer]]
) -> Generator[Answer]:
    """The answers to some calls, in their order; what is left is cancelled at an error.

    Raises:
        CompileError: a process of the executor ended. Other errors are those of the
            first call that has one.
    """
    futures = [executor.submit(call) for call in calls]
    try:
        yield from results_of(futures)
    finally:
        for future in futures:
            future.cancel()


class _Cancellable(Future[Answer]):
    """A future that a pool may give up when it is cancelled already.

    Python 3.11's pool, whose processes were ended, tells all futures of it; of a
    cancelled one this is an error there, in a thread of its own, and the pool hangs.
    """

    def set_exception(self, exception: BaseException | None) -> None:
        """Set an error, unless the future is cancelled, if only this moment."""
        with suppress(InvalidStateError):
            super().set_exception(exception)


class _Processes(Executor):
    """A pool of processes that are started as work comes, and start clean."""

    def __init__(self, pool: "ProcessPoolExecutor"):
        self._pool = pool

    def submit(
        self, fn: Callable[..., Answer], /, *args: Any, **kwargs: Any
    ) -> Future[Answer]:
        with _starting():
            future = self._pool.submit(fn, *args, **kwargs)
        future.__class__ = _Cancellable
        return future


@contextmanager
def processes(count: int) -> Generator[Executor]:
    """Processes of our own, which end when this does.

    They end at once where an error or an interrupt comes first.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    children = {*multiprocessing.active_children()}
    with _starting():  # the locks of a pool have a process too
        # a fork would copy the threads of a progress bar in a state nobody knows
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(
            count,
            mp_context=context,
            initializer=load_plugins,
            initargs=(named_plugins(),),
        )
    try:
        yield _Processes(pool)
    except BaseException:
        for child in {*multiprocessing.active_children()} - children:
            child.terminate()
        raise
    finally:
        pool.shutdown()


def in_processes(
    count: int, calls: Iterable[Callable[[], Answer]]
) -> Generator[Answer]:
    """The answers to some calls, in their order, of so many processes of our own."""
    with processes(count) as executor:
        futures = [executor.submit(call) for call in calls]
        yield from results_of(futures)


def spread(
    work: Sequence[Job],
    here: Callable[[Job], Answer],
    elsewhere: Callable[[Job], Callable[[], Answer]],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
) -> Iterator[Answer]:
    """The answers to some work, in its order, whoever does it.

    Args:
        here: does one piece in this process.
        elsewhere: the call that does the same anywhere; it can be pickled.
        jobs: processes to start once what is left takes longer than starting them.
        executor: does all of it instead.

    Raises:
        CompileError: as `on_executor`.
    """
    if executor is not None:
        yield from on_executor(executor, map(elsewhere, work))
        return
    for at, task in enumerate(work):
        start = time.perf_counter()
        yield here(task)
        seconds = time.perf_counter() - start
        rest = work[at + 1 :]
        if jobs > 1 and len(rest) > 1 and seconds * len(rest) > _WORTH_A_PROCESS:
            yield from in_processes(min(jobs, len(rest)), map(elsewhere, rest))
            return


class Start(Protocol):
    """Begins a call, and returns what waits for its answer."""

    def __call__(self, call: Callable[[], Answer], /) -> Callable[[], Answer]: ...


def at_once(call: Callable[[], Answer], /) -> Callable[[], Answer]:
    """Run a call; return what has its answer already."""
    answer = call()
    return lambda: answer


@contextmanager
def copies() -> Generator[Start]:
    """Yield what starts a call in a copy of this process, which ends when this does.

    Where there can be no copy, or no processor would be free for it, the call runs at
    once, and where a copy is lost, when its answer is asked for: the program that it reads
    has to stay as it is until then.
    """
    children: dict[int, BinaryIO] = {}

    def start(call: Callable[[], Answer], /) -> Callable[[], Answer]:
        if not _can_copy():
            return at_once(call)
        reading, writing = os.pipe()
        try:
            child = os.fork()
        except OSError:  # no memory, or too many processes
            os.close(reading)
            os.close(writing)
            return at_once(call)
        if child == 0:
            _answer(call, writing)
        os.close(writing)
        stream = children[child] = os.fdopen(reading, "rb")

        def wait() -> Answer:
            try:
                answer, error = pickle.load(stream)
            except (EOFError, pickle.UnpicklingError):
                return call()
            if error is not None:
                raise error
            return answer

        return wait

    try:
        yield start
    finally:
        for child, stream in children.items():
            stream.close()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _can_copy() -> bool:
    """Return True if a copy is safe, and has a processor of its own.

    A copy has one thread, and locks as they were: libraries' threads are lost in it, while
    ours, that shows what is done, holds none that the copy asks for.
    """
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2:
        return False
    threads = sum(1 for _ in Path("/proc/self/task").iterdir())
    return threads == threading.active_count() <= 2


def _answer(call: Callable[[], Any], writing: int) -> None:
    """Send the answer to a call, or its error, and end this process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        try:
            answer = pickle.dumps((call(), None), pickle.HIGHEST_PROTOCOL)
        except CompileError as error:
            answer = pickle.dumps((None, error))
        with os.fdopen(writing, "wb") as stream:
            stream.write(answer)
    finally:
        os._exit(0)  # not what is due when this process ends
