"""Plans beside the TPU's own compiler, and beside what steps took on real pods.

    python benchmarks/plan.py [DIR] [--recipes DIR] [--write]

DIR has pairs NAME.mlir and NAME.json: what JAX lowered for TPUs that are not there, and
what libtpu's compiler said of it (`benchmarks/tpu/ask.py` writes them): `memory`
(`argument`, `output`, `alias`, `temp`, in bytes) or `does_not_fit_bytes`, `topology`
("v5p-64"), `devices`, `slices`, and if known `half` (its set); and NAME.hlo, its program, if
FLOPs and bytes are to be compared. Folders below it count too. The folder of recipes has NAME.mlir of steps of
recipes.txt and pods.txt, which have their seconds. Without `--write` what changes is printed; with it, it
goes to the data in benchmarks/tpu/evidence, from which docs/evidence/plan.md is then written.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tpu import bytes as tpu_bytes
from tpu.evidence import page
from tpu.evidence.page import Row, Step
from tpu.flops import Flops

import ttxdsl
from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.work import flops
from ttxdsl.analysis.values.simplified import simplified
from ttxdsl.costs.chips import chip_named
from ttxdsl.dialects import chlo
from ttxdsl.dialects.calls.kernels import is_kernel
from ttxdsl.insight.plan.variants import Origin
from ttxdsl.insight.plan.xla import plan_as_xla
from ttxdsl.ir.collector import few_collections
from ttxdsl.ir.traversal import all_ops
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

PIPELINE = TTStableHLOPipelinePass(pad_borders=True)
PROGRAMS = Path(__file__).parent / "tpu" / "programs"


def row_of(path: Path) -> Row | None:
    """Plan a program that libtpu compiled."""
    answer: dict[str, Any] = json.loads(path.read_text())
    memory = answer.get("memory")
    if memory is not None:
        used = memory["argument"] + memory["output"] - memory["alias"]
        theirs = used + memory["temp"]
    elif "does_not_fit_bytes" in answer:
        theirs = answer["does_not_fit_bytes"]
    else:
        return None
    chip = chip_named(answer["topology"].split("-")[0])
    start = time.process_time()
    with few_collections():  # as the command has
        origin = Origin(ttxdsl.load(path.with_suffix(".mlir")).module, PIPELINE)
        plan, usage, _ = plan_as_xla(None, origin, chip, answer["slices"])
    seconds = time.process_time() - start
    counted = moved = ""
    text = path.with_suffix(".hlo")
    if text.exists():
        hlo = text.read_text()
        program = tpu_bytes.Program(hlo)
        kinds = tpu_bytes.Bytes(program).hbm().of_kinds
        moved = f"{plan.hbm_bytes / (kinds.total() - kinds['collective']):.2f}"
        simple = simplified(usage.module)
        module = usage.module if simple is None else simple.module
        runs = Runs(module)
        # libtpu counts no work of kernels that are calls, as products of groups may be
        kernels = chlo.RaggedDotOp if "ragged-dot" in hlo else ()
        calls = [
            op for op in all_ops(module) if is_kernel(op) or isinstance(op, kernels)
        ]
        work = plan.flops - sum(runs.of(op).count * flops(op) for op in calls)
        counted = f"{work / Flops(program).total():.3f}"
    programs = "".join(module.read_text() for module in PROGRAMS.rglob("*.py"))
    of_set = answer.get("half", "fit")
    by_hand = of_set.startswith("drawn") or f"\ndef {path.stem}():" in programs
    return Row(
        *(path.stem, "hand" if by_hand else "MaxText", of_set),
        f"{answer['devices']} {chip.name}",
        *(f"{theirs / 2**30:.4f}", f"{plan.memory.peak_bytes / 2**30:.4f}"),
        *(counted, moved, f"{seconds:.1f}"),
    )


def planned(folder: Path) -> Iterator[Row]:
    """Plan the programs of a folder that libtpu answered."""
    for path in sorted({path.stem: path for path in folder.glob("**/*.json")}.values()):
        if path.with_suffix(".mlir").exists() and (row := row_of(path)):
            yield row


def timed(folder: Path) -> Iterator[Step]:
    """Plan the published steps that were exported."""
    for name, _, topology, slices, _, _, flags, _ in (
        *page.published("recipes.txt"),
        *page.published("pods.txt"),
    ):
        path = folder / f"{name}.mlir"
        if not path.exists():
            continue
        chip = chip_named(topology.split("-")[0])
        if flags == "none":
            chip = replace(chip, compiler=replace(chip.compiler, windows=range(0)))
        bits = {"local_random_bits": flags == "local-bits"}
        plan = ttxdsl.load(path).plan(
            chip, slices=int(slices), variants=False, partition=bits
        )
        yield Step(
            *(name, f"{plan.devices} {chip.name}", f"{plan.time.step_s:.2f}"),
            "yes" if plan.memory.fits else "no",
            f"{plan.memory.peak_bytes / 2**30:.1f}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--recipes", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = {(row.program, row.set): row for row in page.read(Row, "rows.csv")}
    steps = {step.step: step for step in page.read(Step, "seconds.csv")}
    sets = list(page.sets())
    for row in planned(options.folder) if options.folder else ():
        if row.set not in sets:
            parser.error(f"{row.program} is of set {row.set!r}: add it to sets.toml")
        before = rows.get((row.program, row.set))
        # bytes and FLOPs are kept of a day on which there was a program to count
        if before is not None:
            row = replace(
                row, flops=row.flops or before.flops, bytes=row.bytes or before.bytes
            )
        rows[row.program, row.set] = row
        was = f" ({before.ratio:.3f} before)" if before else ""
        print(f"{row.program}: {row.ratio:.3f}{was}, {row}", flush=True)
    for step in timed(options.recipes) if options.recipes else ():
        steps[step.step] = step
        print(step, flush=True)
    if options.write:
        ordered = sorted(rows.values(), key=lambda r: (sets.index(r.set), r.program))
        page.write("rows.csv", ordered)
        page.write("seconds.csv", list(steps.values()))
        page.PAGE.write_text(page.rendered())


if __name__ == "__main__":
    main()
