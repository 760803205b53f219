"""Export the examples from JAX to StableHLO text: `make examples`.

The results are committed, so that running the demo needs no JAX. JAX only traces and
lowers here; the eight devices are CPU devices that exist in name.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import mlp
import transformer
from jax.sharding import AxisType, Mesh

FOLDER = Path(__file__).parent


def make_mesh() -> Mesh:
    """Two ways over data, four over the model."""
    return jax.make_mesh(
        (2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto)
    )


def examples() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Each example's file name with its function and the shapes of its arguments."""
    mesh = make_mesh()
    return {
        "mlp_data_parallel": (mlp.mlp, mlp.arguments(mesh, "data", None)),
        "mlp_tensor_parallel": (mlp.mlp, mlp.arguments(mesh, None, "model")),
        "mlp_data_tensor_parallel": (mlp.mlp, mlp.arguments(mesh, "data", "model")),
        "mlp_train_step": (
            mlp.train_step,
            mlp.arguments(mesh, "data", "model", target=True),
        ),
        "transformer_block": (transformer.block, transformer.arguments(mesh)),
    }


def export(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """The StableHLO text of one example."""
    return jax.jit(function).lower(*arguments).as_text()


def main() -> None:
    """Write every example beside its script."""
    for name, (function, arguments) in examples().items():
        path = FOLDER / f"{name}.mlir"
        path.write_text(export(function, arguments))
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
