"""Compiles a StableHLO text with XLA for virtual CPU devices and runs it.

Run as a script in a process of its own, because XLA reads the number of its CPU devices
when JAX is first imported, and because it may abort:

    python -P worker.py FOLDER DEVICES

`FOLDER/program.mlir` is compiled, `FOLDER/inputs.npz` (`arg0`, …, global arrays as raw
bytes; `signature.json` has shapes and types of arguments and results) is split as the program's shardings say, and the folder gets `program.hlo`,
`shards.npz` (`RESULT.DEVICE`: what a device holds of a result, raw bytes) and
`shards.json` (for each result, for each device the start and the stop of what it holds
in each dimension). Without `inputs.npz` the program is only compiled.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np


def _compiled(text: str, devices: int) -> Any:
    """The executable that XLA makes of a text, partitioned by Shardy."""
    ir: Any = import_module("jaxlib.mlir.ir")
    mlir: Any = import_module("jax._src.interpreters.mlir")
    compiler: Any = import_module("jax._src.compiler")
    xla_client: Any = import_module("jax._src.lib").xla_client
    jax: Any = import_module("jax")
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
    """What XLA says of its parameters or results, as JAX's shardings."""
    jax: Any = import_module("jax")
    implementation: Any = import_module("jax._src.sharding_impls")
    mesh = tuple(jax.devices()[:devices])
    if devices == 1:
        # XLA says nothing of a program for one device
        return [jax.sharding.SingleDeviceSharding(mesh[0])] * count
    return [implementation.GSPMDSharding(mesh, one) for one in op_shardings]


def _bounds(index: tuple[slice, ...], shape: tuple[int, ...]) -> list[list[int]]:
    return [list(one.indices(size)[:2]) for one, size in zip(index, shape, strict=True)]


def run(folder: Path, devices: int) -> None:
    """Do what the module says."""
    text = (folder / "program.mlir").read_text(encoding="utf-8")
    executable = _compiled(text, devices)
    hlo = "\n".join(module.to_string() for module in executable.hlo_modules())
    (folder / "program.hlo").write_text(hlo, encoding="utf-8")
    if not (folder / "inputs.npz").exists():
        return
    jax: Any = import_module("jax")
    signature = json.loads((folder / "signature.json").read_text())
    wanted = _shardings(
        executable.get_parameter_shardings(), len(signature["arguments"]), devices
    )
    arguments: list[Any] = []
    with np.load(folder / "inputs.npz") as stored:
        for index, (shape, name) in enumerate(signature["arguments"]):
            raw = stored[f"arg{index}"]
            array = raw.view(np.dtype(jax.numpy.dtype(name))).reshape(shape)
            arguments.append(jax.device_put(array, wanted[index]))
    outputs = executable.execute_sharded(arguments)
    parts = cast(list[list[Any]], outputs.disassemble_into_single_device_arrays())
    shardings = _shardings(
        executable.get_output_shardings(), len(signature["results"]), devices
    )
    arrays: dict[str, Any] = {}
    held: list[dict[int, list[list[int]]]] = []
    for number, (shape, _) in enumerate(signature["results"]):
        indices = shardings[number].devices_indices_map(tuple(shape))
        places = {device.id: _bounds(one, shape) for device, one in indices.items()}
        held.append(places)
        for part in parts[number]:
            device = next(iter(part.devices())).id
            values = np.ascontiguousarray(np.asarray(part))
            arrays[f"{number}.{device}"] = values.reshape(-1).view(np.uint8)
    np.savez(folder / "shards.npz", **arrays)
    (folder / "shards.json").write_text(json.dumps(held))


if __name__ == "__main__":
    jax_: Any = import_module("jax")
    jax_.config.update("jax_enable_x64", True)
    run(Path(sys.argv[1]), int(sys.argv[2]))
