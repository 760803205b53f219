"""Programs as Python objects: what each method answers, and that nothing changes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ttxdsl
from tests.insight.check.faults import FAULTS
from ttxdsl.api import Program, program_of

EXAMPLES = Path(__file__).parents[1] / "examples"
MLP = EXAMPLES / "mlp_data_tensor_parallel.mlir"

SINGLE = """\
func.func @main(%a: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<8x2xf32>
  %1 = stablehlo.add %a, %0 : tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
"""


@pytest.fixture(scope="module")
def mlp() -> Program:
    return ttxdsl.load(MLP)


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sys, ttxdsl; ttxdsl.__version__;"
        "assert not {'xdsl', 'numpy', 'ttxdsl.api'} & set(sys.modules);"
        "assert ttxdsl.Program.__name__ == 'Program'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_has_what_it_lists_and_no_more():
    for name in ttxdsl.__all__:
        assert getattr(ttxdsl, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ttxdsl.nothing  # pyright: ignore[reportAttributeAccessIssue]


def test_load_a_path_or_text():
    assert ttxdsl.load(str(MLP)).text == ttxdsl.load(MLP).text
    program = ttxdsl.load(SINGLE)
    assert program.source == "<text>"
    assert ttxdsl.load(program.text).text == program.text == str(program)


def test_load_says_what_is_wrong(tmp_path: Path):
    with pytest.raises(ttxdsl.CompileError, match="No such file"):
        ttxdsl.load("nowhere.mlir")
    path = tmp_path / "wrong.mlir"
    path.write_text("func.func @main() {")
    with pytest.raises(ttxdsl.CompileError, match=r"wrong\.mlir:1:"):
        ttxdsl.load(path)


def test_forms(mlp: Program):
    device = mlp.partition()
    ttir = device.lower("ttir")
    ttnn = ttir.lower("ttnn")
    assert [p.form for p in (mlp, device, ttir, ttnn)] == [
        "stablehlo",
        "stablehlo",
        "ttir",
        "ttnn",
    ]
    assert [p.is_partitioned for p in (mlp, device, ttir, ttnn)] == [
        False,
        True,
        True,
        True,
    ]
    assert len(mlp.stages) == 0
    assert [stage.number for stage in device.stages] == list(range(1, 14))
    assert [s.name for s in ttnn.stages[13:]] == [
        "convert-stablehlo-to-ttir",
        "convert-ttir-to-ttnn",
    ]
    assert ttnn.meshes == mlp.meshes
    assert mlp.lower("ttnn").text == ttnn.text


def test_methods_leave_their_program_as_it_was(mlp: Program):
    before = mlp.text
    copy = mlp.module
    for op in list(copy.ops):
        op.detach()
    device = mlp.partition()
    after = device.text
    device.lower("ttnn")
    device.simulate(*mlp.random_inputs())
    assert Program(mlp.module, mlp._history).text == before
    assert Program(device.module, device._history).text == after


def test_simulate_every_form(mlp: Program):
    inputs = mlp.random_inputs(seed=5)
    (expected,) = mlp.simulate(*inputs)
    device = mlp.partition()
    for program in (device, device.lower("ttir"), device.lower("ttnn")):
        np.testing.assert_allclose(program.simulate(*inputs)[0], expected, rtol=1e-4)


def test_simulate_takes_nests_and_numbers():
    program = ttxdsl.load(SINGLE)
    a, b = program.random_inputs()
    (expected,) = program.simulate(a, b)
    for nest in (({"b": b, "a": a},), ([a, b],), (a, (None, b))):
        assert np.array_equal(program.simulate(*nest)[0], expected)
    assert program.simulate(np.zeros((8, 2), np.float32), [1.0, 2.0])[0][3, 1] == 2


def test_simulate_refuses_what_does_not_fit():
    program = ttxdsl.load(SINGLE)
    with pytest.raises(ttxdsl.CompileError, match="takes 2 arguments") as few:
        program.simulate(np.zeros((8, 2), np.float32))
    assert "keep_unused" not in str(few.value)
    with pytest.raises(ttxdsl.CompileError, match="keep_unused"):
        program.simulate(*[np.zeros((8, 2), np.float32)] * 3)


def test_a_program_without_shardings_on_a_mesh():
    device = ttxdsl.load(SINGLE).partition(mesh=(1, 4))
    assert device.meshes["mesh"].axis_sizes == (1, 4)
    assert "tensor<2x2xf32>" in device.text
    assert any("batch" in str(remark) for remark in device.remarks)
    assert device.collectives() == []


def test_argument_types():
    device = ttxdsl.load(SINGLE).partition(
        mesh=(1, 2), argument_types="main=parameter,input", automatic_arg_analysis=False
    )
    assert "tensor<4x2xf32>" not in device.text


def test_collectives(mlp: Program):
    device = mlp.partition()
    (collective,) = device.collectives()
    assert (collective.kind, collective.axes_text) == ("all_reduce", "model")
    assert device.lower("ttnn").collectives() == device.collectives()
    assert mlp.collectives() == []


def test_collectives_of_a_loaded_ttnn_program_are_refused(mlp: Program):
    ttnn = ttxdsl.load(mlp.lower("ttnn").text)
    assert ttnn.form == "ttnn"
    with pytest.raises(
        ttxdsl.CompileError, match="collectives are listed of StableHLO"
    ):
        ttnn.collectives()


def test_partition_up_to_a_stage(mlp: Program):
    device = mlp.partition()
    assert "sdy.all_reduce" in device.after(8).text
    assert device.lower("ttnn").after(6).text == mlp.partition(last_stage=6).text
    with pytest.raises(ttxdsl.CompileError, match="no stages"):
        mlp.after(3)


def test_on_stage_and_dump_dir(mlp: Program, tmp_path: Path):
    seen: list[str] = []
    mlp.partition(on_stage=lambda stage: seen.append(stage.name), dump_dir=tmp_path)
    assert seen[0] == "inline"
    assert len(seen) == len(list(tmp_path.iterdir())) == 13


def test_a_partitioned_program_skips_stages(mlp: Program):
    again = program_of(mlp.partition().module).partition()
    assert [stage.skipped for stage in again.stages] == [False] * 4 + [True] * 8 + [
        False
    ]
    assert "skipped" in str(again.stages[5])


def test_wrong_turns(mlp: Program):
    ttnn = mlp.lower("ttnn")
    with pytest.raises(ttxdsl.CompileError, match="ttnn already"):
        ttnn.lower("ttir")
    with pytest.raises(ttxdsl.CompileError, match="cannot be partitioned again"):
        ttnn.partition()
    with pytest.raises(ttxdsl.CompileError, match="no form to lower to"):
        mlp.lower("llvm")  # pyright: ignore[reportArgumentType]


def test_repr(mlp: Program):
    text = repr(mlp.partition())
    assert "mlp_data_tensor_parallel.mlir (stablehlo after canonicalize)" in text
    assert text.endswith("-> (tensor<32x16xf32>)>")


def test_check(mlp: Program):
    report = mlp.check()
    assert report.ok
    assert len(report.steps) == 15
    assert "15 steps compute what the program does" in str(report)
    again = mlp.partition().lower("ttnn").check(seeds=(1, 2))
    assert again.trials[1:] == ("random inputs (seed 1)", "random inputs (seed 2)")
    assert ttxdsl.load(SINGLE).check(mesh=(1, 4)).ok


def test_check_takes_options_only_once(mlp: Program):
    with pytest.raises(ttxdsl.CompileError, match="partitioned already"):
        mlp.partition().check(mesh=(2, 4))


@pytest.mark.usefixtures("of_this_compiler_only")
def test_check_finds_faults(monkeypatch: pytest.MonkeyPatch):
    fault = FAULTS[0]
    fault.plant(monkeypatch)
    report = ttxdsl.load(fault.program).check(minimize=False)
    assert not report.ok
    assert "result 0" in str(report)
