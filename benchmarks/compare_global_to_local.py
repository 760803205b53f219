"""Stage 11 beside `sdy-convert-global-to-local`, on the JAX corpus split at random.

    python benchmarks/compare_global_to_local.py [EVERY]    # each EVERYth program (1)

Both start from the same texts over a mesh of 2 x 4 devices. Ours are the stages, with
and without the optimization of collectives; Shardy's way is passes as they are in
Shardy. Both also behind batching dimensions made explicit. The result of each is counted,
what each device sends, and Shardy's is run against the whole program, as ours is behind
batching. Programs in which something differs are named in stderr.
The decision that follows stands in docs/evidence/decisions.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from compare_xla_corpus import sharded_texts  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402
from xdsl.utils.exceptions import VerifyException  # noqa: E402

from tests.differential.equal_text import run_ours  # noqa: E402
from tests.differential.partitioning import arguments_of, assert_same  # noqa: E402
from tests.differential.per_device import run_everywhere  # noqa: E402
from tests.differential.test_global_to_local import (  # noqa: E402
    BATCHING,
    NAME,
    PROPAGATED,
)
from ttxdsl.errors import CompileError  # noqa: E402
from ttxdsl.interpreters.run import run_module  # noqa: E402
from ttxdsl.program import parse_program  # noqa: E402
from ttxdsl.reporting.collectives import list_collectives  # noqa: E402

STAGES = "tt-stablehlo-pipeline{optimize=false}"
OPTIMIZED = "tt-stablehlo-pipeline"
SHARDY = f"{PROPAGATED},{NAME}"
WAYS = {
    "stages": STAGES,
    "stages, optimized": OPTIMIZED,
    "stages, batching": f"{BATCHING},{OPTIMIZED}",
    "Shardy's": SHARDY,
    "Shardy's, batching": SHARDY.replace(PROPAGATED, f"{BATCHING},{PROPAGATED}"),
}


def sent(text: str) -> int:
    """The bytes that each device sends."""
    return sum(one.bytes_per_device for one in list_collectives(parse_program(text)))


def is_right(made: str, whole: str) -> bool:
    """Whether all devices together compute what the whole program does."""
    return _computes(whole, lambda module, inputs: run_everywhere(made, module, inputs))


def computes_alike(made: str, whole: str) -> bool:
    """Whether what the stages made computes what the whole program does."""
    return _computes(whole, lambda _, inputs: run_module(parse_program(made), inputs))


def _computes(whole: str, run: Callable[[ModuleOp, list[Any]], Iterable[Any]]) -> bool:
    module = parse_program(whole)
    arguments = arguments_of(module, 0, tagged=False)
    try:
        wanted = run_module(module, arguments)
        for one, other in zip(run(module, arguments), wanted, strict=True):
            assert_same(one, other)
    except (CompileError, AssertionError):
        return False
    return True


def main() -> None:
    """Print the table."""
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    refused: Counter[str] = Counter()
    total: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for name, text in sorted(sharded_texts().items())[::every]:
        made: dict[str, str] = {}
        for way, passes in WAYS.items():
            try:
                made[way] = run_ours(text, passes)
            except (CompileError, VerifyException, ValueError) as error:
                print(f"{way}: {str(error)[:120]!r}", file=sys.stderr)
                refused[way] += 1
        if len(made) < len(WAYS):
            continue
        bytes_ = {way: sent(one) for way, one in made.items()}
        total.update(bytes_)
        ours, theirs = bytes_["stages, optimized"], bytes_["Shardy's"]
        found = ["less" if ours < theirs else "more" if ours > theirs else "same"]
        if bytes_["Shardy's"] != bytes_["Shardy's, batching"]:
            found.append("batching changes Shardy's")
        if bytes_["stages, batching"] != ours:
            found.append("batching changes ours")
        if not is_right(made["Shardy's"], text):
            found.append("Shardy's wrong")
        if not computes_alike(made["stages, batching"], text):
            found.append("batched stages wrong")
        kinds.update(found)
        if found != ["same"]:
            print(f"{name}: {', '.join(found)}; {bytes_}", file=sys.stderr)
    print("| way | refused | bytes of those that all take |\n|---|---:|---:|")
    for way in WAYS:
        print(f"| {way} | {refused[way]} | {total[way]:,} |")
    print(dict(kinds))


if __name__ == "__main__":
    main()
