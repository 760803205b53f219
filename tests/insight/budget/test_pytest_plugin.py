"""The plug-in in pytest processes of their own: quiet unless asked, and what it says."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.insight.budget.test_check import PROGRAM

ROOT = Path(__file__).parents[3]


def run(folder: Path, *options: str) -> tuple[int, str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "ttxdsl.insight.budget.pytest_plugin",
    ]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-v", *options],
        cwd=folder,
        # others' plug-ins take longer than the test
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.mlir").write_text(PROGRAM + "// COMM: all_gather<=1, count==2\n")
    (tmp_path / "bad.mlir").write_text(PROGRAM + "// COMM: all_reduce==0, axis=y\n")
    (tmp_path / "none.mlir").write_text("// no program at all, and no budget\n")
    return tmp_path


def test_nothing_is_collected_unless_asked(folder: Path):
    code, out = run(folder)
    assert code == 5  # pytest: no tests were collected
    assert "mlir" not in out


def test_each_limit_is_an_item(folder: Path):
    code, out = run(folder, "--comm-budget")
    assert code == 1
    assert "good.mlir::6:all_gather<=1 PASSED" in out
    assert "good.mlir::6:count==2 PASSED" in out
    assert "bad.mlir::6:all_reduce==0,axis=y FAILED" in out
    assert "none.mlir" not in out
    assert "combines what each device has of dot_general" in out
    assert "Traceback" not in out and "def runtest" not in out


def test_the_ini_option_and_a_malformed_line(folder: Path):
    (folder / "pytest.ini").write_text("[pytest]\ncomm_budget = true\n")
    (folder / "bad.mlir").write_text(PROGRAM + "// COMM: all_gathr==0\n")
    code, out = run(folder)
    assert code == 2
    assert "bad.mlir:6:10: error: 'all_gathr' is nothing that is counted" in out


def test_the_entry_point_has_the_modules_name():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    name = "ttxdsl.insight.budget.pytest_plugin"
    assert project["entry-points"]["pytest11"] == {name: name}


def test_the_plugin_does_not_import_the_compiler():
    code = (
        "import sys, ttxdsl.insight.budget.pytest_plugin;"
        "sys.exit(any(name.startswith(('xdsl', 'numpy')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
