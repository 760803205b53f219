"""A Python whose JAX is newer than ours, where there is one.

`TTXDSL_NEWEST_PYTHON` names one, else `python3.13` and `python3.12` are tried.
"""

import os
import shutil
import subprocess
from functools import cache
from importlib.metadata import version

from tests.differential.oracle import Oracle

ASK = "import jax; print(jax.__version__)"


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


@cache
def newest_python() -> str | None:
    """A Python whose JAX is newer than ours."""
    named = os.environ.get("TTXDSL_NEWEST_PYTHON")
    for python in (named,) if named else ("python3.13", "python3.12"):
        if (path := shutil.which(python)) is None:
            continue
        done = subprocess.run(
            [path, "-c", ASK], capture_output=True, text=True, check=False
        )
        if not done.returncode and _numbers(done.stdout) > _numbers(version("jax")):
            return path
    return None


def newest_oracle() -> Oracle:
    """The C++ side of the newest JAX, whose answers are not kept.

    It no longer knows all flags that ours is given.
    """
    python = newest_python()
    assert python is not None, "whoever asks has found one"
    return Oracle(python=python, xla_flags="--xla_backend_optimization_level=0")
