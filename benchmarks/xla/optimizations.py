"""What each optimization of collectives gains, alone and beside the others.

    python benchmarks/xla/optimizations.py            # prints the page
    python benchmarks/xla/optimizations.py --write    # also writes docs/evidence/optimizations.md
    python benchmarks/xla/optimizations.py --write --giants DIR

Programs: the models of `tests/differential/sharded_models.py`, the training steps of
`parallel_models.py`, the JAX corpus with random shardings (`compare_xla_corpus.py`),
what people reported (`tests/pipeline/cases`), and on 2 x 4 devices what they write in JAX
to shift and to iterate. Bytes
are what each device sends by the ring model (`ttxdsl.costs.ring`), of every collective as
often as it runs. What joins collectives sends as many bytes: of it launches are counted.

DIR holds training steps of public models as `giants.py export` writes them. They take
minutes; without `--giants` the page keeps their table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent))

from compare_xla_corpus import sharded_texts  # noqa: E402
from xdsl.dialects.builtin import ModuleOp  # noqa: E402

from tests.differential.parallel_models import parallel_models  # noqa: E402
from tests.differential.sharded_models import sharded_models  # noqa: E402
from tests.differential.test_iterations import by_jax as iterations  # noqa: E402
from tests.differential.test_shifts import by_jax as shifts  # noqa: E402
from ttxdsl.analysis.usage.collectives import launches_of, list_collectives  # noqa: E402
from ttxdsl.diagnostics.errors import CompileError  # noqa: E402
from ttxdsl.diagnostics.remarks import collect_remarks  # noqa: E402
from ttxdsl.loading.program import make_context, parse_program  # noqa: E402
from ttxdsl.transforms.collectives import combine_collectives  # noqa: E402
from ttxdsl.transforms.collectives.optimize_collectives import (  # noqa: E402
    OPTIMIZATIONS,
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


def texts() -> dict[str, str]:
    """The text of every program."""
    written = {**shifts(), **iterations()}
    cases = sorted((ROOT / "tests" / "pipeline" / "cases").glob("*.mlir"))
    return {
        **sharded_models(),
        **parallel_models(),
        **sharded_texts(),
        **{name: text for (name, mesh), text in written.items() if mesh == "2x4"},
        **{f"case {path.stem}": path.read_text() for path in cases},
    }


EVERY = (*EARLIER, SHARDY, *OPTIMIZATIONS)


class Sent(NamedTuple):
    """What each device sends in one run: bytes, and how many collectives."""

    bytes: int
    launches: int

    def measured_for(self, name: str) -> int:
        """Return what an optimization makes less of."""
        return self.launches if name == combine_collectives.NAME else self.bytes


def sent_without(module: ModuleOp, names: Collection[str]) -> Sent:
    """Return what devices send if some optimizations are left out."""
    copy = module.clone()
    with collect_remarks():
        pipeline = TTStableHLOPipelinePass(
            without=tuple(names), last_stage=11, pad_borders=True
        )
        pipeline.apply(make_context(), copy)
    collectives = list_collectives(copy)
    total = sum(collective.bytes_per_device for collective in collectives)
    return Sent(total, launches_of(collectives))


@dataclass
class Gain:
    """The programs that one optimization changes, with what they send."""

    programs: int = 0
    without: int = 0
    with_it: int = 0
    most: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def add(self, name: str, program: str, without: Sent, with_it: Sent) -> None:
        """Count a program."""
        before, after = without.measured_for(name), with_it.measured_for(name)
        if before != after:
            self.programs += 1
            self.without += before
            self.with_it += after
            self.most.append((before - after, program))

    def row(self, name: str) -> str:
        """Return the row of a table, with the programs that gain most."""
        most = ", ".join(
            f"`{program}` {less:,}" for less, program in sorted(self.most)[:-4:-1]
        )
        return f"| `{name}` | {self.programs} | {self.without:,} | {self.with_it:,} | {most} |"


def table(gains: Mapping[str, Gain]) -> list[str]:
    """Return a table of gains by optimization."""
    return [
        "| optimization | programs | bytes without | bytes with | most |",
        "|---|--:|--:|--:|---|",
        *(gain.row(name) for name, gain in gains.items()),
    ]


def add_beside(gains: Mapping[str, Gain], program: str, module: ModuleOp) -> Sent:
    """Count what each optimization gains beside all others; return what all leave."""
    with_all = sent_without(module, ())
    for name, gain in gains.items():
        gain.add(name, program, sent_without(module, [name]), with_all)
    return with_all


def page(texts: Mapping[str, str], models: Iterable[str], steps: str) -> str:
    """Return the page: gains alone and beside all others, and models one by one."""
    alone = {name: Gain() for name in EVERY}
    beside = {name: Gain() for name in EVERY}
    together: dict[str, tuple[int, int]] = {}
    for program, text in texts.items():
        module = parse_program(text)
        try:
            none = sent_without(module, EVERY)
        except CompileError:
            continue
        if not none.bytes:
            continue
        for name, gain in alone.items():
            others = [other for other in EVERY if other != name]
            gain.add(name, program, none, sent_without(module, others))
        together[program] = none.bytes, add_beside(beside, program, module).bytes
    changed = sum(before > after for before, after in together.values())
    more = sum(before < after for before, after in together.values())
    lines = [
        "# What each optimization of collectives gains",
        "",
        "Written by `python benchmarks/xla/optimizations.py --write`; do not edit.",
        "",
        f"{len(together)} programs with collectives over four or eight devices: the JAX corpus"
        " with random shardings, models, training steps, programs that people reported, and"
        " what they write in JAX to shift and to iterate. All optimizations together make"
        f" {changed} of them send less and {more} send more. Bytes that each device"
        " sends by the ring model, in a loop as often as it iterates; of"
        f" `{combine_collectives.NAME}`, which sends as many, launches.",
        "",
        "## Alone",
        "",
        "Each by itself in a pipeline without the others.",
        "",
        *table(alone),
        "",
        "## Beside all others",
        "",
        "What is lost without it: where others would do the same, nothing.",
        "",
        *table(beside),
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
        "",
        STEPS,
        steps,
    ]
    return "\n".join(lines)


STEPS = "## Training steps of public models"


def page_of_steps(directory: Path) -> str:
    """Return what each optimization gains on MaxText's steps beside all others."""
    gains = {name: Gain() for name in EVERY}
    paths = sorted(directory.glob("*.mlir"))
    for path in paths:
        add_beside(gains, path.stem, parse_program(path.read_text()))
    lines = [
        "",
        f"{len(paths)} steps of MaxText (`giants.py`), beside all others:",
        "",
        *table(gains),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--giants", type=Path, metavar="DIR", help="steps of giants.py")
    options = parser.parse_args()
    steps = (
        page_of_steps(options.giants)
        if options.giants
        else PAGE.read_text().partition(STEPS + "\n")[2]
    )
    text = page(texts(), [*sharded_models(), *parallel_models()], steps)
    print(text)
    if options.write:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
