"""`make bench` runs, on the smallest program; what it measures is not looked at."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))

import figures  # noqa: E402
import history  # noqa: E402
import tables  # noqa: E402
from figures import Figures, Program  # noqa: E402

from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass  # noqa: E402

SCRIPT = [sys.executable, str(ROOT / "benchmarks" / "speed" / "run.py")]
OPTIONS = "--layers 1 --kinds forward --rounds 1 --no-xla --no-others"


def made_up(layers: int, power: float) -> Program:
    """A program whose every step takes ops**power seconds, twice those of C++."""
    ops = 100 * layers
    stages = TTStableHLOPipelinePass().stages()
    names = ["parse", *(f"{n} {stage.name}" for n, stage in enumerate(stages, 1))]
    seconds = dict.fromkeys(names, float(ops) ** power)
    cpp = dict.fromkeys(range(5, 13), seconds["parse"] / 2)
    xla, command = {"wall": 2.0, "cpu": 1.0}, {"wall": 3.0, "cpu": 2.5}
    # with warm caches a little steeper, which growth does not look at
    warm = {name: taken * ops**0.2 for name, taken in seconds.items()}
    return Program("train", layers, ops, warm, cpp, seconds, command, xla, 9_000, ops)


@pytest.mark.fuzz  # CI measures the small sizes
def test_all_steps_are_measured(tmp_path: Path):
    path = tmp_path / "figures.json"
    done = subprocess.run(
        [*SCRIPT, *OPTIONS.split(), "--json", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = Figures.from_json(json.loads(path.read_text()))
    (program,) = found.programs
    stages = TTStableHLOPipelinePass().stages()
    assert list(program.seconds) == [
        *("start Python", "parse", "verify"),
        *(f"{number} {stage.name}" for number, stage in enumerate(stages, 1)),
        *("ttir", "ttnn", "print"),
    ]
    assert all(seconds > 0 for seconds in program.seconds.values())
    assert list(program.cold) == list(program.seconds)
    assert 0 < program.command["cpu"] < 60
    assert sorted(program.cpp) == [5, 6, 7, 8, 10, 11, 12]
    assert program.ops > 100
    assert program.peak > program.needed > 0
    assert "12 sdy-close-shardings" in done.stdout


@pytest.mark.parametrize("power", [1.0, 1.3])
def test_growth_is_that_of_the_seconds(power: float):
    programs = [made_up(layers, power) for layers in (1, 4, 12, 48)]
    programs[0].cold["parse"] = 1e6  # smaller than where growth counts
    growth = figures.growth(programs, "parse")
    assert growth == pytest.approx(power)
    warm = figures.growth(programs, "parse", cold=False)
    assert warm == pytest.approx(power + 0.2)
    assert figures.cpp_growth(programs, 5) == pytest.approx(power)
    assert figures.memory_growth(programs) == pytest.approx(1.0)
    grid = tables.targets(Figures({}, programs, {}))
    (line,) = (row for row in grid.rows if row and row[0].startswith("steepest"))
    assert line[-1] == ("met" if power == 1.0 else "NOT met")


def test_the_worst_line_is_held_against_its_target():
    simulated = {
        "simulation": [
            {"ratio": 1.1, "ratio, CPU": 0.9, "16 x 16, ratio": 0.8},
            {"ratio": 1.3, "ratio, CPU": 1.0, "16 x 16, ratio": 0.9},
        ]
    }
    rows = tables.targets(Figures({}, [made_up(12, 1.0)], simulated)).rows
    found = {row[0]: row[1:] for row in rows if row}
    assert found["simulation"] == ["at most 1.2", "1.30 (clock; CPU 1.00)", "NOT met"]
    assert found["simulation: 16 x 16, ratio"] == ["at most 1", "0.90 ", "met"]
    assert found["over XLA's compile: train, 12 layers"][-1] == "NOT met"


def test_the_page_gets_the_tables(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")
    others = {"simulation": [{"program": "x", "ours, ms": 1.5}]}
    tables.write_page(Figures({"cores": "2"}, [made_up(12, 1.0)], others), page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| train, 12 layers | 3.00 | 2.00 | 1.50 |" in text
    assert "| x | 1.5 |" in text
    # the same again changes nothing
    tables.write_page(Figures({"cores": "2"}, [made_up(12, 1.0)], others), page)
    assert page.read_text() == text


def test_a_ratio_is_held_against_its_last(tmp_path: Path):
    path = tmp_path / "history.jsonl"
    start = {
        "command": [{"ratio": 2.0}],
        "simulation": [{"mesh": "2 x 4", "ratio": 1.0}],
    }
    before = Figures({"cores": "2"}, [made_up(12, 1.0)], start)
    history.keep(before, path)
    assert history.last(path) == {
        "train, 12 layers: stages 5 to 12 over C++": round(
            before.programs[0].sharding_ratio, 3
        ),
        "train, 12 layers: the command over XLA's compile": 2.5,
        "command, ratio": 2.0,
        "simulation: 2 x 4, ratio": 1.0,
    }
    assert history.worse(before, path) == []
    slower = made_up(12, 1.0)
    slower.command = {"wall": 3.0, "cpu": 5.1}
    other = {**start, "another": [{"ratio": 99.0}], "command": [{"ratio": 3.9}]}
    (one,) = history.worse(Figures({}, [slower], other), path)
    assert str(one) == (
        "train, 12 layers: the command over XLA's compile: 5.10, which was 2.50"
    )
    # what is kept is what counts from then on, also where a run had fewer figures
    history.keep(Figures({}, [slower], {}), path)
    assert history.worse(Figures({}, [slower], other), path) == []
    assert history.last(path)["command, ratio"] == 2.0


def test_the_history_is_there_and_has_what_the_small_run_looks_at():
    names = history.last()
    for kind in ("forward", "train"):
        for layers in (1, 4):
            assert f"{kind}, {layers} layers: stages 5 to 12 over C++" in names
    assert all(0 < value < 1000 for value in names.values())
