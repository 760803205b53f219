"""Our collectives beside XLA's for the whole JAX corpus, split at random.

    python benchmarks/xla/compare_xla_corpus.py            # prints the page
    python benchmarks/xla/compare_xla_corpus.py --write    # also writes docs/evidence/xla-corpus.md

Every program of `tests/differential/corpus.py` gets random shardings on its arguments
and results over a mesh of 2 x 4 devices, goes through the thirteen stages, and as the
same text through XLA with Shardy. XLA takes minutes for all of them and aborts on a
few, so its side is made in processes of their own and kept in a file (`--cache`). A
program that moves more than XLA's needs a line in `REASONS`, one that launches more and
moves no less a line in `LAUNCHES`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

import compare_xla  # noqa: E402
from compare_xla import Moved, our_collectives, summary  # noqa: E402

from tests.differential.corpus import programs  # noqa: E402
from tests.differential.partitioning import MESHES, sharded_program  # noqa: E402
from ttxdsl.diagnostics.errors import CompileError  # noqa: E402

PAGE = ROOT / "docs" / "evidence" / "xla-corpus.md"
MESH, DEVICES = "2x4", 8

CompileText = Callable[[str], Any]
"""Compiles text with XLA."""

REASONS: dict[str, str] = {
    "rng_uniform": "all devices get the numbers of the first; XLA's draw their own, so "
    "that replicas differ",
}
"""Why a program moves more than XLA's."""

REASONS_ELSEWHERE: dict[str, str] = {
    "cumsum_reverse": "all devices get the totals of all blocks; XLA's gathers among "
    "fewer, twice",
    "take_index": "indices are gathered, then rows that each device has are summed; "
    "XLA's moves the table's halves first",
    "min_pool": "the four results take no part of an axis, as a convolution's do",
    "matmul_int": "results of 32 bits are moved; XLA's moves the operand of 8",
    "conv3d": "channels are summed where they are; XLA's moves them",
}
"""The same with shardings of seeds 1 and 2."""

LAUNCHES: dict[str, str] = {}
"""Why a program that moves no less than XLA's launches more collectives."""


def sharded_texts(seed: int = 0) -> dict[str, str]:
    """Every program that has no shardings of its own, with the random ones of a seed."""
    texts: dict[str, str] = {}
    for one in programs():
        module = sharded_program(one.pretty, MESHES[MESH], f"{one.name} {MESH} {seed}")
        if module is not None:
            texts[one.name] = str(module)
    return texts


def xla_answers(
    script: str, texts: dict[str, str], *options: str
) -> Iterator[tuple[str, Any]]:
    """Yield what `SCRIPT --worker FOLDER` prints of each program: its name, an answer.

    XLA aborts on a few programs. The worker takes a program's file away before it
    compiles it, and is started again while there are others.
    """
    env = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES}",
        "JAX_PLATFORMS": "cpu",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program, text in texts.items():
            (folder / f"{program}.mlir").write_text(text)
        while any(folder.glob("*.mlir")):
            done = subprocess.run(
                [sys.executable, script, "--worker", name, *options],
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            for line in done.stdout.splitlines():
                program, answer = json.loads(line)
                yield program, answer


def compile_each(folder: Path, answer: Callable[[str, CompileText], Any]) -> None:
    """Be the worker of `xla_answers`: print the answer of each program that compiles.

    Args:
        folder: the files of the programs.
        answer: told a program's text, and the function that compiles it with XLA.
    """
    import jax

    from ttxdsl.bridges.xla import worker

    jax.config.update("jax_enable_x64", True)
    compile_text: Any = worker.compile_text
    for path in sorted(folder.glob("*.mlir")):
        text = path.read_text()
        path.rename(path.with_suffix(".begun"))
        with suppress(Exception):
            result = answer(text, lambda text: compile_text(text, DEVICES))
            print(json.dumps([path.stem, result]), flush=True)


def _moved_by_xla(text: str, compile_text: CompileText) -> list[tuple[Any, ...]]:
    modules = compile_text(text).hlo_modules()
    hlo = "\n".join(module.to_string() for module in modules)
    return [astuple(moved) for moved in compare_xla.xla_collectives(hlo)]


def xla_collectives(texts: dict[str, str]) -> dict[str, list[Moved] | None]:
    """Return XLA's side of every program; None where it fails or aborts."""
    collectives: dict[str, list[Moved] | None] = dict.fromkeys(texts)
    for program, moved in xla_answers(__file__, texts):
        collectives[program] = [Moved(*fields) for fields in moved]
    return collectives


def our_side(texts: dict[str, str]) -> dict[str, list[Moved] | None]:
    """Ours of every program; None where the stages refuse it."""
    found: dict[str, list[Moved] | None] = {}
    for name, text in texts.items():
        try:
            found[name] = our_collectives(text)
        except CompileError:
            found[name] = None
    return found


def _total(moved: list[Moved]) -> int:
    return sum(one.bytes for one in moved)


def _launched(moved: list[Moved]) -> int:
    return sum(one.count for one in moved)


def page(
    ours: dict[str, list[Moved] | None], theirs: dict[str, list[Moved] | None]
) -> str:
    """Counts, and a table of the programs that move more than XLA's."""
    both = {
        name: (mine, other)
        for name, mine in ours.items()
        if mine is not None and (other := theirs.get(name)) is not None
    }
    kinds: Counter[str] = Counter()
    rows: list[str] = []
    for name, (mine, other) in sorted(both.items()):
        a, b = _total(mine), _total(other)
        kinds["more" if a > b else "less" if a < b else "same"] += 1
        kinds["launches"] += a >= b and _launched(mine) > _launched(other)
        if a > b:
            reason = {**REASONS_ELSEWHERE, **REASONS}.get(name, "no reason known")
        elif a == b and _launched(mine) > _launched(other):
            reason = LAUNCHES.get(name, "no reason known")
        else:
            continue
        rows.append(
            f"| `{name}` | {a} | {b} | {summary(mine)} | {summary(other)} | {reason} |"
        )
    alone = [name for name in ours if ours[name] is not None and name not in both]
    lines = [
        "# The corpus beside XLA",
        "",
        "Written by `python benchmarks/xla/compare_xla_corpus.py --write`; do not edit.",
        "",
        f"{len(ours)} programs that JAX lowers, one or more an op, with random shardings of"
        f" arguments and results over {MESH} devices, through our thirteen stages and"
        " through XLA with Shardy. Bytes that each device sends by the ring model, in a loop"
        " as often as it turns.",
        "",
        f"- {kinds['same']} move as many bytes as XLA's, {kinds['less']} fewer,"
        f" {kinds['more']} more; {kinds['launches']} launch more collectives and move no"
        " fewer: those are in the table.",
        f"- {len(ours) - len(both) - len(alone)} have dynamic shapes or are refused for"
        f" another reason; {len(alone)} XLA does not compile.",
        "",
        "| program | ours | XLA | ours, by kind | XLA, by kind | why |",
        "|---|--:|--:|---|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--seed", type=int, default=0, help="of the shardings (0)")
    parser.add_argument("--cache", type=Path, help="XLA's side, read if it is there")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        compile_each(options.worker, _moved_by_xla)
        return
    texts = sharded_texts(options.seed)
    theirs: dict[str, list[Moved] | None]
    if options.cache and options.cache.exists():
        stored = json.loads(options.cache.read_text())
        theirs = {
            name: None if moved is None else [Moved(*one) for one in moved]
            for name, moved in stored.items()
        }
    else:
        theirs = xla_collectives(texts)
        if options.cache:
            plain = {
                name: None if m is None else [astuple(x) for x in m]
                for name, m in theirs.items()
            }
            options.cache.write_text(json.dumps(plain))
    text = page(our_side(texts), theirs)
    print(text)
    if options.write:
        PAGE.write_text(text)
    if "no reason known" in text:
        sys.exit("a program moves or launches more than XLA's: say why, or mend it")


if __name__ == "__main__":
    main()
