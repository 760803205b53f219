"""What each optimization of collectives gains, alone and beside the others.

    python benchmarks/optimizations.py            # prints the page
    python benchmarks/optimizations.py --write    # also writes docs/evidence/optimizations.md

The programs are the models of `tests/differential/sharded_models.py` and the JAX corpus
with random shardings (`compare_xla_corpus.py`). Each goes through the first eleven stages
once; bytes are what each device sends by the ring model (`ttxdsl.costs.ring`), of
every collective as often as it runs. What joins collectives sends as many bytes: of it
launches are counted instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from compare_xla_corpus import sharded_texts  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402

from tests.differential.sharded_models import sharded_models  # noqa: E402
from ttxdsl.analysis.usage.collectives import launches_of, list_collectives  # noqa: E402
from ttxdsl.diagnostics.errors import CompileError  # noqa: E402
from ttxdsl.diagnostics.remarks import collect_remarks  # noqa: E402
from ttxdsl.loading.program import make_context, parse_program  # noqa: E402
from ttxdsl.transforms.collectives import combine_collectives  # noqa: E402
from ttxdsl.transforms.collectives.optimize_collectives import (  # noqa: E402
    OPTIMIZATIONS,
    OptimizeCollectivesPass,
)
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass  # noqa: E402
from ttxdsl.transforms.stages.batch_counting_indices import (  # noqa: E402
    BatchCountingIndicesPass,
)
from ttxdsl.transforms.stages.constant_places import ConstantPlacesPass  # noqa: E402
from ttxdsl.transforms.stages.even_islands import KEEP_ISLANDS_WHOLE  # noqa: E402
from ttxdsl.transforms.stages.frame_uneven_values import (  # noqa: E402
    FrameUnevenValuesPass,
)
from ttxdsl.transforms.stages.gather_before_slices import (  # noqa: E402
    GatherBeforeSlicesPass,
)
from ttxdsl.transforms.stages.pad_carries import PadCarriesPass  # noqa: E402
from ttxdsl.transforms.stages.shardy_ccl_canonicalization import (  # noqa: E402
    ShardyCCLCanonicalizationPass,
)
from ttxdsl.transforms.stages.sum_dynamic_slices import (  # noqa: E402
    SumDynamicSlicesPass,
)

PAGE = ROOT / "docs" / "evidence" / "optimizations.md"
SHARDY = ShardyCCLCanonicalizationPass.name
EARLIER = (
    ConstantPlacesPass.name,
    BatchCountingIndicesPass.name,
    PadCarriesPass.name,
    FrameUnevenValuesPass.name,
    KEEP_ISLANDS_WHOLE,
    SumDynamicSlicesPass.name,
    GatherBeforeSlicesPass.name,
)
"""Those that change the program before it has collectives."""


@dataclass
class Gain:
    """What one optimization changes: programs, and their bytes with and without it."""

    programs: int = 0
    without: int = 0
    bytes: int = 0
    most: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def add(self, name: str, without: int, sent: int) -> None:
        """One program."""
        if without != sent:
            self.programs += 1
            self.without += without
            self.bytes += sent
            self.most.append((without - sent, name))


def sent(module: ModuleOp) -> int:
    """What each device sends."""
    return sum(one.bytes_per_device for one in list_collectives(module))


def launches(module: ModuleOp) -> int:
    """How many collectives run."""
    return launches_of(list_collectives(module))


def measure_of(name: str) -> Callable[[ModuleOp], int]:
    """What an optimization makes less of."""
    return launches if name == combine_collectives.NAME else sent


def local(text: str, *, shardy: bool) -> ModuleOp:
    """A program behind stage 11, with Shardy's own rewrites or without any."""
    context = make_context()
    module = parse_program(text, context=context)
    stages = TTStableHLOPipelinePass(optimize=False)
    with collect_remarks():
        for stage in stages.run(context, module):
            if stage.number == 10 and shardy:
                ShardyCCLCanonicalizationPass().apply(context, module)
            if stage.number == 11:
                break
    return module


def sent_without(text: str, *names: str) -> int:
    """What the pipeline has devices send if some optimizations are left out."""
    context = make_context()
    module = parse_program(text, context=context)
    with collect_remarks():
        TTStableHLOPipelinePass(without=names, last_stage=11).apply(context, module)
    return sent(module)


def optimized(
    module: ModuleOp,
    names: Iterable[str],
    measure: Callable[[ModuleOp], int] = sent,
) -> int:
    """What is sent after some optimizations of a copy, or another measure of it."""
    copy = module.clone()
    chosen = tuple(names)
    if chosen:
        OptimizeCollectivesPass(chosen).apply(make_context(), copy)
    return measure(copy)


def gains(
    texts: dict[str, str],
) -> tuple[dict[str, Gain], dict[str, Gain], dict[str, tuple[int, int]]]:
    """Of each optimization alone, of each beside all others, and of all together."""
    alone = {name: Gain() for name in (*EARLIER, SHARDY, *OPTIMIZATIONS)}
    beside = {name: Gain() for name in (*EARLIER, SHARDY, *OPTIMIZATIONS)}
    together: dict[str, tuple[int, int]] = {}
    for program, text in texts.items():
        try:
            plain, joined = local(text, shardy=False), local(text, shardy=True)
        except CompileError:
            continue
        before = sent(plain)
        if not before:
            continue
        after = optimized(joined, OPTIMIZATIONS)
        together[program] = before, after
        every = *EARLIER, SHARDY, *OPTIMIZATIONS
        none, all_ = sent_without(text, *every), sent_without(text)
        for name in EARLIER:
            others = (other for other in every if other != name)
            alone[name].add(program, none, sent_without(text, *others))
            beside[name].add(program, sent_without(text, name), all_)
        alone[SHARDY].add(program, before, sent(joined))
        beside[SHARDY].add(program, optimized(plain, OPTIMIZATIONS), after)
        for name in OPTIMIZATIONS:
            measure = measure_of(name)
            alone[name].add(program, measure(plain), optimized(plain, [name], measure))
            others = [other for other in OPTIMIZATIONS if other != name]
            beside[name].add(
                program,
                optimized(joined, others, measure),
                after if measure is sent else optimized(joined, OPTIMIZATIONS, measure),
            )
    return alone, beside, together


def _rows(found: dict[str, Gain]) -> list[str]:
    rows: list[str] = []
    for name, gain in found.items():
        most = ", ".join(
            f"`{program}` {less:,}" for less, program in sorted(gain.most)[:-4:-1]
        )
        rows.append(
            f"| `{name}` | {gain.programs} | {gain.without:,} | {gain.bytes:,} | {most} |"
        )
    return rows


def page(texts: dict[str, str], models: Iterable[str]) -> str:
    """Both tables, and the models one by one."""
    alone, beside, together = gains(texts)
    changed = sum(before != after for before, after in together.values())
    more = sum(before < after for before, after in together.values())
    head = [
        "| optimization | programs | bytes without | bytes with | most |",
        "|---|--:|--:|--:|---|",
    ]
    lines = [
        "# What each optimization of collectives gains",
        "",
        "Written by `python benchmarks/optimizations.py --write`; do not edit.",
        "",
        f"{len(together)} programs with collectives, of the JAX corpus with random"
        " shardings over 2x4 devices and of the models: all optimizations together make"
        f" {changed} of them send less and {more} send more. Bytes that each device"
        " sends by the ring model, in a loop as often as it turns; of"
        f" `{combine_collectives.NAME}`, which sends as many, launches.",
        "",
        "## Alone",
        "",
        "Each by itself behind stage 11, `shardy-ccl-canonicalization` behind stage 10; the"
        " first seven are passes before stages 2, 6 and 8 and behind it, and are added to the"
        " pipeline without the others.",
        "",
        *head,
        *_rows(alone),
        "",
        "## Beside all others",
        "",
        "What is lost without it: where others would do the same, nothing.",
        "",
        *head,
        *_rows(beside),
        "",
        "## Models",
        "",
        "| model | bytes without any | bytes with all |",
        "|---|--:|--:|",
        *(
            f"| `{name}` | {together[name][0]:,} | {together[name][1]:,} |"
            for name in models
            if name in together
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    models = sharded_models()
    text = page({**models, **sharded_texts()}, models)
    print(text)
    if options.write:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
