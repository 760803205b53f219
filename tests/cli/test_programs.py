"""How commands read programs: functions of Python files, standard input."""

import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ttxdsl.cli.main import main

MAKE = """
import jax
import jax.export
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

print("imported")

def array(shape, *spec):
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))

def product():
    return jax.jit(jnp.matmul), array((8, 4), "a", "b"), array((4, 6), "b", None)

def exported():
    b, = jax.export.symbolic_shape("b")
    return jax.export.export(jax.jit(jnp.matmul))(
        array((2 * b, 4), "a", "b"), array((4, 6), "b", None))

def nothing():
    return 1

def untraceable():
    return jax.jit(jnp.matmul), array((8, 4)), array((3, 6))

def lowered():
    return jax.jit(jnp.matmul).lower(array((8, 4), "a", "b"), array((4, 6), "b", None))

def traced():
    return jax.jit(jnp.matmul).trace(array((8, 4), "a", "b"), array((4, 6), "b", None))

def compiled():
    return lowered().compile()

def forgotten():
    jax.jit(jnp.matmul)

@jax.jit
def double(x):
    return x + x

def alone():
    return (double,)

def broken():
    raise RuntimeError("no such model")

def leaves():
    raise SystemExit(3)
"""

COMMANDS = (
    ("compile", "--emit", "stablehlo"),
    ("run",),
    ("check", "--no-minimize"),
    ("interpret", "--seed", "0"),
    ("report", "--json"),
    ("why",),
    ("show",),
    ("diff", "--mesh-shape", "4,2"),
    ("doctor", "--devices", "8", "--jobs", "1"),
    ("budget",),
)
"""All that take a program, but compare-xla, which has its own test."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "made.py"
    path.write_text(MAKE)
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one[0])
def test_every_command_takes_a_function(
    file: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
):
    name, *options = command
    code = main([name, f"{file}:product", *options])
    out, err = capsys.readouterr()
    # what the file prints is no part of what the command prints
    assert "imported" in err
    assert "imported" not in out
    if name == "budget":  # nothing in the function says one
        assert (code, "has no budget" in err) == (1, True)
    else:
        assert code == (1 if name == "diff" else 0)
        assert out


def test_an_exported_function(file: Path, capsys: pytest.CaptureFixture[str]):
    command = ["show", f"{file}:exported", "--arg", "0", "--json"]
    assert main([*command, "--shapes", "b=8"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "tensor<16x4xf32>"
    assert main(command) == 1
    assert "without a size: b" in capsys.readouterr().err


def test_what_jax_made_of_a_function(file: Path, capsys: pytest.CaptureFixture[str]):
    texts: list[str] = []
    for name in ("product", "lowered", "traced"):
        assert main(["compile", f"{file}:{name}"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts == texts[:1] * 3


@pytest.mark.parametrize("name", ["forgotten", "alone", "double"])
def test_a_function_of_another_form_is_told_the_form(
    file: Path, name: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["compile", f"{file}:{name}"]) == 1
    assert "that returns (jitted, *arguments)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message", "line"),
    [
        ("nothing", "nothing' returns int", None),
        ("forgotten", "forgotten' returns nothing", None),
        ("alone", "takes: missing a required argument: 'x'", None),
        ("double", "is called without arguments: missing a required argument", None),
        ("compiled", "a compiled function is XLA's program", None),
        ("untraceable", "fails: TypeError", None),
        ("broken", "fails: RuntimeError: no such model", 'raise RuntimeError("no such'),
        ("leaves", "fails: SystemExit: 3", "raise SystemExit(3)"),
        ("missing", "has no function 'missing'", None),
    ],
)
def test_bad_functions_are_one_diagnostic(
    file: Path,
    name: str,
    message: str,
    line: str | None,
    capsys: pytest.CaptureFixture[str],
):
    assert main(["run", f"{file}:{name}"]) == 1
    err = capsys.readouterr().err.removeprefix("imported\n")
    assert err.count("error:") == 1
    assert message in err
    assert "Traceback" not in err
    if line is not None:
        number = 1 + next(n for n, one in enumerate(MAKE.split("\n")) if line in one)
        assert err.startswith(f"{file}:{number}:5: error:")
        assert f"{number} |     {line}" in err


def test_python_without_a_function(file: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(file)]) == 1
    err = capsys.readouterr().err
    assert "is Python" in err
    assert "FILE.py:FUNCTION" in err


def test_no_such_file(capsys: pytest.CaptureFixture[str]):
    assert main(["compare-xla", "nowhere.py:f"]) == 1
    assert "cannot read 'nowhere.py'" in capsys.readouterr().err


def test_devices_are_made_before_jax_is_there(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Afterwards JAX would not read the flag."""
    file.write_text("def f(): raise ValueError")
    monkeypatch.setenv("XLA_FLAGS", "--mine")
    assert main(["show", f"{file}:f", "--jax-devices", "3"]) == 1
    assert os.environ["XLA_FLAGS"] == "--mine"
    monkeypatch.delitem(sys.modules, "jax")
    assert main(["show", f"{file}:f", "--jax-devices", "3"]) == 1
    flags = os.environ["XLA_FLAGS"]
    assert flags == "--mine --xla_force_host_platform_device_count=3"
    capsys.readouterr()


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))

    text = b"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    given(text)
    assert main(["interpret", "-", "--seed", "0"]) == 0
    given(text[:-1])
    assert main(["interpret", "-"]) == 1
    assert capsys.readouterr().err.startswith("<stdin>:1:")


@pytest.mark.parametrize("sizes", ["b", "b=0", "b=x", "=3", "b=1,,"])
def test_wrong_sizes(sizes: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(["show", "program.bin", "--shapes", sizes])
    assert caught.value.code == 2
    assert "--shapes" in capsys.readouterr().err
