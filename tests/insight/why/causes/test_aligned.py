"""Lines of two programs are matched by what they do, not by their numbers."""

from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

from ttxdsl.cli.main import main

SOURCE = """import jax.numpy as jnp


def block(p, x):
    h = x @ p["w1"]
    h = jnp.tanh(h)
    return h @ p["w2"]


def loss(p, x):
    y = block(p, x)
    return jnp.mean((y - x) ** 2)
"""
LONGER = SOURCE.replace(
    "    h = x @", "    x = x * 2.0\n    x = jnp.sin(x)\n    h = x @"
)


def lowered(source: str, *axes: str | None, debug_info: bool = True) -> str:
    """Return the gradient of a source's loss, its second weight split in a way."""
    module = ModuleType("net")
    exec(compile(source, "/src/net.py", "exec"), module.__dict__)
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(shape: tuple[int, ...], *axes: str | None) -> Any:
        sharding = NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    p = {"w1": array((64, 256), None, "model"), "w2": array((256, 64), *axes)}
    step = jax.jit(jax.grad(module.loss)).lower(p, array((16, 64), "data"))
    return step.as_text(debug_info=debug_info)


def test_between_tells_of_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    paths = [tmp_path / "a.mlir", tmp_path / "b.mlir"]
    paths[0].write_text(lowered(SOURCE, "model"))
    paths[1].write_text(lowered(LONGER, None, "model"))
    main(["why", str(paths[0]), "--between", str(paths[1])])
    assert "line 7 of block, now line 9 of block" in capsys.readouterr().out
