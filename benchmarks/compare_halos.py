"""Stage 11's halos beside those of Shardy's passes, on random programs of windows.

    TTXDSL_NEWEST_PYTHON=… python benchmarks/compare_halos.py [PROGRAMS]    # 300

Convolutions, pooling, pads, slices, shifts and reversals over a mesh of 2 x 4 devices, as
`tests/differential/windowed_programs.py` draws them. The ways are the stages, our passes of
Shardy's names (as jaxlib 0.10.2 has them: they make whole in between what they cannot keep
split), and the newest jaxlib's own passes, which exchange halos. The result of each is run
against the whole program; bytes are of the programs that two ways take and compute alike.
The decision that follows stands in docs/evidence/decisions.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from compare_global_to_local import (  # noqa: E402
    OPTIMIZED,
    SHARDY,
    computes_alike,
    is_right,
    sent,
)
from xdsl.utils.exceptions import VerifyException  # noqa: E402

from tests.differential.equal_text import run_ours  # noqa: E402
from tests.differential.newest import newest_oracle  # noqa: E402
from tests.differential.oracle import OracleAborted, OracleRejected  # noqa: E402
from tests.differential.partitioning import MESHES, with_even_borders  # noqa: E402
from tests.differential.windowed_programs import windowed_program  # noqa: E402
from ttxdsl.errors import CompileError  # noqa: E402
from ttxdsl.program import parse_program, program_text  # noqa: E402

OF_MODULES = (
    "sdy-propagation-pipeline",
    "sdy-resolve-permutation-factors",
    "sdy-pad-for-divisibility",
    "sdy-convert-global-to-local",
)
NEWEST = ",".join(
    one if one.startswith(OF_MODULES) else f"func.func({one})"
    for one in SHARDY.split(",")
)
REFUSED = (
    CompileError, VerifyException, ValueError, OracleRejected, OracleAborted
)  # fmt: skip


def main() -> None:
    """Print the table."""
    newest = newest_oracle()
    ways: dict[str, Callable[[str], str]] = {
        "the stages": lambda text: run_ours(text, OPTIMIZED),
        "Shardy's passes, ours": lambda text: run_ours(text, SHARDY),
        "Shardy's passes, the newest C++": lambda text: newest.run(text, NEWEST),
    }
    first, *others = ways
    found = {way: Counter[str]() for way in ways}
    programs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for seed in range(programs):
        module = parse_program(windowed_program(seed, MESHES["2x4"]))
        text = program_text(with_even_borders(module))
        bytes_: dict[str, int] = {}
        for way, make in ways.items():
            try:
                made = make(text)
            except REFUSED as error:
                found[way]["refused"] += 1
                print(f"{seed}: {way}: {str(error)[:120]!r}", file=sys.stderr)
                continue
            right = computes_alike if way == first else is_right
            if right(made, text):
                bytes_[way] = sent(made)
            else:
                found[way]["wrong"] += 1
                print(f"{seed}: {way}: wrong", file=sys.stderr)
        for way in others:
            if first in bytes_ and way in bytes_:
                ours, theirs = bytes_[first], bytes_[way]
                found[way]["programs"] += 1
                found[way]["bytes"] += theirs
                found[way]["bytes of the stages"] += ours
                found[way]["more" if theirs > ours else "less" if theirs < ours else "same"] += 1  # fmt: skip
    for way, counts in found.items():
        print(way, dict(counts))


if __name__ == "__main__":
    main()
