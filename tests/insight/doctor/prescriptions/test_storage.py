"""Weights stored with the dimensions of heads: which, as what, and what it changes."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

from tests.insight.doctor.prescriptions.test_prescribe import (
    applied,
    candidates,
    compiled,
)
from tests.transforms.shardy.test_split_dimensions import MESH, PROGRAMS
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.insight.doctor.prescriptions.candidates.changes import Candidate
from ttxdsl.insight.doctor.prescriptions.candidates.generate import Candidates
from ttxdsl.insight.doctor.prescriptions.prescribe import own_mesh
from ttxdsl.ir.tensors import shape_of
from ttxdsl.loading.program import parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def stored(text: str) -> list[Candidate]:
    return [
        c for c in candidates(text) if c.write.startswith('"') and "of shape" in c.write
    ]


def test_the_weight_is_stored_by_heads():
    lower, _ = PROGRAMS["attention"]
    text = lower()
    (candidate,) = stored(text)
    assert candidate.kind == "spelling"
    first, *rest = candidate.write.split("\n")
    assert first == (
        '"arg0": of shape (16, 2, 4), P(None, None, "model"),'
        '  # was (16, 8), P(None, "model")'
    )
    assert "einsum" in "\n".join(rest)
    before, after = compiled(text), compiled(applied(text, [candidate]))
    assert after.bytes < before.bytes


def test_each_part_that_the_axes_divide_is_tried():
    lower, _ = PROGRAMS["fused training"]
    text = lower()
    writes = [candidate.write.split("\n")[0] for candidate in stored(text)]
    assert [write.split(",  #")[0] for write in writes] == [
        '"arg0": of shape (16, 3, 4, 2), P(None, None, "model")',
        '"arg0": of shape (16, 3, 4, 2), P(None, None, None, "model")',
    ]


def test_layers_are_stored_alike_and_all_weights_together():
    def loss(p: Any, x: Any) -> Any:
        for layer in p:
            y = (x @ layer["up"]).reshape(*x.shape[:2], 2, 4)
            x = x + (y * y).reshape(*x.shape[:2], 8) @ layer["down"]
        return (x**2).mean()

    def of(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
        placed = NamedSharding(MESH, P(*spec))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=placed)

    layer = {"up": of((16, 8), None, "model"), "down": of((8, 16), "model")}
    x = of((4, 8, 16), "data")
    text = jax.jit(jax.grad(loss)).lower([layer] * 2, x).as_text(debug_info=True)
    together, *kinds = stored(text)
    names = [place.name for place in together.places]
    assert names == ["p[0]['down']", "p[0]['up']", "p[1]['down']", "p[1]['up']"]
    assert [[place.name for place in kind.places] for kind in kinds] == [
        ["p[0]['down']", "p[1]['down']"],
        ["p[0]['up']", "p[1]['up']"],
    ]


def test_given_shardings_are_kept():
    lower, _ = PROGRAMS["attention"]
    text = lower()
    module = parse_program(text)
    pipeline = TTStableHLOPipelinePass()
    kept = Candidates(module, text, "t", pipeline, own_mesh(module), keep=True)
    every = list(kept.all())
    assert every and not any("of shape" in change.write for change in every)


def test_both_dimensions_of_an_argument_are_stored_as_several():
    text = """sdy.mesh @mesh = <["a"=2, "b"=4]>
    func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<2x4x4x4xf32> {
      %0 = stablehlo.sine %x : tensor<8x16xf32>
      %1 = stablehlo.reshape %0 : (tensor<8x16xf32>) -> tensor<2x4x4x4xf32>
      return %1 : tensor<2x4x4x4xf32>
    }"""
    together, *_ = stored(text)
    assert [edit.dims for edit in together.edits] == [(0,), (1,)]
    module = parse_program(applied(text, [together]))
    module.verify()
    (argument,) = entry_function(module).body.block.args
    assert shape_of(argument) == (2, 4, 4, 4)
