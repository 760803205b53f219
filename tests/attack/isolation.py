"""Checks that may hang, eat the memory or end their process.

A campaign with `workers()` as its runner goes on whatever happens to a case: each worker
is a process with limits of time and memory, and one that dies is a finding and replaced.
`limits` alone keeps a case in this process within bounds.
"""

import faulthandler
import multiprocessing
import os
import re
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType

from tests.differential.campaign import Check, Outcome, Result, Runner
from ttxdsl.ir.collector import few_collections

CPU_SECONDS = 20.0
"""What a case may take; most take a hundredth."""
WALL_SECONDS = 300.0
"""When a worker is ended that does not even notice that its time is up, or that waits."""
MEMORY = 3 << 30
"""Bytes of address space that a case may add to what its process has."""

_PACKAGES = ("ttxdsl", "xdsl", "tests")
_TAIL = 25
"""Lines of a traceback that are kept."""


class Hang(BaseException):
    """The time of a case is up; no `except Exception` holds it up."""


class Finding(Exception):
    """Something that must not happen; the message is one line that names its kind."""


def _address_space() -> int | None:
    """Bytes of this process, None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return None
    return pages * resource.getpagesize()


@contextmanager
def limits(
    seconds: float = CPU_SECONDS, memory: int | None = MEMORY
) -> Generator[None]:
    """Bounds for what is done inside: `Hang` and MemoryError are raised beyond them.

    Args:
        seconds: of processor time, so that other processes do not matter.
        memory: bytes of address space more than now; None for no bound.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang(f"more than {seconds:g} s")

    handler = signal.signal(signal.SIGPROF, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = _address_space()
    try:
        if memory is not None and used is not None:
            bound = used + memory
            if hard != resource.RLIM_INFINITY:
                bound = min(bound, hard)
            resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
        # again and again: where Python must not raise, it says so and goes on
        signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def described(error: BaseException) -> str:
    """An error as a finding: its kind and where it came from, then its traceback.

    The first line has no numbers or names of the program, so that the same fault looks
    the same in all programs.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        frame
        for frame in frames
        if any(f"{os.sep}{name}{os.sep}" in frame.filename for name in _PACKAGES)
    ]
    tail = "".join(traceback.format_exception(error)).splitlines()[-_TAIL:]
    if isinstance(error, Finding):
        head = str(error).partition("\n")[0]
    else:
        text = re.sub(r"[\"'`][^\"'`]*[\"'`]|\d+", "…", str(error).strip() or "no text")
        head = f"{type(error).__name__}: {text.splitlines()[0][:100]}"
        if ours:
            place = Path(ours[-1].filename)
            head += f" in {'/'.join(place.parts[-3:])} {ours[-1].name}"
    return "\n".join((head, *tail))


def checked(check: Check, seed: int) -> Result:
    """What came of one seed within `limits`, whatever it was."""
    try:
        # as commands run, also where a check reads what they printed
        with limits(), few_collections(), warnings.catch_warnings():
            warnings.simplefilter("error")
            # users do not see it, and where it is raised depends on the collector
            warnings.simplefilter("ignore", ResourceWarning)
            return seed, list(check(seed))
    except (Exception, Hang) as error:
        return seed, described(error)


def here(check: Check, seeds: Iterable[int]) -> Iterator[Result]:
    """The runner that checks in this process; one that dies takes it along."""
    return (checked(check, seed) for seed in seeds)


def _work(check: Check, connection: Connection, log: str) -> None:
    """Answer seeds with results until there are no more."""
    with Path(log).open("w") as file, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        faulthandler.enable(file)
        while (seed := connection.recv()) is not None:
            file.seek(0)
            file.truncate()
            faulthandler.dump_traceback_later(WALL_SECONDS, exit=True, file=file)
            result = checked(check, seed)
            faulthandler.cancel_dump_traceback_later()
            connection.send(result)
        faulthandler.disable()


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    log: Path
    seed: int | None = None
    """What it works on."""

    def death(self) -> str:
        """How it died, from what it could still write."""
        self.process.join()
        code = self.process.exitcode
        last = self.log.read_text().splitlines()
        why = "hangs" if any("Timeout" in line for line in last[:1]) else "dies"
        places = [line for line in last if "/ttxdsl/" in line or "/xdsl/" in line]
        place = re.sub(r"\d+", "…", places[0].strip()) if places else "nowhere"
        head = f"the process {why} (exit code {code}) in {place}"
        return "\n".join((head, *last[:_TAIL]))


def workers(count: int) -> Runner:
    """The runner with so many processes; results come as they are ready.

    The check has to be a function of a module, which each process imports.
    """

    def run(check: Check, seeds: Iterable[int]) -> Iterator[Result]:
        context = multiprocessing.get_context("spawn")
        left = iter(seeds)
        with tempfile.TemporaryDirectory() as folder:

            def start(index: int) -> _Worker:
                mine, other = context.Pipe()
                log = Path(folder) / f"{index}.log"
                log.touch()
                process = context.Process(
                    target=_work, args=(check, other, str(log)), daemon=True
                )
                process.start()
                other.close()
                worker = _Worker(process, mine, log)
                next_case(worker)
                return worker

            def next_case(worker: _Worker) -> None:
                worker.seed = next(left, None)
                worker.connection.send(worker.seed)

            started = count
            alive = [start(index) for index in range(count)]
            while alive := [one for one in alive if one.seed is not None]:
                ready = wait([one.connection for one in alive])
                for at, worker in enumerate(alive):
                    if worker.connection not in ready:
                        continue
                    assert worker.seed is not None, "it has something to do"
                    try:
                        result: Result = worker.connection.recv()
                    except (EOFError, ConnectionResetError):
                        yield worker.seed, worker.death()
                        started += 1
                        alive[at] = start(started)
                    else:
                        yield result
                        next_case(worker)

    return run


def outcomes_of(check: Check, seeds: Iterable[int]) -> list[Outcome]:
    """What came of seeds in this process.

    Raises:
        AssertionError: something is wrong, with the seed.
    """
    outcomes: list[Outcome] = []
    for seed, result in here(check, seeds):
        assert not isinstance(result, str), f"seed {seed}: {result}"
        outcomes.extend(result)
    return outcomes


def writer_of_reproducers(
    name: str, text_of: Callable[[int], str], folder: Path = Path("build/attack")
) -> Callable[[int, str], None]:
    """Writes a program for each new kind of finding, with what happened as comments.

    Args:
        name: of the campaign, the start of the file names.
        text_of: the program of a seed.
        folder: where the files go.
    """
    seen: set[str] = set()

    def write(seed: int, message: str) -> None:
        kind = message.partition("\n")[0]
        if kind in seen:
            return
        seen.add(kind)
        folder.mkdir(parents=True, exist_ok=True)
        comments = "".join(f"// {line}\n" for line in message.splitlines())
        text = f"// seed {seed} of {name}\n{comments}\n{text_of(seed)}"
        (folder / f"{name.replace(' ', '-')}-{seed}.mlir").write_text(
            text, encoding="utf-8", errors="surrogatepass"
        )

    return write
