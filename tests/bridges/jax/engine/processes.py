"""A program on the devices of two processes, each of which has four.

    python -m tests.bridges.jax.engine.processes 0 12345 & python -m tests.bridges.jax.engine.processes 1 12345

Each prints one JSON line: how many devices there are, how many parts of a result are in
this process, and whether all results are those of the virtual mesh.
"""

import json
import sys
from pathlib import Path

import jax
import numpy as np

import ttxdsl
from ttxdsl.interpreters.compare import compare
from ttxdsl.interpreters.runtime.engine import run_on

MLP = Path(__file__).parents[4] / "examples" / "mlp_data_tensor_parallel.mlir"


def main(process: int, port: int) -> None:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(
        f"localhost:{port}",
        num_processes=2,
        process_id=process,
        initialization_timeout=60,
    )
    program = ttxdsl.load(MLP)
    ours = program.to_jax()
    inputs = program.random_inputs()
    first, *_ = ours(*inputs)
    pairs = zip(run_on(ours, inputs), program.simulate(*inputs), strict=True)
    found = {
        "devices": jax.device_count(),
        "parts": len(first.addressable_shards),
        "whole": first.is_fully_addressable,
        "ok": all(
            compare(*map(np.asarray, pair), reduction_length=256).ok for pair in pairs
        ),
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
