"""What is only converted or multiplied is stored as what it is converted to."""

import pytest
from xdsl.dialects.builtin import TensorType, bf16, f32
from xdsl.ir import Attribute

from tests.analysis.usage.compilers import TPU
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.narrow import converted_arguments
from ttxdsl.analysis.usage.memory import memory_profile
from ttxdsl.costs.compilers import XLA_CPU, Compiler
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

S = "tensor<4x256x256xf32>"
PART = "tensor<1x256x256xf32>"
NARROW = "tensor<1x256x256xbf16>"


def slice_of(stack: str) -> str:
    return (
        f'%s = "stablehlo.dynamic_slice"({stack}, %i, %zero, %zero)'
        " <{slice_sizes = array<i64: 1, 256, 256>}>"
        f" : ({S}, tensor<i32>, tensor<i32>, tensor<i32>) -> {PART}"
    )


COND = """
  cond {
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {"""

CONSTANTS = """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>"""


def sums(stack: str, read: str, name: str = "%sums", start: str = "%x") -> str:
    """A loop that adds slices of a stack to a start as they are read."""
    return f"""
  {name}:3 = stablehlo.while(%i = %zero, %w = {stack}, %h = {start}) : tensor<i32>, {S}, {NARROW}
  {COND}
    {slice_of("%w")}
    {read}
    %n = stablehlo.add %i, %one : tensor<i32>
    %g = stablehlo.add %h, %c : {NARROW}
    stablehlo.return %n, %w, %g : tensor<i32>, {S}, {NARROW}
  }}"""


def reads(stack: str, read: str) -> str:
    """A loop whose sum of slices is returned."""
    return f"""{sums(stack, read)}
  return %sums#2 : {NARROW}"""


CONVERTED = f"%c = stablehlo.convert %s : ({PART}) -> {NARROW}"
COMPUTED = f"""%e = stablehlo.exponential %s : {PART}
    %c = stablehlo.convert %e : ({PART}) -> {NARROW}"""


def filled(read: str) -> str:
    """A loop that fills a stack, and one that reads it."""
    return f"""
func.func @main(%a: {PART}, %x: {NARROW}) -> {NARROW} {{ {CONSTANTS}
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %stack = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> {S}
  %filled:3 = stablehlo.while(%i = %zero, %w = %stack, %h = %a) : tensor<i32>, {S}, {PART}
  {COND}
    %u = stablehlo.dynamic_update_slice %w, %h, %i, %zero, %zero
      : ({S}, {PART}, tensor<i32>, tensor<i32>, tensor<i32>) -> {S}
    %g = stablehlo.tanh %h : {PART}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %u, %g : tensor<i32>, {S}, {PART}
  }}
  {reads("%filled#1", read)}
}}"""


def filled_first(read: str) -> str:
    """The same, with the stack ahead of the counter, where the condition returns its result."""
    return (
        filled(read)
        .replace("%i = %zero, %w = %stack", "%w = %stack, %i = %zero", 1)
        .replace(f"tensor<i32>, {S}, {PART}", f"{S}, tensor<i32>, {PART}")
        .replace("return %n, %u", "return %u, %n")
        .replace("%filled#1", "%filled#0")
    )


def transposed(read: str) -> str:
    """A loop that reads a transposed argument."""
    kept = "tensor<256x4x256xf32>"
    return f"""
func.func @main(%a: {kept}, %x: {NARROW}) -> {NARROW} {{ {CONSTANTS}
  %stack = stablehlo.transpose %a, dims = [1, 0, 2] : ({kept}) -> {S}
  {reads("%stack", read)}
}}"""


def twice(read: str) -> str:
    """Two loops that read an argument, the second through a checkpoint's barrier."""
    barrier = f"%b = stablehlo.optimization_barrier %s : {PART}\n    "
    again = barrier + read.replace("%s ", "%b ")
    return f"""
func.func @main(%a: {S}, %x: {NARROW}) -> {NARROW} {{ {CONSTANTS}
  {sums("%a", read)}
  {sums("%a", again, "%again", "%sums#2")}
  return %again#2 : {NARROW}
}}"""


def stored(text: str, compiler: Compiler) -> Attribute:
    """Return the element type of the stack that is read."""
    module = parse_program(text, make_context())
    *_, loop = (op for op in all_ops(module) if isinstance(op, stablehlo.WhileOp))
    return Fusion(compiler).stored_element(loop.operands[1])


@pytest.mark.parametrize("program", [filled, transposed])
def test_what_a_loop_only_slices_and_converts_is_stored_so(program):
    assert stored(program(CONVERTED), TPU) == bf16
    assert stored(program(COMPUTED), TPU) == f32
    assert stored(program(CONVERTED), XLA_CPU) == f32


@pytest.mark.parametrize("program", [filled, filled_first, transposed, twice])
@pytest.mark.parametrize("read", [CONVERTED, COMPUTED])
def test_the_order_of_questions_changes_no_answer(program, read: str):
    module = parse_program(program(read), make_context())
    values = [
        *(result for op in all_ops(module) for result in op.results),
        *(
            value
            for op in all_ops(module)
            for region in op.regions
            for block in region.blocks
            for value in block.args
        ),
    ]
    values = [value for value in values if isinstance(value.type, TensorType)]
    fusion = Fusion(TPU)
    for value in reversed(values):
        fusion.stored_element(value)
    for value in values:
        assert fusion.stored_element(value) == Fusion(TPU).stored_element(value)


MULTIPLIED = f"""%d = stablehlo.dot_general %s, %s, batching_dims = [0] x [0],
      contracting_dims = [2] x [1] : ({PART}, {PART}) -> {PART}
    %c = stablehlo.convert %d : ({PART}) -> {NARROW}"""


@pytest.mark.parametrize(
    ("precision", "result", "element"),
    [
        ("", "%p", bf16),
        (", precision = [DEFAULT, HIGHEST]", "%p", f32),
        ("", "%t", f32),
    ],
)
def test_what_products_alone_read_is_stored_as_they_round_it(
    precision: str, result: str, element: Attribute
):
    matrix = "tensor<256x256xf32>"
    module = parse_program(
        f"""
        func.func @main(%x: {matrix}) -> {matrix} {{
          %t = stablehlo.tanh %x : {matrix}
          %m = stablehlo.transpose %t, dims = [1, 0] : ({matrix}) -> {matrix}
          %p = stablehlo.dot_general %m, %t, contracting_dims = [1] x [0]{precision}
              : ({matrix}, {matrix}) -> {matrix}
          return {result} : {matrix}
        }}
        """,
        make_context(),
    )
    (made,) = (op for op in all_ops(module) if isinstance(op, stablehlo.TanhOp))
    assert Fusion(TPU).stored_element(made.result) == element
    assert Fusion(XLA_CPU).stored_element(made.result) == f32


@pytest.mark.parametrize(("is_transposed", "element"), [(False, bf16), (True, f32)])
def test_a_bias_s_gradient_is_summed_beside_what_products_read(
    is_transposed: bool, element: Attribute
):
    """It is where the sum reads what is made, and not another value of its elements."""
    matrix, row = "tensor<256x256xf32>", "tensor<256xf32>"
    module = parse_program(
        f"""
        func.func @main(%x: {matrix}) -> ({matrix}, {row}) {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %t = stablehlo.tanh %x : {matrix}
          %m = stablehlo.transpose %t, dims = [1, 0] : ({matrix}) -> {matrix}
          %p = stablehlo.dot_general %m, %t, contracting_dims = [1] x [0] : ({matrix}, {matrix}) -> {matrix}
          %s = stablehlo.reduce({"%m" if is_transposed else "%t"} init: %zero)
              applies stablehlo.add across dimensions = [0] : ({matrix}, tensor<f32>) -> {row}
          return %p, %s : {matrix}, {row}
        }}
        """,
        make_context(),
    )
    (made,) = (op for op in all_ops(module) if isinstance(op, stablehlo.TanhOp))
    assert Fusion(TPU).stored_element(made.result) == element


def test_a_stack_of_which_products_read_slices_is_stored_as_they_round_them():
    assert stored(filled(MULTIPLIED), TPU) == bf16
    assert stored(filled(MULTIPLIED), XLA_CPU) == f32


@pytest.mark.parametrize(
    ("precision", "is_read", "element"),
    [("DEFAULT", False, bf16), ("HIGHEST", False, f32), ("DEFAULT", True, f32)],
)
def test_a_stack_that_products_read_as_a_whole_begins_as_they_round_it(
    precision: str, is_read: bool, element: Attribute
):
    """As the gradients of a recurrent layer's gates do, unless the loop that writes it reads it."""
    matrix = "tensor<1024x256xf32>"
    ends = f"""%m = stablehlo.reshape %filled#1 : ({S}) -> {matrix}
  %d = stablehlo.dot_general %m, %m, contracting_dims = [0] x [0],
    precision = [{precision}, {precision}] : ({matrix}, {matrix}) -> tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}}"""
    text = filled(CONVERTED).split(sums("%filled#1", CONVERTED))[0]
    text = text.replace(f"-> {NARROW}", "-> tensor<256x256xf32>")
    if is_read:
        text = text.replace("tanh %h", "tanh %s")
        text = text.replace("%g =", f"{slice_of('%w')}\n    %g =")
    module = parse_program(text + ends, make_context())
    (loop,) = (op for op in all_ops(module) if isinstance(op, stablehlo.WhileOp))
    stack = loop.operands[1], loop.results[1]
    assert [Fusion(TPU).stored_element(value) for value in stack] == [element] * 2


def test_a_narrow_stack_takes_its_bytes():
    whole, half = (
        memory_profile(parse_program(filled(read), make_context()), compiler=TPU)
        for read in (COMPUTED, CONVERTED)
    )
    assert whole.peak_bytes - half.peak_bytes == 4 * 256 * 256 * 2


def test_a_transposed_argument_is_no_copy():
    """What computes with it reads the argument; as another type it is stored."""
    as_it_is, converted = (
        memory_profile(parse_program(transposed(read), make_context()), compiler=TPU)
        for read in (COMPUTED, CONVERTED)
    )
    assert converted.peak_bytes - as_it_is.peak_bytes == 4 * 256 * 256 * 2


def test_a_copy_of_an_argument_that_loops_convert_is_there_until_the_last():
    as_it_is, converted = (
        memory_profile(parse_program(twice(read), make_context()), compiler=TPU).points
        for read in (COMPUTED, CONVERTED)
    )
    more = [
        a.bytes - b.bytes
        for a, b in zip(converted, as_it_is, strict=True)
        if isinstance(a.op, stablehlo.WhileOp)
    ]
    assert more == [4 * 256 * 256 * 2] * 2
    assert converted[-1].bytes == as_it_is[-1].bytes


def test_what_a_loop_keeps_and_converts_as_a_whole_is_converted_ahead_of_it():
    read = f"%c = stablehlo.convert %w : ({PART}) -> {NARROW}"
    text = f"""
func.func @main(%x: {NARROW}, %y: {PART}) -> {NARROW} {{{{{CONSTANTS}
  %0:3 = stablehlo.while(%i = %zero, %w = %y, %h = %x) : tensor<i32>, {PART}, {NARROW}
  {COND}
    {read}
    %n = stablehlo.add %i, %one : tensor<i32>
    %g = stablehlo.add %h, %c : {NARROW}
    stablehlo.return %n, RETURNED, %g : tensor<i32>, {PART}, {NARROW}
  }}}}
  return %0#2 : {NARROW}
}}}}""".replace("{{", "{").replace("}}", "}")
    counts = [
        len([*converted_arguments(op)])
        for returned in ("%w", "%e")
        for op in all_ops(
            parse_program(
                text.replace("RETURNED", returned).replace(
                    read, f"%e = stablehlo.negate %w : {PART}\n    {read}"
                ),
                make_context(),
            )
        )
        if isinstance(op, stablehlo.WhileOp)
    ]
    assert counts == [1, 0]  # what each turn makes anew is not


@pytest.mark.parametrize(
    ("is_read", "element"),
    [(False, bf16), (True, f32)],
)
def test_a_product_that_all_readers_convert_is_stored_as_they_want_it(
    is_read: bool, element: Attribute
):
    """Several kernels read what is converted; what one reads in f32 is stored so."""
    matrix, half, row = (
        *("tensor<256x256xf32>", "tensor<256x256xbf16>", "tensor<256xf32>"),
    )
    module = parse_program(
        f"""
        func.func @main(%x: {half}) -> ({matrix}, {row}) {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %p = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : ({half}, {half}) -> {matrix}
          %c = stablehlo.convert %p : ({matrix}) -> {half}
          %w = stablehlo.convert %c : ({half}) -> {matrix}
          %e = stablehlo.exponential {"%p" if is_read else "%w"} : {matrix}
          %s = stablehlo.reduce(%w init: %zero)
              applies stablehlo.add across dimensions = [0] : ({matrix}, tensor<f32>) -> {row}
          return %e, %s : {matrix}, {row}
        }}
        """,
        make_context(),
    )
    product = next(
        op for op in all_ops(module) if isinstance(op, stablehlo.DotGeneralOp)
    )
    assert Fusion(TPU).stored_element(product.result) == element
    assert Fusion(XLA_CPU).stored_element(product.result) == f32


def test_a_reshaped_argument_is_converted_ahead_of_a_loop_too():
    """As a stage's part of stacked weights is, whose first dimension is the stage."""
    stage = S.replace("<", "<1x")
    text = f"""
func.func @main(%x: {NARROW}, %y: {stage}) -> {NARROW} {{{CONSTANTS}
  %part = stablehlo.reshape %y : ({stage}) -> {S}
  {reads("%part", CONVERTED)}
}}"""
    profile = memory_profile(parse_program(text, make_context()), compiler=TPU)
    plain = text.replace(f": ({stage}) -> {S}", "").replace(
        "%part = stablehlo.reshape %y", ""
    )
    plain = plain.replace("%part", "%y").replace(stage, S)
    direct = memory_profile(parse_program(plain, make_context()), compiler=TPU)
    assert profile.peak_bytes == direct.peak_bytes
