"""Peaks of memory beside the buffer assignment of XLA for CPUs.

    python benchmarks/xla/cpu_memory.py DIR FRESH > docs/evidence/cpu-memory.md

takes the programs of a folder (`benchmarks/tpu/ask.py` writes them), and of one with programs
that rules were not found on, compiles what one device runs with jaxlib's XLA for CPUs, and prints
what it sets aside beside what we count. It goes on where it stopped (DIR/NAME.cpu).
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
from pathlib import Path

from ttxdsl import Program
from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
    set_argument_attributes,
)
from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.values.state import DONATED
from ttxdsl.bridges.jax.manual_sharding_export import export_manual_sharding
from ttxdsl.bridges.xla.execute import run_with_xla
from ttxdsl.costs.compilers import XLA_CPU
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import program_text

HEAD = """# Memory, beside XLA for CPUs

The second judge of [peaks](plan.md): the buffer assignment of XLA for CPUs (jaxlib 0.10.2, as `jax.jit`
has it), for the programs written by hand that libtpu judges there, all of more than 100 MiB. What one
device runs after our stage 13 is given to both, so that they count buffers of one program;
`compare-xla --static` has XLA's own partition beside ours. All floats are f32 here: XLA for CPUs makes f32
of bf16, of whole stacks of loops, too, which is no plan of anybody's. Peaks are arguments + outputs -
aliased + temporary. `benchmarks/xla/cpu_memory.py` makes this page.

A CPU's description says that it calls libraries (`ttxdsl.analysis.libraries`): the program is first made
what XLA has when it assigns buffers, and then counted as any other. What that took, from what XLA's dumps
and sources say:

- kernels run breadth first, so that what needs little is there from the start (`BFScheduler`): zeros for
  gradients, images transposed for the gradients of their kernels, what a checkpoint computes again;
- libraries want operands in one order: products of several dimensions, convolutions and gathers have
  transposed copies;
- a call of a library goes from a product through functions of numbers to a reduction, and stores nothing on
  the way; it and loops over elements write over what they read element by element;
- functions are computed once, and so is what is read again behind a product of it;
- sums among the same devices are one op; loops have copies of what others need, too; values are put into the
  places of outputs that are not there yet.

Of the programs below that no rule was found on, `recommender_14_11` showed that a loop over elements writes
over a donated argument, too (1.00 since). What is left: stacks of a loop that hold the same, since f32
stands for bf16, are one in XLA (`ring_attention`), and its heap may have gaps (`prefill`, 1 GiB).

| program | devices | XLA, GiB | ours, GiB | ratio |
|---|--:|--:|--:|--:|
"""

NEAR = 0.2
"""The part of XLA's figure by which ours may be off."""


def in_f32(text: str) -> str:
    """Return a program with f32 in place of bf16, bit patterns of constants among it."""
    wide = re.sub(
        r"dense<0x([0-9A-Fa-f]{4})>( : tensor<[^>]*bf16>)",
        r"dense<0x\g<1>0000>\2",
        text,
    )
    return wide.replace("bf16", "f32")


def measure(path: Path) -> dict[str, int]:
    """Return the devices of a program, and the peaks that XLA and we give it."""
    program = Program.of_text(in_f32(path.read_text()), path.stem).partition()
    exported = export_manual_sharding(program.module)
    function = entry_function(exported.module)
    entries = argument_attributes(function)
    given = argument_attributes(entry_function(program.module))
    for entry, old in zip(entries, given, strict=True):
        entry.update({name: old[name] for name in DONATED if name in old})
    set_argument_attributes(function, entries)
    # planned before XLA is asked
    ours = DeviceUsage(program.module, compiler=XLA_CPU).memory.parts
    text = program_text(exported.module, locations=True)
    (run,) = run_with_xla([text], function, None, exported.mesh.total_size)
    return {
        "devices": exported.mesh.total_size,
        "xla": run.memory.total,
        "ours": ours.total,
    }


def measured(folder: Path) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Return the figures of a folder's large programs, and what XLA says of those it refuses."""
    answers: dict[str, dict[str, int]] = {}
    refused: list[str] = []
    for path in sorted(folder.glob("*.mlir")):
        kept = path.with_suffix(".cpu")
        if not kept.exists():
            try:
                kept.write_text(json.dumps(measure(path)))
            except CompileError as error:
                refused.append(f"- `{path.stem}`: {error.message}")
                continue
        answer = json.loads(kept.read_text())
        if answer["xla"] >= 100 << 20:
            answers[path.stem] = answer
    return answers, refused


def ratios(answers: dict[str, dict[str, int]]) -> list[float]:
    """Return our peaks as parts of XLA's."""
    return [answer["ours"] / answer["xla"] for answer in answers.values()]


def summary(answers: dict[str, dict[str, int]]) -> str:
    """Return how many peaks are near XLA's, and how far off they are."""
    of = ratios(answers)
    error = math.exp(statistics.fmean(abs(math.log(ratio)) for ratio in of))
    near = sum(abs(ratio - 1) <= NEAR for ratio in of)
    return f"{near} of {len(of)} within 20%; geometric mean of the error {error:.2f}"


def page(folder: Path, fresh: Path) -> str:
    """Return the page."""
    answers, refused = measured(folder)
    rows = [
        f"| `{name}` | {answer['devices']} | {answer['xla'] / 2**30:.2f} |"
        f" {answer['ours'] / 2**30:.2f} | {ratio:.2f} |"
        for (name, answer), ratio in zip(answers.items(), ratios(answers), strict=True)
    ]
    others, _ = measured(fresh)
    far = [
        f"`{name}` {ratio:.2f}"
        for name, ratio in zip(others, ratios(others), strict=True)
        if abs(ratio - 1) > NEAR
    ]
    line = (
        "Programs that no rule was found on (drawn 13 and 14 of `benchmarks/tpu/programs/drawn`), each"
        f" planned before XLA was asked: {summary(others)}"
    )
    line += f" ({', '.join(far)})." if far else "."
    parts = [f"{HEAD}{chr(10).join(rows)}", summary(answers)]
    return "\n\n".join([*parts, *refused, line])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("fresh", type=Path)
    arguments = parser.parse_args()
    print(page(arguments.folder, arguments.fresh))
