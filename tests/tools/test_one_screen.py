"""Twelve layers in one screen: 60 lines of 100 columns, and whole figures at 80."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ttxdsl.tools.main import main

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")

LAYERS, WIDTH = 12, 32
MATRICES = {
    "query": (None, "model"),
    "out": ("model", None),
    "up": (None, "model"),
    "down": ("model", None),
}


def forward(params: Any, x: Any) -> Any:
    """Attention of one head without a mask, and two dense layers, twelve times."""
    for at in range(LAYERS):
        p = params["params"][f"layers_{at}"]
        q = x @ p["query"]["kernel"]
        weights = jax.nn.softmax(jnp.einsum("bid,bjd->bij", q, q))
        x = x + jnp.einsum("bij,bjd->bid", weights, q) @ p["out"]["kernel"]
        x = x + jnp.tanh(x @ p["up"]["kernel"]) @ p["down"]["kernel"]
    return x


def text_of(*, sharded: bool) -> str:
    """Named as flax does, on data x model."""
    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=auto)

    def array(shape: tuple[int, ...], *axes: str | None) -> Any:
        spec = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
        return jax.ShapeDtypeStruct(
            shape, jnp.float32, sharding=spec if sharded else None
        )

    layer = {
        name: {"kernel": array((WIDTH, WIDTH), *axes)}
        for name, axes in MATRICES.items()
    }
    params = {"params": {f"layers_{at}": layer for at in range(LAYERS)}}
    lowered = jax.jit(forward).lower(params, array((8, 8, WIDTH), "data"))
    return lowered.as_text(debug_info=True)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    folder = tmp_path_factory.mktemp("twelve")
    paths = {True: folder / "sharded.mlir", False: folder / "whole.mlir"}
    for sharded, path in paths.items():
        path.write_text(text_of(sharded=sharded))
    return paths


COMMANDS = {
    "run": (True, ()),
    "why": (True, ("--tries", "2")),
    "doctor": (False, ("--devices", "8", "--candidates", "4")),
}


@pytest.mark.parametrize(
    ("command", "columns"), [("run", 100), ("why", 100), ("doctor", 100), ("why", 80)]
)
def test_one_screen(
    command: str,
    columns: int,
    programs: dict[bool, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    sharded, options = COMMANDS[command]
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main([command, str(programs[sharded]), *options]) == 0
    out = capsys.readouterr().out
    lines = out.split("\n")
    assert len(lines) <= 60
    rows = [line for line in lines if line.startswith("│")]
    assert rows and all(len(line.rstrip()) <= columns for line in rows)
    assert all(line.rstrip().endswith("│") for line in rows)
    # a figure is whole: nothing of a number or its unit is cut or wrapped
    assert not re.search(r"\d[\d.,]*…|[KMG]…", "\n".join(rows))
    assert "['params']" not in out
    assert re.search(r"layers_\S*\.kernel", out) or command == "run"
    if command == "run":
        assert "partial sums: 35 all_reduces of activations over model" in out
        assert re.search(r"memory of a device: \S+ KiB at its peak", out)
    if command == "why":
        assert "test_one_screen.py:" in out
        assert "partial sums: 35 all_reduces of activations over model" in out


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("layer", [r"│ +2 │ all_reduce +│ .*│ layers_7 +│"]),
        ("scope", [r"│ 12 │ .*│ bid,bjd->bij +│", r"│ 24 │ .*│ no scope is known"]),
        ("parameter", [r"│ +1 │ all_reduce +│ .*│ layers_4\.out\.kernel +│"]),
    ],
)
def test_rows_by_place(
    by: str,
    rows: list[str],
    programs: dict[bool, Path],
    capsys: pytest.CaptureFixture[str],
):
    assert main(["run", str(programs[True]), "--by", by]) == 0
    out = capsys.readouterr().out
    for row in rows:
        assert re.search(row, out), out
