"""Campaigns find the same in the same order, whatever the number of processes."""

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.differential.campaign import Outcome, asking, run_campaign


def check(known: Sequence[int], seed: int) -> Outcome:
    if seed in known:
        raise ValueError(f"{seed} is known")
    return "a pass", "odd" if seed % 2 else "equal"


def knows() -> Sequence[int]:
    return 1007, 1031


def pickled(count: int, calls: Iterable[Callable[[], object]]) -> Iterator[object]:
    """What other processes would answer."""
    assert count == 3
    for call in calls:
        yield pickle.loads(pickle.dumps(call))()


def test_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.differential.campaign.in_processes", pickled)
    monkeypatch.setenv("FUZZ_REPORT", str(tmp_path / "report"))
    monkeypatch.setenv("FUZZ", "50")
    monkeypatch.delenv("FUZZ_SEED", raising=False)
    told: list[list[int]] = []
    for jobs in (1, 3):
        monkeypatch.setenv("FUZZ_JOBS", str(jobs))
        told.append([])
        with pytest.raises(AssertionError, match="2 seeds failed"):
            run_campaign(
                "it",
                partial(asking, knows, check),
                on_failure=lambda seed, message: told[-1].append(seed),
            )
    assert told == [[1007, 1031]] * 2
    one, three = map(json.loads, (tmp_path / "report").read_text().splitlines())
    assert one == three
    assert one["counts"] == {"a pass": {"equal": 25, "odd": 23}}
