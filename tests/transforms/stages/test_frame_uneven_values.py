"""Passes that let shifts and pieces of a split dimension send what crosses."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.differential.test_shifts import sent
from tests.transforms.stages import shift_programs as programs
from ttxdsl.analysis.usage.collectives import list_collectives
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import shape_of
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.stages.constant_places import ConstantPlacesPass
from ttxdsl.transforms.stages.frame_uneven_values import FrameUnevenValuesPass

SENT = {
    "SHIFT": (896, 16, "frame-uneven-values"),
    "SHIFT_CONCATENATED": (896, 16, "frame-uneven-values"),
    "SMOOTHNESS": (896, 16 + 28, "frame-uneven-values"),
    "UPDATE": (896, 0, "constant-places"),
    "READ": (896, 56, "constant-places", "sum-dynamic-slices"),
    "COMPUTED_START": (896, 56, "sum-dynamic-slices"),
    "WINDOWS": (896, 60, "frame-uneven-values"),
    "KERNEL_GRADIENT": (896, 53, "frame-uneven-values"),
    "WHOLE_UPDATE": (160, 16, "constant-places"),
    "CARRY": (7056, 1760, "pad-carries"),
    "SLICES": (1088, 896, "gather-before-slices"),
    "HALVES": (512, 384, "combine-collective-permutes"),
}
"""Bytes without an optimization and with it."""


def bytes_without(text: str, *names: str) -> int:
    module = parse_program(text)
    with collect_remarks():
        stages = TTStableHLOPipelinePass(without=names, pad_borders=True)
        stages.apply(make_context(), module)
    return sum(one.bytes_per_device for one in list_collectives(module))


@pytest.mark.parametrize("name", SENT)
def test_what_crosses_is_sent(name: str):
    text = getattr(programs, name)
    before, after, *optimizations = SENT[name]
    assert bytes_without(text, *optimizations) == before
    assert sent(text)[0] == after


def propagated(text: str) -> ModuleOp:
    module = parse_program(text)
    TTStableHLOPipelinePass(last_stage=7).apply(make_context(), module)
    return module


def test_a_shift_is_one_pad():
    module = propagated(programs.SHIFT)
    FrameUnevenValuesPass().apply(make_context(), module)
    module.verify()
    assert not ops_of_type(module, stablehlo.SliceOp)
    (pad,) = ops_of_type(module, stablehlo.PadOp)
    assert pad.edge_padding_low.get_values() == (1, 0)
    assert pad.edge_padding_high.get_values() == (-1, 0)


@pytest.mark.parametrize("start", [62, -1])
def test_a_window_that_is_not_inside_stays_a_scatter(start: int):
    text = programs.UPDATE.replace("dense<13>", f"dense<{start}>")
    module = parse_program(text)
    ConstantPlacesPass().apply(make_context(), module)
    assert len(ops_of_type(module, stablehlo.ScatterOp)) == 1
    sent(text)


def test_constant_places_are_clamped_as_their_ops_do():
    module = parse_program(programs.READ)
    ConstantPlacesPass().apply(make_context(), module)
    module.verify()
    (cut,) = ops_of_type(module, stablehlo.SliceOp)
    assert cut.start_indices.get_values() == (62, 0)


def test_an_update_of_all_that_is_there_is_what_it_is_updated_with():
    module = parse_program(programs.WHOLE_UPDATE)
    ConstantPlacesPass().apply(make_context(), module)
    module.verify()
    assert not ops_of_type(module, stablehlo.DynamicUpdateSliceOp)


def test_the_kernel_of_a_gradient_reads_zeros_behind_its_own():
    module = propagated(programs.KERNEL_GRADIENT)
    FrameUnevenValuesPass().apply(make_context(), module)
    module.verify()
    *_, gradient = ops_of_type(module, stablehlo.ConvolutionOp)
    assert shape_of(gradient.rhs) == (64, 4, 1)
    assert shape_of(gradient.result) == (3, 1, 1)
    assert isinstance(gradient.rhs.owner, stablehlo.SelectOp)


def test_a_sum_reads_what_becomes_a_frame_itself():
    assert sent(programs.CUT_AND_SUMMED) == (240, 2)
