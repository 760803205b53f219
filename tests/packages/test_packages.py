"""Programs of public packages, partitioned and run on the virtual mesh: JAX's numbers.

They are made by a Python that has the packages, which ours need not be (they need
another JAX): `TTXDSL_PACKAGES_PYTHON` names it. `docs/evidence/packages.md` says how to
make it, and what of each package runs.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ttxdsl
from tests.differential.equal_text import run_ours
from tests.differential.forms import differing
from tests.differential.partitioning import MESHES, sharded_program
from tests.packages import making
from tests.packages.programs import PROGRAMS
from ttxdsl.loading.program import program_text

PYTHON = os.environ.get("TTXDSL_PACKAGES_PYTHON")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "packages.md"


def test_every_program_is_on_the_page():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [*PROGRAMS]


@pytest.mark.fuzz
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers(name: str, tmp_path: Path):
    if PYTHON is None:
        pytest.skip("TTXDSL_PACKAGES_PYTHON names no Python that has the packages")
    done = subprocess.run(
        [PYTHON, "-W", "ignore", "-m", making.__name__, name, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == making.NOT_INSTALLED:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert not done.returncode, done.stderr
    program = ttxdsl.load(tmp_path / f"{name}.mlir")
    with np.load(tmp_path / f"{name}.npz") as given:
        arguments = [given[one] for one in given if one.startswith("argument")]
        wanted = [given[one] for one in given if one.startswith("result")]
    forms = [program]
    for one in (program, placed_at_random(program, name)):
        partitioned = one.partition()
        forms += [partitioned, partitioned.lower("ttnn")]
    for form in forms:
        for index, (found, one) in enumerate(
            zip(form.simulate(*arguments), wanted, strict=True)
        ):
            wrong = differing(found, one, exactly=False)
            assert not wrong.any(), (form, index, found[wrong], one[wrong])


def placed_at_random(program: ttxdsl.Program, name: str) -> ttxdsl.Program:
    """The program on 2x4 devices, its arguments and some results divided anyhow."""
    text = run_ours(program.text, "sdy-drop-sharding-and-mesh")
    seed = f"{name} {os.environ.get('FUZZ_SEED', '0')}"
    module = sharded_program(text, MESHES["2x4"], seed)
    assert module is not None
    return ttxdsl.load(program_text(module))
