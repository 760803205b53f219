"""Programs take and return tensors: whatever compiles one says which value does not fit."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

import ttxdsl
from tests.transforms.run_pass import run_passes
from ttxdsl.api import Program
from ttxdsl.cli.main import main
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import boundary
from ttxdsl.loading.program import parse_program

TYPES = ("i32", "!stablehlo.future<tensor<8xf32>>", "vector<4xf32>", "none", "index",
         "tensor<*xf32>", "tensor<?xf32, #stablehlo.bounds<4>>", "tuple<tensor<8xf32>>")  # fmt: skip

T = "tensor<8x4xf32>"


def program(type_: str, *, result: bool) -> str:
    """A program that takes, or takes and returns, a value of a type."""
    first, second = (
        ("%b: " + type_, "%a: " + T) if result else ("%a: " + T, "%b: " + type_)
    )
    outputs, types = (f"({T}, {type_})", f"{T}, {type_}") if result else (T, T)
    return (
        f"\nfunc.func @main({first}, {second}) -> {outputs} {{\n"
        f"  %0 = stablehlo.add %a, %a : {T}\n"
        f"  return %0{', %b' if result else ''} : {types}\n}}\n"
    )


WAYS: dict[str, Callable[[Program], object]] = {
    "partition": lambda p: p.partition(),
    "over a mesh": lambda p: p.partition(mesh=(1, 2)),
    "lower": lambda p: p.lower("ttnn"),
    "check": lambda p: p.check(),
    "report": lambda p: p.report_data(),
    "why": lambda p: p.why(),
    "simulate": lambda p: p.simulate(np.zeros((8, 4), np.float32), 1),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("type_", TYPES)
def test_api_names_the_argument(way: Callable[[Program], object], type_: str):
    loaded = ttxdsl.load(program(type_, result=False))
    with pytest.raises(CompileError, match=r"^<text>:2:1: .* argument 1 of '?@main"):
        way(loaded)


@pytest.mark.parametrize("type_", TYPES)
def test_lowering_alone_names_the_argument(type_: str):
    module = parse_program(program(type_, result=True), "in.mlir")
    with pytest.raises(CompileError, match=r"^in.mlir:2:1: .* argument 0 of '@main'"):
        convert_stablehlo_to_ttir(module)


COMMANDS = (
    ["compile"],
    ["compile", "--emit", "sdy"],
    ["run"],
    ["report", "-o", "report.html"],
    ["why"],
    ["doctor", "--devices", "2"],
    ["check"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_name_the_argument(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    name, *options = command
    for type_ in TYPES[:2]:
        Path("in.mlir").write_text(program(type_, result=False))
        assert main([name, "in.mlir", *options]) == 1
        told = capsys.readouterr().err
        assert told.startswith(
            "in.mlir:2:1: error: 'func.func' op: argument 1 of '@main'"
        )
        assert told.count("error:") == 1
    assert not Path("report.html").exists()


def test_result_is_named():
    text = (
        f"func.func @main(%a: {T}) -> ({T}, !stablehlo.token, i32) {{\n"
        f"  %t = stablehlo.create_token : !stablehlo.token\n  %i = arith.constant 1 : i32\n"
        f"  return %a, %t, %i : {T}, !stablehlo.token, i32\n}}"
    )
    with pytest.raises(CompileError, match="result 2 of '@main' is of type i32"):
        ttxdsl.load(text).partition()


def test_a_module_inside_of_a_module_is_refused():
    inner = f"module {{ func.func @main(%a: {T}) -> {T} {{ return %a : {T} }} }}"
    with pytest.raises(CompileError, match="a module inside of a module"):
        ttxdsl.load(f"module {{ {inner} }}").partition()


@pytest.mark.parametrize("element", ["index", "i7", "f80"])
def test_elements_that_stablehlo_has_not(element: str):
    of = f"tensor<8x{element}>"
    text = f"func.func @main(%a: {of}) -> {of} {{ return %a : {of} }}"
    with pytest.raises(CompileError, match=f"has no tensors of {element}"):
        ttxdsl.load(text).partition()


SEVERAL_BLOCKS = f"""
func.func @main(%a: {T}) -> {T} {{
  cf.br ^bb1
^bb1:
  return %a : {T}
}}"""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_several_blocks_through_commands(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "in.mlir"
    file.write_text(SEVERAL_BLOCKS)
    name, *options = command
    assert main([name, str(file), *options]) == 1
    assert "function '@main' has more than one block" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    ["sdy-aggressive-propagate", "convert-stablehlo-to-ttir", "convert-ttir-to-ttnn"],
)
def test_several_blocks_through_passes(name: str):
    with pytest.raises(CompileError, match="has more than one block"):
        run_passes(SEVERAL_BLOCKS, name)


def test_a_type_that_many_values_have_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
):
    looked: list[object] = []
    is_plain = boundary._is_plain_tensor

    def counted(type_: Attribute) -> bool:
        looked.append(type_)
        return is_plain(type_)

    monkeypatch.setattr(boundary, "_is_plain_tensor", counted)
    type_ = TensorType(f32, [8])
    boundary.require_tensors([FuncOp.external("f", [type_] * 50, [type_] * 50)])
    assert len(looked) == 1
