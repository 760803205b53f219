"""Options that name what is not there are refused with the names that there are."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.transforms.shardy.canonicalize import LabelledCanonicalizePass

PROGRAM = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
    %b: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""
OTHER = """
func.func @main(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tanh %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m.mlir").write_text(PROGRAM)
    (tmp_path / "plain.mlir").write_text(OTHER)
    (tmp_path / "f.py").write_text("def here():\n    return None\n")
    np.savez(tmp_path / "in.npz", arg0=np.zeros((8, 16), np.float32))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("why m.mlir --axis-link modl=5", "did you mean model?"),
        ("why plain.mlir --mesh-shape 1,4 --axis-link x=5", "batch"),
        ("report m.mlir -o out.html --axis-link modl=5", "did you mean model?"),
        ("report m.mlir --json --axis-link dta=5", "did you mean data?"),
        ("report m.mlir -o out.html --beside plain.mlir --axis-link modl=5", "model"),
        ("doctor m.mlir --devices 8 --jobs 1 --axis-link zz=5", "data, model"),
        ("doctor plain.mlir --devices 2 --jobs 1 --axis-link modl=5", "batch"),
        ("why m.mlir --arg 9", "it has 2"),
        ("why m.mlir --result 9", "it has 1"),
        ("why m.mlir --collective 9", "has 1, numbered from 0"),
        ("why m.mlir %zz", "%0"),
        ("why m.mlir --value %0", "%VALUE stands alone: no --value before it"),
        ("why m.mlir --machine nope", "generic, n300"),
        ("show m.mlir --arg 9", "0 to 1"),
        ("show m.mlir --after inlne", "did you mean inline?"),
        ("show m.mlir --after 77", "1 to 13"),
        ("interpret m.mlir --seed 0 --entry mian", "@main"),
        ("run m.mlir --argument-types mian=input,input", "there is: main"),
        ("run m.mlir --argument-types main=inpt,input", "input, parameter, constant"),
        ("run m.mlir --inputs in.npz", "it has arg0"),
        ("run f.py:there", "did you mean here?"),
        ("budget f.py:nothing", "the functions there are here"),
        ("diff m.mlir --with propgation=canonicalize", "propagation=PASS"),
        ("plan m.mlir --chip v5pp", "did you mean v5p?"),
        ("run m.mlir --chip zz", "choose from v4, v5e"),
        ("why m.mlir --axis-link data=5:1:lin", "did you mean line"),
        ("why m.mlir --machine tpu-v5", "did you mean tpu-v5e"),
        ("why m.mlir --not x=P('data')", "did you mean %b, %a"),
        ("why m.mlir --not a=P('dta')", "did you mean data?"),
        ("show m.mlir zz", "did you mean %b, %a"),
    ],
)
def test_names_that_there_are(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, names: str
):
    try:
        code = main(command.split())
    except SystemExit as end:  # argparse's
        code = end.code
    assert code in (1, 2)
    assert names in capsys.readouterr().err
    assert not [*folder.glob("*.html")]


@pytest.mark.parametrize(
    "command",
    [
        "why m.mlir --axis-link model=5 --axis-link data=5:1:line",
        "report m.mlir -o out.html --axis-link model=5",
        # one of two programs has it
        "report m.mlir -o out.html --beside plain.mlir --axis-link data=5",
        "doctor m.mlir --devices 8 --jobs 1 --axis-link model=5",
    ],
)
def test_names_that_are_there(folder: Path, command: str):
    assert main(command.split()) == 0


def test_labels_of_rewrites():
    with pytest.raises(CompileError, match="label 'foo'") as caught:
        LabelledCanonicalizePass(enable_patterns="foo").apply(Context(), ModuleOp([]))
    assert caught.value.hint == "there are sdy-collective and sdy-reshard"
