"""Windows of products, the buffers that are there for them, and what kernels make again."""

import pytest
from xdsl.ir import Operation

from tests.analysis.usage.compilers import TPU, TPU_MEGACORE, TPU_V6E
from ttxdsl.analysis.usage.buffers.allocation import (
    NOTHING,
    Allocation,
    BufferStep,
    Peak,
    Scope,
)
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.order import begin_windows
from ttxdsl.costs.compilers import Compiler
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import parse_program

T = "tensor<64x64xf32>"
DOT = f"contracting_dims = [1] x [0] : ({T}, {T}) -> {T}"

GATHER = """%w = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<64x64xf32>) -> tensor<128x64xf32>"""

HEAD = f"""
  {GATHER}
  %h = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<128x64xf32>, {T}) -> tensor<128x64xf32>"""

OF_A_TABLE = f"""
  {GATHER}
  %h = stablehlo.negate %w : tensor<128x64xf32>"""

LOOKUP = """
  %rows = stablehlo.constant dense<0> : tensor<8xi32>
  %r = "stablehlo.gather"(%w, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>, indices_are_sorted = false}> : (tensor<128x64xf32>, tensor<8xi32>) -> tensor<8x64xf32>"""


def layers(*numbers: int) -> str:
    return "".join(f"\n%d{n} = stablehlo.dot_general %x, %x, {DOT}" for n in numbers)


def windowed_steps(body: str, count: int, *, parts: int) -> list[BufferStep]:
    """Return the steps of ops whose products named `d` are in windows, with partial sums."""
    (op,) = parse_program(body).ops
    block = next(inner.parent for inner in op.walk() if "d0" in _names(inner))
    assert block is not None
    scope, steps = Scope(), list[BufferStep]()
    for at, op in enumerate(block.ops):
        buffers = [Allocation(r, r.type, 8, "value", scope, at) for r in op.results]
        sums = [
            Allocation(r, r.type, 1, "value", scope, 0)
            for r in op.results
            for _ in range(parts)
        ]
        inside = NOTHING
        if any(name.startswith("d") for name in _names(op)) and parts:
            buffers, inside = [], Peak(parts, tuple(sums))
        steps.append(BufferStep(op, buffers, inside, [], False))
    begin_windows(
        steps, lambda op: count if any(n.startswith("d") for n in _names(op)) else 1
    )
    return steps


def _names(op: Operation) -> list[str]:
    return [result.name_hint or "" for result in op.results]


def begun(steps: list[BufferStep]) -> dict[str, list[str]]:
    """Return by the name of a step's result the results whose buffers begin there."""
    return {
        name: [buffer.value.name_hint or "" for buffer in step.buffers]
        for step in steps
        for name in _names(step.op)
        if step.buffers
    }


def test_loops_of_windows_begin_at_the_layer_before_the_gather_of_a_head():
    text = f"func.func @main(%x: {T}) -> {T} {{{layers(*range(9))}{HEAD}{layers(9)}\nreturn %x : {T}}}"
    steps = begun(windowed_steps(text, 8, parts=0))
    assert (steps["d0"], steps["d1"]) == (["d0"], ["d1"])  # of another layer
    assert steps["d2"] == [f"d{n}" for n in range(2, 10)]
    four = begun(windowed_steps(text, 4, parts=0))  # no loops
    table = begun(windowed_steps(text.replace(HEAD, OF_A_TABLE), 8, parts=0))
    rows = begun(windowed_steps(text.replace("(%x) <", "(%d8) <"), 8, parts=0))
    tied = begun(windowed_steps(text.replace(HEAD, HEAD + LOOKUP), 8, parts=0))
    for n in range(10):
        assert four[f"d{n}"] == table[f"d{n}"] == [f"d{n}"]
        assert rows[f"d{n}"] == tied[f"d{n}"] == [f"d{n}"]


def test_loops_of_windows_begin_where_they_run_without_a_head_that_is_gathered():
    gathered = "".join(
        HEAD.replace("%w", f"%w{n}").replace("%h", f"%h{n}") for n in range(3)
    )
    text = f"func.func @main(%x: {T}) -> {T} {{{layers(0, 1)}{gathered}{layers(2)}\nreturn %x : {T}}}"
    steps = begun(windowed_steps(text, 8, parts=0))
    assert all(steps[f"d{n}"] == [f"d{n}"] for n in range(3))


@pytest.mark.parametrize("carried", ["%b", "%d1"])
def test_loops_of_windows_begin_with_a_turn_of_microbatches(carried: str):
    """Not with a turn that is a layer, whose values the next turn reads."""
    text = f"""
func.func @main(%z: tensor<i32>, %y: {T}) -> tensor<i32> {{
  %0:2 = stablehlo.while(%i = %z, %x = %y) : tensor<i32>, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %n = stablehlo.add %i, %i : tensor<i32>{layers(0)}{HEAD}{layers(1)}
    %b = stablehlo.negate %x : {T}
    stablehlo.return %n, {carried} : tensor<i32>, {T}
  }}
  return %0#0 : tensor<i32>
}}"""
    if carried == "%b":  # what layers of microbatches read is the same in each turn
        for read in ("%x, %x,", "(%x) <", "%w, %x"):
            text = text.replace(read, read.replace("%x", "%y"))
    begins = begun(windowed_steps(text, 8, parts=0))
    assert begins["n"] == (["n"] if carried == "%d1" else ["n", "d0", "d1"])


def test_partial_sums_are_there_from_the_gather_or_until_all_gradients():
    text = f"func.func @main(%x: {T}) -> {T} {{{HEAD}{layers(0, 1)}\nreturn %x : {T}}}"
    loops = windowed_steps(text, 8, parts=1)
    assert begun(loops)["w"] == ["w", "d0", "d0", "d1", "d1"]
    assert [buffer.last for buffer in loops[0].buffers[1:]] == [2, 2, 3, 3]
    four = windowed_steps(text, 4, parts=4)  # the fourth becomes the result
    assert begun(four)["d0"] == ["d0"] * 3
    assert {buffer.last for buffer in four[2].buffers} == {3}


@pytest.mark.parametrize(
    ("compiler", "operand", "function", "is_fused"),
    [
        (TPU_MEGACORE, "%y", "exponential", False),
        (TPU_MEGACORE, "%y", "negate", True),
        # one value, which is as large, is read
        (TPU_MEGACORE, "%x", "exponential", True),
        *((chip, "%y", "exponential", True) for chip in (TPU, TPU_V6E)),
    ],
)
def test_the_gradient_of_scores_of_which_exponentials_are_made_again(
    compiler: Compiler, operand: str, function: str, is_fused: bool
):
    half = T.replace("f32", "bf16")
    dot = f"contracting_dims = [1] x [0] : ({half}, {half}) -> {half}"
    module = parse_program(
        f"""
        func.func @main(%x: {half}, %y: {half}, %v: {half}) -> ({half}, {half}) {{
        %s = stablehlo.convert %x : ({half}) -> {T}
        %p = stablehlo.{function} %s : {T}
        %d = stablehlo.convert {operand} : ({half}) -> {T}
        %m = stablehlo.multiply %d, %p : {T}
        %c = stablehlo.convert %m : ({T}) -> {half}
        %0 = stablehlo.dot_general %c, %v, {dot}
        %1 = stablehlo.dot_general %v, %c, {dot}
        return %0, %1 : {half}, {half} }}"""
    )
    *_, convert = (op for op in all_ops(module) if op.name == "stablehlo.convert")
    assert Fusion(compiler).is_fused(convert) == is_fused


@pytest.mark.parametrize(
    ("compared", "readers", "is_stored"),
    [("ui32", 2, True), ("ui32", 1, False), ("ui16", 2, False)],
    ids=["for two kernels", "for one kernel", "of few bytes"],
)
def test_a_mask_is_stored_in_place_of_what_it_compares(
    compared: str, readers: int, is_stored: bool
):
    """As those of a scatter and its gradient, each of which asks for it in an op of its own."""
    of = f"tensor<64x64x{compared}>"
    mask = "tensor<64x64xi1>"
    again = f"""
      %m2 = stablehlo.compare EQ, %a, %b : ({of}, {of}) -> {mask}
      %v = stablehlo.select %m2, %y, %x : {mask}, {T}"""
    module = parse_program(f"""
func.func @main(%x: {T}, %a: {of}, %b: {of}) -> ({T}, {T}) {{
  %m = stablehlo.compare EQ, %a, %b : ({of}, {of}) -> {mask}
  %u = stablehlo.select %m, %x, %x : {mask}, {T}
  %y = stablehlo.custom_call @tpu_custom_call(%u) : ({T}) -> {T}
  {again if readers > 1 else f"%v = stablehlo.negate %y : {T}"}
  %z = stablehlo.custom_call @tpu_custom_call(%v) : ({T}) -> {T}
  return %y, %z : {T}, {T}
}}""")
    fusion = Fusion(TPU)
    masks = [op for op in all_ops(module) if op.name == "stablehlo.compare"]
    assert [fusion.is_stored(op) for op in masks] == [is_stored] * readers
