"""Composites are taken apart and, where they still are what they were, one again."""

import re

import numpy as np
import pytest

import ttxdsl
from tests.bridges.tt_mlir.call_programs import COMPOSITES, composite, twice
from ttxdsl.diagnostics.errors import CompileError

S, T = "8x64xf32", "tensor<8x64xf32>"


def partition(text: str, wanted: float = 1e-6) -> str:
    """The text of each device; its numbers are those of the whole program."""
    program = ttxdsl.load(text)
    made = program.partition(version="2026")
    inputs = program.random_inputs(0)
    for found, whole in zip(
        made.simulate(inputs), program.simulate(inputs), strict=True
    ):
        np.testing.assert_allclose(found, whole, rtol=wanted, atol=wanted)
    assert "reoutline" not in str(made)
    return str(made)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "gelu",
            '"tenstorrent.gelu_tanh" %A {composite_attributes = {approximate = "tanh"}'
            ", decomposition = @outlined_body_0} : (tensor<4x16xf32>) -> tensor<4x16xf32>",
        ),
        ("operands in another order", '"my.difference" %A, %A'),
        ("results in another order", '"my.two" %A'),
        ("softmax of rows", '"my.softmax" %A'),
    ],
)
def test_what_is_whole_on_each_device_is_one_again(name: str, line: str):
    text = re.sub(r"%\w+", "%A", partition(COMPOSITES[name]))
    assert f"stablehlo.composite {line}" in text
    assert "stablehlo.exp" not in text.split("func.func private")[0]


def test_operands_and_results_stay_in_order():
    text = partition(COMPOSITES["operands in another order"])
    inside = re.search(r"\((%\w+): tensor<4x16xf32>, (%\w+): .*\) \{\n", text)
    used = re.search(r'"my.difference" (%\w+), (%\w+)', text)
    assert inside is not None and used is not None
    assert inside.groups() == used.groups()


def test_each_use_is_one_of_its_own():
    """tt-mlir makes one `gelu` of two, which is another number."""
    text = partition(twice(COMPOSITES["gelu"]))
    assert text.count("stablehlo.composite") == 2
    assert "@outlined_body_0(" in text and "@outlined_body_1(" in text


def flat(attributes: str, body: str, axes: str = "x|y", more: str = "") -> str:
    arguments = [(S, axes)] + ([(S, axes)] if more else [])
    return composite("my.op", attributes, arguments, S, body=body)


DOUBLE = f"%0 = stablehlo.add %arg0, %arg0 : {T}\n return %0 : {T}"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (flat("", DOUBLE), True),
        (COMPOSITES["softmax of split rows"], False),
        (flat("normalized = 64 : i64", DOUBLE), False),
        (flat("normalized = array<i64: 64>", DOUBLE), False),
        (flat("normalized = 64 : i64", DOUBLE, "x|"), True),
        (flat("num_groups = 4 : i64", DOUBLE), False),
        (flat("num_groups = 4 : i64", DOUBLE, "x|"), True),
        (flat("", DOUBLE, more="an operand that is not used"), False),
    ],
    ids=[
        "whole", "a collective inside", "a split size", "split sizes", "a size that is whole",
        "groups of what is split", "groups of what is whole", "an unused operand",
    ],
)  # fmt: skip
def test_what_is_not_the_same_any_more_stays_flat(text: str, stays: bool):
    assert ('stablehlo.composite "my.' in partition(text)) == stays


def test_composites_inside_others_come_with_those():
    inner = composite("my.inner", "", [(S, "")], S, body=DOUBLE)
    body = inner[inner.index("func.func private @body") :].rstrip().removesuffix("}")
    outer = f"""
      %0 = stablehlo.composite "my.inner" %arg0 {{decomposition = @inner}} : ({T}) -> {T}
      %1 = stablehlo.tanh %0 : {T}
      return %1 : {T}"""
    text = flat("", outer).rstrip().removesuffix("}")
    text = partition(f"{text}{body.replace('@body', '@inner')}}}")
    assert text.count("stablehlo.composite") == 1 and '"my.op"' in text


def test_a_composite_of_itself_is_refused():
    body = f"""
      %0 = stablehlo.composite "my.op" %arg0 {{decomposition = @body}} : ({T}) -> {T}
      return %0 : {T}"""
    with pytest.raises(CompileError, match=r"stablehlo.composite.* contains itself"):
        ttxdsl.load(flat("", body)).partition(version="2026")


@pytest.mark.parametrize(
    ("name", "gathers"),
    [
        ("rms_norm of rows", 0),
        ("rms_norm of split rows", 2),
        ("argmax of rows", 0),
        ("argmax of split rows", 1),
    ],
)
def test_some_are_calls_with_a_rule_of_the_whole(name: str, gathers: int):
    text = partition(COMPOSITES[name], 1e-5)
    assert "stablehlo.custom_call @tenstorrent." in text
    assert "tt.has_custom_sharding" in text and "tt.composite_attributes" in text
    assert text.count("stablehlo.all_gather") == gathers
