"""`make bench`: how long every step takes, beside C++ Shardy on the same program.

Machines are noisy, so each figure is the best of some rounds and both sides take
turns within a round; read the ratios.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from io import StringIO

from models import program
from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from tests.differential.oracle import Oracle
from ttxdsl.conversion.stablehlo_to_ttir import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn import ConvertTTIRToTTNNPass
from ttxdsl.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

CPP_STAGES = {
    "6 sdy-aggressive-propagate": "sdy-aggressive-propagate",
    "8 sdy-insert-explicit-reshards": (
        "func.func(sdy-insert-explicit-reshards{enable-full-version=true})"
    ),
    "10 sdy-reshard-to-collectives": "func.func(sdy-reshard-to-collectives)",
}
"""Stages that jaxlib has too; it is asked with the text before the stage."""


def timed(work: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def text_of(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream=stream).print_op(module)
    return stream.getvalue()


def measure(
    text: str, oracle: Oracle
) -> tuple[dict[str, float], dict[str, float], int]:
    """Seconds of every step of ours, of the stages that C++ has, and how many ops."""
    ours: dict[str, float] = {}
    cpp: dict[str, float] = {}
    context = make_context()
    start = time.perf_counter()
    module = parse_program(text, context=context)
    ours["parse and verify"] = time.perf_counter() - start
    before = ""
    stages = TTStableHLOPipelinePass().run(context, module)
    ops = 0
    for stage in stages:
        name = f"{stage.number} {stage.name}"
        ours[name] = stage.seconds
        if stage.number == 1:
            ops = sum(1 for _ in module.walk())
        if (passes := CPP_STAGES.get(name)) is not None:
            base = min(timed(oracle.run, before) for _ in range(2))
            whole = min(timed(oracle.run, before, passes) for _ in range(2))
            cpp[name] = max(whole - base, 1e-6)
        if f"{stage.number + 1} " in "".join(f"{key} " for key in CPP_STAGES):
            before = text_of(module)
    for lowering in (ConvertStableHLOToTTIRPass(), ConvertTTIRToTTNNPass()):
        ours[lowering.name] = timed(lowering.apply, context, module)
    ours["print"] = timed(text_of, module)
    return ours, cpp, ops


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, nargs="*", default=[1, 4, 12])
    parser.add_argument("--kinds", nargs="*", default=["forward", "train"])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    options = parser.parse_args()
    oracle = Oracle()
    oracle.run("module {}")
    figures: dict[str, object] = {}
    console = Console(width=120)
    for kind in options.kinds:
        for layers in options.layers:
            text = program(layers, kind)
            rounds = [measure(text, oracle) for _ in range(options.rounds)]
            ours = {key: min(r[0][key] for r in rounds) for key in rounds[0][0]}
            cpp = {key: min(r[1][key] for r in rounds) for key in rounds[0][1]}
            ops = rounds[0][2]
            table = Table("step", title=f"{kind}, {layers} layers, {ops} ops inlined")
            for column in ("ms", "µs an op", "C++ ms", "ratio"):
                table.add_column(column, justify="right")
            for name, seconds in ours.items():
                other = cpp.get(name)
                table.add_row(
                    name,
                    f"{seconds * 1e3:.1f}",
                    f"{seconds / ops * 1e6:.1f}",
                    f"{other * 1e3:.1f}" if other else "",
                    f"{seconds / other:.1f}" if other else "",
                )
            total = sum(ours.values())
            table.add_section()
            table.add_row(
                "all", f"{total * 1e3:.1f}", f"{total / ops * 1e6:.1f}", "", ""
            )
            console.print(table)
            figures[f"{kind}-{layers}"] = {"ops": ops, "ours": ours, "cpp": cpp}
    oracle.close()
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
