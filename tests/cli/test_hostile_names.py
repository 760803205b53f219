"""Programs whose names want to steer the terminal: every command shows them."""

from pathlib import Path

import pytest

from ttxdsl.cli.main import main

NAME = "\\0A\\0D\\1B[31m[/][bold]"
"""Of meshes, axes and functions, as MLIR text."""

PLACE = "\x1b[31m\x9b2J\u202e[/][bold]"
"""Of locations, which are taken as they are."""

PROGRAM = f"""\
// COMM: count<=9, bytes<=0
sdy.mesh @"m{NAME}" = <["[/]"=2, "{NAME}"=2]>
func.func @"main"(%a: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@"m{NAME}", [{{"[/]"}}, {{"{NAME}"}}]>}}) -> tensor<8x8xf32> {{
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("{PLACE}"("{PLACE}.py":1:1))
  %1 = stablehlo.custom_call @"{NAME}"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("{PLACE}.py":2:1)
  return %1 : tensor<8x8xf32>
}}
"""

NUMBERS = PROGRAM.replace(
    f'stablehlo.custom_call @"{NAME}"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>',
    "stablehlo.tanh %0 : tensor<8x8xf32>",
)

COMMANDS = {
    "run": (NUMBERS, 0),
    "run --json": (NUMBERS, 0),
    "compile --emit sdy": (PROGRAM, 0),
    "compile --strict": (PROGRAM, 1),
    "check": (NUMBERS, 0),
    "interpret --seed 0": (NUMBERS, 0),
    "interpret": (NUMBERS, 1),
    "report": (PROGRAM, 0),
    "why": (PROGRAM, 0),
    "why --collective 0": (PROGRAM, 0),
    "why --arg 0": (PROGRAM, 0),
    "why --result 0": (PROGRAM, 0),
    "show": (PROGRAM, 0),
    "show --arg 0 --devices": (PROGRAM, 0),
    "show --after 6 --result 0": (NUMBERS, 0),
    "diff --mesh-shape 1,4": (PROGRAM, 1),
    "doctor --devices 4 --jobs 1": (PROGRAM, 0),
    "budget": (PROGRAM, 1),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_names_are_shown(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    text, code = COMMANDS[command]
    file = Path("[bold]\x1b[31m\n:smile:.mlir")
    file.write_text(text)
    name, *options = command.split()
    assert main([name, str(file), *options]) == code
    captured = capsys.readouterr()
    said = captured.out + captured.err
    assert said
    odd = {c for c in said if not c.isprintable()}
    assert odd <= {"\n"}
    if not command.startswith(("compile --emit", "interpret --seed", "run --json")):
        assert "[/]" in said or "[bold]" in said
