"""Limits that the command writes: into programs, above functions, into baselines."""

import json
from pathlib import Path

import pytest

from tests.insight.budget.test_check import PROGRAM, loop
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.budget.written import above_function, size_text


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "a.mlir"
    path.write_text(PROGRAM)
    return path


def test_a_line_is_written_where_there_is_none(program: Path):
    assert main(["budget", str(program), "--update"]) == 0
    first, rest = program.read_text().split("\n", 1)
    assert first.startswith("// COMM: launches<=2, ")
    assert "all_gather<=1" in first and "bytes<=160B" in first and "memory<=" in first
    assert rest == PROGRAM
    # what holds stays, to the letter
    before = program.read_text()
    assert main(["budget", str(program), "--update"]) == 0
    assert program.read_text() == before


def test_limits_that_do_not_hold_say_what_is_found(program: Path):
    """However they are spelled, several on a line, and beside those that hold."""
    program.write_text(
        f"{PROGRAM}// COMM: count < 1 , all_gather== 7, axis=x, bytes<=1 GiB\n"
        "  // COMM: bytes <= 10 B,memory<1B, count>=9, count!=2\n"
    )
    assert main(["budget", str(program), "--update"]) == 1  # count!=2
    first, second, _ = program.read_text().removeprefix(PROGRAM).split("\n")
    assert first == "// COMM: count < 2 , all_gather== 1, axis=x, bytes<=1 GiB"
    assert second.startswith("  // COMM: bytes <= 160B,memory<")
    assert second.endswith(", count>=2, count!=2")


def test_programs_of_one_file_have_lines_each(program: Path):
    program.write_text(f"{PROGRAM}// -----\n\n{PROGRAM}")
    assert main(["budget", str(program), "--update"]) == 0
    assert program.read_text().count("// COMM: launches<=2") == 2
    assert "// -----\n\n// COMM:" in program.read_text()


def test_a_function_has_its_limits_above_it_or_inside():
    text = (
        "# COMM: count<=9\n\ndef other(): ...\n\n# COMM: count<=1\n@jit\ndef step():\n"
        "    # COMM: memory<1GiB\n    return 1\n# COMM: count<=8\n"
    )
    kept, line = above_function(text, "step")
    lines = kept.split("\n")
    assert [at for at, one in enumerate(lines, 1) if one] == [5, 8]
    assert (lines[4], line) == ("//COMM: count<=1", 6)
    assert lines[7].index("count" if "count" in lines[7] else "memory") == 12
    with pytest.raises(CompileError, match="no function 'nothing'"):
        above_function(text, "nothing")


def test_a_python_function_is_held_to_its_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "net.py"
    path.write_text(
        "import jax\ndef make():\n    # COMM: memory<8B\n"
        "    return jax.jit(lambda x: x + x), jax.ShapeDtypeStruct((4,), 'float32')\n"
    )
    assert main(["budget", f"{path}:make"]) == 1
    assert "memory<8B: found 32 B" in capsys.readouterr().out
    assert main(["budget", f"{path}:make", "--update"]) == 0
    assert "    # COMM: memory<33B\n" in path.read_text()


def test_a_baseline_over_a_folder(
    program: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    baseline = tmp_path / "budget.json"
    asked = ["budget", str(tmp_path), "--baseline", str(baseline)]
    assert main([*asked, "--update"]) == 0
    table = json.loads(baseline.read_text())
    assert [*table] == ["a.mlir"] and "bytes<=160B" in table["a.mlir"]
    baseline.write_text(baseline.read_text().replace("160B", "100B"))
    capsys.readouterr()
    assert main([*asked, "--markdown"]) == 1
    said = capsys.readouterr().out
    assert "1 of 5 limits broken" in said
    assert "| bytes&#60;=100B | 160 B | +60.0% |" in said
    assert "<details>" in said and "all&#95;gather along x" in said
    # a program that nobody has said anything about is no success
    (tmp_path / "b.mlir").write_text(PROGRAM)
    assert main(asked) == 1
    assert "has no limits of 'b.mlir'" in capsys.readouterr().err
    program.unlink()
    (tmp_path / "b.mlir").rename(tmp_path / "c.mlir")
    baseline.write_text('{"c.mlir": "count<=2", "a.mlir": "count<=2"}')
    assert main(asked) == 1
    assert "there is no program, but limits of 'a.mlir'" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[]", '{"a.mlir": 3}', "no json"])
def test_a_baseline_that_is_none(
    text: str, program: Path, capsys: pytest.CaptureFixture[str]
):
    baseline = program.with_suffix(".json")
    baseline.write_text(text)
    assert main(["budget", str(program), "--baseline", str(baseline)]) == 1
    assert "is no baseline" in capsys.readouterr().err


def test_what_is_read_from_a_pipe_is_not_written(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    class Input:
        buffer = program.open("rb")

    monkeypatch.setattr("sys.stdin", Input)
    assert main(["budget", "-", "--update"]) == 1
    assert "'-' is no text that limits can be written into" in capsys.readouterr().err
    Input.buffer.close()


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0B"), (1536, "1536B"), (4096, "4KiB"), (3 << 30, "3GiB")]
)
def test_sizes_are_whole(count: int, text: str):
    assert size_text(count) == text


def test_a_trip_count_is_written_with_the_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """What nobody wrote is not named, and a budget that was written holds without options."""
    path = tmp_path / "loop.mlir"
    path.write_text(loop("f32", "0.0", "12.0", "1.0"))
    assert main(["budget", str(path), "--update"]) == 1
    told = capsys.readouterr().err
    assert "a budget cannot count " in told and "<=0" not in told
    assert main(["budget", str(path), "--update", "--trip-count", "12"]) == 0
    assert path.read_text().splitlines()[0].endswith(", trip_count=12")
    assert main(["budget", str(path)]) == 0
