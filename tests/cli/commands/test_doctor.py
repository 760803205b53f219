"""The `ttxdsl doctor` command: tables, JSON, limits that are said, exit codes."""

import json
from pathlib import Path

import pytest

from tests.sampling import sampled
from ttxdsl.cli.main import main

PROGRAM = """\
func.func @main(%x: tensor<8x30xf32>, %w: tensor<30x6xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x30xf32>, tensor<30x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return path


def test_tables(program: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", str(program), "--devices", "4"]) == 0
    out = capsys.readouterr().out
    assert "4 devices can be 4, 2x2" in out
    assert "1, 2, 3, 5, 6, 10, 15, 30" in out
    assert "x.1, w.0" in out
    assert "6.2%" in out  # 30 in four parts of eight
    assert "1* │ batch=2 w_1=2 " in out
    assert "added up (1)" in out
    assert "link 12.5 GB/s, 1 us" in out


def test_fewer_meshes_where_they_take_too_many_lines(
    program: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("ttxdsl.insight.doctor.view._MOST_MESH_LINES", 9)
    counts: list[int] = []
    for asked in ([], ["--top", "6"]):
        assert main(["doctor", str(program), "--devices", "4", *asked]) == 0
        meshes = capsys.readouterr().out.partition("Meshes")[2].partition("└")[0]
        counts.append(meshes.count("all_"))
    assert counts[0] < counts[1]


LAYERS = """\
func.func @main(%x: tensor<4x64xf32>, %up: tensor<64x64xf32>, %down: tensor<64x64xf32>) -> tensor<4x64xf32> {
  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %1 = stablehlo.tanh %0 : tensor<4x64xf32>
  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}
"""


def test_constraints_inside_are_candidates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "layers.mlir"
    path.write_text(LAYERS)
    asked = ["doctor", str(path), "--devices", "4", "--top", "20"]
    assert main([*asked, "--candidates", "30"]) == 0
    out = capsys.readouterr().out
    (row,) = [line for line in out.split("\n") if "batch kept" in line]
    assert "fsdp=2 up_1=2 batch kept" in row
    # it does something else than the same mesh without constraints inside
    (without,) = [line for line in out.split("\n") if "fsdp=2 up_1=2  " in line]
    assert row.split("│")[4:] != without.split("│")[4:]


OPAQUE = """\
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.custom_call @first(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.custom_call @second(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}
"""


@pytest.mark.parametrize("command", ["why", "doctor --devices 2"])
def test_warnings_of_one_kind_are_one_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "opaque.mlir"
    path.write_text(OPAQUE)
    name, *options = command.split()
    assert main([name, str(path), *options]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "opaque.mlir:3:3: warning: 'stablehlo.custom_call' op" in line
    assert "(and 1 more of this kind)" in line


def test_what_is_left_out_is_said(program: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["doctor", str(program), "--devices", "4", "--candidates", "2"]
    assert main([*arguments, "--top", "1"]) == 0
    out = capsys.readouterr().out
    assert "2 of 4 candidates not compiled" in out
    assert "--candidates 4" in out


def test_json(program: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", str(program), "--devices", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mesh_shapes"] == [[4], [2, 2]]
    assert found["groups"][0]["name"] == "batch"
    best = found["meshes"][0]
    assert best["mesh"] == {"batch": 2, "w_1": 2}
    assert best["bytes_sent"] == 0
    # a device has 4 rows of x, 3 columns of w, and what they make
    assert best["peak_bytes"] == 4 * (4 * 30 + 30 * 3 + 4 * 3)


def test_nothing_fits(program: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", str(program), "--devices", "4", "--memory", "100B"]) == 1
    out = capsys.readouterr().out
    assert "no mesh fits into 100 B" in out
    assert "! does not fit into 100 B" in out


def test_each_shape(program: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["doctor", str(program), "--devices", "4", "--memory", "900B"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    _, table = out.split("The best of each shape of a mesh")
    # 30 and 6 cannot be split in four, so one axis splits the batch
    assert "│ 4     │        1 │ batch=4 " in table
    assert "│ 2x2   │        5 │ batch=2 w_1=2 │" in table


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--devices", "x"], "'x' is no number from 1 up"),
        (["--devices", "4", "--memory", "16Gb!"], "'16Gb!' is no size"),
        (["--devices", "4", "--link-gbps", "0"], "'0' is no number above 0"),
    ],
)
def test_wrong_command_lines(
    program: Path, option: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as raised:
        main(["doctor", str(program), *option])
    assert raised.value.code == 2
    assert message in capsys.readouterr().err


def test_errors_are_one_diagnostic(program: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", str(program), "--devices", "1"]) == 1
    assert capsys.readouterr().err.startswith("error: there is no mesh to choose")


def test_the_winner_as_code(program: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["doctor", str(program), "--devices", "4"]) == 0
    _, code = capsys.readouterr().out.split("The first one in JAX")
    assert '"x": P("batch"),' in code and '"w": P(None, "w_1"),' in code
    assert main(["doctor", str(program), "--devices", "4", "--json"]) == 0
    (best, *_) = json.loads(capsys.readouterr().out)["meshes"]
    assert best["partition_specs"] == {"x": [["batch"], []], "w": [[], ["w_1"]]}


def test_of_those_compiled(program: Path, capsys: pytest.CaptureFixture[str]):
    """A star says nothing of what was not compiled."""
    main(["doctor", str(program), "--devices", "4"])
    assert "* no other mesh takes less time" in capsys.readouterr().out
    main(["doctor", str(program), "--devices", "4", "--candidates", "2"])
    assert "* no other mesh of those compiled takes less" in capsys.readouterr().out


OWN_MESH = """\
sdy.mesh @mesh = <["data"=2]>
func.func @main(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""


def test_prescriptions_of_the_own_mesh(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "own.mlir"
    path.write_text(OWN_MESH)
    assert main(["doctor", str(path), "--all"]) == 0
    out = capsys.readouterr().out
    assert "Prescriptions, each compiled" in out
    assert "  # was P(" in out
    assert "Tried, and no better" in out
    assert main(["doctor", str(path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    sides = data["before"], data["together"]["after"]
    assert sides[0]["bytes"] > sides[1]["bytes"]
    assert main(["doctor", str(path), "--memory", "1"]) == 1
    assert "nothing fits into 1 B" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "the program has no mesh of several devices"),
        (
            ["--devices", "2", "--keep", "--ignore-shardings"],
            "--keep and --ignore-shardings contradict each other",
        ),
        (["--top", "3"], "--top is for choosing a mesh: say how many devices"),
        (["--devices", "2", "--all"], "--all is not for --devices"),
    ],
)
def test_options_of_the_other_question(
    program: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
):
    assert main(["doctor", str(program), *options]) == 1
    captured = capsys.readouterr()
    assert f"error: {message}" in captured.err.replace("'builtin.module' op: ", "")
    assert not captured.out


def test_a_search_on_the_first_mesh(program: Path, capsys: pytest.CaptureFixture[str]):
    """From a program without shardings to a mesh, all shardings, and what helps further."""
    asked = ["doctor", str(program), "--devices", "4", "--seconds", "30"]
    assert main([*asked, "--jobs", "1"]) == 0
    assert "On the first mesh, further:" in capsys.readouterr().out
    assert main([*asked, "--jobs", "1", "--chip", "v5e", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    best = data["meshes"][0]
    before = data["further"]["before"]
    assert best["bytes_sent"] == before["bytes"]
    assert best["peak_bytes"] == before["peak_bytes"]
    assert best["seconds"] == before["step_s"]
    first, *others = data["prescriptions"]
    assert first["kind"] == "mesh" and first["write"].startswith(
        "mesh = jax.make_mesh("
    )
    assert first["after"]["bytes"] == best["bytes_sent"]
    assert first["before"]["launches"] == 0
    assert all(1 in one["on_top_of"] for one in others)
    assert data["together"]["prescriptions"][0] == 1
    after = data["further"]["together"]["after"]
    assert data["together"]["after"] == after


@pytest.mark.parametrize(("option", "mesh"), [((), "x=4"), (("--all-axes",), "a=1 x x=4")])  # fmt: skip
def test_prescriptions_name_axes_above_one(
    option: tuple[str, ...],
    mesh: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    path = tmp_path / "ones.mlir"
    path.write_text(
        """sdy.mesh @mesh = <["a"=1, "x"=4]>
        func.func @main(%x: tensor<8x8xf32>
            {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
          %0 = stablehlo.tanh %x : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }"""
    )
    assert main(["doctor", str(path), "--seconds", "2", *option]) == 0
    assert f"ones.mlir: mesh {mesh};" in capsys.readouterr().out


def test_shardings_that_fit_no_mesh(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "six.mlir"
    text = """sdy.mesh @mesh = <["x"=2]>
        func.func @main(%x: tensor<6x8xf32>
            {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<6x8xf32> {
          %0 = stablehlo.tanh %x : tensor<6x8xf32>
          return %0 : tensor<6x8xf32>
        }"""
    path.write_text(text)
    assert main(["doctor", str(path), "--devices", "4"]) == 1
    error = capsys.readouterr().err
    assert "no mesh of 4 devices fits the shardings that the program has" in error
    path.write_text(text.replace("6x8", "?x8"))
    assert main(["doctor", str(path), "--devices", "4"]) == 1
    assert "without its sizes there is nothing to measure" in capsys.readouterr().err


_KEPT = """sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main(%a: tensor<16x16xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x16xf32> {
      %0 = sdy.sharding_constraint %a <@mesh, CONSTRAINT> : tensor<16x16xf32>
      %1 = stablehlo.tanh %0 : tensor<16x16xf32>
      return %1 : tensor<16x16xf32>
    }"""


@pytest.mark.parametrize("devices", sampled([[], ["--devices", "8"]], 1))
@pytest.mark.parametrize(
    ("constraint", "contradicts"),
    [
        ('[{"y"}, {}]', True),
        ('[{}, {"x"}]', True),
        ("[{}, {}]", False),  # gathered, as FSDP does
        ('[{"x"}, {"y"}]', False),
        ('[{"x", "y"}, {}]', False),
    ],
)
def test_a_constraint_that_contradicts_what_is_kept(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    constraint: str,
    contradicts: bool,
    devices: list[str],
):
    path = tmp_path / "kept.mlir"
    path.write_text(_KEPT.replace("CONSTRAINT", constraint))
    command = ["doctor", str(path), "--seconds", "2", *devices]
    assert main([*command, "--keep"]) == int(contradicts)
    error = capsys.readouterr().err
    message = "--keep keeps a split as"
    assert (message in error) == contradicts
    if contradicts:
        assert "kept.mlir:4:" in error
        assert "leave out --keep" in error
        assert main(command) == 0
