"""Axes of one device are none in ttir and ttnn, and tt-mlir's meshes have two."""

import re
from typing import Literal

import numpy as np
import pytest

import ttxdsl
from tests.bridges.tt_mlir.oracle import ask
from tests.sampling import sampled
from ttxdsl.api import Program
from ttxdsl.bridges.tt_mlir import find_library
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.loading.program import make_context, parse_program

Form = Literal["ttir", "ttnn"]

PROGRAM = """
sdy.mesh @mesh = <[{mesh}]>
func.func public @main(
    %x: tensor<16x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{row}}}, {{}}]>}},
    %w: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{{row}}}, {{}}]>}}
) -> (tensor<16x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{{row}}}]>}}) {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %1 = stablehlo.iota dim = 0 : tensor<16x16xf32>
  %2 = stablehlo.add %0, %1 : tensor<16x16xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{{{row}}}, {{{column}}}]> : tensor<16x16xf32>
  %4 = stablehlo.tanh %3 : tensor<16x16xf32>
  return %4 : tensor<16x16xf32>
}}
"""

# the mesh, what splits rows and columns, the shape in the design's form and for tt-mlir
MESHES = {
    "of one": ('"a"=1, "b"=4, "c"=1', '"b"', '"a"', "1x4", "1x4"),
    "of one, behind": ('"b"=4, "a"=1, "c"=1', '"b"', '"c"', "4x1", "4x1"),
    "of one, before": ('"a"=1, "c"=1, "b"=4', '"b"', "", "1x4", "1x4"),
    "of one, between": ('"a"=2, "c"=1, "b"=4', '"a", "c"', '"b"', "2x4", "2x4"),
    "of one, four": ('"c"=1, "a"=2, "d"=1, "b"=2', '"d", "b"', '"a"', "2x2", "2x2"),
    "nothing else": ('"a"=1, "b"=1, "c"=1', '"a"', '"c"', "1x1", "1x1"),
    "two": ('"a"=1, "b"=4', '"b"', '"a"', "1x4", "1x4"),
    "two of one": ('"a"=1, "b"=1', '"b"', '"a"', "1x1", "1x1"),
    "one": ('"b"=4', '"b"', "", "4", "1x4"),
    "three": ('"a"=2, "b"=2, "c"=2', '"a"', '"c"', "2x2x2", "2x4"),
    "three and one": ('"a"=2, "b"=2, "d"=1, "c"=2', '"a"', '"b", "c"', "2x2x2", "2x4"),
}
VOCABULARIES = ("design", "tt-mlir")


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("form", ["ttir", "ttnn"])
@pytest.mark.parametrize("name", sampled(MESHES, 4))
def test_the_mesh_of_the_devices(name: str, form: Form, vocabulary: str):
    mesh, row, column, *shapes = MESHES[name]
    shape = shapes[VOCABULARIES.index(vocabulary)]
    text = PROGRAM.format(mesh=mesh, row=row, column=column)
    program = Program.of_text(text, "axes.mlir")
    lowered = program.partition().lower(form, vocabulary=vocabulary)
    said = set(re.findall(r'"mesh" = ([\dx]+)>', lowered.text))
    said |= set(re.findall(r"mesh_shape ([\dx]+)>", lowered.text))
    assert said == {shape}
    warned = [r for r in lowered.remarks if "devices have at most 2" in r.message]
    assert bool(warned) == (form == "ttnn" and shape.count("x") > 1)
    inputs = program.random_inputs(1)
    for found, wanted in zip(
        lowered.simulate(*inputs), program.simulate(*inputs), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    if vocabulary == "tt-mlir" and find_library() is not None:
        answer = ask(lowered.text)
        assert answer.parsed, answer.error


def test_devices_of_three_axes_that_tt_mlir_has_not():
    mesh = '"a"=3, "b"=5, "c"=7'
    text = PROGRAM.format(mesh=mesh, row="", column="")
    with pytest.raises(UnsupportedError, match="takes no mesh of 105 devices"):
        ttxdsl.load(text).partition().lower("ttir", vocabulary="tt-mlir")


def test_the_pass_alone_refuses_three_axes():
    mesh, row, column, *_ = MESHES["three"]
    text = PROGRAM.format(mesh=mesh, row=row, column=column)
    partitioned = str(ttxdsl.load(text).partition())
    message = "at most 2 axes, not of 2x2x2"
    with pytest.raises(UnsupportedError, match=message) as caught:
        module = parse_program(partitioned)
        ConvertStableHLOToTTIRPass(for_="tt-mlir").apply(make_context(), module)
    assert "fit-mesh" in str(caught.value)
    module = parse_program(str(ttxdsl.load(text).partition().lower("ttir")))
    with pytest.raises(UnsupportedError, match=message):
        ConvertTTIRToTTNNPass(for_="tt-mlir").apply(make_context(), module)
