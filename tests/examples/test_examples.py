"""The examples: what is committed is what JAX exports, and computes what JAX does."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.usage.collectives import CountedCollective, list_collectives
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.loading.program import make_context, read_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))

import demo  # noqa: E402
import export  # noqa: E402

PROGRAMS = export.examples()

COLLECTIVES = {
    "mlp_data_parallel": {},
    "mlp_tensor_parallel": {("all_reduce", "model"): 1},
    "mlp_data_tensor_parallel": {("all_reduce", "model"): 1},
    # the model axis in the forward pass, the data axis for the loss and each gradient, of
    # which one is larger than what it is made of
    "mlp_train_step": {
        ("all_reduce", "model"): 1,
        ("all_reduce", "data"): 1,
        ("all_gather", "data"): 1,
    },
    "transformer_block": {("all_reduce", "model"): 3},
}


@pytest.fixture(params=PROGRAMS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def load(name: str) -> ModuleOp:
    return read_program(EXAMPLES / f"{name}.mlir")


def run_by_jax(name: str, inputs: list[np.ndarray[Any, Any]]) -> list[Any]:
    """JAX's own results on one device for flat inputs."""
    function, arguments = PROGRAMS[name]
    structure = jax.tree.structure(arguments)
    unsharded = jax.tree.unflatten(structure, inputs)
    return jax.tree.leaves(jax.jit(function)(*unsharded))


def test_committed_text_is_what_jax_exports(name: str):
    function, arguments = PROGRAMS[name]
    committed = (EXAMPLES / f"{name}.mlir").read_text()
    assert export.export(function, arguments) == committed


def test_demo_runs_every_example():
    assert set(demo.ORDER) == set(PROGRAMS)


def test_every_form_computes_what_jax_computes(name: str):
    module = load(name)
    inputs = random_inputs(entry_function(module), seed=1)
    # weights as small as a model's, so that no softmax saturates
    inputs = [x * x.dtype.type(0.1) if x.dtype.kind == "f" else x for x in inputs]
    expected = run_by_jax(name, inputs)

    def check(form: str) -> None:
        found = run_module(module, inputs)
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            # where sums cancel, the error is small only against the summands
            atol = 1e-6 * np.max(np.abs(theirs))
            np.testing.assert_allclose(
                ours, np.asarray(theirs), rtol=1e-4, atol=atol, err_msg=form
            )

    check("global program")
    context = make_context()
    for stage in TTStableHLOPipelinePass(verify_each=True).run(context, module):
        check(f"after stage {stage.number}")
    ConvertStableHLOToTTIRPass().apply(context, module)
    check("ttir")
    ConvertTTIRToTTNNPass().apply(context, module)
    check("ttnn")


def collectives(name: str) -> list[CountedCollective]:
    module = load(name)
    TTStableHLOPipelinePass().apply(make_context(), module)
    return list_collectives(module)


def test_collectives(name: str):
    found = Counter((c.kind, c.axes_text) for c in collectives(name))
    assert found == COLLECTIVES[name]


def test_transformer_reduces_embedding_attention_and_mlp():
    embedding, attention, mlp = collectives("transformer_block")
    # a local [2, 32, 64] of f32, sent 2 (n - 1) / n times around a ring of n = 4
    assert embedding.bytes_per_device == 2 * 32 * 64 * 4 * 2 * 3 // 4
    assert embedding.reason == "combines what each device has of gather"
    assert attention.reason == mlp.reason
    assert attention.reason == "combines what each device has of dot_general"
