"""What all commands share: examples in --help, --json, exit codes."""

import argparse
from pathlib import Path
from typing import Any, cast

import pytest

from ttxdsl.cli.main import main, make_parser
from ttxdsl.loading.doors import COMMANDS

WITHOUT_JSON = {"compile", "completion"}
"""They print a program, and a script."""


def parser_of(command: str) -> argparse.ArgumentParser:
    found: list[Any] = [
        one
        for one in cast(Any, make_parser(command))._actions
        if type(one).__name__ == "_SubParsersAction"
    ]
    return found[0].choices[command]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str):
    parser = parser_of(command)
    assert parser.description
    assert f"examples:\n  ttxdsl {command} " in (parser.epilog or "")
    assert f"usage: ttxdsl {command}" in parser.format_help()


@pytest.mark.parametrize(
    "command", [name for name in COMMANDS if name not in WITHOUT_JSON]
)
def test_every_command_has_json(command: str):
    assert "--json" in parser_of(command).format_usage()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_command_line_is_2(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as raised:
        main([command, "--no-such-option"])
    assert raised.value.code == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith(f"ttxdsl {command}: error: ")
    assert hint.startswith(("  see ttxdsl", "  did you mean"))


def test_without_a_command_there_is_one_screen(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 90
    for name in COMMANDS:
        assert any(line.startswith(f"  {name} ") and "?" in line for line in lines)


ARGUMENTS = {
    "doctor": ["--devices", "2"],
    "diff": ["--mesh-shape", "2"],
    "plan": ["--chip", "v5p"],
}
CODES = {"diff": 2}


@pytest.mark.parametrize(
    "command", [name for name in COMMANDS if name not in ("completion", "calibrate")]
)
def test_a_missing_file_is_one_diagnostic(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    for name in ("none.mlir", "."):
        code = main([command, name, *ARGUMENTS.get(command, [])])
        assert code == CODES.get(command, 1)
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("error:") == 1
        assert f"'{name}'" in captured.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["comple", "p.mlir"], "compile"),
        (["compile", "p.mlir", "--mesh-shpae", "1,2"], "--mesh-shape"),
        (["run", "p.mlir", "--emitt=ttnn"], "--emit"),
        (["compile", "p.mlir", "--emit", "ttnm"], "ttnn"),
    ],
)
def test_what_may_have_been_meant(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as raised:
        main(words)
    assert raised.value.code == 2
    near = capsys.readouterr().err.partition("did you mean ")[2]
    assert meant in near.strip("?\n").split(", ")


def test_nothing_is_near(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["compile", "p.mlir", "--xyzzy"])
    assert "did you mean" not in capsys.readouterr().err
