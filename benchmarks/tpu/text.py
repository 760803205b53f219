"""A StableHLO text compiled by the TPU's compiler, without a chip.

    python benchmarks/tpu/text.py v5e:4x4 STEP.mlir OUT.json

Writes the bytes of memory that a device needs, or the compiler's complaint, to OUT.json and
its program beside it, with the ending `.hlo`. Needs Python 3.12 with `jax` and `libtpu`.
"""

# pyright: basic

import argparse
import json
import os
from pathlib import Path


def compile_text(topology: str, text: str):
    """Return libtpu's executable of a program, whose mesh is the whole topology."""
    import numpy as np
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir
    from jax.experimental import topologies

    chips = topologies.get_topology_desc(topology, platform="tpu").devices
    devices = xla_client.DeviceList(tuple(chips))
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        options = compiler.get_compile_options(
            num_replicas=1,
            num_partitions=len(chips),
            device_assignment=np.arange(len(chips)).reshape(1, -1),
        )
        options.executable_build_options.use_shardy_partitioner = True
        client = chips[0].client
        return compiler.backend_compile_and_load(client, module, devices, options, [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("topology")
    parser.add_argument("program", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "JAX_PLATFORMS": "cpu"}
    try:
        executable = compile_text(options.topology, options.program.read_text())
    except Exception as error:
        first = str(error).strip().partition("\n")[0]
        options.output.write_text(json.dumps({"error": first}))
        return
    hlo = executable.hlo_modules()[0].to_string()
    options.output.with_suffix(".hlo").write_text(hlo)
    memory = executable.get_compiled_memory_stats()
    parts = ("argument", "output", "alias", "temp")
    sizes = {part: getattr(memory, f"{part}_size_in_bytes") for part in parts}
    peak = sizes["argument"] + sizes["output"] - sizes["alias"] + sizes["temp"]
    options.output.write_text(json.dumps({"memory": sizes, "peak_bytes": peak}))


if __name__ == "__main__":
    main()
