"""Runs a program through XLA's SPMD partitioner, in a process of its own."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from ttxdsl.errors import CompileError
from ttxdsl.interpreters.elements import DType, tensor_of

Array = NDArray[Any]

_WORKER = Path(__file__).with_name("worker.py")

_LAST_LINES = 3
"""Of what XLA says when it aborts: the rest is its stack."""


def complaint(stderr: str) -> str:
    """What a worker that failed said, without its traceback."""
    lines = [line.strip() for line in stderr.strip().splitlines() if line.strip()]
    raised = [
        index
        for index, line in enumerate(lines)
        if re.match(r"[\w.]+(Error|Exception)\b", line)
    ]
    start = raised[-1] if raised else -_LAST_LINES
    return " ".join(lines[start:]) or "it aborted"


@dataclass(frozen=True, slots=True)
class Shard:
    """What one device holds of a result: `data` is the part at `index`."""

    device: int
    index: tuple[slice, ...]
    data: Array


@dataclass(frozen=True, slots=True)
class XlaRun:
    """What XLA made of a program, and computed: the shards of each result."""

    hlo: str
    results: tuple[tuple[Shard, ...], ...]


def _signature(function: FuncOp) -> dict[str, list[tuple[tuple[int, ...], str]]]:
    types = function.function_type
    described = {
        "arguments": [tensor_of(type_) for type_ in types.inputs],
        "results": [tensor_of(type_) for type_ in types.outputs],
    }
    return {
        key: [(shape, dtype.name) for shape, dtype in tensors]
        for key, tensors in described.items()
    }


def _shards(folder: Path, dtypes: Sequence[DType]) -> tuple[tuple[Shard, ...], ...]:
    held = json.loads((folder / "shards.json").read_text())
    results: list[tuple[Shard, ...]] = []
    with np.load(folder / "shards.npz") as stored:
        for number, places in enumerate(held):
            shards: list[Shard] = []
            for device, bounds in sorted(places.items(), key=lambda one: int(one[0])):
                index = tuple(slice(start, stop) for start, stop in bounds)
                shape = tuple(one.stop - one.start for one in index)
                raw: Array = stored[f"{number}.{device}"]
                data = raw.view(dtypes[number]).reshape(shape)
                shards.append(Shard(int(device), index, data))
            results.append(tuple(shards))
    return tuple(results)


def run_with_xla(
    text: str, function: FuncOp, inputs: Sequence[Array], devices: int
) -> XlaRun:
    """Compile a sharded StableHLO program with XLA and run it.

    Args:
        text: the global program with its Shardy annotations.
        function: its entry function, for the types.
        inputs: global arrays, one an argument.
        devices: of the mesh; as many virtual CPU devices are made.

    Raises:
        CompileError: JAX is not installed, or XLA refuses the program.
    """
    if find_spec("jax") is None:
        raise CompileError(
            "JAX is not installed, and XLA comes with it", hint="pip install jax"
        )
    try:
        with tempfile.TemporaryDirectory(prefix="ttxdsl-xla-") as name:
            return _run_in(Path(name), text, function, inputs, devices)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompileError(f"cannot run XLA: {reason}") from error


def _run_in(
    folder: Path, text: str, function: FuncOp, inputs: Sequence[Array], devices: int
) -> XlaRun:
    """`run_with_xla` with a folder for what the processes tell each other."""
    env = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "JAX_PLATFORMS": "cpu",
    }
    (folder / "program.mlir").write_text(text, encoding="utf-8")
    (folder / "signature.json").write_text(json.dumps(_signature(function)))
    raw: dict[str, Any] = {
        f"arg{index}": np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        for index, array in enumerate(inputs)
    }
    np.savez(folder / "inputs.npz", **raw)
    # -P: Python imports nothing from the folder that the command is called in
    command = [sys.executable, "-P", str(_WORKER), str(folder), str(devices)]
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        raise CompileError(
            f"XLA does not take the program: {complaint(done.stderr)}", function
        )
    dtypes = [tensor_of(type_)[1] for type_ in function.function_type.outputs]
    hlo = (folder / "program.hlo").read_text(encoding="utf-8")
    return XlaRun(hlo, _shards(folder, dtypes))
