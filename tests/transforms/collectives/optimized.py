"""Programs behind stage 11, and what optimizations of collectives leave of them."""

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tests.differential.partitioning import arguments_of
from ttxdsl.analysis.usage.collectives import counts_of, list_collectives
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.collectives.optimize_collectives import OptimizeCollectivesPass
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def local(text: str, *, optimize: bool = False) -> ModuleOp:
    context = make_context()
    module = parse_program(text, context=context)
    stages = TTStableHLOPipelinePass(optimize=optimize, last_stage=11)
    with collect_remarks():
        stages.apply(context, module)
    return module


def optimized(module: ModuleOp, *names: str) -> ModuleOp:
    OptimizeCollectivesPass(names).apply(make_context(), module)
    module.verify()
    return module


def sent(module: ModuleOp) -> int:
    return sum(one.bytes_per_device for one in list_collectives(module))


def computes_the_same(module: ModuleOp, text: str) -> None:
    """Integers: nothing is rounded, so that all must be the same to the last bit."""
    whole = parse_program(text)
    arguments = arguments_of(whole, 0, tagged=True)
    for found, wanted in zip(
        run_module(module, arguments), run_module(whole, arguments), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def launches(module: ModuleOp) -> dict[str, int]:
    return counts_of(list_collectives(module))
