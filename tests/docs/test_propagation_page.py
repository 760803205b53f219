"""docs/guide/propagation.md says what the tool says: its commands and its Python are run."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "guide" / "propagation.md"
CONSOLE = re.findall(r"```console\n\$ (.*)\n((?:.*\n)*?)```", PAGE.read_text())
ANYTHING = "..."


def matches(expected: list[str], actual: list[str]) -> bool:
    """Whether the lines are the same; a line `...` stands for any number of them."""
    if not expected:
        return not actual
    if expected[0] == ANYTHING:
        rest = expected[1:]
        return any(matches(rest, actual[start:]) for start in range(len(actual) + 1))
    return (
        bool(actual) and actual[0] == expected[0] and matches(expected[1:], actual[1:])
    )


@pytest.mark.parametrize(("command", "output"), CONSOLE)
def test_command(command: str, output: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    answer = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    actual = answer.stdout.rstrip("\n").split("\n")
    assert matches(output.rstrip("\n").split("\n"), actual), answer.stdout


def test_every_command_was_found() -> None:
    assert len(CONSOLE) == PAGE.read_text().count("```console")


def test_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried and not failed
