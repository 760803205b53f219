"""Export the training step of a MaxText model for chips that are not there.

    python benchmarks/tpu/maxtext_step.py OUT MODEL TOPOLOGY [--slices N] [key=value ...]

Writes the step as StableHLO (`OUT.mlir`) and what it is (`OUT.json`). Neither weights nor
chips are needed, but Python 3.12 with `maxtext` and `libtpu`, whose topologies are asked.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")


def lowered(model: str, topology: str, slices: int, settings: list[str]) -> Any:
    """Return the lowered training step, and the mesh that it is for."""
    import jax

    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    import maxtext
    from flax.linen import partitioning
    from maxtext.configs import pyconfig
    from maxtext.trainers.pre_train import train, train_compile
    from maxtext.utils import maxtext_utils, sharding

    base = Path(maxtext.__file__).parent / "configs" / "base.yml"
    with tempfile.TemporaryDirectory() as folder:
        config = pyconfig.initialize(
            [
                "train_compile",
                str(base),
                "run_name=export",
                f"model_name={model}",
                f"compile_topology={topology}",
                f"compile_topology_num_slices={slices}",
                f"base_output_directory={folder}",
                "enable_checkpointing=false",
                "dataset_type=synthetic",
                "skip_jax_distributed_system=true",
                *settings,
            ]
        )
        train_compile.validate_config(config)
        mesh = train_compile.get_topology_mesh(config)
        shaped = train_compile.get_shaped_inputs(mesh, config)
        arguments, keywords, shardings, _, network = shaped
        params, shardings = sharding.maybe_update_params_sharding_with_opt(
            config, shardings
        )
        state = sharding.build_zero1_input_state_mesh_shardings(
            config, shardings, params
        )
        data = sharding.get_input_data_sharding(config, mesh)
        step, given, returned, static, donated = (
            maxtext_utils.get_functional_train_with_signature(
                train.train_step, data, state, network, config, params
            )
        )
        rules = partitioning.axis_rules(config.logical_axis_rules)
        with jax.set_mesh(mesh), mesh, rules:
            compiled = jax.jit(
                step,
                in_shardings=given,
                out_shardings=returned,
                static_argnums=static,
                donate_argnums=donated,
            )
            return compiled.lower(*arguments, **keywords), mesh


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("model")
    parser.add_argument("topology")
    parser.add_argument("settings", nargs="*", metavar="key=value")
    parser.add_argument("--slices", type=int, default=1)
    options = parser.parse_intermixed_args()
    start = time.time()
    step, mesh = lowered(
        options.model, options.topology, options.slices, options.settings
    )
    text = step.as_text()
    options.out.with_name(f"{options.out.name}.mlir").write_text(text)
    about = {
        "model": options.model,
        "topology": options.topology,
        "slices": options.slices,
        "extra": options.settings,
        "mesh": {axis: size for axis, size in mesh.shape.items() if size > 1},
        "devices": mesh.size,
        "ops": text.count(" = "),
        "seconds": round(time.time() - start, 1),
    }
    options.out.with_name(f"{options.out.name}.json").write_text(json.dumps(about))


if __name__ == "__main__":
    main()
