"""A training step as large as that of Llama 3.1 405B, of our own model, looked into.

    python benchmarks/speed/large_step.py LAYERS scanned|unrolled

prints, as JSON, what loading, partitioning, listing its collectives and the peak of its
memory take: seconds of the processor and MB. On 16 x 16 devices; nothing is executed.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
LAYERS = 126
SIZES = {
    "batch": 256,
    "length": 4096,
    "width": 16384,
    "heads": 128,
    "vocabulary": 128256,
}


def step_path(layers: int, *, scanned: bool) -> Path:
    """Return the file of the step's text, which is made once."""
    path = CACHE / f"large_step_{layers}_{'scanned' if scanned else 'unrolled'}.mlir"
    if not path.exists():
        from models import LARGE, Sizes, lower

        CACHE.mkdir(exist_ok=True)
        lowered = lower(layers, "train", Sizes(**SIZES), LARGE, scanned=scanned)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(lowered.as_text())
        part.rename(path)
    return path


def look(path: Path) -> dict[str, Any]:
    """Return what it takes to look into a step, and what is there."""
    import ttxdsl

    start = time.process_time()
    program = ttxdsl.load(path)
    local = program.partition()
    collectives = local.collectives()
    peak = local.memory().peak_bytes
    seconds = time.process_time() - start
    return {
        "ops": path.read_text().count(" = "),
        "seconds": seconds,
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "launches": sum(one.count for one in collectives),
        "bytes": sum(one.bytes_per_device for one in collectives),
        "peak": peak,
    }


def measured(*, small: bool) -> list[dict[str, Any]]:
    """Return rows for the tables: scanned, and unrolled with the growth from 24 layers."""
    rows = [_row(LAYERS, "scanned")]
    first = _row(24, "unrolled")
    rows.append(first)
    for layers in () if small else (LAYERS, 384):
        row = _row(layers, "unrolled")
        growth = math.log(row["s"] / first["s"]) / math.log(layers / 24)
        rows.append({**row, "growth": growth})
    return rows


def _row(layers: int, form: str) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "large_step.py"), str(layers), form]
    # who measured before may have set JAX's number of devices, which is not this step's
    env = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    answer = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(answer.stdout)
    return {
        "step": f"{layers} layers, {form}",
        "ops": found["ops"],
        "s": found["seconds"],
        "MB": found["MB"],
        "growth": "",
    }


def main() -> None:
    layers, form = int(sys.argv[1]), sys.argv[2]
    path = step_path(layers, scanned=form == "scanned")
    if len(sys.argv) == 3:
        # in a process of its own: making the text takes memory, too
        command = [sys.executable, __file__, str(layers), form, "look"]
        subprocess.run(command, check=True)
        return
    print(json.dumps(look(path)))


if __name__ == "__main__":
    main()
