"""Twins of public models: the numbers of their training steps are JAX's.

They are exported by a Python that has MaxText and libtpu, which ours need not be:
`TTXDSL_MAXTEXT_PYTHON` names it. `docs/evidence/giants.md` has what came of each.
"""

import os
import subprocess
from pathlib import Path

import pytest

import ttxdsl
from tests.giants.twins import TWINS, settings

PYTHON = os.environ.get("TTXDSL_MAXTEXT_PYTHON")
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "giants.md"
EXPORTER = ROOT / "benchmarks" / "tpu" / "maxtext_step.py"
TOPOLOGY = "v6e-8"


def test_every_twin_is_on_the_page():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [*TWINS]


@pytest.mark.fuzz
@pytest.mark.parametrize("name", TWINS)
def test_numbers(name: str, tmp_path: Path):
    if PYTHON is None:
        pytest.skip("TTXDSL_MAXTEXT_PYTHON names no Python that has MaxText")
    model, _ = TWINS[name]
    done = subprocess.run(
        [PYTHON, str(EXPORTER), str(tmp_path / name), model, TOPOLOGY, *settings(name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr[-2000:]
    program = ttxdsl.load(tmp_path / f"{name}.mlir")
    outcome = program.run()
    assert outcome.ok, outcome
    comparison = program.compare_xla()
    assert comparison.agree, comparison
