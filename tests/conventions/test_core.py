"""The core without what people ask: `insight`, `bridges` and `cli` may be absent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conventions.copies import PACKAGE as ROOT, copy_package

ABOVE = ("bridges", "cli", "insight")

SCRIPT = """
import pkgutil, sys
from importlib import import_module
from pathlib import Path

import numpy as np
import ttxdsl

folder = Path(ttxdsl.__file__).parent
assert folder == Path(sys.argv[1]), folder
names = [one.name for one in pkgutil.walk_packages([str(folder)], "ttxdsl.")]
assert len(names) > 300, names
for name in names:
    import_module(name)
assert not [name for name in sys.modules if name.startswith(ABOVE)]

from ttxdsl.loading.doors import COMMANDS, ENGINES, PIPELINES, VOCABULARIES
assert [*COMMANDS] == [*ENGINES] == []
assert [*PIPELINES] == ["design", "2026", "xla"]
assert [*VOCABULARIES] == ["design"]

from ttxdsl.universe import UNIVERSE, passes
assert "prepare-for-tt-mlir" not in passes() | UNIVERSE.all_passes
assert "tt-stablehlo-pipeline" in passes().keys() & UNIVERSE.all_passes.keys()

program = ttxdsl.load(sys.argv[2])
inputs = program.random_inputs()
expected = program.simulate(*inputs)
for version in PIPELINES:
    device = program.partition(version=version)
    for form in (device, device.lower("ttir"), device.lower("ttnn")):
        for result, one in zip(form.simulate(*inputs), expected, strict=True):
            np.testing.assert_allclose(result, one, rtol=1e-4, atol=1e-5)
assert device.collectives()

asked = (
    program.run, program.interpret, program.check, program.why, program.show,
    program.budget, program.memory, program.compare_xla, program.report_data,
    program.to_jax, program._repr_html_, lambda: program.diff(program),
    lambda: program.doctor(8), lambda: ttxdsl.from_jax(len, []),
)
for ask in asked:
    try:
        ask()
    except ttxdsl.CompileError as error:
        assert "it is not installed" in error.message, error
    else:
        raise AssertionError(ask)
try:
    program.lower("stablehlo", vocabulary="tt-mlir")
except ttxdsl.CompileError as error:
    assert error.message == "for is 'tt-mlir', expected design", error
else:
    raise AssertionError("there is no such vocabulary")
"""


CORE = ("tests/costs", "tests/rules/test_registry.py")
"""Tests that take seconds; the script above goes through all stages and lowerings."""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package without the rooms above."""
    site = tmp_path_factory.mktemp("site")

    def ignored(folder: str, names: list[str]) -> set[str]:
        return set(ABOVE) if Path(folder) == ROOT else set()

    copy_package(site, ignored)
    for name in ("tests", "docs", "examples", "benchmarks", "pyproject.toml"):
        (site / name).symlink_to(ROOT.parent / name)
    return site


def test_the_core_works_alone(core: Path):
    above = tuple(f"ttxdsl.{room}" for room in ABOVE)
    example = ROOT.parent / "examples/mlp_data_tensor_parallel.mlir"
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-c", f"ABOVE = {above!r}\n{SCRIPT}"),
            *(str(core / "ttxdsl"), str(example)),
        ],
        env={**os.environ, "PYTHONPATH": str(core)},
        cwd=core,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_tests_of_the_core_pass_alone(core: Path):
    # its plugin is above, and the cache is the suite's
    options = "-p", "no:ttxdsl.insight.budget.pytest_plugin", "-p", "no:cacheprovider"
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", *options, *CORE],
        env={**os.environ, "PYTHONPATH": str(core)},
        cwd=core,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_nothing_below_names_what_is_above():
    """But the doors, in lines that may be missing."""
    named = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if path.relative_to(ROOT).parts[0] not in (*ABOVE, "api", "__init__.py")
        and any(f"ttxdsl.{room}" in path.read_text() for room in ABOVE)
    }
    assert named == {"loading/doors.py", "universe.py"}
