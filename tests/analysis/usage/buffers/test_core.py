"""Values on the core are in no memory: short ones, as far as there is room throughout."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import i8
from xdsl.utils.test_value import create_ssa_value

from ttxdsl.analysis.usage.buffers.allocation import (
    NOTHING,
    Allocation,
    BufferStep,
    Kind,
    Scope,
    without_values_on_core,
)
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.costs.compilers import TPU
from ttxdsl.dialects import stablehlo
from ttxdsl.loading.program import make_context, parse_program

ROOM = 30


def left(
    *values: tuple[int, int, int],
    kind: Kind = "value",
    loop: int = -1,
    inside: int = 0,
    is_product: bool = False,
) -> Sequence[int]:
    """Return the bytes in memory of values of which each has a first step, a last one and bytes.

    Args:
        inside: the bytes on the core that the body of the loop takes.
        is_product: whether the loop is of the windows of a product.
    """
    product = stablehlo.DotGeneralOp.create(result_types=[i8])
    scope = Scope()
    body = BufferStep(test.TestOp(), [], NOTHING, [], False, on_core=inside)
    buffers = [
        Allocation(create_ssa_value(i8), i8, size, kind, scope, last)
        for _, last, size in values
    ]
    steps = [
        BufferStep(
            product if is_product and at == loop else test.TestOp(),
            [b for b, (start, *_) in zip(buffers, values, strict=True) if start == at],
            NOTHING,
            [[body]] if at == loop else [],
            False,
        )
        for at in range(8)
    ]
    assert without_values_on_core(steps, ROOM) is steps
    return [buffer.bytes for buffer in buffers]


def test_what_has_room_is_in_no_memory():
    assert left((0, 2, 10), (1, 2, 10)) == [0, 0]
    assert left((0, 2, 10), kind="result") == [10]
    # the last step returns it
    assert left((0, 7, 10)) == [10]


def test_a_value_has_a_third_of_the_room_at_most():
    assert left((0, 1, 10), (2, 3, 11)) == [0, 11]


def test_the_shortest_are_there_first():
    assert left((0, 5, 10), (1, 2, 10), (2, 3, 10), (2, 4, 10)) == [10, 0, 0, 0]


@pytest.mark.parametrize(("others", "kept"), [(8, 0), (9, 10)])
def test_what_others_begin_in_between_ends_it(others: int, kept: int):
    """They begin eight times its bytes at most."""
    assert left((0, 2, 10), (1, 1, others * 10))[0] == kept


@pytest.mark.parametrize(
    ("loop", "inside", "kept"), [(2, 20, 0), (2, 21, 10), (4, 30, 0)]
)
def test_loops_leave_the_room_that_their_bodies_do_not_take(
    loop: int, inside: int, kept: int
):
    assert left((1, 3, 10), loop=loop, inside=inside) == [kept]


def test_windows_of_a_product_have_the_core_to_themselves():
    assert left((1, 3, 10), loop=2, is_product=True) == [10]


T = "tensor<256x256xf32>"
PRODUCT = f"contracting_dims = [1] x [0] : ({T}, {T}) -> {T}"
BODY = f"""
  %a = stablehlo.dot_general %x, %x, {PRODUCT}
  %b = stablehlo.dot_general %a, %a, {PRODUCT}
  %c = stablehlo.dot_general %b, %b, {PRODUCT}"""
LOOP = f"""
  %n = stablehlo.constant dense<4> : tensor<i32>
  %o:2 = stablehlo.while(%i = %n, %x = %y) : tensor<i32>, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{ {BODY}
    stablehlo.return %i, %c : tensor<i32>, {T}
  }}"""


@pytest.mark.parametrize(
    ("body", "result"), [(BODY.replace("%x", "%y"), "%c"), (LOOP, "%o#1")]
)
def test_programs_and_loops_keep_values_on_the_core(body: str, result: str):
    text = f"func.func @main(%y: {T}) -> {T} {{ {body}\n return {result} : {T} }}"
    kept, held = (
        memory_profile(parse_program(text, make_context()), compiler=compiler)
        for compiler in (TPU, replace(TPU, core_bytes=0))
    )
    assert kept.peak_bytes < held.peak_bytes
