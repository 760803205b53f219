"""The `ttxdsl run` command: what it prints, what it writes, how it refuses."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.differential.oracle import Oracle
from tests.insight.budget.test_check import loop
from ttxdsl.cli.main import main
from ttxdsl.interpreters.runtime.engine import Engine, run_on
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import form_of

EXAMPLES = Path(__file__).parents[3] / "examples"
MLP = EXAMPLES / "mlp_data_tensor_parallel.mlir"

SMALL = """\
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x2xf32> {
  %0 = stablehlo.negate %a : tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.mlir"
    path.write_text(SMALL)
    return path


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that must fail with one diagnostic; the diagnostic."""
    assert main([str(argument) for argument in arguments]) == 1
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert captured.err.count("error:") == 1
    return captured.err


def test_report(capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(MLP)]) == 0
    out = capsys.readouterr().out
    assert "mesh data=2 x model=4" in out
    assert re.search(
        r"^15 stages and lowerings [\d.]+ m?s, of it \S+ [\d.]+ m?s$", out, re.M
    )
    assert "all_reduce" in out
    assert "pass" in out
    assert "FAIL" not in out


def test_axes_of_size_one_are_not_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "ones.mlir"
    file.write_text(MLP.read_text().replace('"data"=2', '"one"=1, "data"=2'))
    assert main(["run", str(file)]) == 0
    assert "mesh data=2 x model=4" in capsys.readouterr().out
    assert main(["run", str(file), "--all-axes"]) == 0
    assert "mesh one=1 x data=2 x model=4" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["sdy", "stablehlo", "ttir", "ttnn"])
def test_emit_writes_what_mlir_reads(tmp_path: Path, oracle: Oracle, form: str):
    out = tmp_path / "out.mlir"
    assert main(["run", str(MLP), "--emit", form, "-o", str(out)]) == 0
    text = out.read_text()
    assert oracle.accepts(text)
    assert {
        "sdy": "sdy.all_reduce",
        "stablehlo": '"stablehlo.all_reduce"',
        "ttir": '"ttir.all_reduce"',
        "ttnn": '"ttnn.all_reduce"',
    }[form] in text


def test_emit_without_output_goes_to_stdout(capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(MLP), "--emit", "ttnn"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("builtin.module")
    assert "Results" in captured.err


def test_output_alone_is_ttnn(tmp_path: Path, small: Path):
    out = tmp_path / "out.mlir"
    assert main(["run", str(small), "-o", str(out)]) == 0
    assert "ttnn.mesh_shard" in out.read_text()


def test_inputs_from_a_file(
    tmp_path: Path, small: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "in.npz"
    np.savez(path, arg0=np.ones((4, 2), np.float32))
    assert main(["run", str(small), "--inputs", str(path)]) == 0
    np.savez(path, np.ones((4, 2), np.float32))
    assert main(["run", str(small), "--inputs", str(path)]) == 0


def test_dump_dir(tmp_path: Path, small: Path):
    assert main(["run", str(small), "--dump-dir", str(tmp_path / "stages")]) == 0
    names = sorted(file.name for file in (tmp_path / "stages").iterdir())
    assert len(names) == 13
    assert names[5] == "06-user-priority-propagate.mlir"


def test_program_without_shardings_on_many_devices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "single.mlir"
    path.write_text(
        "func.func @main(%a: tensor<8x2xf32>) -> tensor<8x2xf32> {\n"
        "  %0 = stablehlo.tanh %a : tensor<8x2xf32>\n"
        "  return %0 : tensor<8x2xf32>\n}\n"
    )
    assert main(["run", str(path), "--mesh-shape", "1,4"]) == 0
    captured = capsys.readouterr()
    assert "mesh batch=4" in captured.out
    assert "remark: batch of '@main': dimension 0 of argument 0" in captured.err


def test_missing_file(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    err = refused(capsys, "run", tmp_path / "nowhere.mlir")
    assert "nowhere.mlir': No such file or directory" in err


def test_file_that_is_no_text(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "binary.mlir"
    path.write_bytes(b"\xff\xfe\x00")
    assert "it is not UTF-8 text" in refused(capsys, "run", path)


def test_syntax_error(capsys: pytest.CaptureFixture[str], small: Path):
    small.write_text(SMALL.replace("negate %a :", "negate %a $"))
    err = refused(capsys, "run", small)
    assert "small.mlir:3:" in err
    assert "%0 = stablehlo.negate %a $" in err


def test_unknown_op(capsys: pytest.CaptureFixture[str], small: Path):
    small.write_text(SMALL.replace("stablehlo.negate", "stablehlo.nonsense"))
    err = refused(capsys, "run", small)
    assert (
        "small.mlir:3:8: error: Operation stablehlo.nonsense is not registered" in err
    )


def test_unknown_mesh(capsys: pytest.CaptureFixture[str], small: Path):
    small.write_text(SMALL.replace("sharding<@mesh", "sharding<@other"))
    assert "other" in refused(capsys, "run", small)


def test_axis_that_the_mesh_has_not(capsys: pytest.CaptureFixture[str], small: Path):
    small.write_text(SMALL.replace('[{"x"}, {}]', '[{"z"}, {}]'))
    assert '"z"' in refused(capsys, "run", small)


def test_mesh_shape_that_does_not_fit(capsys: pytest.CaptureFixture[str], small: Path):
    err = refused(capsys, "run", small, "--mesh-shape", "2,4")
    assert "mesh-shape 2x4 does not fit the program" in err
    assert "hint:" in err


def test_unsupported_op(capsys: pytest.CaptureFixture[str], small: Path):
    small.write_text(
        SMALL.replace(
            "stablehlo.negate %a :",
            "stablehlo.custom_call @mystery(%a) : (tensor<4x2xf32>) ->",
        )
    )
    err = refused(capsys, "run", small)
    assert "small.mlir:3:" in err
    assert "mystery" in err


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"arg0": np.ones((2, 2), np.float32)}, "shape (2, 2)"),
        ({"arg0": np.ones((4, 2), np.float64)}, "element type float64"),
        ({}, "has no array 'arg0'"),
        ({"arg0": np.ones((4, 2), np.float32), "arg1": np.ones(1)}, "are no argument"),
    ],
)
def test_inputs_that_do_not_fit(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    small: Path,
    arrays: dict[str, np.ndarray],
    message: str,
):
    path = tmp_path / "in.npz"
    np.savez(path, **arrays)
    assert message in refused(capsys, "run", small, "--inputs", path)


def test_inputs_file_that_is_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, small: Path
):
    path = tmp_path / "in.npz"
    path.write_text("no arrays here")
    assert "cannot read inputs" in refused(capsys, "run", small, "--inputs", path)


def test_failure_leaves_the_output_file_as_it_was(tmp_path: Path, small: Path):
    out = tmp_path / "out.mlir"
    out.write_text("before")
    small.write_text(SMALL.replace('[{"x"}, {}]', '[{"z"}, {}]'))
    assert main(["run", str(small), "-o", str(out)]) == 1
    assert out.read_text() == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "out.mlir",
        "small.mlir",
    ]


def test_output_in_a_folder_that_is_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, small: Path
):
    err = refused(capsys, "run", small, "-o", tmp_path / "no" / "out.mlir")
    assert "no such directory" in err


def test_mismatch_exits_with_1(
    capsys: pytest.CaptureFixture[str], small: Path, monkeypatch: pytest.MonkeyPatch
):
    """A compiler that changes the program is found out."""
    from ttxdsl.cli.commands import run

    def wrong(engine: object, inputs: list[np.ndarray]):
        return (-inputs[0] + 1,)

    monkeypatch.setattr(run, "run_on", wrong)
    assert main(["run", str(small)]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_strict_refuses_what_is_computed_replicated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Six columns do not go on four devices: whole with a warning, or an error."""
    path = tmp_path / "uneven.mlir"
    path.write_text(
        """\
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.negate %a : tensor<4x6xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
"""
    )
    assert main(["run", str(path)]) == 0
    assert "size 6 is not divisible by 4" in capsys.readouterr().err
    error = refused(capsys, "run", path, "--strict")
    assert "uneven.mlir:3" in error and "size 6 is not divisible by 4" in error


def test_json(capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(MLP), "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert captured.err == ""
    assert found["ok"] is True
    assert found["meshes"] == {"mesh": {"data": 2, "model": 4}}
    assert [stage["number"] for stage in found["stages"]][-3:] == [13, None, None]
    (collective,) = found["collectives"]
    assert (collective["kind"], collective["axes"]) == ("all_reduce", "model")
    assert found["results"][0]["ok"] is True


def test_json_and_a_program_need_two_places(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    message = refused(capsys, "run", small, "--json", "--emit", "ttir")
    assert "--json and --emit cannot both have standard output" in message
    out = tmp_path / "out.mlir"
    assert main(["run", str(small), "--json", "--emit", "ttir", "-o", str(out)]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    assert "ttir." in out.read_text()


def test_on_devices_of_jax(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Devices in an order of their own, and an argument split by a part of an axis."""
    path = tmp_path / "ordered.mlir"
    path.write_text(
        """
sdy.mesh @mesh = <["x"=4, "y"=2], device_ids=[3,1,7,5,0,2,6,4]>
func.func @forward(
    %a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}, {"y"}]>},
    %b: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>})
    -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x6xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
"""
    )
    assert main(["run", str(path), "--engine", "jax", "--devices", "8", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["engine"] == "jax"
    assert report["results"][0]["ok"]
    assert report["collectives"]


def test_devices_are_enough_and_of_an_engine(
    small: Path, capsys: pytest.CaptureFixture[str]
):
    few = refused(capsys, "run", MLP, "--engine", "jax", "--devices", 4)
    assert "the program runs on 8 devices, and there are to be 4" in few
    assert "say --engine jax" in refused(capsys, "run", small, "--devices", 4)


@pytest.mark.parametrize("form", ["stablehlo", "ttir", "ttnn"])
def test_the_form_that_is_run(
    form: str,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    ran: list[str] = []
    run = run_on

    def watched(engine: Engine, inputs: list[np.ndarray]):
        assert isinstance(engine, Runner)
        module = engine.function.parent_op()
        assert isinstance(module, ModuleOp)
        ran.append(form_of(module))
        return run(engine, inputs)

    monkeypatch.setattr("ttxdsl.cli.commands.run.run_on", watched)
    assert main(["run", str(small), "--form", form]) == 0
    assert "pass" in capsys.readouterr().out
    assert ran == [form]
    if form != "stablehlo":
        said = refused(capsys, "run", small, "--engine", "jax", "--form", form)
        assert f"--form {form}: JAX's devices run StableHLO" in said


@pytest.mark.parametrize(
    ("type_", "start", "limit", "step", "options", "said"),
    [
        ("i32", "0", "12", "1", [], "x12 in loop"),
        ("f32", "0.0", "12.0", "1.0", [], "x? in loop"),
        ("f32", "0.0", "12.0", "1.0", ["--trip-count", "12"], "x12 in loop,"),
    ],
)
def test_collectives_in_loops(
    type_: str,
    start: str,
    limit: str,
    step: str,
    options: list[str],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    file = tmp_path / "loop.mlir"
    file.write_text(loop(type_, start, limit, step))
    for command in ("run", "why"):
        assert main([command, str(file), *options]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert said in out
        assert ("--trip-count says it" in out) == (said == "x? in loop")


LAYERS = 14


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A program of many layers, each with a sum over devices, and as many results."""
    lines = [
        f"  %{k} = stablehlo.dot_general %{k - 1 if k else 'x'}, %w, contracting_dims = [1] x [0]"
        f" : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>"
        for k in range(LAYERS)
    ]
    names = ", ".join(f"%{k}" for k in range(LAYERS))
    types = ", ".join(["tensor<8x8xf32>"] * LAYERS)
    path = tmp_path / "deep.mlir"
    path.write_text(
        'sdy.mesh @mesh = <["x"=2]>\n'
        "func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>"
        ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})'
        f" -> ({types}) {{\n" + "\n".join(lines) + f"\n  return {names} : {types}\n}}\n"
    )
    return path


def test_layers_are_one_row(deep: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(deep)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"│ {LAYERS - 1} │ reduce_scatter │ x │ 8x8xf32 │" in out
    assert f"{LAYERS} of {LAYERS} pass, the farthest off shown" in out
    assert main(["run", str(deep), "--all"]) == 0
    out = capsys.readouterr().out
    assert out.count(" reduce_scatter ") == LAYERS - 1
    assert out.count("8x8xfloat32") == LAYERS
    assert main(["run", str(deep), "--by", "line"]) == 0
    assert "deep.mlir:3:" in capsys.readouterr().out
    assert main(["why", str(deep)]) == 0
    assert f"{LAYERS - 2} reduce_scatter" in capsys.readouterr().out


def test_rounding_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Sums that cancel: what is left of them is rounding, on one device as on two."""
    path = tmp_path / "cancels.mlir"
    path.write_text(
        """
sdy.mesh @mesh = <["x"=3]>
func.func @main(%x: tensor<64x513xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %large = stablehlo.constant dense<1.0e+06> : tensor<64x513xf32>
  %0 = stablehlo.add %x, %large : tensor<64x513xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<64x513xf32>, tensor<f32>) -> tensor<64xf32>
  %all = stablehlo.constant dense<5.13e+08> : tensor<64xf32>
  %2 = stablehlo.subtract %1, %all : tensor<64xf32>
  return %2 : tensor<64xf32>
}
"""
    )
    assert main(["run", str(path), "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["ok"]
    assert result["rounded"]


def test_columns_are_obeyed_in_pipes(
    deep: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["run", str(deep)]) == 0
    tables = capsys.readouterr().out.splitlines()[1:]
    assert max(map(len, tables)) == 80
    assert "…" not in "".join(tables)


def test_results_are_called_by_their_paths(capsys: pytest.CaptureFixture[str]):
    step = str(EXAMPLES / "mlp_train_step.mlir")
    assert main(["run", step]) == 0
    out = capsys.readouterr().out
    assert "│ result[0]['w1'] │" in out and "│ result[1] " in out
    assert main(["run", step, "--json"]) == 0
    names = [one["name"] for one in json.loads(capsys.readouterr().out)["results"]]
    assert names[-1] == "result[1]"
    assert main(["show", step]) == 0
    assert "result 4 result[1]: tensor<f32>" in capsys.readouterr().out
