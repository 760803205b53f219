"""Programs that JAX makes, in a process of its own: it reads its settings once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.differential.stored import ANSWERS

ROOT = Path(__file__).parents[2]
EIGHT_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}


def made_by_jax(
    module: str, *options: str, python: str = sys.executable, **settings: str
) -> list[Any]:
    """The lines that a module prints when it is run, each in JSON.

    Args:
        module: what it prints depends on its own text and on JAX, nothing else of ours.
        options: its arguments.
        python: what runs it; answers of another than ours are not kept.
        settings: environment variables.

    Raises:
        RuntimeError: it fails.
    """

    def run() -> list[Any]:
        done = subprocess.run(
            [python, "-m", module, *options],
            cwd=ROOT,
            env=os.environ | {"JAX_PLATFORMS": "cpu"} | settings,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    if python != sys.executable:
        return run()
    file = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return ANSWERS.of(file, [str(file), options, settings], run)
