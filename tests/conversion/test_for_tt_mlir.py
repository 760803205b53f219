"""ttir and ttnn written for tt-mlir: the numbers of the design's forms."""

import re
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import ttxdsl
from tests.bridges.tt_mlir.oracle import ask, needs_tt
from tests.conversion.tt_verdicts import PAGE, verdict_page, verdicts
from ttxdsl.api import Program
from ttxdsl.bridges.tt_mlir import find_library
from ttxdsl.conversion.vocabulary import Vocabulary
from ttxdsl.diagnostics.errors import UnsupportedError

PAIRS = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%a: tensor<16x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{before}]>}})
    -> (tensor<16x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{after}]>}}) {{
  %0 = stablehlo.tanh %a : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{after}]> : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}}
"""

RESHARDS = {
    "all_gather": ('{"x"}, {"y"}', "{}, {}"),
    "all_to_all": ('{"y"}, {}', '{}, {"y"}'),
    "collective_permute": ('{"x"}, {}', '{"y":(1)2}, {}'),
    "collective_permute_whole": ('{"x", "y"}, {}', '{"y", "x"}, {}'),
    "slice": ("{}, {}", '{"x"}, {"y"}'),
}

LEAST = {"ttir": 95, "ttnn": 91}
"""How many ops are written for tt-mlir, so that refusing more does not go unseen."""

EXAMPLES = Path(__file__).parents[2] / "examples"


def _same(program: ttxdsl.Program, form: Literal["ttir", "ttnn"]) -> str:
    lowered = program.lower(form, vocabulary="tt-mlir")
    inputs = program.random_inputs()
    results = zip(
        lowered.simulate(*inputs), program.lower(form).simulate(*inputs), strict=True
    )
    for ours, design in results:
        np.testing.assert_array_equal(ours, design)
    return lowered.text


@pytest.mark.parametrize("form", ["ttir", "ttnn"])
@pytest.mark.parametrize("name", RESHARDS)
def test_reshards(name: str, form: Literal["ttir", "ttnn"]):
    before, after = RESHARDS[name]
    program = Program.of_text(PAIRS.format(before=before, after=after), "reshard.mlir")
    assert "presharded" in _same(program.partition(), form)


PERMUTED = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] out_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] manual_axes={{"x", "y"}} (%x: tensor<4x4xf32>) {{
    %1 = "stablehlo.collective_permute"(%x) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{pairs}> : tensor<{count}x2xi64>}}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    sdy.return %1 : tensor<4x4xf32>
  }} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}
"""  # fmt: skip

# pairs, and how many tensors are sent
PERMUTES = {
    "two change places, two keep theirs": ([[0, 0], [1, 2], [2, 1], [3, 3]], 2),
    "one keeps its own, one gets another's": ([[0, 0], [1, 2]], 3),
    "the first gets nothing": ([[1, 1], [2, 3], [3, 2]], 3),
    "all keep theirs": ([[0, 0], [1, 1], [2, 2], [3, 3]], 0),
    "nobody keeps its own": ([[0, 1], [1, 0]], 2),
    "all change places": ([[0, 1], [1, 2], [2, 3], [3, 0]], 4),
    "one keeps its own": ([[2, 2]], 3),
}


@pytest.mark.parametrize("name", PERMUTES)
def test_nobody_sends_to_itself(name: str):
    pairs, sends = PERMUTES[name]
    text = PERMUTED.format(pairs=pairs, count=len(pairs))
    made = _same(Program.of_text(text, "permute.mlir"), "ttnn")
    found = re.findall(
        r"sender_coord = (array<[^>]*>), receiver_coord = (array<[^>]*>)", made
    )
    assert len(found) == sends
    assert all(sender != receiver for sender, receiver in found)
    if find_library() is not None:
        answer = ask(made)
        assert answer.parsed, answer.error


@pytest.mark.parametrize("form", ["ttir", "ttnn"])
def test_example(form: Literal["ttir", "ttnn"]):
    text = _same(ttxdsl.load(EXAMPLES / "mlp_data_tensor_parallel.mlir"), form)
    assert "all_reduce" in text
    assert "ttir.empty" not in text
    assert "<identity>" not in text


@needs_tt
@pytest.mark.parametrize("form", LEAST)
def test_tt_mlir_takes_every_op(form: str):
    against = verdicts(form, Vocabulary.TT_MLIR)
    assert {op: said for op, said in against.items() if said is not None} == {}
    assert len(against) >= LEAST[form]


@needs_tt
@pytest.mark.fuzz  # it asks about each op four times
def test_the_page_of_verdicts_is_up_to_date():
    assert PAGE.read_text() == verdict_page(), (
        "run python -m tests.conversion.tt_verdicts"
    )


def test_what_tt_mlir_has_not_is_refused():
    text = """func.func @main(%a: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
      %0 = stablehlo.real %a : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    program = Program.of_text(text, "real.mlir")
    with pytest.raises(UnsupportedError, match=r"real.mlir:2:.*tt-mlir has no such op"):
        program.lower("ttir", vocabulary="tt-mlir")


HANDED_THROUGH = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<4xf32> {
  return %a : tensor<4xf32>
}"""

MULHI = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<4xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<4xui32> {
  %0 = "chlo.mulhi"(%a, %a) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  return %0 : tensor<4xui32>
}"""


@pytest.mark.parametrize(
    ("text", "holds"),
    [(HANDED_THROUGH, "aggregate_tensor"), (MULHI, "mulhi")],
    ids=["an argument is the result", "an op of tt-mlir that stands for another"],
)
def test_programs_that_hardly_compute(text: str, holds: str, tmp_path: Path):
    path = tmp_path / "program.mlir"
    path.write_text(text)
    local = ttxdsl.load(path).partition()
    assert holds in str(local.lower("ttnn", vocabulary="tt-mlir"))


SCALED = """
sdy.mesh @mesh = <["x"=2]>
func.func public @main(
    %a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    %s: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>})
    -> (tensor<4xf32>, tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.multiply %a, %0 : tensor<4xf32>
  return %1, %s : tensor<4xf32>, tensor<f32>
}"""


@pytest.mark.parametrize("form", ["ttir", "ttnn"])
def test_a_number_is_placed_on_the_devices(form: Literal["ttir", "ttnn"]):
    text = _same(Program.of_text(SCALED, "scaled.mlir").partition(), form)
    assert ttxdsl.load(text).text == text
