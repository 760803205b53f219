"""Fitting the time model to measurements."""

import json
import random
from itertools import product
from pathlib import Path

import pytest

from ttxdsl.bridges.xla import calibrating
from ttxdsl.bridges.xla.calibrating import (
    Sample,
    fit,
    fit_link,
    link_error,
    memory_share,
)
from ttxdsl.cli.main import main
from ttxdsl.costs.chips import chip_of
from ttxdsl.costs.links import Link, Shape
from ttxdsl.costs.machines import machine_of
from ttxdsl.costs.ring import Ring

KINDS = [kind for kind in Ring if kind is not Ring.ALL_SLICE]


def samples(link: Link, noise: float = 0.0) -> list[Sample]:
    """What would be measured of a link."""
    chance = random.Random(0)
    return [
        Sample(
            kind.value,
            held,
            size,
            link.seconds(kind, held, size) * (1 + noise * chance.uniform(-1, 1)),
        )
        for kind, held, size in product(
            KINDS, (1 << 8, 1 << 12, 1 << 16, 1 << 20), (2, 4, 8)
        )
    ]


LOCAL = [
    Sample("product", 1 << 21, 1, 2e-3 + 1e-6),
    Sample("function", 1 << 20, 1, 1e-2 + 1e-6),
    Sample("memory", 1 << 23, 1, 1e-3 + 1e-6),
    Sample("op", 1, 1, 1e-6),
]


@pytest.mark.parametrize("shape", Shape)
def test_a_link_is_found_again(shape: Shape):
    link = Link(5e-6, 3e9, shape, setup=2e-5)
    found = fit_link(samples(link))
    assert found.shape is shape
    numbers = (found.latency, found.bytes_per_second, found.setup)
    assert numbers == pytest.approx((5e-6, 3e9, 2e-5), rel=0.02)
    assert link_error(found, samples(link)) == pytest.approx(1, abs=1e-3)


def test_noise_is_borne():
    link = Link(5e-6, 3e9, Shape.RING, setup=2e-5)
    noisy = samples(link, noise=0.3)
    assert link_error(fit_link(noisy), noisy) < 1.3


def test_a_machine_of_measurements():
    machine = fit([*samples(Link()), *LOCAL])
    assert machine.op_seconds == 1e-6
    assert machine.operations_per_second == pytest.approx((1 << 21) / 2e-3)
    assert machine.memory_bytes_per_second == pytest.approx((1 << 23) / 1e-3)
    assert machine.functions_per_second == pytest.approx((1 << 20) / 1e-2)
    assert not machine.overlap


def test_convolutions_have_the_speeds_of_their_features():
    rows = [((1, 1), 2e7), ((8, 8), 2e9), ((32, 32), 1e10)]
    seen = [
        Sample("convolution", 1 << 20, 1, (1 << 20) / speed, features)
        for features, speed in rows
    ]
    machine = machine_of(fit([*samples(Link()), *LOCAL, *seen]).to_json())
    for features, speed in [*rows, ((64, 128), 1e10), ((10, 6), 2e9)]:
        seconds = machine.seconds(1 << 20, 0, features=features)
        assert seconds == pytest.approx((1 << 20) / speed)
    assert machine.seconds(1 << 20, 0) == pytest.approx(2e-3 / 2)


def test_too_few_measurements():
    with pytest.raises(ValueError, match="three collectives"):
        fit(LOCAL)
    with pytest.raises(ValueError, match="nothing was measured of memory, op"):
        fit([*samples(Link()), *LOCAL[:2]])


def test_the_command_writes_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def measured(devices: int, repeats: int) -> list[Sample]:
        assert (devices, repeats) == (8, 3)
        return [*samples(Link()), *LOCAL]

    monkeypatch.setattr("ttxdsl.cli.commands.calibrate.measured", measured)
    output = tmp_path / "here.json"
    assert main(["calibrate", "-o", str(output), "--repeats", "3"]) == 0
    assert machine_of(output.read_text()).link.latency == pytest.approx(1e-6)
    assert "by a factor of 1.00" in capsys.readouterr().out
    program = "tests/pipeline/seed_cases/case3/00-input.mlir"
    assert main(["why", program, "--machine", str(output), "--json"]) == 0
    machine = json.loads(capsys.readouterr().out)["machine"]
    assert machine["name"] == "calibrated"


def test_a_calibrated_machine_is_a_chip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def measured(devices: int, repeats: int) -> list[Sample]:
        return [*samples(Link()), *LOCAL]

    monkeypatch.setattr("ttxdsl.cli.commands.calibrate.measured", measured)
    output = tmp_path / "here.json"
    assert main(["calibrate", "-o", str(output), "--devices", "4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["memory_bytes"]
    chip = chip_of(output.read_text())
    assert chip.memory_bytes == told == memory_share(4)
    assert main(["plan", "examples/mlp_train_step.mlir", "--chip", str(output)]) == 0


def test_a_machine_that_is_none(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    program = "tests/pipeline/seed_cases/case3/00-input.mlir"
    (tmp_path / "wrong.json").write_text("[1]")
    for name in ("cray", str(tmp_path / "wrong.json")):
        assert main(["why", program, "--machine", name]) == 1
        assert "is no machine" in capsys.readouterr().err


@pytest.mark.fuzz
def test_devices_are_measured():
    found = calibrating.measured(2, 1)
    assert {one.what for one in found} >= {kind.value for kind in KINDS}
