"""Batches and meshes that were compiled: what fits, what is fastest, and the frontier."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError

EXAMPLES = Path(__file__).parents[3] / "examples"
STEP = EXAMPLES / "mlp_train_step.mlir"


def test_frontier():
    found = ttxdsl.load(STEP).plan_search("v5e")
    assert not found.refused
    own = ttxdsl.load(STEP).plan("v5e", variants=False)
    (same,) = (
        choice
        for choice in found.choices
        if (choice.mesh, choice.batch) == ("data=2, model=4", Fraction(1))
    )
    assert same.peak_bytes == own.memory.peak_bytes
    assert same.step_s == pytest.approx(own.time.step_s)
    speeds = [choice.speed for choice in found.choices]
    assert speeds == sorted(speeds, reverse=True)
    frontier = [choice for choice in found.choices if choice.on_frontier]
    assert frontier[0] == found.choices[0]
    for choice in found.choices:
        beaten = any(
            other.speed >= choice.speed and other.peak_bytes < choice.peak_bytes
            for other in found.choices
        )
        if choice.on_frontier:
            assert not beaten


def test_command(capsys: pytest.CaptureFixture[str]):
    command = ["plan", str(STEP), "--chip", "v5e", "--search", "--candidates", "3"]
    assert main([*command, "--devices", "4"]) == 0
    assert "memory and speed of the frontier" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (len(data["choices"]), data["devices"]) == (3, 8)


def test_what_has_no_mesh():
    text = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }"
    with pytest.raises(CompileError, match="0 meshes with axes"):
        ttxdsl.load(text).plan_search("v5e")
