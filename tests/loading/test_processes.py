"""Work for several processes: the same answers in the same order, one error, clean ends."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from threading import Event

import pytest

import ttxdsl
from tests.insight.why import programs
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.processes import (
    at_once,
    copies,
    in_processes,
    on_executor,
    processes,
    spread,
)


@pytest.fixture(scope="module", params=["threads", "processes"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """Whatever somebody may have: what is sent to it can be pickled."""
    if request.param == "threads":
        made: Executor = ThreadPoolExecutor(3)
    else:
        made = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    with made:
        yield made


@cache
def found_alone(ignore_shardings: bool) -> object:
    """What this process finds."""
    program = ttxdsl.load(programs.TRANSPOSED)
    return program.doctor(8, ignore_shardings=ignore_shardings)


def test_doctor_finds_the_same(executor: Executor):
    program = ttxdsl.load(programs.TRANSPOSED)
    found = program.doctor(8, ignore_shardings=True, executor=executor)
    assert len(found.rows) >= 4
    assert found == found_alone(True)
    # what is partitioned speaks of what it was
    given = program.partition().doctor(8, executor=executor)
    assert given == found_alone(False)


@cache
def answered_alone(text: str) -> object:
    """What this process answers."""
    return ttxdsl.load(text).why(collective=0)


@pytest.mark.parametrize("text", [programs.SHARED_CONSTANT, programs.CONFLICTING])
def test_why_answers_the_same(executor: Executor, text: str):
    alone = answered_alone(text)
    program = ttxdsl.load(text).partition()
    assert program.why(collective=0, executor=executor) == alone
    # what was compiled once is known, whoever asks
    with ThreadPoolExecutor(1) as other:
        other.shutdown()
        assert program.why(collective=0, executor=other) == alone


def test_order_is_that_of_the_work():
    last = Event()

    def slow(number: int) -> int:
        assert last.wait(60) if number < 3 else not last.set()
        return number

    with ThreadPoolExecutor(4) as executor:
        work = range(4)
        assert [*spread(work, slow, partial(partial, slow), executor=executor)] == [
            *work
        ]


def test_the_first_error_is_the_one(executor: Executor):
    """In the order of the work, and nothing is begun after it."""
    calls: list[Callable[[], object]] = [
        partial(int, "0"),
        partial(int, "first"),
        partial(int, "second"),
    ]
    answers = on_executor(executor, calls)
    assert next(answers) == 0
    with pytest.raises(ValueError, match="first"):
        next(answers)


def test_an_error_of_the_compiler_stays_one(executor: Executor):
    with pytest.raises(CompileError) as raised:
        next(on_executor(executor, [partial(ttxdsl.load, "no/such.mlir")]))
    assert raised.value.message.startswith("cannot read 'no/such.mlir'")


def test_what_is_left_is_cancelled():
    begun, go_on = Event(), Event()
    done: list[int] = []

    def hold() -> None:
        begun.set()
        assert go_on.wait(60)

    with ThreadPoolExecutor(1) as executor:
        answers = on_executor(executor, [int, hold, partial(done.append, 2)])
        assert next(answers) == 0
        assert begun.wait(60)
        with pytest.raises(KeyboardInterrupt):
            answers.throw(KeyboardInterrupt)
        go_on.set()
    assert done == []


def test_a_process_that_dies_is_one_error():
    before = {*multiprocessing.active_children()}
    with pytest.raises(CompileError, match="ended before it was done"):
        next(in_processes(1, [partial(os._exit, 3)]))
    assert {*multiprocessing.active_children()} == before


def test_what_was_cancelled_does_not_disturb_the_end():
    """The pool's thread had an error of its own, which was printed."""
    errors: list[object] = []
    hook, threading.excepthook = threading.excepthook, errors.append
    try:
        with pytest.raises(KeyError), processes(1) as executor:
            futures = [executor.submit(time.sleep, 60) for _ in range(6)]
            futures[-1].cancel()
            raise KeyError
    finally:
        threading.excepthook = hook
    assert not errors


def test_processes_start_clean_and_end_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What lies in the current folder is not imported; waiting is not waited for."""
    monkeypatch.chdir(tmp_path)
    for name in ("socket", "json", "pickle"):
        Path(f"{name}.py").write_text(
            "import sys, traceback\n"
            "with open('executed', 'a') as file:\n"
            "    print(sys.argv, sys.path[:2], file=file)\n"
            "    traceback.print_stack(file=file)\n"
        )
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    questions = [
        "__import__('os').getpid()",
        "__import__('sys').flags.safe_path",
        "2 in __import__('signal').pthread_sigmask(0, [])",
        "__import__('time').sleep(600)",
    ]
    answers = in_processes(1, [partial(eval, one) for one in questions])
    pid = next(answers)
    assert [next(answers), next(answers)] == [True, True]
    answers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not Path("executed").exists(), Path("executed").read_text()
    assert "PYTHONSAFEPATH" not in os.environ


COPIES = """
import os, signal
import ttxdsl
from tests.insight.why import programs
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.report.trace import data
from ttxdsl.loading.processes import copies

def refuse():
    raise CompileError("refused there", hint="or here")

def get_lost():
    if os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()

def told(report):
    for stage in report["stages"]:
        del stage["seconds"]
    return report

here = os.getpid()
with copies() as start:
    there, refused, lost = map(start, (os.getpid, refuse, get_lost))
    assert there() != here and lost() == here
    try:
        refused()
    except CompileError as error:
        assert (error.message, error.hint) == ("refused there", "or here")
    else:
        raise AssertionError("no error came")
    start(signal.pause)  # nobody waits for it
    data.LARGE = 1
    program = ttxdsl.load(programs.CONFLICTING)
    alone = told(program.report_data(tries=0))
    assert told(program.report_data(tries=0, count=start)) == alone
    assert alone["memory"]["peak_bytes"] and not alone["all_stages"]
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("all ended")
"""


@pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2,
    reason="no processor for a copy",
)
def test_copies_answer_the_same():
    """In a process of its own: here are threads that a copy loses."""
    words = [sys.executable, "-c", COPIES]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.stderr) == ("all ended\n", "")


def test_threads_of_libraries_forbid_copies(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threading, "active_count", lambda: 0)
    with copies() as start:
        assert start(os.getpid)() == os.getpid() == at_once(os.getpid)()
