"""Our collectives beside those of XLA's SPMD partitioner, on the same shardings.

    python benchmarks/xla/compare_xla.py            # prints the table
    python benchmarks/xla/compare_xla.py --write    # also writes docs/evidence/xla-comparison.md
    python benchmarks/xla/compare_xla.py --only fsdp

Both sides get the program that JAX lowers for eight devices. Ours goes through the
thirteen stages, and what comes of them through XLA as well, which partitions nothing
there; XLA's is what it makes of the global program itself. Both run in turn in one
process (`ttxdsl.bridges.xla.benchmarking`). Bytes are by the ring model (`ttxdsl.costs.ring`):
what each device sends in one run, collectives in loops once an iteration of these, ours
counted in our program and again, as XLA's are, in the HLO that XLA compiled. A program
that moves more than XLA's needs a line in `REASONS`, one that XLA adds to or takes from
a line in `CHANGED`; without one, or where the results differ, the script fails.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import ttxdsl  # noqa: E402
from tests.differential.parallel_models import parallel_models  # noqa: E402
from tests.differential.sharded_models import sharded_models  # noqa: E402
from ttxdsl.analysis.usage.collectives import list_collectives  # noqa: E402
from ttxdsl.bridges.xla.benchmarking import benchmark  # noqa: E402
from ttxdsl.bridges.xla.hlo.collectives import list_hlo_collectives  # noqa: E402
from ttxdsl.diagnostics.remarks import collect_remarks  # noqa: E402
from ttxdsl.loading.program import make_context, parse_program  # noqa: E402
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass  # noqa: E402

PAGE = ROOT / "docs" / "evidence" / "xla-comparison.md"
DEVICES = 8

REASONS: dict[str, str] = {}
"""Why a program moves more than XLA's."""

CHANGED: dict[str, str] = {}
"""Why XLA sends other bytes for our program than it says."""


@dataclass(frozen=True)
class Moved:
    """One collective: its kind, the size of its groups, and what a device sends.

    `bytes` are those of all the `count` times that it runs.
    """

    kind: str
    group: int
    bytes: int
    count: int


# XLA's side


def xla_collectives(hlo: str) -> list[Moved]:
    """The collectives of a compiled program, those too that move nothing."""
    return [
        Moved(one.kind, one.group_size, one.bytes_per_device, one.count)
        for one in list_hlo_collectives(hlo, DEVICES)
    ]


# Our side


def our_collectives(text: str) -> list[Moved]:
    """The collectives after stage 13."""
    context = make_context()
    module = parse_program(text, context=context)
    with collect_remarks():
        TTStableHLOPipelinePass().apply(context, module)
    return [
        Moved(one.kind, one.group_size, one.bytes_per_device, one.count)
        for one in list_collectives(module)
    ]


# Programs


def programs() -> dict[str, str]:
    """The text of every program."""
    examples = sorted(ROOT.glob("examples/*.mlir"))
    texts = {f"examples/{one.stem}": one.read_text() for one in examples}
    return {**texts, **sharded_models(), **parallel_models()}


# The table


def sent(moved: Iterable[Moved]) -> int:
    """The bytes of a device in one run."""
    return sum(one.bytes for one in moved)


def launched(moved: Iterable[Moved]) -> int:
    """How many collectives run."""
    return sum(one.count for one in moved)


@dataclass(frozen=True)
class Row:
    """One program on both sides, and ours as XLA has compiled it.

    `ratios` are of the times of the two, of runs next to each other.
    """

    name: str
    ours: list[Moved]
    compiled: list[Moved]
    xla: list[Moved]
    ratios: Sequence[float]
    agree: bool

    @property
    def time(self) -> str:
        """The median of the ratios, and between what half of them are."""
        if not self.ratios:
            return ""
        low, middle, high = np.quantile(self.ratios, (0.25, 0.5, 0.75))
        return f"{middle:.2f} ({low:.2f} to {high:.2f})"

    @property
    def remark(self) -> str:
        parts: list[str] = []
        if sent(self.ours) > sent(self.xla):
            parts.append(REASONS.get(self.name, "no reason known"))
        elif sent(self.ours) < sent(self.xla):
            parts.append("less")
        elif launched(self.ours) > launched(self.xla):
            parts.append("more launches: no reason known")
        if sent(self.ours) != sent(self.compiled):
            reason = CHANGED.get(self.name, "no reason known")
            parts.append(f"XLA makes {summary(self.compiled)} of ours: {reason}")
        return "; ".join(parts)


def measured(name: str, text: str, rounds: int) -> Row:
    """A program through both partitioners, `rounds` of the runs timed."""
    program = ttxdsl.load(text)
    # as small as weights are: else sums of four layers are rounding and little more
    inputs = [
        one / one.dtype.type(8) if one.dtype.kind == "f" else one
        for one in program.random_inputs()
    ]
    done = benchmark(program, inputs, rounds=max(rounds, 1), virtual=DEVICES)
    ours, xla = done.runs
    pairs = zip(ours.seconds, xla.seconds, strict=True)
    return Row(
        name,
        our_collectives(text),
        xla_collectives(ours.hlo),
        xla_collectives(xla.hlo),
        [mine / other for mine, other in pairs] if rounds else (),
        done.agree,
    )


def summary(moved: Iterable[Moved]) -> str:
    """How many of each kind and group size, and what they move."""
    count: Counter[tuple[str, int]] = Counter()
    total: Counter[tuple[str, int]] = Counter()
    for one in moved:
        count[one.kind, one.group] += one.count
        total[one.kind, one.group] += one.bytes
    parts = (
        f"{number} {kind} of {group}: {total[kind, group]}"
        for (kind, group), number in sorted(count.items())
    )
    return ", ".join(parts) or "nothing"


PASSES = """\
## What XLA does elsewhere

The column "XLA" is XLA's CPU back end, the only one that runs everywhere. It joins
all-reduces into tuples, which saves no bytes. Its GPU back end rewrites collectives after
the partitioner
(`RunCollectiveOptimizationPasses` in `xla/service/gpu/gpu_compiler.cc`), some of it behind
flags, and would send less for some of these programs; that of TPUs is not public. So a "less" above says
what ours saves over the partitioner, not over XLA on a GPU. What matches what, of
[our optimizations](optimizations.md):

| XLA on GPUs | ours |
|---|---|
| `ReduceScatterCreator`: an all-reduce of which each device takes its part | `hoist-slices` |
| `AllReduceSplitter`: the same behind an all-reduce among more devices | `hoist-slices` |
| `AllReduceFolder`: an all-reduce of an all-reduce along another axis | `combine-all-reduces` |
| `AllReduceReassociate`, `ReduceScatterReassociate`: partial sums are added first | `sink-all-reduces`, which goes through all that is linear and chooses by bytes |
| `AllGatherOptimizer`, `AllGatherBroadcastReorder`: one gather behind an op of gathered operands, and ahead of a broadcast | `move-all-gathers` |
| `AllGatherDynamicSliceSimplifier`: a gather of which each device takes its own part again | `hoist-slices`, `shardy-ccl-canonicalization` |
| `WhileLoopAllReduceCodeMotion`: what a loop accumulates is reduced behind it | `sink-collectives` |
| collectives of what no iteration changes, moved by `WhileLoopInvariantCodeMotion` | `hoist-collectives` |
| `ConditionalSimplifier`, `HloDCE`, `WhileLoopSimplifier` (on all back ends): loops that nobody uses | `collective-dce` |
| `CollectivePipeliner`, latency-hiding scheduler, combiners: the same bytes, hidden or in fewer messages | `combine-collectives`; for XLA's CPUs gathers, scatters and exchanges as rows by `join-collectives`. Overlap: the time model counts it, the back end does it |
| `CollectiveQuantizer`: a convert to a narrower type ahead of a gather | none of its own: `move-all-gathers` moves converts where that is cheaper |

The partitioner itself sends pieces for a roll (a concatenation of what was cut from one
value), which stage 11 does here, and adds up masked rows, as `narrow-all-gathers` does where that
sends less than gathering them.

`collective-cse`, `gather-product-operands`, `reduce-scatter-products` and `move-all-to-alls` have
no counterpart there that we know of.
"""


def page(rows: Sequence[Row], rounds: int) -> str:
    """The table as a page of the documentation."""
    lines = [
        "# Collectives beside XLA's",
        "",
        "Written by `python benchmarks/xla/compare_xla.py --write`; do not edit.",
        "",
        "Each program is lowered by JAX for eight devices. Bytes are what each device "
        "sends by the ring model (`ttxdsl/costs/ring.py`), in one run, loops with all "
        "their iterations: of what our thirteen stages make of it, as we count them (ours); "
        "of that very program after XLA has compiled it, read off the HLO (ours in "
        "XLA): it added none where both are the same; and of what XLA's SPMD partitioner "
        "makes of the same shardings on the CPU back end (jax 0.10.2), read off alike. "
        '"of 4" says how many devices a group has. XLA joins several all-reduces into '
        "one of a tuple: fewer collectives, the same bytes. Results of both are the "
        "same but for rounding.",
        "",
        f"Time is ours to XLA's, both compiled by XLA and run in turn, {rounds} rounds, "
        f"on 8 virtual devices of {os.cpu_count()} cores with a load of "
        f"{os.getloadavg()[0]:.0f} from this and other processes: the median of the "
        "ratios, and between what half of them are. Virtual devices share memory, where "
        "bytes are cheap; only the training steps below are large enough that "
        "more is measured than eight threads that wait for each other.",
        "",
        "| program | ours | ours in XLA | XLA | time, ours / XLA | ours, by kind "
        "| XLA, by kind | |",
        "|---|--:|--:|--:|---|---|---|---|",
    ]
    for row in rows:
        cells = (
            f"`{row.name}`",
            str(sent(row.ours)),
            str(sent(row.compiled)),
            str(sent(row.xla)),
            row.time,
            summary(row.ours),
            summary(row.xla),
            row.remark,
        )
        lines.append(f"| {' | '.join(cells)} |")
    less = sum(sent(row.ours) < sent(row.xla) for row in rows)
    more = sum(sent(row.ours) > sent(row.xla) for row in rows)
    pairs = ((sent(row.ours), sent(row.xla)) for row in rows)
    both = [ours / xla for ours, xla in pairs if ours and xla]
    changed = sum(sent(row.ours) != sent(row.compiled) for row in rows)
    lines += [
        "",
        f"Of {len(rows)} programs ours send less in {less} and more in {more}; the "
        f"geometric mean of the {len(both)} in which both send anything is "
        f"{np.exp(np.log(both).mean()):.2f}. XLA changed the bytes of {changed} of ours.",
        "",
        PASSES,
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--rounds", type=int, default=30, help="that are timed")
    parser.add_argument("--only", help="part of a program's name; writes no page")
    options = parser.parse_args()
    rows: list[Row] = []
    for name, text in programs().items():
        if options.only and options.only not in name:
            continue
        rows.append(
            measured(name, text, options.rounds if name in parallel_models() else 0)
        )
        print(name, rows[-1].time, file=sys.stderr, flush=True)
    text = page(rows, options.rounds)
    print(text)
    if options.write and not options.only:
        PAGE.write_text(text)
    wrong = {
        "more than XLA without a reason": [
            row.name
            for row in rows
            if sent(row.ours) > sent(row.xla) and row.name not in REASONS
        ],
        "more launches than XLA's for no fewer bytes": [
            row.name for row in rows if "more launches" in row.remark
        ],
        "changed by XLA without a reason": [
            row.name
            for row in rows
            if sent(row.ours) != sent(row.compiled) and row.name not in CHANGED
        ],
        "other results than XLA's": [row.name for row in rows if not row.agree],
    }
    for what, names in wrong.items():
        if names:
            print(f"{what}: {', '.join(names)}")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
