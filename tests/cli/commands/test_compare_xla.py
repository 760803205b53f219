"""`ttxdsl compare-xla` as a user calls it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_one_screen import require_whole
from ttxdsl.cli.main import main

ROOT = Path(__file__).parents[3]

MAKE = """
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

def two_products():
    mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    def array(shape, *spec):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))
    f = jax.jit(lambda x, w, v: (x @ w) @ v)
    return f, array((8, 4), "a", None), array((4, 16), None, "b"), array((16, 8), "b", None)

def nothing():
    return 1

def broken():
    raise RuntimeError("no such model")
"""


def test_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Called in a folder whose files have names that the worker imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("json", "numpy", "jax", "ttxdsl"):
        Path(f"{name}.py").write_text("raise SystemExit('executed')")
    assert main(["compare-xla", str(ROOT / "examples/mlp_tensor_parallel.mlir")]) == 0
    out = capsys.readouterr().out
    require_whole(out, 80)
    assert "8 devices" in out
    assert "same" in out
    assert "1: 3.0 KiB" in out
    assert "Memory of a device" in out
    assert "at the peak ours holds 38.3 KiB at once" in out


def in_a_process(file: Path, name: str, *options: str) -> tuple[int, str, str]:
    """JAX reads how many devices to make once in a process."""
    command = [sys.executable, "-m", "ttxdsl.cli.main", "compare-xla"]
    done = subprocess.run(
        [*command, f"{file}:{name}", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_jax_function_as_json(tmp_path: Path):
    file = tmp_path / "made.py"
    file.write_text(MAKE)
    code, out, err = in_a_process(file, "two_products", "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    assert found["agree"]
    assert found["devices"] == 8
    (row,) = found["collectives"]
    assert (row["kind"], row["among"], row["label"]) == ("all_reduce", "b", "same")
    # JAX's locations arrive on both sides
    assert row["ours"][0]["at"].startswith(f"{file}:10")
    assert row["xla"][0]["at"].startswith(f"{file}:10")


GIANT = """
sdy.mesh @m = <["one"=1, "d"=4]>
func.func @main(%x: tensor<1048576x65536xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"d"}]>}, %w: tensor<65536x65536xf32> {sdy.sharding = #sdy.sharding<@m, [{"d"}, {}]>}) -> tensor<1048576x65536xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1048576x65536xf32>, tensor<65536x65536xf32>) -> tensor<1048576x65536xf32>
  return %0 : tensor<1048576x65536xf32>
}
"""


def test_what_no_machine_can_run_is_compared_without_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "giant.mlir"
    file.write_text(GIANT)
    assert main(["compare-xla", str(file)]) == 1
    assert "memory" in capsys.readouterr().err
    assert main(["compare-xla", str(file), "--static", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["agree"] is None
    assert data["results"] == []
    # twice three quarters of what is summed, 256 GiB
    assert data["bytes_per_device"] == {"ours": 384 << 30, "xla": 384 << 30}
    assert data["launches"] == {"ours": 1, "xla": 1}
    assert data["memory"]["xla"]["arguments"] == (256 + 16) * 2**30 // 4
    assert main(["compare-xla", str(file), "--static"]) == 0
    assert "run by neither" in capsys.readouterr().out
    assert main(["compare-xla", str(file), "--static", "--inputs", "x.npz"]) == 1
    assert "--static runs nothing" in capsys.readouterr().err


def test_too_few_devices(capsys: pytest.CaptureFixture[str]):
    """`--devices` is what it is for `run` and `bench`."""
    step = ROOT / "examples" / "mlp_train_step.mlir"
    assert main(["compare-xla", str(step), "--devices", "4"]) == 1
    said = capsys.readouterr().err
    assert "the program runs on 8 devices, and there are to be 4" in said
