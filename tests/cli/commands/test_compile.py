"""The `ttxdsl compile` command: the text of `Program`, and how it refuses."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import ttxdsl
from tests.sampling import sampled
from ttxdsl.cli.main import main
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.transforms.shardy.exporting.sdy_close_shardings import CloseShardingsPass

EXAMPLES = Path(__file__).parents[3] / "examples"
MLP = EXAMPLES / "mlp_data_tensor_parallel.mlir"
BLOCK = EXAMPLES / "transformer_block.mlir"
FORMS = ("sdy", "stablehlo", "ttir", "ttnn")

SINGLE = """\
func.func @main(%a: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.tanh %a : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
"""
UNEVEN = """\
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.negate %a : tensor<4x6xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
"""


@pytest.fixture
def single(tmp_path: Path) -> Path:
    path = tmp_path / "single.mlir"
    path.write_text(SINGLE)
    return path


def compiled(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What the command prints when all is well and it has nothing else to say."""
    assert main(["compile", *map(str, arguments)]) == 0
    captured = capsys.readouterr()
    assert all("nothing is sharded" in line for line in captured.err.splitlines())
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run a command that must fail with one diagnostic; the diagnostic."""
    assert main(["compile", *map(str, arguments)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert captured.err.count("error:") == 1
    return captured.err


def text_of(path: Path, form: str) -> str:
    program = ttxdsl.load(path)
    match form:
        case "sdy":
            return program.partition(last_stage=10).text
        case "stablehlo":
            return program.partition().text
        case "ttir":
            return program.lower("ttir").text
        case _:
            return program.lower("ttnn").text


@pytest.fixture
def in_form(tmp_path: Path):
    """Makes a file of the compiled MLP in a form."""

    def write(form: str) -> Path:
        path = tmp_path / f"in.{form}.mlir"
        path.write_text(text_of(MLP, form))
        return path

    return write


# --- what it prints ---------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("path", sampled([MLP, BLOCK], 1), ids=lambda path: path.stem)
def test_the_text_is_that_of_the_program(
    path: Path, form: str, capsys: pytest.CaptureFixture[str]
):
    assert compiled(capsys, path, "--emit", form) == text_of(path, form)


def test_it_is_ttnn_if_nothing_is_said(capsys: pytest.CaptureFixture[str]):
    text = compiled(capsys, MLP)
    assert text == ttxdsl.load(MLP).lower("ttnn").text
    assert text.endswith("}\n")


def test_it_is_what_run_emits(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "run.mlir"
    for form in FORMS:
        assert main(["run", str(MLP), "--emit", form, "-o", str(out)]) == 0
        capsys.readouterr()
        assert compiled(capsys, MLP, "--emit", form) == out.read_text()


def test_output_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "out.mlir"
    out.write_text("before")
    assert compiled(capsys, MLP, "--emit", "ttir", "-o", out) == ""
    assert out.read_text() == text_of(MLP, "ttir")
    assert list(tmp_path.iterdir()) == [out]


def test_options_of_the_compiler(single: Path, capsys: pytest.CaptureFixture[str]):
    """What they mean is tested with `partition`; here that all of them arrive."""
    options: dict[str, object] = {
        "mesh": (1, 4),
        "argument_types": "main=parameter",
        "automatic_arg_analysis": False,
        "result_presharded": (1,),
    }
    words = (
        "--mesh-shape", "1,4", "--argument-types", "main=parameter",
        "--no-automatic-arg-analysis", "--result-presharded", "1",
    )  # fmt: skip
    program = ttxdsl.load(single)
    expected = program.partition(**options)
    for name in options:
        rest = {key: value for key, value in options.items() if key != name}
        if name != "automatic_arg_analysis":  # argument types leave nothing to find
            assert program.partition(**rest).text != expected.text
    assert compiled(capsys, single, *words, "--emit", "stablehlo") == expected.text


def test_links(capsys: pytest.CaptureFixture[str]):
    expected = ttxdsl.load(MLP).lower("ttnn", num_links=2).text
    assert expected != text_of(MLP, "ttnn")
    assert compiled(capsys, MLP, "--num-links", "2") == expected
    assert "num-links is 0" in refused(capsys, MLP, "--num-links", "0")


@pytest.mark.parametrize(("form", "count"), [("sdy", 10), ("ttnn", 13)])
def test_dump_dir(
    form: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = tmp_path / "new" / "stages"
    text = compiled(capsys, MLP, "--emit", form, "--dump-dir", folder)
    names = sorted(file.name for file in folder.iterdir())
    assert len(names) == count
    assert names[5] == "06-user-priority-propagate.mlir"
    if form == "sdy":
        assert (folder / names[-1]).read_text() == text


def test_remarks_go_to_standard_error(single: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compile", str(single), "--mesh-shape", "1,4"]) == 0
    captured = capsys.readouterr()
    assert "remark: batch of '@main': dimension 0 of argument 0" in captured.err
    assert captured.out == ttxdsl.load(single).partition(mesh=(1, 4)).lower("ttnn").text


def test_strict_refuses_what_is_computed_replicated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Six columns do not go on four devices: whole with a warning, or an error."""
    path = tmp_path / "uneven.mlir"
    path.write_text(UNEVEN)
    assert main(["compile", str(path)]) == 0
    captured = capsys.readouterr()
    assert "warning:" in captured.err and "not divisible by 4" in captured.err
    assert captured.out == ttxdsl.load(path).lower("ttnn").text
    error = refused(capsys, path, "--strict")
    assert "uneven.mlir:3" in error and "not divisible by 4" in error


# --- what comes compiled in part --------------------------------------------


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("stablehlo", "stablehlo"),
        ("stablehlo", "ttnn"),
        ("ttir", "ttir"),
        ("ttir", "ttnn"),
        ("ttnn", "ttnn"),
    ],
)
def test_it_goes_on_from_a_later_form(
    source: str,
    form: str,
    in_form,  # pyright: ignore[reportUnknownParameterType]
    capsys: pytest.CaptureFixture[str],
):
    assert compiled(capsys, in_form(source), "--emit", form) == text_of(MLP, form)


@pytest.mark.parametrize(
    ("source", "words", "message"),
    [
        ("ttnn", ["--emit", "ttir"], "the program is ttnn already, not ttir"),
        ("ttnn", ["--emit", "sdy"], "the program is ttnn already: it cannot be part"),
        ("ttir", ["--emit", "stablehlo"], "ttir already: it cannot be partitioned"),
        ("ttir", ["--mesh-shape", "1,8"], "ttir already: it cannot be partitioned"),
        ("ttir", ["--dump-dir", "stages"], "ttir already: it cannot be partitioned"),
    ],
)
def test_nothing_goes_back(
    source: str,
    words: list[str],
    message: str,
    in_form,  # pyright: ignore[reportUnknownParameterType]
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    path = in_form(source)
    assert message in refused(capsys, path, *words)
    assert list(tmp_path.iterdir()) == [path]


# --- what it verifies -------------------------------------------------------


def test_verify_each_names_what_a_stage_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Stage 12 does nothing: only a look behind it sees that."""
    text = compiled(capsys, MLP, "--verify-each")
    assert text == text_of(MLP, "ttnn")
    monkeypatch.setattr(CloseShardingsPass, "apply", lambda *_: None)
    compiled(capsys, MLP)
    assert "open" in refused(capsys, MLP, "--verify-each")


@pytest.mark.parametrize("words", [[], ["--verify-each"]])
def test_what_comes_out_is_valid(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """A lowering that forgets the return is found out, and nothing is written."""
    lower = ConvertTTIRToTTNNPass.apply

    def forgetful(self: ConvertTTIRToTTNNPass, ctx: Context, op: ModuleOp) -> None:
        lower(self, ctx, op)
        (function,) = (one for one in op.ops if isinstance(one, FuncOp))
        last = function.body.block.last_op
        assert last is not None
        last.detach()

    monkeypatch.setattr(ConvertTTIRToTTNNPass, "apply", forgetful)
    assert "error" in refused(capsys, MLP, "-o", tmp_path / "out.mlir", *words).lower()
    assert not list(tmp_path.iterdir())


def test_the_module_is_verified_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """As read and at the end; with --verify-each behind all fifteen steps instead."""
    verify, calls = ModuleOp.verify, 0

    def counted(self: ModuleOp, verify_nested_ops: bool = True) -> None:
        nonlocal calls
        calls += 1
        verify(self, verify_nested_ops)

    monkeypatch.setattr(ModuleOp, "verify", counted)
    compiled(capsys, MLP)
    assert calls == 2
    calls = 0
    compiled(capsys, MLP, "--verify-each")
    assert calls == 1 + 13 + 2


# --- what it refuses --------------------------------------------------------


def test_syntax_error(single: Path, capsys: pytest.CaptureFixture[str]):
    single.write_text(SINGLE.replace("tanh %a :", "tanh %a $"))
    assert "single.mlir:2:" in refused(capsys, single)


def test_file_that_is_no_text(single: Path, capsys: pytest.CaptureFixture[str]):
    single.write_bytes(b"\xff\xfe\x00")
    assert "it is not UTF-8 text" in refused(capsys, single)


def test_the_folder_of_the_output_is_looked_for_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Before the program is read, which is not there either."""
    error = refused(capsys, tmp_path / "none.mlir", "-o", tmp_path / "no" / "out.mlir")
    assert "out.mlir': no such directory" in error


def test_failure_leaves_the_output_file_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, out = tmp_path / "uneven.mlir", tmp_path / "out.mlir"
    path.write_text(UNEVEN)
    out.write_text("before")
    refused(capsys, path, "--strict", "-o", out)
    assert out.read_text() == "before"
    assert sorted(tmp_path.iterdir()) == [out, path]


def test_dump_dir_that_cannot_be(
    tmp_path: Path, single: Path, capsys: pytest.CaptureFixture[str]
):
    error = refused(capsys, single, "--dump-dir", single)
    assert f"cannot make the folder '{single}': File exists" in error
    blocked = tmp_path / "stages"
    (blocked / "03-apply-argument-shard-status.mlir").mkdir(parents=True)
    error = refused(capsys, single, "--dump-dir", blocked)
    assert "03-apply-argument-shard-status.mlir': Is a directory" in error


# --- as a process -----------------------------------------------------------

_LOADED = """\
import sys
from ttxdsl.cli.main import main
program, out = sys.argv[1:]
for form in ("stablehlo", "ttir", "ttnn"):
    assert main(["compile", program, "--emit", form, "-o", out]) == 0
    print(*sys.modules)
"""


def test_it_loads_what_it_needs(tmp_path: Path):
    """No kernels, reports or bars: they take longer to load than this to compile."""
    always = {
        "ttxdsl.api",
        "ttxdsl.interpreters.kernels.elementwise",
        "ttxdsl.interpreters.runtime.run",
        "ttxdsl.insight.report",
        "rich.progress",
        "rich.table",
    }
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, str(MLP), str(tmp_path / "out.mlir")],
        capture_output=True,
        text=True,
        check=True,
    )
    # each form is compiled to on top of the one before, which loads no more
    stablehlo, ttir, ttnn = (set(line.split()) for line in done.stdout.splitlines())
    assert "ttxdsl.transforms.pipeline" in stablehlo
    assert "ttxdsl.conversion.vocabulary" not in stablehlo
    assert "ttxdsl.conversion.ttir_to_ttnn.convert" not in ttir
    assert not ttnn & always


def test_a_reader_may_go(tmp_path: Path):
    """The text is longer than a pipe holds; shells know the code of SIGPIPE."""
    path = tmp_path / "long.mlir"
    lines = [f"  %{i + 1} = stablehlo.tanh %{i} : tensor<8xf32>" for i in range(1500)]
    path.write_text(
        'sdy.mesh @mesh = <["x"=2]>\nfunc.func @main(%0: tensor<8xf32>'
        ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {\n'
        + "\n".join(lines)
        + "\n  return %1500 : tensor<8xf32>\n}\n"
    )
    with subprocess.Popen(
        [sys.executable, "-m", "ttxdsl.cli.main", "compile", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # without a buffer Python takes a text that is written in part as written
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
    assert process.returncode == 128 + signal.SIGPIPE
    assert error == b""


def test_debuginfo_says_where_ops_come_from(
    single: Path, capsys: pytest.CaptureFixture[str]
):
    """Also of text that has no `loc(...)`, and what is printed can be read again."""
    text = compiled(capsys, single, "--print-debuginfo")
    tanh = next(line for line in text.splitlines() if "ttnn.tanh" in line)
    assert tanh.endswith(f'loc("{single}":2:3)')
    assert ttxdsl.load(text).text == compiled(capsys, single)
    located = single.with_name("located.mlir")
    located.write_text(
        SINGLE.replace("<8x2xf32>\n  ret", '<8x2xf32> loc("net.py":7:1)\n  ret')
    )
    assert 'loc("net.py":7:1)' in compiled(capsys, located, "--print-debuginfo")
    joined = compiled(capsys, EXAMPLES / "mlp_train_step.mlir", "--print-debuginfo")
    assert "mlp_train_step.mlir" in joined and '"ttxdsl.' not in joined


def test_equal_constants_are_there_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """In each region: 0.0 is not -0.0, and a loop's body has its own."""
    path = tmp_path / "in.mlir"
    path.write_text("""
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = stablehlo.add %x, %a : tensor<4xf32>
  %b = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = stablehlo.multiply %0, %b : tensor<4xf32>
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>
  %2 = stablehlo.subtract %1, %c : tensor<4xf32>
  %3 = stablehlo.log_plus_one %x : tensor<4xf32>
  %4 = stablehlo.log_plus_one %2 : tensor<4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %n = stablehlo.constant dense<-0.0> : tensor<4xf32>
  return %3, %4, %z, %n : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}""")
    assert main(["compile", str(path), "--emit", "ttnn"]) == 0
    made = [
        line.partition("= ")[2]
        for line in capsys.readouterr().out.splitlines()
        if "() <{" in line and "get_device" not in line
    ]
    assert sum("dense<[1.0" in line for line in made) == 2  # %a with %b, and %c
    assert sum("dense<-0.0" in line for line in made) == 1
    assert sum("ttnn.zeros" in line for line in made) == 1
    assert len(set(made)) == len(made)
    x = ttxdsl.load(path).random_inputs()
    device = ttxdsl.load(path)
    for found, wanted in zip(
        device.lower("ttnn").simulate(*x), device.simulate(*x), strict=True
    ):
        assert found.tobytes() == wanted.tobytes()
