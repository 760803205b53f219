"""Programs that JAX makes, in a process of its own: it reads its settings once.

What our Python's JAX prints is kept in `jax_programs/`, a file a question, so that a
fresh clone need not ask. A file is read where the versions of jax and jaxlib, the
module's text and all else that it depends on are those that it was written for;
otherwise JAX is asked. `pytest --ask-oracle` always asks, and writes what is not current.
"""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.differential.stored import ANSWERS, ChangedAnswer
from ttxdsl.loading.files import write_whole

ROOT = Path(__file__).parents[2]
EIGHT_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
PROGRAMS = Path(__file__).with_name("jax_programs")

_ROOT = "/root-of-the-clone"
"""What kept locations have in place of the folder."""


def file_of(module: str) -> Path:
    """Return the file of a module of the tests."""
    return ROOT.joinpath(*module.split(".")).with_suffix(".py")


def state_of(question: list[Any]) -> str:
    """Return the hash of what an answer depends on: JAX, the question, the module."""
    text = file_of(question[0]).read_text(encoding="utf-8")
    versions = [version("jax"), version("jaxlib")]
    return sha256(json.dumps([*versions, question, text]).encode()).hexdigest()


def kept(file: Path) -> tuple[list[Any], str, list[Any]]:
    """Return the question of a kept file, the state that it is for, and the answer."""
    text = lzma.decompress(file.read_bytes()).decode()
    return json.loads(text.replace(_ROOT, str(ROOT)))


def keep(file: Path, question: list[Any], state: str, lines: list[Any]) -> None:
    """Write a file; its paths are those of no clone."""
    text = json.dumps([question, state, lines]).replace(str(ROOT), _ROOT)
    packed = lzma.compress(text.encode(), preset=9)
    write_whole(file, lambda out: out.write(packed))


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
    question = [module, [*options], settings]
    name = sha256(json.dumps(question).encode()).hexdigest()[:8]
    file = PROGRAMS / f"{module.rpartition('.')[2]}-{name}.json.xz"
    state = state_of(question)
    of_state, known = kept(file)[1:] if file.exists() else ("", [])
    if not ANSWERS.anew:
        if of_state == state:
            return known
        return ANSWERS.of(file_of(module), [str(ROOT), *question], run)
    lines = run()
    if of_state != state:
        keep(file, question, state, lines)
    elif lines != known:
        raise ChangedAnswer(f"{question}: JAX no longer prints what {file} has")
    return lines
