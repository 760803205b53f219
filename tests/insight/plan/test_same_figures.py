"""Every command tells the same memory and time of a chip as `plan`."""

import json
from pathlib import Path

import pytest

import ttxdsl
from ttxdsl.analysis.usage.device import usage_on
from ttxdsl.costs.chips import chip_named
from ttxdsl.insight.doctor.measure import measure
from ttxdsl.insight.plan.plan import StepPlan

STEP = Path(__file__).parents[3] / "examples" / "mlp_train_step.mlir"
CHIP = "v5e"


@pytest.fixture(scope="module")
def plan() -> StepPlan:
    return ttxdsl.load(STEP).plan(CHIP, variants=False)


def test_run(plan: StepPlan):
    outcome = ttxdsl.load(STEP).run(chip=CHIP)
    assert outcome.peak_bytes == plan.memory.peak_bytes
    assert outcome.step_seconds == pytest.approx(plan.time.step_s)


def test_diff(plan: StepPlan):
    program = ttxdsl.load(STEP)
    side = program.diff(ttxdsl.load(STEP), chip=CHIP).left
    assert side.memory.peak_bytes == plan.memory.peak_bytes
    assert side.seconds == pytest.approx(plan.time.step_s)


def test_report(plan: StepPlan):
    data = ttxdsl.load(STEP).report_data(chip=CHIP)
    assert data["memory"]["peak_bytes"] == plan.memory.peak_bytes
    assert data["timeline"]["seconds"] == pytest.approx(plan.time.step_s)


def test_doctor(plan: StepPlan):
    module = ttxdsl.load(STEP).partition().module
    chip = chip_named(CHIP)
    usage = usage_on(module, chip)
    measured = measure(module, usage.machine, compiler=chip.compiler)
    assert measured.peak_bytes == plan.memory.peak_bytes
    assert measured.seconds == pytest.approx(plan.time.step_s)


@pytest.mark.parametrize("command", ["run", "diff", "report"])
def test_commands(command: str, plan: StepPlan, capsys: pytest.CaptureFixture[str]):
    from ttxdsl.cli.main import main

    files = [str(STEP)] * (2 if command == "diff" else 1)
    main([command, *files, "--chip", CHIP, "--json"])
    text = capsys.readouterr().out
    assert f'"peak_bytes": {plan.memory.peak_bytes}' in json.dumps(json.loads(text))


def test_budget(plan: StepPlan):
    (finding,) = ttxdsl.load(STEP).budget("memory<1GiB", chip=CHIP)
    assert finding.found == plan.memory.peak_bytes


def test_why(plan: StepPlan, capsys: pytest.CaptureFixture[str]):
    from ttxdsl.cli.main import main

    main(["why", str(STEP), "--collective", "0", "--chip", CHIP, "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert f'"peak_bytes": {plan.memory.peak_bytes}' in json.dumps(figures)
