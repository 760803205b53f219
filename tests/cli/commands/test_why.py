"""The `ttxdsl why` command: what it prints, and how it refuses."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.attribution.scanned_step import scanned
from tests.insight.why import programs
from ttxdsl.cli.main import main
from ttxdsl.insight.why.answers import Figures
from ttxdsl.insight.why.view import outcome_text


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    path = tmp_path / "shared.mlir"
    path.write_text(programs.SHARED_CONSTANT)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["why", *map(str, arguments)]) == 0
    captured = capsys.readouterr()
    assert not captured.err
    return captured.out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    return json.loads(run(capsys, *arguments, "--json"))


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that must fail with one diagnostic; the diagnostic."""
    assert main(["why", *map(str, arguments)]) == 1
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err.count("error:") == 1
    return captured.err


def test_all_collectives(capsys: pytest.CaptureFixture[str], shared: Path):
    out = run(capsys, shared)
    assert "links 12.5 GB/s, 1 us" in out
    assert "all_gather" in out
    assert "1 launch " in out
    data = as_json(capsys, shared)
    assert data["figures"]["bytes"] == 64
    assert [one["cause"] for one in data["collectives"]] == ["operand"]


@pytest.mark.parametrize("machine", [(), ("--chip", "v6e")])
def test_an_axis_is_the_slow_network(
    capsys: pytest.CaptureFixture[str], shared: Path, machine: tuple[str, ...]
):
    """With a chip, too: its own links are those of all other axes."""
    (fast,) = as_json(capsys, shared, *machine)["collectives"]
    (slow,) = as_json(capsys, shared, *machine, "--axis-link", "a=0.1:50")[
        "collectives"
    ]
    assert fast["bytes"] == slow["bytes"]
    assert slow["seconds"] > 10 * fast["seconds"]
    assert "along a 0.1 GB/s" in run(capsys, shared, *machine, "--axis-link", "a=0.1")


def test_a_value(capsys: pytest.CaptureFixture[str], shared: Path):
    out = run(capsys, shared, "%c")
    assert "%c  tensor<8x8xf32>  iota" in out
    assert "2 ops share it" in out
    assert 'a: argument 0 (%x) is annotated [{"a"}, {}]' in out
    assert "lost: {a} on dimension 1 of operand 0 (%y)" in out
    data = as_json(capsys, shared, "%c")
    assert data["dims"][0]["causes"][0]["origin"]["index"] == 0


def test_arguments_and_results(capsys: pytest.CaptureFixture[str], shared: Path):
    assert as_json(capsys, shared, "--arg", "1")["name"] == "%y"
    # not short for --argument-types
    assert as_json(capsys, shared, "--argument", "1")["name"] == "%y"
    assert as_json(capsys, shared, "--result", "1")["name"] == "%second"


def test_a_collective(capsys: pytest.CaptureFixture[str], shared: Path):
    out = run(capsys, shared, "--collective", "0")
    assert "%c is shared by 2 ops" in out
    assert "with a copy of %c for %second: 1 all_gather less, 64 B less" in out
    data = as_json(capsys, shared, "--collective", "0", "--show", "1")
    (first,) = data["counterfactuals"]
    assert first["text"].startswith("with a copy of %c for %second: 1 all_gather less")
    assert first["figures"]["bytes"] == first["base"]["bytes"] - 64


def test_links(capsys: pytest.CaptureFixture[str], shared: Path):
    slow = ("--link-gbps", "0.001", "--latency-us", "5")
    data = as_json(capsys, shared, "--collective", "0", "--tries", "0", *slow)
    assert data["seconds"] == pytest.approx(5e-6 + 64 / 1e6)
    assert data["tried"] is None
    slow = ("--link-gbps", "0.001", "--latency-us", "0")
    data = as_json(capsys, shared, "--collective", "0", "--tries", "0", *slow)
    assert data["seconds"] == pytest.approx(64 / 1e6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--link-gbps", "0"], "'0' is no number above 0"),
        (["--link-gbps", "inf"], "'inf' is no number above 0"),
        (["--latency-us", "-1"], "'-1' is no number from 0 up"),
        (["--latency-us", "soon"], "'soon' is no number from 0 up"),
    ],
)
def test_wrong_links(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str], shared: Path
):
    with pytest.raises(SystemExit) as raised:
        main(["why", str(shared), *options])
    assert raised.value.code == 2
    assert message in capsys.readouterr().err


def test_long_chains_are_cut(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    lines = [f"  %v{i + 1} = stablehlo.negate %v{i} : tensor<8xf32>" for i in range(12)]
    path = tmp_path / "long.mlir"
    path.write_text(
        programs.function(
            programs.given("%v0: tensor<8xf32>", '[{"a"}]'),
            "tensor<8xf32>",
            "\n".join((*lines, "  return %v12 : tensor<8xf32>")),
        )
    )
    assert "6 more steps" in run(capsys, path, "%v12")
    out = run(capsys, path, "%v12", "--all")
    assert "more steps" not in out
    assert out.count("forward through negate") == 12


STAY = """
from dataclasses import dataclass
from xdsl.passes import ModulePass
from xdsl.universe import Universe

@dataclass(frozen=True)
class StayPass(ModulePass):
    name = "stay"

    def apply(self, ctx, op):
        pass

UNIVERSE = Universe(all_passes={"stay": lambda: StayPass})
"""


def test_propagation_of_another_package(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, shared: Path
):
    """What its pass did is known, though not step by step."""
    plugin = tmp_path / "stay.py"
    plugin.write_text(STAY)
    options = ("--propagation", "stay", "--plugin", plugin)
    out = run(capsys, shared, "%first", *options)
    assert "none: replicated" in out and "stay did not bring it here" in out
    data = as_json(capsys, shared, *options)
    assert [one["kind"] for one in data["collectives"]].count("all_gather") == 2
    assert data["collectives"][0]["necessary"][0]["annotations"] == ["%x"]
    assert "'nosuch' is not one pass" in refused(
        capsys, shared, "--propagation", "nosuch"
    )


def test_propagation(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "priority.mlir"
    path.write_text(programs.PRIORITY)
    out = run(capsys, path, "%out")
    assert "held back by its user priority p1" in " ".join(out.split())
    design = "--propagation", "sdy-aggressive-propagate"
    assert "larger tensor" in run(capsys, path, "%out", *design)


def test_no_collectives(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "missing.mlir"
    path.write_text(programs.MISSING)
    assert "no collectives: nothing has to be sent" in run(capsys, path)


def test_refusals(capsys: pytest.CaptureFixture[str], shared: Path):
    assert "did you mean %second" in refused(capsys, shared, "%secnd")
    assert "the program has 1, numbered from 0" in refused(
        capsys, shared, "--collective", "1"
    )
    assert "there is no argument 5" in refused(capsys, shared, "--arg", "5")
    assert "cannot read" in refused(capsys, shared.parent / "nowhere.mlir")


def test_lowered_programs_have_no_shardings(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, shared: Path
):
    path = tmp_path / "lowered.mlir"
    assert main(["run", str(shared), "--emit", "ttir", "-o", str(path)]) == 0
    capsys.readouterr()
    assert "is lowered already" in refused(capsys, path)


def test_one_thing_at_a_time(capsys: pytest.CaptureFixture[str], shared: Path):
    with pytest.raises(SystemExit) as stop:
        main(["why", str(shared), "%c", "--arg", "0"])
    assert stop.value.code == 2
    assert "not allowed with" in capsys.readouterr().err


@pytest.fixture
def scanned_step(tmp_path: Path) -> Path:
    path = tmp_path / "step.mlir"
    path.write_text(scanned())
    return path


def test_a_wish_is_written_as_python_writes_it(
    scanned_step: Path, capsys: pytest.CaptureFixture[str]
):
    told = [
        run(capsys, scanned_step, "--not", f"{name}=P(None, None, 'data')")
        for name in ("p['layers']['up']", 'p["layers"]["up"]')
    ]
    first, second = (text.partition("\n")[2] for text in told)
    assert first == second


def test_a_wish_of_no_value_names_those_that_are_near(
    scanned_step: Path, capsys: pytest.CaptureFixture[str]
):
    error = refused(capsys, scanned_step, "--not", "up=P('data')")
    assert "there is no value up" in error
    assert "did you mean p['layers']['up'] or" in error
    assert "did you mean" in refused(capsys, scanned_step, "--not", "%300=P('data')")


def test_misspelt_paths_axes_and_chips(
    scanned_step: Path, capsys: pytest.CaptureFixture[str]
):
    error = refused(capsys, scanned_step, "p['layers']['upp']")
    assert "did you mean p['layers']['up']" in error
    error = refused(capsys, scanned_step, "--not", "p['layers']['up']=P('dta')")
    assert "no mesh has the axes dta\n  hint: did you mean data?" in error
    error = refused(capsys, scanned_step, "--axis-link", "dta=25")
    assert "did you mean data?" in error


def test_an_argument_is_named_by_its_path(
    scanned_step: Path, capsys: pytest.CaptureFixture[str]
):
    told = run(capsys, scanned_step, "p['layers']['up']")
    assert told == run(capsys, scanned_step, 'p["layers"]["up"]')
    assert "argument" in told.split("\n")[0]


def test_between_goes_from_the_first_program_to_the_second(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    other = tmp_path / "other.mlir"
    other.write_text(programs.SHARED_CONSTANT)
    wanted = f"{shared} to {other}"
    for words in ([shared, "--between", other], ["--between", shared, other]):
        assert "".join(run(capsys, *words).split("\n")).startswith(wanted)


def test_what_sends_as_long_is_not_told_as_less():
    figures = Figures((), 0, 0.0, 0.0, None, 0, 0)
    assert "sending takes as long" in outcome_text(figures, figures)
    slower = replace(figures, seconds=2e-6)
    assert "2.0 us more sending" in outcome_text(figures, slower)
