"""`ttxdsl bench` as a user calls it."""

import json
from pathlib import Path

import pytest

import ttxdsl
from tests.cli.commands.test_run import refused
from ttxdsl.analysis.usage.memory import MemoryParts
from ttxdsl.bridges.xla.benchmarking import Benchmark, Measured, benchmark, ratio
from ttxdsl.cli.commands import bench
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.compare import compare

STEP = Path(__file__).parents[3] / "examples" / "mlp_train_step.mlir"


def test_both_are_measured(capsys: pytest.CaptureFixture[str]):
    """A donated argument is there for every run."""
    command = ["bench", str(STEP), "--devices", "8", "--rounds", "3", "--json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["agree"]
    assert (found["devices"], found["rounds"]) == (8, 3)
    for side in (found["ours"], found["xla"]):
        assert side["seconds"] > 0
        parts = side["memory"]
        assert min(parts[name] for name in ("arguments", "outputs", "temporary")) > 0
        assert parts["aliased"] == 0
        assert parts["total"] == sum(parts.values()) - parts["total"]
    sent = [found[one]["bytes_per_device"] for one in ("ours", "xla")]
    assert sent == [14148, 22340]
    assert found["ratios"]["bytes_per_device"] == sent[0] / sent[1]


def test_tables_and_who_differs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    import numpy as np

    ones = np.ones(4, np.float32)
    sides = (
        Measured(2e-3, 1e-3, 1, 0, MemoryParts(100, 100, 0, 100)),
        Measured(4e-3, 1e-3, 0, 64, MemoryParts(50, 100, 0, 50)),
    )

    def measured(*_: object, **__: object) -> Benchmark:
        return Benchmark("it", 8, 5, *sides, (compare(ones, -ones),))

    monkeypatch.setattr(bench, "benchmark", measured)
    assert main(["bench", str(STEP)]) == 1
    out = capsys.readouterr().out
    assert "median of 5" in out and "2.00 ms" in out and "0.50" in out and "1.50" in out
    assert "the results differ" in out
    assert ratio(1, 0) is None


def test_refusals(capsys: pytest.CaptureFixture[str]):
    few = refused(capsys, "bench", STEP, "--devices", 4)
    assert "the program runs on 8 devices, and there are to be 4" in few
    with pytest.raises(CompileError, match="partitioned already"):
        benchmark(ttxdsl.load(STEP).partition())
