"""docs/guide/propagation.md says what the tool says: its commands and its Python are run."""

import doctest
import re

import pytest

from tests.docs.pages import ROOT, as_shown, run_command

PAGE = ROOT / "docs" / "guide" / "propagation.md"
CONSOLE = re.findall(r"```console\n\$ (.*)\n((?:.*\n)*?)```", PAGE.read_text())


@pytest.mark.parametrize(("command", "output"), CONSOLE)
def test_command(command: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    printed = run_command(command)
    assert as_shown(output, printed), printed


def test_every_command_was_found() -> None:
    assert len(CONSOLE) == PAGE.read_text().count("```console")


def test_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried and not failed
