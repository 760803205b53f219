"""Lines below diagnostics: of which files, and how they look."""

import os
from pathlib import Path

import pytest

from ttxdsl.cli.main import main
from ttxdsl.diagnostics import excerpts
from ttxdsl.diagnostics.excerpts import Sources


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("p.py:2:5", "  2 |     return x\n    |     ^^^^^^"),
        ("p.py:2:1", "  2 |     return x\n    | ^"),
        ("p.py:3:1", None),
        ("p.py:2:99", None),
        ("none.py:2:5", None),
        ("p.py", None),
        ("./sub/../p.py:2:5", "  2 |     return x\n    |     ^^^^^^"),
        ("p.py:99999999999999999999:1", None),
        ("p.py:" + "9" * 5000 + ":1", None),
        ("<jax f>:1:1", None),
    ],
)
def test_excerpts(
    position: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text("def f(x):\n    return x\n")
    assert Sources([Path("p.py"), Path("none.py")]).excerpt(position) == expected


def test_long_lines_are_cut(tmp_path: Path):
    path = tmp_path / "p.mlir"
    path.write_text("a" * 300 + " %here " + "b" * 300)
    line, marks = (Sources([path]).excerpt(f"{path}:1:302") or "").split("\n")
    assert len(line) < 120
    at = marks.index("^")
    assert line[at : at + marks.count("^")] == "%here"


def test_only_files_that_are_given_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("given.mlir").write_text("given\n")
    Path("secret").write_text("secret\n")
    Path("src").mkdir()
    Path("src/model.py").write_text("model\n")
    Path("src/link").symlink_to("../secret")
    os.mkfifo("src/pipe")
    Path("src/endless").symlink_to("/dev/zero")
    below = [
        "src/model.py",
        "src/link",
        "src/../secret",
        "../secret",
        "src/pipe",
        "src/endless",
        str(tmp_path / "src/model.py"),
        "model.py",
        "/etc/passwd",
        "/dev/zero",
        "nul\0",
    ]
    sources = Sources([Path("given.mlir")])
    assert sources.excerpt("given.mlir:1:1")
    assert not any(sources.excerpt(f"{name}:1:1") for name in below)
    sources = Sources([Path("given.mlir")], Path("src"))
    assert sources.excerpt("given.mlir:1:1")
    shown = [name for name in below if sources.excerpt(f"{name}:1:1")]
    assert shown == [str(tmp_path / "src/model.py"), "model.py"]


def test_what_is_no_file_of_moderate_size_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Not even if it is given: a pipe was read already, and answers never again."""
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.write_text("x" * 100)
    monkeypatch.setattr(excerpts, "_LARGEST", 50)
    sources = Sources([pipe, large, Path("/dev/zero")])
    for path in (pipe, large, Path("/dev/zero")):
        assert sources.excerpt(f"{path}:1:1") is None


def test_marks_stand_below_what_is_escaped(tmp_path: Path):
    path = tmp_path / "p.mlir"
    path.write_text("\x1b[31m %here")
    line, marks = (Sources([path]).excerpt(f"{path}:1:7") or "").split("\n")
    assert line == "  1 | \\x1b[31m %here"
    assert line[marks.index("^") :] == "%here"


def test_a_location_shows_its_line_only_with_a_source_root(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    secret = tmp_path / "secret"
    secret.write_text("the secret\n")
    program = tmp_path / "p.mlir"
    program.write_text(f"""\
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}}) -> tensor<6xf32> {{
  return %a : tensor<6xf32>
}} loc("{secret}":1:5)
""")
    words = ["compile", "--no-pad-borders", str(program)]
    assert main(words) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"{secret}:1:5: error:")
    assert "the secret" not in told
    assert main([*words, "--source-root", str(tmp_path)]) == 1
    assert "  1 | the secret\n    |     ^^^^^^\n" in capsys.readouterr().err
