"""A method's answer prints as the command prints it, and draws itself in a notebook."""

import html
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.display import Displayed, DisplayedList, plain_text
from ttxdsl.insight.run.collectives import print_collectives

FILE = "examples/mlp_data_tensor_parallel.mlir"


@cache
def program() -> ttxdsl.Program:
    return ttxdsl.load(FILE)


def limits(path: Path) -> Path:
    text = Path(FILE).read_text()
    path.write_text(f"// COMM: all_reduce<=0, memory<1MiB\n{text}")
    return path


ASKED: dict[str, Callable[[], Displayed]] = {
    "why": lambda: program().why(),
    "why --arg 0": lambda: program().why(argument=0),
    "why --collective 0 --tries 2": lambda: program().why(collective=0, tries=2),
    "doctor --devices 4": lambda: program().doctor(4),
    "check": lambda: program().check(),
    "show": lambda: program().show(),
    "show --result 0 --devices": lambda: program().show(result=0, devices=True),
    "interpret --seed 3": lambda: program().interpret(seed=3),
}


def without_hint(printed: str) -> str:
    """What a command printed, but for how to get the source's lines."""
    return re.sub(r"^the text has no lines, functions.*\n", "", printed, flags=re.M)


@pytest.mark.parametrize("asked", ASKED)
def test_prints_as_the_command_does(asked: str, capsys: pytest.CaptureFixture[str]):
    if "--result" in asked:
        # a stage is said to the command, and to the program beforehand
        made = program().partition(last_stage=6).show(result=0, devices=True)
        asked += " --after 6"
    else:
        made = ASKED[asked]()
    command, *options = asked.split()
    main([command, FILE, *options])
    assert str(made) == without_hint(capsys.readouterr().out).rstrip("\n")
    page = made._repr_html_()
    assert page is not None
    assert html.unescape(re.sub(r"<[^>]*>", "", page)).rstrip("\n") == str(made)


def test_diff_and_budget_print_as_their_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    bounded = limits(tmp_path / "bounded.mlir")
    loaded = ttxdsl.load(bounded)
    other = "examples/mlp_tensor_parallel.mlir"
    names = (str(bounded), other)
    found = loaded.diff(ttxdsl.load(other), names=names)
    assert main(["diff", *names]) == 1
    assert str(found) == capsys.readouterr().out.rstrip("\n")
    assert not found.is_equal
    held = loaded.budget()
    assert main(["budget", str(bounded)]) == 1
    head, _, tables = capsys.readouterr().out.partition("\n")
    assert (head, str(held)) == (str(bounded), tables.rstrip("\n"))
    assert [one.ok for one in held] == [False, True]
    assert loaded.budget("all_reduce<=1").ok
    with pytest.raises(ttxdsl.CompileError, match="no limits are given"):
        ttxdsl.load("func.func @main() { return }").budget()


@pytest.mark.parametrize("options", [{}, {"by": "layer"}, {"whole": True, "seed": 0}])
def test_run_prints_as_the_command_does(
    options: dict[str, Any], capsys: pytest.CaptureFixture[str]
):
    """But for how long it took."""

    def timeless(text: str) -> str:
        return re.sub(r"of it \S+|\b\d+\.\d\b(?! .iB)|[─━]+|\s+", " ", text)

    flags = {"by": ["--by", "layer"], "whole": ["--all"], "seed": ["--seed", "0"]}
    found = program().partition().lower("ttnn").run(**options)
    assert main(["run", FILE, *(one for key in options for one in flags[key])]) == 0
    printed = without_hint(capsys.readouterr().out)
    assert timeless(str(found)).split() == timeless(printed).split()
    assert "layer" in printed or "by" not in options
    assert "<pre" in found._repr_html_()
    assert found.ok
    assert found.results[0].array.shape == (32, 16)


def test_run_of_given_arrays():
    arrays = program().random_inputs(5)
    (result,) = program().run(*arrays).results
    (expected,) = program().simulate(*arrays)
    assert np.allclose(result.array, expected, rtol=1e-4)
    with pytest.raises(ttxdsl.CompileError, match="by='color': say one of kind, axis"):
        program().run(by="color")
    with pytest.raises(ttxdsl.CompileError):
        program().run(arrays[0])


def test_memory_is_by_name():
    """The same bytes as a budget counts, with what takes them."""
    found = program().memory()
    first, *_ = [line for line in str(found).splitlines() if "arg2" in line]
    assert str(found).startswith("peak 36.3 KiB a device, at stablehlo.add")
    assert "tensor<64x64xf32>" in first
    assert "16.0 KiB" in first


def test_lists_of_a_program_are_lists_that_print_as_tables():
    device = program().partition()
    collectives = device.collectives()
    assert isinstance(collectives, list) and collectives == [*collectives]
    first, *_ = [line for line in str(collectives).splitlines() if "│ 0 │" in line]
    assert collectives[0].kind in first and collectives[0].tensor in first
    assert "all_reduce" in (collectives._repr_html_() or "")
    assert str(program().collectives()) == "no collectives"
    assert isinstance(device.remarks, tuple) and str(device.remarks) == "no remarks"


def test_of_many_collectives_those_that_send_most_are_shown():
    large = ttxdsl.load("examples/mlp_train_step.mlir").partition().collectives()
    many = DisplayedList([*large * 6])
    shown = plain_text(partial(print_collectives, collectives=many), 200)
    sizes = sorted((one.bytes_per_device for one in many), reverse=True)
    rest = bytes_text(sum(sizes[16:]))
    (row,) = [line for line in shown.splitlines() if "others" in line]
    assert f"{len(many) - 16} others" in row and rest in row
    # with their numbers in the whole list; of equal ones the first
    assert "│ 17 │" in shown and "│ 15 │" not in shown


def test_what_nobody_showed_prints_as_python_does():
    class Answer(Displayed):
        def __repr__(self) -> str:
            return "Answer()"

    assert (str(Answer()), Answer()._repr_html_()) == ("Answer()", None)
