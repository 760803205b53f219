"""Prints what jaxlib registers of Shardy: passes, pipelines and their options.

A registry can be asked for a name, but not for all names: those come from the strings of
the shared library. A pass prints its options with their defaults; a pipeline prints what
it consists of, so that it is asked for every string that could be an option of it;
with `--passes` it is not asked, for newer ones end the process at some, and with
`--options` only they are asked, by processes that may end.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

Options = dict[str, str | None]
"""By name the default, None where it cannot be known."""


def strings_of(library: Path) -> set[str]:
    """The strings of a library that are words with hyphens."""
    words = re.findall(
        rb"(?<=\0)[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?=\0)", library.read_bytes()
    )
    return {word.decode() for word in words}


def printed(pipeline: str) -> str | None:
    """A pipeline as it is read, None if there is no such pass or option."""
    manager: Any = import_module("jaxlib.mlir.passmanager").PassManager
    for nested in (pipeline, f"func.func({pipeline})"):
        try:
            return str(manager.parse(f"builtin.module({nested})"))
        except ValueError:
            continue
    return None


def registered(words: set[str], *, pipelines: bool) -> dict[str, Options]:
    """Every pass and pipeline of Shardy, with its options, these perhaps without."""
    found: dict[str, Options] = {}
    for name in sorted(word for word in words if word.startswith("sdy-")):
        text = printed(name)
        if text is None:
            continue
        own = re.search(rf"\({name}(?:{{(.*?)}})?\)", text)
        if own is None and not pipelines:
            found[name] = {}
        elif own is None:
            accepted = (w for w in words if printed(f"{name}{{{w}=true}}") is not None)
            found[name] = dict.fromkeys(sorted(accepted))
        else:
            options = (option.partition("=") for option in (own[1] or "").split())
            found[name] = {option: default for option, _, default in options}
    return found


def options_of_pipelines(words: set[str]) -> dict[str, list[str]]:
    """The words that each pipeline takes for an option, of some kind of value.

    A process each for as long as it lives; what ends it was taken.
    """
    found: dict[str, list[str]] = {}
    for name in (
        "sdy-export-pipeline",
        "sdy-import-pipeline",
        "sdy-propagation-pipeline",
    ):
        left = sorted(words)
        found[name] = []
        while left:
            done = subprocess.run(
                [sys.executable, "-m", __spec__.name, "--try", name],
                input=json.dumps(left),
                capture_output=True,
                text=True,
                check=False,
            )
            tried = [json.loads(line) for line in done.stdout.splitlines()]
            found[name] += [word for word, taken in tried if taken]
            ended = bool(done.returncode)
            found[name] += left[len(tried) : len(tried) + 1] if ended else []
            left = left[len(tried) + 1 :] if ended else []
    return found


def try_words(pipeline: str) -> None:
    """Print for each word of the input whether a pipeline takes it for an option."""
    for word in json.load(sys.stdin):
        values = ("true", "1", "convert-global-to-local")
        taken = any(printed(f"{pipeline}{{{word}={value}}}") for value in values)
        print(json.dumps([word, taken]), flush=True)


def main() -> None:
    """Print one line of JSON."""
    import jaxlib
    from jax._src.interpreters import mlir as jax_mlir

    (library,) = Path(jaxlib.__file__).parent.glob("libjax_common.so")
    with jax_mlir.make_ir_context():
        words = strings_of(library)
        if "--try" in sys.argv:
            try_words(sys.argv[-1])
            return
        if "--options" in sys.argv:
            print(json.dumps(options_of_pipelines(words)))
            return
        print(json.dumps(registered(words, pipelines="--passes" not in sys.argv)))


if __name__ == "__main__":
    main()
