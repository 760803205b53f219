"""A patch does to the source what was measured."""

import importlib.util
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.insight.doctor.prescriptions import llama
from tests.insight.doctor.prescriptions.test_prescribe import (
    FIGHT,
    STATE,
    applied,
    candidates,
    compiled,
    search,
)
from ttxdsl.cli.main import main
from ttxdsl.insight.doctor.prescriptions.answers import Prescription, Prescriptions
from ttxdsl.insight.doctor.prescriptions.patch import patch_of

LINE = 'x = jax.lax.with_sharding_constraint(x, P("data"))'


@pytest.fixture(scope="module")
def nothing() -> Prescriptions:
    return search(FIGHT, 1e-6)


def answer_of(nothing: Prescriptions, text: str, op: str) -> Prescriptions:
    """The constraint of a line that an op of the residual stream is on."""
    figures = nothing.before
    chosen = next(
        one for one in candidates(text) if one.write == LINE and one.places[0].op == op
    )
    prescription = Prescription(
        chosen.kind, chosen.write, chosen.places, figures, figures
    )
    return replace(nothing, prescriptions=(prescription,), together=(1,))


def test_the_patched_source_costs_what_was_measured(
    nothing: Prescriptions, tmp_path: Path
):
    text = llama.step_text(layers=1)
    add = answer_of(nothing, text, "stablehlo.add")
    patch = patch_of(add)
    assert (patch.written, patch.left) == ((1,), ())
    source = Path(llama.__file__)
    copy = tmp_path / str(source).lstrip("/")
    copy.parent.mkdir(parents=True)
    copy.write_text(source.read_text())
    subprocess.run(
        ["patch", "-p1"], input=patch.text, text=True, cwd=tmp_path, check=True
    )
    spec = importlib.util.spec_from_file_location("patched_llama", copy)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    patched = module.step_text(layers=1)
    assert "sdy.sharding_constraint" in patched
    measured = compiled(applied(text, add.prescriptions))
    figures = compiled(patched)
    assert (figures.collectives, figures.bytes, figures.peak_bytes) == (
        *(measured.collectives, measured.bytes, measured.peak_bytes),
    )
    assert figures.program_seconds == pytest.approx(measured.program_seconds, rel=0.01)


def test_what_has_no_line_is_in_front(nothing: Prescriptions):
    prescription = Prescription(
        *("argument", '"w": P("data"),  # was P()', ()), nothing.before, nothing.before
    )
    answer = replace(nothing, prescriptions=(prescription,), together=(1,))
    patch = patch_of(answer)
    assert patch.text == (
        '# 1: not in the patch, to be pasted\n#   "w": P("data"),  # was P()\n'
    )
    assert patch.left == (1,)


def test_an_expression_inside_of_a_call_is_not_wrapped(nothing: Prescriptions):
    """What a library makes on the way is no expression of the source."""
    inner = [
        place
        for one in candidates(llama.step_text())
        for place in one.places
        if one.kind == "constraint"
    ]
    assert any(place.end for place in inner)
    answer = replace(
        nothing,
        prescriptions=(
            Prescription(
                *("constraint", LINE, (replace(inner[0], end=None),)),
                *(nothing.before, nothing.before),
            ),
        ),
        together=(1,),
    )
    assert patch_of(answer).written == ()


def test_the_command_writes_a_patch(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, patch = tmp_path / "state.mlir", tmp_path / "out.diff"
    path.write_text(STATE)
    assert main(["doctor", str(path), "--patch", str(patch), "--jobs", "1"]) == 0
    assert "not in the patch, to be pasted" in patch.read_text()
