"""Compiles StableHLO texts of one signature with XLA and runs them on the same inputs.

It is a worker (`ttxdsl.loading.worker`), because XLA reads the number of its CPU devices
when JAX is first imported, and because it may abort. A question has a `folder`, the
`devices`, and how many `rounds` there are.

`FOLDER/0/program.mlir`, `FOLDER/1/program.mlir`, … are compiled, `FOLDER/inputs.npz`
(`arg0`, …, global arrays as raw bytes; `signature.json` has shapes and types of arguments
and results) is split as each program's shardings say, and all run in turn, as often as
`rounds` says. Each program's folder gets `program.hlo`, `shards.npz` (`RESULT.DEVICE`:
what a device holds of a result, raw bytes), `shards.json` (for each result, for each
device the start and the stop of what it holds in each dimension) and `measured.json`
(the seconds of each run but the first, which warms up, those of this process's CPU too,
and the bytes that XLA says a device needs). Without `inputs.npz` the programs are
only compiled, and `measured.json` has those bytes alone.
"""

import json
import time
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np


def compile_text(text: str, devices: int) -> Any:
    """Return the executable that XLA makes of a text, partitioned by Shardy."""
    ir: Any = import_module("jaxlib.mlir.ir")
    mlir: Any = import_module("jax._src.interpreters.mlir")
    compiler: Any = import_module("jax._src.compiler")
    xla_client: Any = import_module("jax._src.lib").xla_client
    jax: Any = import_module("jax")
    if "@lapack_" in text:
        # JAX loads LAPACK only when it lowers a call of it itself
        jax.jit(jax.lax.linalg.cholesky).lower(np.eye(1, dtype=np.float32))
    context = mlir.make_ir_context()
    with context:
        module = ir.Module.parse(text)
        # JAX reads the name of a module, which other exporters leave out
        if "sym_name" not in module.operation.attributes:
            name = ir.StringAttr.get("program")
            module.operation.attributes["sym_name"] = name
        options = compiler.get_compile_options(
            num_replicas=1,
            num_partitions=devices,
            device_assignment=np.arange(devices).reshape(1, devices),
        )
        build = options.executable_build_options
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = True
        everyone = xla_client.DeviceList(tuple(jax.devices()[:devices]))
        backend = jax.devices()[0].client
        return compiler.backend_compile_and_load(backend, module, everyone, options, [])


def _shardings(op_shardings: Any, count: int, devices: int) -> list[Any]:
    """Return XLA's shardings of its parameters or results, as JAX's shardings."""
    jax: Any = import_module("jax")
    implementation: Any = import_module("jax._src.sharding_impls")
    mesh = tuple(jax.devices()[:devices])
    if devices == 1:
        # XLA says nothing of a program for one device
        return [jax.sharding.SingleDeviceSharding(mesh[0])] * count
    return [
        implementation.GSPMDSharding(mesh, op_sharding) for op_sharding in op_shardings
    ]


def _bounds(index: tuple[slice, ...], shape: tuple[int, ...]) -> list[list[int]]:
    return [
        list(part.indices(size)[:2]) for part, size in zip(index, shape, strict=True)
    ]


class _Program:
    """One compiled program; its results go to its folder."""

    def __init__(self, folder: Path, signature: Any, devices: int) -> None:
        self.folder, self.signature, self.devices = folder, signature, devices
        text = (folder / "program.mlir").read_text(encoding="utf-8")
        self.executable = compile_text(text, devices)
        modules = self.executable.hlo_modules()
        hlo = "\n".join(module.to_string() for module in modules)
        (folder / "program.hlo").write_text(hlo, encoding="utf-8")
        self.arguments: list[Any] = []
        self.seconds: list[float] = []
        self.cpu_seconds: list[float] = []

    def place(self, arrays: list[Any]) -> None:
        """Put the arguments on the devices."""
        jax: Any = import_module("jax")
        wanted = _shardings(
            self.executable.get_parameter_shardings(), len(arrays), self.devices
        )
        self.arguments = [
            jax.device_put(array, sharding)
            for array, sharding in zip(arrays, wanted, strict=True)
        ]
        for argument in self.arguments:
            argument.block_until_ready()

    def run(self) -> list[list[Any]]:
        """Run it once; the parts of each result."""
        start, cpu_start = time.perf_counter(), time.process_time()
        outputs = self.executable.execute_sharded(self.arguments)
        parts = cast(list[list[Any]], outputs.disassemble_into_single_device_arrays())
        for held in parts:
            for part in held:
                part.block_until_ready()
        self.seconds.append(time.perf_counter() - start)
        self.cpu_seconds.append(time.process_time() - cpu_start)
        return parts

    def write(self, parts: list[list[Any]]) -> None:
        """Write the shards of the results that the devices hold."""
        results = self.signature["results"]
        shardings = _shardings(
            self.executable.get_output_shardings(), len(results), self.devices
        )
        arrays: dict[str, Any] = {}
        held: list[dict[int, list[list[int]]]] = []
        for number, (shape, _) in enumerate(results):
            indices = shardings[number].devices_indices_map(tuple(shape))
            places = {
                device.id: _bounds(index, shape) for device, index in indices.items()
            }
            held.append(places)
            for part in parts[number]:
                device = next(iter(part.devices())).id
                values = np.ascontiguousarray(np.asarray(part))
                arrays[f"{number}.{device}"] = values.reshape(-1).view(np.uint8)
        np.savez(self.folder / "shards.npz", **arrays)
        (self.folder / "shards.json").write_text(json.dumps(held))

    def write_measured(self) -> None:
        """Write the measured times and the memory."""
        needs: Any = self.executable.get_compiled_memory_stats()
        measured = {
            "seconds": self.seconds[1:],
            "cpu_seconds": self.cpu_seconds[1:],
            "memory": [
                needs.argument_size_in_bytes,
                needs.output_size_in_bytes,
                needs.alias_size_in_bytes,
                needs.temp_size_in_bytes,
            ],
        }
        (self.folder / "measured.json").write_text(json.dumps(measured))


def run(folder: Path, devices: int, rounds: int) -> None:
    """Compile and run the programs as the module docstring says."""
    jax: Any = import_module("jax")
    if len(jax.devices()) < devices:
        there = f"{len(jax.devices())} of {jax.default_backend()}"
        raise ValueError(f"it needs {devices} devices, and JAX has {there}")
    signature = json.loads((folder / "signature.json").read_text())
    programs = [
        _Program(path.parent, signature, devices)
        for path in sorted(folder.glob("*/program.mlir"))
    ]
    if not (folder / "inputs.npz").exists():
        for program in programs:
            program.write_measured()
        return
    arrays: list[Any] = []
    with np.load(folder / "inputs.npz") as stored:
        for index, (shape, name) in enumerate(signature["arguments"]):
            raw = stored[f"arg{index}"]
            arrays.append(raw.view(np.dtype(jax.numpy.dtype(name))).reshape(shape))
    for program in programs:
        program.place(arrays)
        program.write(program.run())
    for turn in range(1, rounds):
        # nobody is always the one that follows the other
        for program in programs[:: 1 if turn % 2 else -1]:
            program.run()
    for program in programs:
        program.write_measured()


def answer(question: dict[str, Any], data: bytes) -> None:
    """Answer `ttxdsl.loading.worker.Worker`: what is to be written is in the folder."""
    import_module("jax").config.update("jax_enable_x64", True)
    run(Path(question["folder"]), question["devices"], question["rounds"])
