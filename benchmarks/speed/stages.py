"""What every step of one compilation costs, in a process of its own.

    python benchmarks/speed/stages.py FILE [--cold | --memory | --texts DIR]

prints one JSON line. Nothing is remembered from another program, and the peak of memory
is this program's. Seconds are CPU seconds: the machine may be shared.

With `--cold` the processor's caches are emptied before each step. A small module stays
in them from one step to the next and a large one cannot, so that without it a step that
does nothing but look at every op takes more than twice the time for twice the ops.

With `--memory` what Python's objects take is counted, from the text on. The peak of the
process alone says less: small programs fit into what was freed since it started. Seconds
then say nothing.

With `--texts` the program is also written down before each stage that C++ Shardy has,
for it to be measured on the same module; nothing is timed then.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

CPP_STAGES: dict[int, str] = {
    5: "sdy-apply-sharding-constraints",
    6: (
        "sdy-manual-axes-cleanup,sdy-sharding-group-import,sdy-add-data-flow-edges,"
        "sdy-user-priority-propagate,func.func(sdy-sink-data-flow-edges),"
        "sdy-remove-sharding-groups"
    ),
    7: "func.func(sdy-sharding-constraint-to-reshard)",
    8: "func.func(sdy-insert-explicit-reshards{enable-full-version=true})",
    10: "func.func(sdy-reshard-to-collectives)",
    11: "sdy-convert-global-to-local",
    12: "sdy-close-shardings",
}
"""Shardy's own passes for our stages; stage 9 wraps, which Shardy does not."""


def peak_bytes() -> int:
    """The most memory that this process held so far.

    `ru_maxrss` alone would count that of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


CACHE_BYTES = 64 << 20
"""More than the caches that belong to one core."""


def compile_and_time(
    path: Path, *, cold: bool = False, traced: bool = False
) -> dict[str, Any]:
    """Text to ttnn text, step by step: `seconds` by step, `ops`, and `peak` bytes.

    Args:
        path: the program.
        cold: empty the caches before each step; memory then says nothing.
        traced: also find the bytes `needed` by the program; seconds then say nothing.
    """
    seconds: dict[str, float] = {}
    others = bytearray(b"\1") * CACHE_BYTES if cold else bytearray()

    def timed(name: str, work: Callable[..., Any], *arguments: Any) -> Any:
        if cold:
            bytearray(others)  # a copy: all of it is read and written
        start = time.process_time()
        result = work(*arguments)
        seconds[name] = time.process_time() - start
        return result

    from xdsl.parser import Parser
    from xdsl.printer import Printer

    from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
    from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
    from ttxdsl.ir.collector import without_collections
    from ttxdsl.ir.traversal import all_ops
    from ttxdsl.loading.program import make_context
    from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

    seconds["start Python"] = time.process_time()
    if traced:
        tracemalloc.start()
    context = make_context()
    text = path.read_text()
    with without_collections():  # as `parse_program` does
        module = timed("parse", Parser(context, text).parse_module)
        timed("verify", module.verify)
    stages = TTStableHLOPipelinePass().run(context, module)
    ops = 0
    for number in range(1, 14):
        stage = timed(str(number), next, stages)
        seconds[f"{stage.number} {stage.name}"] = seconds.pop(str(number))
        if number == 1:
            ops = len(all_ops(module))
    timed("ttir", ConvertStableHLOToTTIRPass().apply, context, module)
    timed("ttnn", ConvertTTIRToTTNNPass().apply, context, module)
    stream = StringIO()
    with without_collections():  # as `Program.text` does
        timed("print", Printer(stream).print_op, module)
    _, needed = tracemalloc.get_traced_memory()
    return {"seconds": seconds, "ops": ops, "peak": peak_bytes(), "needed": needed}


def write_texts(path: Path, folder: Path) -> None:
    """Write `N.mlir`, the program before stage N, for the stages that C++ has."""
    from xdsl.printer import Printer

    from ttxdsl.loading.program import make_context, parse_program
    from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

    context = make_context()
    module = parse_program(path.read_text(), context=context)
    for stage in TTStableHLOPipelinePass().run(context, module):
        following = stage.number + 1
        if following in CPP_STAGES:
            with (folder / f"{following}.mlir").open("w") as file:
                Printer(file).print_op(module)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--cold", action="store_true")
    how.add_argument("--memory", action="store_true")
    how.add_argument("--texts", type=Path, metavar="DIR")
    options = parser.parse_args()
    if options.texts:
        write_texts(options.file, options.texts)
    else:
        from ttxdsl.cli.dataclass_methods import compiled_when_called

        with compiled_when_called():  # as the command does, and the others below
            from ttxdsl.ir.collector import (
                few_collections,
                freeing_old_bodies,
            )

            with few_collections(), freeing_old_bodies():
                found = compile_and_time(
                    options.file, cold=options.cold, traced=options.memory
                )
        print(json.dumps(found))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
