"""Runs programs with XLA, in a process of its own."""

import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.usage.memory import MemoryParts
from ttxdsl.api.forms import ProgramForm
from ttxdsl.bridges.jax.manual_sharding_export import export_manual_sharding
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.run.engines import EngineKind, RunSettings
from ttxdsl.interpreters.compare import compare
from ttxdsl.interpreters.kernels.elements import DType, tensor_of
from ttxdsl.interpreters.runtime.run import argument_of
from ttxdsl.loading.program import program_text
from ttxdsl.loading.worker import Worker, WorkerEndedError

Array = NDArray[Any]

_WORKER = "ttxdsl.bridges.xla.worker:answer"

_LAST_LINES = 3
"""The lines of a message that are kept where none names the error."""
_FATAL = re.compile(r"^F\d{4} [^\]]*\] (.*\S)", re.MULTILINE)
"""The line of a check that failed, ahead of the stack of XLA's abort."""


def complaint(stderr: str) -> str:
    """Return the error of a failed worker, without its traceback or stack."""
    if (fatal := _FATAL.search(stderr)) is not None:
        return fatal[1]
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
    """The shard of a result on one device: `data` is the part at `index`."""

    device: int
    index: tuple[slice, ...]
    data: Array


@dataclass(frozen=True, slots=True)
class XlaRun:
    """The HLO that XLA made of a program, its measurements, and the result shards."""

    hlo: str
    results: tuple[tuple[Shard, ...], ...]
    seconds: tuple[float, ...]
    """Of each run but the first."""
    cpu_seconds: tuple[float, ...]
    """Of the process's CPU, which are the devices where those are virtual."""
    memory: MemoryParts
    """Of a device, as XLA plans it."""


def _ends(shard: Shard) -> list[int]:
    return [part.stop for part in shard.index]


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
            for device, bounds in sorted(places.items(), key=lambda item: int(item[0])):
                index = tuple(slice(start, stop) for start, stop in bounds)
                shape = tuple(part.stop - part.start for part in index)
                raw: Array = stored[f"{number}.{device}"]
                data = raw.view(dtypes[number]).reshape(shape)
                shards.append(Shard(int(device), index, data))
            results.append(tuple(shards))
    return tuple(results)


def run_with_xla(
    texts: Sequence[str],
    function: FuncOp,
    inputs: Sequence[Array] | None,
    devices: int,
    *,
    rounds: int = 1,
    virtual: int | None = None,
) -> list[XlaRun]:
    """Compile sharded StableHLO programs with XLA and run them in turn.

    Args:
        texts: global programs of one signature with their Shardy annotations.
        function: the entry function of one of them, for the types.
        inputs: global arrays, one an argument; None compiles without running.
        virtual: how many virtual CPU devices to make. By default JAX takes what it
            has, or as many virtual CPU devices as it needs.

    Raises:
        CompileError: JAX is not installed, there are to be too few devices, or XLA
            refuses a program.
    """
    if virtual is not None and virtual < devices:
        raise CompileError(
            f"the program runs on {devices} devices, and there are to be {virtual}"
        )
    if find_spec("jax") is None:
        raise CompileError(
            "JAX is not installed, and XLA comes with it", hint="pip install jax"
        )
    try:
        with tempfile.TemporaryDirectory(prefix="ttxdsl-xla-") as name:
            folder = Path(name)
            _write_request(folder, texts, function, inputs)
            question = {"folder": name, "devices": devices, "rounds": rounds}
            with Worker(_WORKER, _environment(devices, virtual)) as worker:
                worker.ask(question)
            dtypes = [tensor_of(type_)[1] for type_ in function.function_type.outputs]
            return [_read_run(folder / str(at), dtypes) for at in range(len(texts))]
    except OSError as error:
        reason = error.strerror or str(error)
        raise CompileError(f"cannot run XLA: {reason}") from error
    except WorkerEndedError as error:
        raise CompileError(
            f"XLA does not take the program: {complaint(error.log)}", function
        ) from error


class XlaProcess:
    """The engine that runs a per-device program with XLA, in a process of its own."""

    def __init__(self, program: ProgramForm, virtual: int | None = None) -> None:
        """Take a program after stage 13; `virtual` as in `run_with_xla`.

        Raises:
            CompileError: the program has something that XLA cannot do.
        """
        exported = export_manual_sharding(program.module)
        self.devices, self.virtual = exported.mesh.total_size, virtual
        self.function = entry_function(exported.module)
        self.text = program_text(exported.module, locations=True)

    def place(self, inputs: Sequence[ArrayLike | None]) -> tuple[Any, ...]:
        """Whole arrays; the process splits them. See `Engine`."""
        function = self.function
        return tuple(argument_of(x, at, function) for at, x in enumerate(inputs))

    def call(self, placed: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the shards of each result on each device; see `Engine`."""
        (run,) = run_with_xla(
            [self.text], self.function, placed, self.devices, virtual=self.virtual
        )
        return run.results

    def take(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Whole arrays; see `Engine`."""
        return tuple(whole_of(at, shards) for at, shards in enumerate(results))


class _Jax(EngineKind):
    label = "JAX's devices"
    forms = ("stablehlo",)
    has_devices = True

    def make(self, program: ProgramForm, settings: RunSettings) -> XlaProcess:
        return XlaProcess(program, settings.devices)


JAX = _Jax()
"""The devices of JAX, or those it is told to make."""


def whole_of(number: int, shards: Sequence[Shard]) -> Array:
    """Return a result assembled from the devices' shards.

    Raises:
        CompileError: devices that hold the same part differ by more than rounding.
    """
    shape = [max(ends) for ends in zip(*map(_ends, shards), strict=True)]
    whole = np.zeros(shape, shards[0].data.dtype)
    for shard in reversed(shards):
        whole[shard.index] = shard.data
    for shard in shards:
        beside = compare(shard.data, whole[shard.index])
        if not beside.equal:
            raise CompileError(
                f"device {shard.device} has something else of result {number} than"
                f" another that holds the same part: {beside}"
            )
    return whole


def _environment(devices: int, virtual: int | None) -> dict[str, str]:
    flag = f"--xla_force_host_platform_device_count={virtual or devices}"
    if virtual is not None:
        return {"XLA_FLAGS": flag, "JAX_PLATFORMS": "cpu"}
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flag}"}


def _write_request(
    folder: Path,
    texts: Sequence[str],
    function: FuncOp,
    inputs: Sequence[Array] | None,
) -> None:
    """Write the files that the worker reads."""
    for at, text in enumerate(texts):
        (folder / str(at)).mkdir()
        (folder / str(at) / "program.mlir").write_text(text, encoding="utf-8")
    (folder / "signature.json").write_text(json.dumps(_signature(function)))
    if inputs is None:
        return
    raw: dict[str, Any] = {
        f"arg{index}": np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        for index, array in enumerate(inputs)
    }
    np.savez(folder / "inputs.npz", **raw)


def _read_run(folder: Path, dtypes: Sequence[DType]) -> XlaRun:
    measured = json.loads((folder / "measured.json").read_text())
    return XlaRun(
        (folder / "program.hlo").read_text(encoding="utf-8"),
        _shards(folder, dtypes) if (folder / "shards.json").exists() else (),
        tuple(measured["seconds"]),
        tuple(measured["cpu_seconds"]),
        MemoryParts(*measured["memory"]),
    )
