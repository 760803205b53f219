"""Loops of one turn and values that are computed twice, as a compiler has them."""

from collections import Counter

from xdsl.dialects.builtin import ModuleOp

from tests.analysis.usage.compilers import TPU
from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.usage.memory import MemoryProfile
from ttxdsl.analysis.values.simplified import simplified
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

X, H, W = "tensor<1024x256xf32>", "tensor<1024x2048xf32>", "tensor<256x2048xf32>"
V = "tensor<2048x256xf32>"

LAYER = f"""
  %h{{n}} = stablehlo.dot_general {{x}}, %w, contracting_dims = [1] x [0] : ({X}, {W}) -> {H}
  %s{{n}} = stablehlo.sine %h{{n}} : {H}
"""


def step(again: str) -> str:
    """A layer, something large behind it, and its gradient, of what is computed again."""
    return f"""
func.func @main(%x: {X}, %w: {W}, %v: {V}, %t: {V}) -> tensor<256x256xf32> {{
  {LAYER.format(n=0, x="%x")}
  %y = stablehlo.dot_general %s0, %v, contracting_dims = [1] x [0] : ({H}, {V}) -> {X}
  %big = stablehlo.dot_general %y, %t, contracting_dims = [1] x [1] : ({X}, {V}) -> {H}
  %sorted = "stablehlo.sort"(%big) <{{dimension = 1 : i64}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }}) : ({H}) -> {H}
  %d = stablehlo.dot_general %sorted, %t, contracting_dims = [1] x [0] : ({H}, {V}) -> {X}
  {again}
  %g = stablehlo.dot_general %s1, %d, contracting_dims = [0] x [0] : ({H}, {X}) -> {V}
  %r = stablehlo.dot_general %v, %g, contracting_dims = [0] x [0] : ({V}, {V}) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}}
"""


AGAIN = LAYER.format(n=1, x="%x")

BARRIER = f"  %z = stablehlo.optimization_barrier %x : {X}\n" + LAYER.format(
    n=1, x="%z"
)

LOOP = f"""
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %empty = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> tensor<1x1024x2048xf32>
  %stack = stablehlo.reshape %x : ({X}) -> tensor<1x1024x256xf32>
  %l:2 = stablehlo.while(%i = %zero, %e = %empty) : tensor<i32>, tensor<1x1024x2048xf32>
   cond {{
    %more = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %part = stablehlo.dynamic_slice %stack, %i, %zero, %zero, sizes = [1, 1024, 256] : (tensor<1x1024x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1024x256xf32>
    %z = stablehlo.reshape %part : (tensor<1x1024x256xf32>) -> {X}
    {LAYER.format(n=2, x="%z")}
    %p = stablehlo.broadcast_in_dim %s2, dims = [1, 2] : ({H}) -> tensor<1x1024x2048xf32>
    %f = stablehlo.dynamic_update_slice %e, %p, %i, %zero, %zero : (tensor<1x1024x2048xf32>, tensor<1x1024x2048xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1024x2048xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %f : tensor<i32>, tensor<1x1024x2048xf32>
  }}
  %s1 = stablehlo.reshape %l#1 : (tensor<1x1024x2048xf32>) -> {H}
"""


def parsed(again: str) -> ModuleOp:
    return parse_program(step(again), make_context())


def memory_of(module: ModuleOp) -> MemoryProfile:
    return DeviceUsage(module, compiler=TPU).memory


def live_bytes(again: str) -> int:
    """Return the most that is there at once, without gaps."""
    profile = memory_of(parsed(again))
    return profile.points[profile.peak].bytes


def ops_in(module: ModuleOp) -> Counter[str]:
    return Counter(op.name for op in all_ops(module))


def test_what_is_computed_again_without_a_barrier_is_held():
    # a product alone reads it, as bf16
    assert live_bytes(AGAIN) - live_bytes(BARRIER) == 1024 * 2048 * 2
    assert [simplified(parsed(text)) is None for text in (BARRIER, AGAIN)] == [
        True,
        False,
    ]


def test_a_loop_of_one_turn_is_no_loop():
    """Slices of all of a stack are the stack, so that what is inside is equal, too."""
    program = simplified(parsed(LOOP))
    assert program is not None
    assert ops_in(program.module)["stablehlo.while"] == 0
    assert ops_in(program.module)["stablehlo.dot_general"] == 6
    assert live_bytes(LOOP) == live_bytes(AGAIN)


def test_a_loop_of_one_turn_stays_if_a_frontend_says_so():
    """So MaxText has the layers of Gemma 4 that attend to all tokens."""
    note = "skip-simplify-while-loops_trip-count-one"
    for says, loops in (("true", 1), ("false", 0)):
        attributes = f'{{mhlo.frontend_attributes = {{"{note}" = "{says}"}}}}'
        module = parsed(
            LOOP.replace("\n   cond {", f"\n   attributes {attributes}\n   cond {{")
        )
        program = simplified(module)
        kept = module if program is None else program.module
        assert ops_in(kept)["stablehlo.while"] == loops


def test_a_loop_of_two_turns_stays():
    assert simplified(parsed(LOOP.replace("%i, %one : (", "%i, %i : ("))) is None


def test_the_profile_is_of_the_program_that_was_given():
    module = parsed(AGAIN)
    text = str(module)
    profile = memory_of(module)
    ops = set(module.walk())
    made = [v.value.owner for v in profile.peak_values if v.kind != "argument"]
    assert {*made, *(point.op for point in profile.points)} <= ops
    assert str(module) == text


def test_transposes_there_and_back_are_none():
    """Each alone stays, and so do two that are something else together."""
    text = """
func.func @main(%x: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {{
  %0 = stablehlo.transpose %x, dims = {there} : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  %1 = stablehlo.transpose %0, dims = {back} : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return %1 : tensor<2x2x2xf32>
}}"""
    for there, back, count in (
        ("[1, 2, 0]", "[2, 0, 1]", 0),
        ("[1, 2, 0]", "[1, 2, 0]", 2),
    ):
        module = parse_program(text.format(there=there, back=back), make_context())
        program = simplified(module)
        left = module if program is None else program.module
        assert ops_in(left)["stablehlo.transpose"] == count
