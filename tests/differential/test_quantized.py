"""Numbers of random quantized programs: on one device, after stage 13 and as ttnn."""

from collections import Counter

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.differential.campaign import Outcome, run_campaign
from tests.differential.forms import STAGE_13, TTNN
from tests.differential.partitioning import EQUAL, REFUSED, reason_of, with_even_borders
from tests.differential.quantized_programs import Program, quantized_program
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.collectives.optimize_collectives import OptimizeCollectivesPass
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

JOINED = 99000255
"""Exchanges of quantized slices that become one: who receives nothing holds zeros."""

ONE_DEVICE, OPTIMIZED = "one device", "stage 13, optimized"


def _hold(program: Program, module: ModuleOp, form: str) -> Outcome:
    """The numbers of a form, which are the specification's to the bit.

    Raises:
        AssertionError: they are others.
    """
    found = run_module(module, program.arguments)
    for index, (one, other) in enumerate(zip(found, program.wanted, strict=True)):
        np.testing.assert_array_equal(one, other, f"{form}, result {index}")
    return form, EQUAL


def check(seed: int) -> list[Outcome]:
    """What came of each form of a program.

    Raises:
        AssertionError: a number differs.
    """
    program, context = quantized_program(seed), make_context()
    module = with_even_borders(parse_program(program.text))
    module.verify()
    outcomes = [_hold(program, module.clone(), ONE_DEVICE)]
    with collect_remarks():
        try:
            TTStableHLOPipelinePass(verify_each=True).apply(context, module)
        except UnsupportedError as error:
            return [*outcomes, (STAGE_13, f"{REFUSED}: {reason_of(error)}")]
        outcomes.append(_hold(program, module.clone(), STAGE_13))
        OptimizeCollectivesPass().apply(context, module)
        module.verify()
        outcomes.append(_hold(program, module.clone(), OPTIMIZED))
        ConvertStableHLOToTTIRPass().apply(context, module)
        ConvertTTIRToTTNNPass().apply(context, module)
        module.verify()
    return [*outcomes, _hold(program, module, TTNN)]


def test_quantized_programs() -> None:
    outcomes = Counter(
        outcome for seed in (*range(8), JOINED) for outcome in check(seed)
    )
    assert outcomes[TTNN, EQUAL] == 9


@pytest.mark.fuzz
def test_many_quantized_programs() -> None:
    run_campaign("quantized programs", check, 2_000)
