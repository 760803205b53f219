"""`make demo`: take every example through the whole compiler and onto a virtual mesh.

Needs no JAX: the programs beside this script were exported from it (`export.py`).
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from ttxdsl.cli.main import main as ttxdsl

FOLDER = Path(__file__).parent

ORDER = (
    "mlp_data_parallel",
    "mlp_tensor_parallel",
    "mlp_data_tensor_parallel",
    "mlp_train_step",
    "transformer_block",
)


def main() -> int:
    """Run all examples; 0 if every result equals the single-device one."""
    start = time.perf_counter()
    failed = [
        name
        for name in ORDER
        if ttxdsl(["run", os.path.relpath(FOLDER / f"{name}.mlir")])
    ]
    seconds = time.perf_counter() - start
    print(
        f"\n{len(ORDER) - len(failed)} of {len(ORDER)} programs compute on the virtual"
        f" mesh what they compute on one device ({seconds:.1f} s)"
    )
    for name in failed:
        print(f"FAILED: {name}")
    last = os.path.relpath(FOLDER / f"{ORDER[-1]}.mlir")
    command = os.path.relpath(Path(sys.executable).parent / "ttxdsl")
    print(
        "\nGo on with the last one, or with a program of your own:\n"
        f"  {command} why {last}\n"
        f"  {command} doctor {last}\n"
        f"  {command} plan {last} --chip v5e\n"
        f"  {command} report {last} -o report.html"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
