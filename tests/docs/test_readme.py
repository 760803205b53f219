"""README.md: the outputs that it shows are those of the commands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checking.faults import FAULTS
from ttxdsl.tools.main import main

README = (Path(__file__).parents[2] / "README.md").read_text()


def shown(command: str) -> str:
    """The output that the page shows for a command."""
    match = re.search(rf"```\n\$ {re.escape(command)}\n(.*?)```", README, re.DOTALL)
    assert match is not None
    return match.group(1)


@pytest.mark.usefixtures("of_this_compiler_only")
def test_check_shows_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    fault = next(f for f in FAULTS if f.name == "permuted replica groups")
    monkeypatch.chdir(tmp_path)
    Path("model.mlir").write_text(fault.program)
    fault.plant(monkeypatch)
    assert main(["check", "model.mlir"]) == 1
    captured = capfd.readouterr()
    printed = [*captured.out.splitlines(), *captured.err.splitlines()]
    assert sorted(printed) == sorted(shown("ttxdsl check model.mlir").splitlines())


def test_commands_that_it_names_exist():
    """Every `ttxdsl x` of the page is a command, of the script that is installed."""
    done = subprocess.run(
        [Path(sys.executable).parent / "ttxdsl", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    named = set(re.findall(r"^ {4}ttxdsl (\w+)", README, re.MULTILINE))
    assert named >= {"run", "interpret"}
    assert all(re.search(rf"^ +{name}\b", done.stdout, re.MULTILINE) for name in named)
