"""Ask the TPU's compiler of programs, without a chip.

    python benchmarks/tpu/ask.py DIR [NAME ...] [--set SET] [--dump]

Needs `jax`, `libtpu`, `flax` and `optax` of the registry. For each program of `benchmarks/tpu/programs`, or of
those named, writes NAME.mlir (what JAX lowers), NAME.json (libtpu's `memory_analysis()` and
`cost_analysis()`) and NAME.hlo to DIR, for `benchmarks/plan.py`. The set of a program is that of its row;
`--set` says that of new ones, or which are asked of if none is named. `--dump` writes libtpu's buffer
assignment beside them.
"""
# pyright: basic

import argparse
import csv
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "JAX_PLATFORMS": "cpu"}


def programs():
    """Return every program by its name."""
    for path in sorted((HERE / "programs").rglob("[a-z]*.py")):
        name = path.relative_to(HERE.parent).with_suffix("")
        importlib.import_module(".".join(name.parts))
    from tpu.programs.steps import PROGRAMS

    return PROGRAMS


def lowered(built, topology, axes):
    """Return a program lowered for a topology, and how many devices that has."""
    import jax
    from jax.experimental import mesh_utils, topologies
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    # the two cores of a chip of v4 are one device, as on a pod
    of_chip = {"chip_config_name": "megacore"} if topology.startswith("v4") else {}
    devices = topologies.get_topology_desc(topology, platform="tpu", **of_chip).devices
    # as `jax.make_mesh` orders them: neighbours on an axis have a link
    ordered = mesh_utils.create_device_mesh(
        tuple(axes.values()), devices, allow_split_physical_axes=True
    )
    mesh = Mesh(ordered, tuple(axes))
    f, arguments, spec, options = built()

    def placed(specs):
        return jax.tree.map(
            lambda s: NamedSharding(mesh, s),
            specs,
            is_leaf=lambda s: isinstance(s, PartitionSpec),
        )

    # a step's state stays where it is
    if "out_shardings" in options:
        options = options | {"out_shardings": placed(options["out_shardings"])}
    with jax.set_mesh(mesh):
        step = jax.jit(f, in_shardings=placed(spec), **options).lower(*arguments)
    return step, mesh


def compile_program(name, folder, half):
    """Build, lower and compile a program; write its files."""
    import jax

    build, topology, axes = programs()[name]
    step, mesh = lowered(build, topology, axes)
    (folder / f"{name}.mlir").write_text(step.as_text())
    start = time.time()
    data = {
        "topology": topology.replace(":", "-"),
        "slices": 1,
        "devices": mesh.size,
        "half": half,
    }
    try:
        with jax.set_mesh(mesh):
            compiled = step.compile()
    except jax.errors.JaxRuntimeError as error:
        needed = re.search(r"temporaries \(([\d.]+)G\)", str(error))
        if needed is None:
            raise
        data["does_not_fit_bytes"] = int(float(needed[1]) * 2**30)
    else:
        memory = compiled.memory_analysis()
        cost = compiled.cost_analysis()
        (folder / f"{name}.hlo").write_text(compiled.as_text())
        kinds = ("argument", "output", "alias", "temp")
        data["memory"] = {k: getattr(memory, f"{k}_size_in_bytes") for k in kinds}
        data["flops"] = cost.get("flops")
        data["bytes"] = cost.get("bytes accessed")
    data["compile_s"] = time.time() - start
    (folder / f"{name}.json").write_text(json.dumps(data))
    print(name, json.dumps(data), flush=True)


def main():
    """Compile programs by name, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--set", metavar="SET")
    parser.add_argument("--dump", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with (HERE / "evidence" / "rows.csv").open() as file:
        sets = {r["program"]: r["set"] for r in csv.DictReader(file)}
    if options.here:
        (name,) = options.names
        compile_program(name, options.folder, sets.get(name, options.set))
        return
    known = programs()
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no program {', '.join(unknown)}; known: {', '.join(known)}")
    if new := [n for n in options.names if n not in sets and not options.set]:
        parser.error(f"{', '.join(new)} is in no set: say --set")
    of_set = [
        name for name in known if name in sets and options.set in (None, sets[name])
    ]
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or of_set:
        if (options.folder / f"{name}.json").exists():
            continue
        # a process each: libtpu keeps what it compiled, and a crash takes one program only
        dump = options.folder / "dumps" / name
        if options.dump:
            shutil.rmtree(dump, ignore_errors=True)
            os.environ["XLA_FLAGS"] = f"--xla_dump_to={dump}"
        command = [sys.executable, __file__, str(options.folder), name, "--here"]
        command += ["--set", options.set] if options.set else []
        done = subprocess.run(command, capture_output=True, text=True)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            print(name, "failed:", done.stderr.strip().splitlines()[-1:], flush=True)


if __name__ == "__main__":
    main()
