"""Shell completion: the scripts are made, and bash completes with its."""

import subprocess
import sys
from pathlib import Path

import pytest

from ttxdsl.cli.commands.completion import SHELLS
from ttxdsl.cli.main import main
from ttxdsl.loading.doors import COMMANDS


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_is_in_the_script(shell: str, capsys: pytest.CaptureFixture[str]):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command in script for command in COMMANDS)


def completed(script: Path, *words: str) -> list[str]:
    code = (
        f"source {script}; COMP_WORDS=({' '.join(map(repr, words))});"
        f" COMP_CWORD={len(words) - 1}; _shtab_ttxdsl; printf '%s\\n' ${{COMPREPLY[@]}}"
    )
    done = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_bash_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    main(["completion", "bash"])
    script = tmp_path / "ttxdsl.bash"
    script.write_text(capsys.readouterr().out)
    assert completed(script, "ttxdsl", "do") == ["doctor"]
    assert completed(script, "ttxdsl", "show", "--result") == [
        "--result",
        "--result-presharded",
    ]
    forms = ["sdy", "stablehlo", "ttir", "ttnn"]
    assert completed(script, "ttxdsl", "run", "--emit", "") == forms


def test_without_shtab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "pip install 'ttxdsl[completion]'" in capsys.readouterr().err
