"""Loops and manual computations from JAX, through all stages and down to ttnn.

Half-partitioned programs (`shard_map` inside `jit`, on some axes, nested, several of
them) are finished like any other.
"""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.differential.manual_programs import LOOPS, MANUAL, manual_programs
from tests.sampling import sampled
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def assert_computes(module: ModuleOp, name: str) -> None:
    """The module computes what JAX computes."""
    program = manual_programs()[name]
    found = run_module(module, program.arguments)
    for one, wanted in zip(found, program.results, strict=True):
        assert one.shape == wanted.shape and one.dtype == wanted.dtype
        np.testing.assert_allclose(one, wanted, rtol=2e-4, atol=2e-4)


def partitioned(name: str, *, optimize: bool = True) -> ModuleOp:
    context = make_context()
    module = parse_program(manual_programs()[name].text, context=context)
    with collect_remarks():
        stages = TTStableHLOPipelinePass(verify_each=True, optimize=optimize)
        stages.apply(context, module)
    return module


@pytest.mark.parametrize("name", sampled(LOOPS + MANUAL, 15))
def test_every_form_computes_what_jax_computes(name: str):
    module = partitioned(name)
    assert_computes(module, name)
    with collect_remarks():
        ConvertStableHLOToTTIRPass().apply(make_context(), module)
        module.verify()
        assert_computes(module, name)
        ConvertTTIRToTTNNPass().apply(make_context(), module)
    module.verify()
    assert_computes(module, name)


@pytest.mark.parametrize("name", ["scan_gradient", "nested_thrice", "inside_cond"])
def test_every_stage_computes_what_jax_computes(name: str):
    context = make_context()
    module = parse_program(manual_programs()[name].text, context=context)
    with collect_remarks():
        for _ in TTStableHLOPipelinePass().run(context, module):
            assert_computes(module, name)


def collectives_in_loops(module: ModuleOp) -> set[str]:
    """Which collectives the bodies of loops have."""
    return {
        inner.name.removeprefix("stablehlo.")
        for op in module.walk()
        if isinstance(op, stablehlo.WhileOp)
        for inner in op.body.walk()
        if "all_" in inner.name or "permute" in inner.name or "scatter" in inner.name
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("while_loop", set[str]()),
        ("scan_of_layers", {"all_reduce"}),  # of the sums that it gives back
        ("scan_of_layers_split", {"all_reduce"}),
        ("scan_gradient", {"all_reduce"}),  # of a gradient, once a layer
    ],
)
def test_shardings_flow_through_loops(name: str, expected: set[str]):
    """A batch that is split before a loop is not gathered inside."""
    module = partitioned(name, optimize=False)
    assert collectives_in_loops(module) == expected
    assert "all_gather" not in {one.kind for one in list_collectives(module)}


def test_branches_keep_the_sharding_of_what_they_return():
    assert list_collectives(partitioned("cond")) == []
