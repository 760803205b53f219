"""Worker processes: answers, whatever else they print, and how they end."""

import time
from pathlib import Path

import pytest

from ttxdsl.loading.worker import Worker, WorkerEndedError

ANSWERS = "tests.loading.worker_answers"


def test_questions_are_answered_in_order():
    """Large ones too, and with what a library prints in between."""
    data = bytes(range(256)) * 4096
    with Worker(f"{ANSWERS}:length", {"MARK": "here"}) as worker:
        for number in range(3):
            assert worker.ask({"n": number}, data) == [number, len(data), "here"]


def test_nothing_is_imported_from_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "json.py").write_text("raise SystemExit(7)")
    (tmp_path / "tests.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    for isolated in (False, True):
        with Worker(f"{ANSWERS}:length", isolated=isolated) as worker:
            assert worker.ask({"n": 1})[0] == 1


@pytest.mark.parametrize(
    ("target", "code", "log"),
    [
        (f"{ANSWERS}:abort", -6, ""),
        (f"{ANSWERS}:wrong", 1, "ValueError: not so"),
        ("no_module_of_that_name:answer", 1, "no_module_of_that_name"),
    ],
)
def test_an_end_is_an_error(target: str, code: int, log: str):
    with Worker(target) as worker, pytest.raises(WorkerEndedError) as caught:
        worker.ask({})
    assert caught.value.code == code
    assert log in caught.value.log


def test_a_question_that_is_given_up_ends_the_worker():
    start = time.monotonic()
    with pytest.raises(KeyError), Worker(f"{ANSWERS}:slow"):
        raise KeyError
    assert time.monotonic() - start < 30
