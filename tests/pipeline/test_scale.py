"""Programs of any size: deep call graphs, and a hundred thousand ops."""

import tracemalloc

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp

from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.conversion.ttir_to_ttnn.convert import ConvertTTIRToTTNNPass
from ttxdsl.ir.collector import freeing_old_bodies, without_collections
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

SPLIT = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}'


def compiled(text: str, *, destinations: bool = True) -> ModuleOp:
    """The program in ttnn."""
    context = make_context()
    module = parse_program(text, context=context)
    TTStableHLOPipelinePass().apply(context, module)
    ConvertStableHLOToTTIRPass(destinations=destinations).apply(context, module)
    ConvertTTIRToTTNNPass().apply(context, module)
    return module


def calls(depth: int) -> str:
    """A function that calls one that calls one, each negating what it gets."""
    type_ = "tensor<8x16xf32>"
    lines = [
        'sdy.mesh @mesh = <["x"=2, "y"=4]>',
        f"func.func public @main(%0: {type_} {SPLIT}) -> {type_} {{",
        f"  %1 = func.call @f0(%0) : ({type_}) -> {type_}",
        f"  func.return %1 : {type_}",
        "}",
    ]
    for level in range(depth):
        callee = f"@f{level + 1}" if level + 1 < depth else None
        lines += [
            f"func.func private @f{level}(%0: {type_}) -> {type_} {{",
            f"  %1 = stablehlo.negate %0 : {type_}",
            f"  %2 = func.call {callee}(%1) : ({type_}) -> {type_}"
            if callee
            else f"  %2 = stablehlo.negate %1 : {type_}",
            f"  func.return %2 : {type_}",
            "}",
        ]
    return "\n".join(lines)


def layers(count: int) -> str:
    """Blocks of five ops with a residual connection, split over both axes."""
    data, wide = "tensor<8x64xf32>", "tensor<8x256xf32>"
    lines = [
        'sdy.mesh @mesh = <["x"=2, "y"=4]>',
        f"func.func public @main(%e: {data} {SPLIT},"
        ' %w: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},'
        ' %v: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})'
        f" -> {data} {{",
    ]
    before = "%e"
    for i in range(count):
        lines += [
            f"%a{i} = stablehlo.dot_general {before}, %w, contracting_dims = [1] x [0]"
            f" : ({data}, tensor<64x256xf32>) -> {wide}",
            f"%b{i} = stablehlo.tanh %a{i} : {wide}",
            f"%c{i} = stablehlo.dot_general %b{i}, %v, contracting_dims = [1] x [0]"
            f" : ({wide}, tensor<256x64xf32>) -> {data}",
            f"%d{i} = stablehlo.add %c{i}, {before} : {data}",
            f"%e{i} = stablehlo.negate %d{i} : {data}",
        ]
        before = f"%e{i}"
    lines += [f"func.return {before} : {data}", "}"]
    return "\n".join(lines)


def test_deep_call_graph():
    module = compiled(calls(300))
    ops = all_ops(module)
    assert not any(isinstance(op, CallOp) for op in ops)
    assert sum(op.name == "ttnn.neg" for op in ops) == 301


def test_memory_of_a_compilation():
    """In bytes an op of the program, at any time: measured 2,430."""
    count = 400
    text = layers(count)
    compiled(layers(1), destinations=False)  # what is imported and kept for later
    with without_collections(), freeing_old_bodies():
        tracemalloc.start()
        compiled(text, destinations=False)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2_600 * 5 * count


@pytest.mark.fuzz
def test_a_hundred_thousand_ops_in_linear_memory():
    peaks: list[int] = []
    for count in (5_000, 20_000):
        text = layers(count)
        tracemalloc.start()
        module = compiled(text)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        collectives = [op for op in all_ops(module) if op.name == "ttnn.all_reduce"]
        assert len(collectives) == count
    # four times the ops; what waits to be collected differs (measured 5.05, quadratic: 16)
    assert peaks[1] < 6 * peaks[0]
