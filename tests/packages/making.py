"""How small sharded programs of public packages are made, where these are installed.

    python -m tests.packages.making NAME FOLDER

writes `FOLDER/NAME.mlir` and `FOLDER/NAME.npz`: what JAX exports, its arguments and what
JAX computes of them on eight devices of the CPU. It needs neither ttxdsl nor its Python.
To add a program, decorate a function that answers with a function and its arguments,
and mark with `split` those whose first dimension is divided among the devices.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Made = tuple[Callable[..., Any], tuple[Any, ...]]

PROGRAMS: dict[str, Callable[[], Made]] = {}
"""By name, `package_what`; what makes one imports the package."""

DEVICES = 8
BATCH = 8

NOT_INSTALLED = 3
"""The exit code where the package is not there."""


def program(make: Callable[[], Made]) -> Callable[[], Made]:
    PROGRAMS[make.__name__] = make
    return make


def numbers(*shape: int, seed: int = 0) -> Any:
    import jax

    return jax.random.normal(jax.random.key(seed), shape)


def split(tree: Any) -> Any:
    """The same arrays, each device with a part of their first dimension."""
    import jax
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    mesh = jax.make_mesh((DEVICES,), ("batch",), axis_types=(AxisType.Auto,))
    return jax.device_put(tree, NamedSharding(mesh, PartitionSpec("batch")))


def write(name: str, function: Any, arguments: tuple[Any, ...], folder: Path) -> None:
    """The program, its arguments and its results; typed keys as their data."""
    import jax
    import numpy as np

    function = jax.jit(function, keep_unused=True)
    (folder / f"{name}.mlir").write_text(function.lower(*arguments).as_text())
    results = function(*arguments)
    np.savez(
        folder / f"{name}.npz",
        **{
            f"argument_{i}": np.asarray(a)
            for i, a in enumerate(jax.tree.leaves(arguments))
        },
        **{
            f"result_{i}": np.asarray(a) for i, a in enumerate(jax.tree.leaves(results))
        },
    )


def main(name: str, folder: str) -> int:
    """Make a program; the exit code."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
    from tests.packages.programs import PROGRAMS

    try:
        write(name, *PROGRAMS[name](), Path(folder))
    except ImportError as error:
        print(error, file=sys.stderr)
        return NOT_INSTALLED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
