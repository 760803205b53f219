"""Twelve layers in one screen: 60 lines of 100 columns, and whole figures at 80."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.sampling import sampled
from ttxdsl.cli.main import main

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
        path.write_text(f"// COMM: bytes<=1KiB\n{text_of(sharded=sharded)}")
    return paths


COMMANDS = {
    "run": (True, ()),
    "why": (True, ("--tries", "2")),
    "doctor": (False, ("--devices", "8", "--candidates", "4")),
    "budget": (True, ()),
    "diff": (True, ("--mesh-shape", "1,8")),
}
EXIT_CODES = {"budget": 1, "diff": 1}
"""Of a limit that does not hold, and of programs that differ."""


def require_whole(out: str, columns: int) -> None:
    """Tables that end where the screen does, with nothing of a figure or its unit cut."""
    rows = [line.rstrip() for line in out.split("\n") if line.startswith("│")]
    assert rows and all(len(row) <= columns for row in rows)
    assert all(row.endswith("│") for row in rows)
    # units are never alone in a cell, figures never without theirs
    assert not re.search(r"\d[\d.,]*…|[KMG]…|│ *([KMG]iB|B|us|ms) *│", "\n".join(rows))


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        *(
            pytest.param(command, 100, marks=pytest.mark.fuzz)
            for command in ("run", "why", "doctor")
        ),
        *((command, 80) for command in COMMANDS),
    ],
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
    code = EXIT_CODES.get(command, 0)
    assert main([command, str(programs[sharded]), *options]) == code
    out = capsys.readouterr().out
    assert len(out.split("\n")) <= 60
    require_whole(out, columns)
    assert "['params']" not in out
    if command in ("why", "doctor"):
        assert re.search(r"layers_\S*\.kernel", out)
    if command == "budget":
        assert "bytes<=1KiB: found" in out
        assert re.search(r"│ 23 all_reduce +│ .*line in|forward", out)
    if command == "run":
        assert "partial sums: 35 all_reduces of activations over model" in out
        assert re.search(r"memory of a device: \S+ KiB at its peak", out)
    if command == "why":
        assert re.search(r"test_one_screen\.py:\d+[\s│#\d,…]*in[\s│#\d,…]*forward", out)
        assert "partial sums: 35 all_reduces of activations over model" in out


@pytest.mark.parametrize(
    ("by", "rows"),
    sampled(
        [
            ("layer", [r"│ +2 │ all_reduce +│ .*│ layers_7 +│"]),
            ("scope", [r"│ +3 │ all_reduce +│ .*│ iteration 7 +│"]),
            ("parameter", [r"│ +1 │ all_reduce +│ .*│ layers_4\.out\.kernel +│"]),
        ],
        1,
    ),
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


@pytest.mark.parametrize(
    ("by", "row"),
    sampled(
        [
            ("layer", r"│ \d+, \d+ +│ 2 all_reduce +│ .*│ layers_7 +│"),
            ("scope", r"│ \d+, \d+, \d+ +│ 3 all_reduce +│ .*│ iteration 7 +│"),
            ("parameter", r"│ all_reduce +│ .*│ layers_4\.out\.kernel +│"),
            ("axis", r"│ 36 all_reduce +│"),
        ],
        2,
    ),
)
def test_why_has_the_same_rows(
    by: str,
    row: str,
    programs: dict[bool, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("COLUMNS", "130")
    asked = ["why", str(programs[True]), "--tries", "0", "--by", by]
    assert main(asked) == 0
    out = capsys.readouterr().out
    assert re.search(row, out), out
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["rows"]) == len(found["collectives"]) == 36
    assert main([*asked, "--collective", "0"]) == 1
    assert f"by='{by}' is of all collectives" in capsys.readouterr().err
