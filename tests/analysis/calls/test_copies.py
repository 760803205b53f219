"""What doubles with every call is refused before anything is copied."""

import pytest
from xdsl.passes import ModulePass

from tests.attack.bombs import BOMBS
from tests.attack.bombs.doubling import doubling_calls
from ttxdsl.analysis.calls.copies import require_few_copies
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.importing.sdy_flatten_call_graph import (
    FlattenCallGraphPass,
)
from ttxdsl.transforms.shardy.importing.sdy_import_func_calls import ImportFuncCallsPass
from ttxdsl.transforms.stages.inline import InlinePass

CALLS = [
    InlinePass(),
    FlattenCallGraphPass(),
    ImportFuncCallsPass(),
    ConvertStableHLOToTTIRPass(),
    TTStableHLOPipelinePass(),
]


@pytest.mark.parametrize("run", CALLS, ids=lambda run: run.name)
def test_calls_that_double(run: ModulePass):
    module = parse_program(doubling_calls(40))
    with pytest.raises(UnsupportedError, match=r"'@f18' has [0-9]{7} ops"):
        run.apply(make_context(), module)


@pytest.mark.parametrize(
    "run", [ConvertStableHLOToTTIRPass(), TTStableHLOPipelinePass()]
)
def test_composites_that_double(run: ModulePass):
    module = parse_program(BOMBS["composites that double"]())
    with pytest.raises(UnsupportedError, match="'@f18' has"):
        run.apply(make_context(), module)


def test_the_sum_of_what_stays():
    text = doubling_calls(18)
    require_few_copies(parse_program(text))
    several = "".join(
        f"func.func @g{n}(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {{\n"
        "%r = func.call @f17(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
        "return %r : tensor<8x8xf32>\n}\n"
        for n in range(3)
    )
    with pytest.raises(UnsupportedError, match=r"the program has \d{7} ops"):
        require_few_copies(parse_program(text + several))
