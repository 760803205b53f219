"""Orders of ops that compilers take instead of the program's."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import ttxdsl
from tests.analysis.usage import compilers
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.usage import device
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.order import (
    depends_on_carried,
    gradients_last,
    on_demand,
    passes_first,
    repeating_loop,
    scheduled,
)
from ttxdsl.analysis.usage.device import DeviceUsage, usage_on
from ttxdsl.analysis.usage.memory import MemoryProfile, memory_profile
from ttxdsl.costs.chips import chip_named
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context, parse_program

TPU, TPU_MEGACORE, TPU_V6E = (
    replace(compiler, flops_while_sent=0)
    for compiler in (compilers.TPU, compilers.TPU_MEGACORE, compilers.TPU_V6E)
)
"""Compilers whose products are loops with their collectives, however small they are."""

T = "tensor<256x256xf32>"
SIZE = 256 * 256 * 4
DOT = f"contracting_dims = [1] x [0] : ({T}, {T}) -> {T}"

LAYERS = f"""
func.func @main(%g: {T}, %a: {T}, %b: {T}) -> {T} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %d = %g, %x = %a, %y = %b) : tensor<i32>, {T}, {T}, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %1 = stablehlo.dot_general %x, %x, {DOT}
    %h = stablehlo.dot_general %y, %y, {DOT}
    %3 = stablehlo.dot_general %d, %1, {DOT}
    %4 = stablehlo.dot_general %3, %h, {DOT}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %4, %x, %y : tensor<i32>, {T}, {T}, {T}
  }}
  return %0#1 : {T}
}}
"""


def body_ops() -> list[str]:
    module = parse_program(LAYERS, make_context())
    (loop,) = (op for op in all_ops(module) if isinstance(op, stablehlo.WhileOp))
    ops = list(loop.body.block.ops)
    names = {op: result.name_hint or "" for op in ops for result in op.results}
    dependent = depends_on_carried(ops)
    assert [names[op] for op in dependent] == [names[ops[2]], names[ops[3]]]
    return [names.get(op, "return") for op in on_demand(ops)]


def test_recomputed_values_are_made_where_they_are_needed():
    order = body_ops()
    # h is made behind the first product that needs the gradient, not ahead of it
    assert order.index("h") > 1
    assert order[-1] == "return"


ADDED = f"""
func.func @main(%x: {T}, %y: {T}) -> ({T}, {T}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> {T}
  %0:5 = stablehlo.while(%i = %zero, %s = %z, %t = %z, %v = %x, %w = %y) : tensor<i32>, {T}, {T}, {T}, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %forward = stablehlo.dot_general %v, %w, {DOT}
    %last = stablehlo.dot_general %forward, %v, {DOT}
    %backward = stablehlo.dot_general %forward, %forward, {DOT}
    %first = stablehlo.dot_general %backward, %v, {DOT}
    %n = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.add %s, %first : {T}
    %b = stablehlo.add %t, %last : {T}
    stablehlo.return %n, %a, %b, %v, %w : tensor<i32>, {T}, {T}, {T}, {T}
  }}
  return %0#1, %0#2 : {T}, {T}
}}
"""


def test_microbatches_add_a_gradient_as_soon_as_they_have_it():
    module = parse_program(ADDED, make_context())
    (loop,) = (op for op in all_ops(module) if isinstance(op, stablehlo.WhileOp))
    names = [
        next((result.name_hint for result in op.results), "return")
        for op in on_demand(list(loop.body.block.ops))
    ]
    # that of the last layer waits for no other, and else the order is the program's
    assert names == ["forward", "last", "b", "backward", "first", "a", "n", "return"]


def test_a_second_order_is_tried_where_the_first_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
):
    module = parse_program(LAYERS, make_context())
    chip = replace(chip_named("v5e"), compiler=TPU)
    usage = usage_on(module, chip)
    first = memory_profile(module, compiler=TPU)
    assert usage.memory.peak_bytes == first.peak_bytes
    saving = memory_profile(module, compiler=TPU, fusion=Fusion(TPU, saves_memory=True))
    assert saving.peak_bytes <= first.peak_bytes
    # orders that the program has no choice of are not tried
    profiles: list[Fusion] = []

    def counted(*args: Any, fusion: Fusion, **options: Any) -> MemoryProfile:
        profiles.append(fusion)
        return memory_profile(*args, fusion=fusion, **options)

    monkeypatch.setattr(device, "memory_profile", counted)
    small = replace(chip, memory_bytes=SIZE)
    assert usage_on(module, small).memory.peak_bytes == saving.peak_bytes
    assert [fusion.saves_memory for fusion in profiles] == [False, True]
    # a machine that is no chip says no limit
    assert DeviceUsage(module, compiler=TPU).memory.peak_bytes == first.peak_bytes


PEELED = f"""
func.func @main(%x: {T}, %l: {T}) -> ({T}, {T}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %saved:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %1 = stablehlo.dot_general %h, %h, {DOT}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %1 : tensor<i32>, {T}
  }}
  %a = stablehlo.dot_general %l, %saved#1, {DOT}
  %b = stablehlo.dot_general %a, %a, {DOT}
  %c = stablehlo.dot_general %b, %a, {DOT}
  %e = stablehlo.dot_general %c, %b, {DOT}
  %f = stablehlo.dot_general %e, %c, {DOT}
  %loop:3 = stablehlo.while(%i = %zero, %d = %f, %s = %saved#1) : tensor<i32>, {T}, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %again = stablehlo.dot_general %s, %s, {DOT}
    %1 = stablehlo.dot_general %d, %again, {DOT}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %1, %s : tensor<i32>, {T}, {T}
  }}
  return %loop#1, %f : {T}, {T}
}}
"""


def test_slices_hold_what_the_last_turn_makes_until_the_first_of_its_gradients():
    module = parse_program(PEELED, make_context())
    slices = TPU.on(64, 2)
    alone, several, saving = (
        memory_profile(module, fusion=fusion, compiler=fusion.compiler).parts.temporary
        for fusion in (
            *(Fusion(TPU.on(64)), Fusion(slices)),
            Fusion(slices, saves_memory=True),
        )
    )
    assert several - alone == SIZE // 2  # %again in bf16, beside %b, %c and %e
    assert saving == alone  # which makes them again


MICROBATCHES = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%w: tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %x: tensor<512x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<512x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<512x4096xf32>
  cond {
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %r = sdy.sharding_constraint %w <@mesh, [{}, {}]> : tensor<4096x512xf32>
    %1 = stablehlo.dot_general %r, %y, contracting_dims = [0] x [1]
        : (tensor<4096x512xf32>, tensor<512x4096xf32>) -> tensor<512x512xf32>
    %2 = stablehlo.dot_general %1, %r, contracting_dims = [1] x [1]
        : (tensor<512x512xf32>, tensor<4096x512xf32>) -> tensor<512x4096xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %2 : tensor<i32>, tensor<512x4096xf32>
  }
  return %0#1 : tensor<512x4096xf32>
}
"""


def test_what_each_turn_gathers_is_not_held_around_the_loop(tmp_path: Path):
    """XLA moves no gather out of a loop, though we do."""
    (tmp_path / "step.mlir").write_text(MICROBATCHES)
    module = ttxdsl.load(tmp_path / "step.mlir").partition().per_device().module
    ops = list(all_ops(module))
    (gather,) = (op for op in ops if isinstance(op, stablehlo.AllGatherOp))
    (loop,) = (op for op in ops if isinstance(op, stablehlo.WhileOp))
    assert gather.parent is loop.parent
    assert repeating_loop(gather) is loop
    points = memory_profile(module, compiler=TPU).points
    assert gather not in [point.op for point in points]
    (turn,) = (point for point in points if point.op is loop)
    assert turn.inside >= 4096 * 512 * 4


LOOP = """
  %{name}:3 = stablehlo.while(%i = %zero, %a = {first}, %b = {second}) : tensor<i32>, {T}, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %1 = stablehlo.dot_general %a, %b, {DOT}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %1, %a : tensor<i32>, {T}, {T}
  }}"""


def step_of(count: int, is_chain: bool) -> ModuleOp:
    """Return a step that adds gradients: loops that save, `f`, and that read what is, `b`."""
    body, total = "", "%w"
    for at in range(count):
        read = total if is_chain else "%w"
        body += LOOP.format(name=f"f{at}", first=read, second="%w", T=T, DOT=DOT)
        saved = f"%f{at}#1", f"%f{at}#2"
        body += LOOP.format(
            name=f"b{at}", first=saved[0], second=saved[1], T=T, DOT=DOT
        )
        body += f"\n  %s{at} = stablehlo.add {total}, %b{at}#1 : {T}"
        total = f"%s{at}"
    return parse_program(
        f"""
        func.func @main(%w: {T}) -> {T} {{
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %four = stablehlo.constant dense<4> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          {body}
          return {total} : {T}
        }}
        """,
        make_context(),
    )


def microbatches(count: int, is_chain: bool) -> str:
    """Return the loops of a step in their order."""
    module = step_of(count, is_chain)
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    ops = scheduled(list(function.body.block.ops), Fusion(TPU))
    loops = (op for op in ops if isinstance(op, stablehlo.WhileOp))
    return " ".join(str(loop.results[0].name_hint) for loop in loops)


def test_microbatches_save_four_at_a_time_before_their_gradients():
    assert microbatches(2, False) == "f0 f1 b0 b1"
    assert microbatches(6, False) == "f0 f1 f2 f3 b0 b1 b2 b3 f4 f5 b4 b5"
    # each needs the gradient of the one before
    assert microbatches(3, True) == "f0 b0 f1 b1 f2 b2"


def test_fewer_microbatches_save_together_where_four_do_not_fit():
    module, tpu = step_of(4, False), replace(TPU, core_bytes=0)
    four, three = (
        memory_profile(module, compiler=tpu, fusion=Fusion(tpu, together=count))
        for count in (4, 3)
    )
    assert three.peak_bytes < four.peak_bytes
    for profile in (four, three):
        chip = replace(chip_named("v5e"), memory_bytes=profile.peak_bytes, compiler=tpu)
        assert usage_on(module, chip).memory.peak_bytes == profile.peak_bytes


def reference(size: str) -> list[str]:
    """Return the loops of a step whose reference is behind its policy, and what it gives."""
    loops = (
        LOOP.format(name="policy", first="%w", second="%w", T=T, DOT=DOT),
        LOOP.format(name="reference", first="%r", second="%r", T=T, DOT=DOT),
        LOOP.format(name="back", first="%mixed", second="%policy#2", T=T, DOT=DOT),
    )
    module = parse_program(
        f"""
        func.func @main(%w: {T}, %r: {T}) -> {T} {{
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %four = stablehlo.constant dense<4> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          {loops[0]}
          {loops[1]}
          {size}
          %mixed = stablehlo.multiply %policy#1, %few : {T}
          {loops[2]}
          return %back#1 : {T}
        }}
        """,
        make_context(),
    )
    (function,) = module.ops
    ops = scheduled(list(function.regions[0].block.ops), Fusion(TPU))
    return [
        str(op.results[0].name_hint)
        for op in ops
        if isinstance(op, stablehlo.WhileOp | stablehlo.ReduceOp)
    ]


def test_a_reference_that_gives_little_runs_ahead_of_what_saves():
    few = f"""
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%reference#1 init: %z) applies stablehlo.add
          across dimensions = [0, 1] : ({T}, tensor<f32>) -> tensor<f32>
      %few = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> {T}
    """
    assert reference(few) == ["reference", "sum", "policy", "back"]


@pytest.mark.parametrize("is_teacher", [True, False], ids=["teacher", "both saved"])
def test_a_teacher_in_python_runs_ahead_of_its_student(is_teacher: bool):
    """Its two products give one value alone, or as the student's are read by gradients, too."""
    read = "%t2" if is_teacher else "%t1"
    module = parse_program(
        f"""
        func.func @main(%x: {T}, %w: {T}) -> ({T}, {T}, {T}) {{
          %s1 = stablehlo.dot_general %x, %w, {DOT}
          %s2 = stablehlo.dot_general %s1, %w, {DOT}
          %t1 = stablehlo.dot_general %x, %x, {DOT}
          %t2 = stablehlo.dot_general %t1, %x, {DOT}
          %d = stablehlo.subtract %s2, %t2 : {T}
          %g2 = stablehlo.dot_general %s1, %d, {DOT}
          %g1 = stablehlo.dot_general %s2, %d, {DOT}
          %g0 = stablehlo.dot_general {read}, %g1, {DOT}
          return %g2, %g1, %g0 : {T}, {T}, {T}
        }}
        """,
        make_context(),
    )
    (function,) = module.ops
    ops = passes_first(list(function.regions[0].block.ops))
    names = [op.results[0].name_hint for op in ops if op.results]
    policy, teacher = ["s1", "s2"], ["t1", "t2"]
    ahead = teacher + policy if is_teacher else policy + teacher
    assert names == [*ahead, "d", "g2", "g1", "g0"]


def kernel(name: str, *operands: str, target: str = "tpu_custom_call") -> str:
    types = ", ".join([T] * len(operands))
    call = f"stablehlo.custom_call @{target}({', '.join(operands)})"
    return f"{name} = {call} : ({types}) -> {T}"


EXPERTS = f"""
func.func @main(%t: {T}, %x: {T}) -> ({T}, {T}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %d = %t, %g = %t, %h = %t)
      : tensor<i32>, {T}, {T}, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    {kernel("%again", "%x", "%x")}
    %kept = stablehlo.add %again, %h : {T}
    {kernel("%weights", "%x", "%d")}
    %scaled = stablehlo.negate %weights : {T}
    {kernel("%rows", "%d", "%x")}
    {kernel("%sent", "%rows", target="TARGET")}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %sent, %scaled, %kept : tensor<i32>, {T}, {T}, {T}
  }}
  return %0#1, %0#2 : {T}, {T}
}}
"""


EXCHANGED = (
    EXPERTS.replace(
        kernel("%weights", "%x", "%d"),
        f"%weights = stablehlo.dot_general %x, %d, {DOT}",
    )
    .replace(
        kernel("%rows", "%d", "%x"), f"%rows = stablehlo.dot_general %d, %x, {DOT}"
    )
    .replace(
        kernel("%sent", "%rows", target="TARGET"),
        f"""%sent = "stablehlo.all_to_all"(%rows) <{{concat_dimension = 0 : i64,
          split_dimension = 0 : i64, split_count = 4 : i64,
          replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> : ({T}) -> {T}""",
    )
)
"""The same with plain products, whose results another split than the batch's is made of."""


def experts(target: str, text: str = EXPERTS, slices: bool = False) -> list[str]:
    """Return the order of a turn that makes gradients of experts and sends those of rows."""
    module = parse_program(text.replace("TARGET", target), make_context())
    (loop,) = (op for op in all_ops(module) if isinstance(op, stablehlo.WhileOp))
    ops = on_demand(list(loop.body.block.ops), slices)
    names = (result.name_hint or "" for op in ops for result in op.results)
    return [name for name in names if name != "n"]


def test_weights_get_their_gradients_while_those_of_rows_are_sent():
    recomputed, rows, gradient = (
        ["again", "kept"],
        ["rows", "sent"],
        ["weights", "scaled"],
    )
    assert experts("ragged_all_to_all") == [*recomputed, *rows, *gradient]
    assert experts("tpu_custom_call") == [*recomputed, *gradient, *rows]
    assert experts("", EXCHANGED) == [*recomputed, *rows, *gradient]
    assert experts("", EXCHANGED, slices=True) == [*recomputed, *gradient, *rows]


def layers_of_fsdp(layers: int, count: int, between: str) -> tuple[str, str]:
    """Return layers that each have a gradient that is scattered, and the type of its part."""
    part = f"tensor<{256 // count}x256xf32>"
    groups = f"dense<[{list(range(count))}]> : tensor<1x{count}xi64>"
    return part, "".join(
        f"""
    %product{n} = stablehlo.dot_general %d{n}, %x, {DOT}
    %scattered{n} = "stablehlo.reduce_scatter"(%product{n}) <{{scatter_dimension = 0 : i64,
        replica_groups = {groups}}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }}) : ({T}) -> {part}
    %w{n + 1} = stablehlo.add %w{n}, %scattered{n} : {part}
    {between.format(n=n)}
    %d{n + 1} = stablehlo.dot_general %d{n}, %d{n}, {DOT}"""
        for n in range(layers)
    )


def turn_of_fsdp(
    layers: int = 1, *, count: int = 8, between: str = "", saves_memory: bool = False
) -> list[str]:
    """Return the order of a turn whose layers each have a gradient that is scattered."""
    part, gradients = layers_of_fsdp(layers, count, between)
    module = parse_program(
        f"""
func.func @main(%g: {T}, %x: {T}) -> ({part}, {T}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : {part}
  %0:3 = stablehlo.while(%i = %zero, %w0 = %none, %d0 = %g) : tensor<i32>, {part}, {T}
  cond {{
    %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    {gradients}
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %w{layers}, %d{layers} : tensor<i32>, {part}, {T}
  }}
  return %0#1, %0#2 : {part}, {T}
}}
""",
        make_context(),
    )
    (loop,) = (op for op in all_ops(module) if isinstance(op, stablehlo.WhileOp))
    fusion = Fusion(TPU, saves_memory=saves_memory)
    ops = gradients_last(list(loop.body.block.ops), fusion)
    return [result.name_hint or "" for op in ops for result in op.results]


def test_gradients_in_windows_are_made_at_the_end_of_a_turn():
    gradient = ["product0", "scattered0", "w1"]
    late, early = ["d1", "n", *gradient], [*gradient, "d1", "n"]
    assert turn_of_fsdp() == late
    assert turn_of_fsdp(count=2) == early  # no windows
    assert turn_of_fsdp(saves_memory=True) == early


def test_gradients_wait_for_the_end_of_their_layer_at_most():
    """It has seven of them, and ends where the next one is computed again."""
    order = turn_of_fsdp(9)
    assert order.index("d7") < order.index("product0") < order.index("d8")
    assert order.index("d8") < order.index("product1") < order.index("d9")
    again = f"%again{{n}} = stablehlo.dot_general %x, %x, {DOT}"
    barrier = f"%again{{n}} = stablehlo.optimization_barrier %x : {T}"
    for between in (again, barrier):
        order = turn_of_fsdp(2, between=between)
        assert order.index("product0") < order.index("again0") < order.index("d1")


def test_gradients_of_layers_in_python_wait_for_the_end_of_their_layer():
    """A barrier is where a checkpoint begins to compute a layer again; four windows are no loop."""
    barrier = f"%again = stablehlo.optimization_barrier %x : {T}"
    for ahead, compiler, devices, is_late in (
        *(("", TPU, 8, False), (barrier, TPU, 8, True)),
        *(("", TPU_MEGACORE, 8, True), ("", TPU_V6E, 8, True)),
        *(("", TPU, 4, False), ("", TPU_V6E, 4, True)),
    ):
        part, layers = layers_of_fsdp(2, devices, "")
        module = parse_program(
            f"func.func @main(%d0: {T}, %x: {T}, %w0: {part}) -> ({part}, {T}) {{{ahead}{layers}\n"
            f"%e = stablehlo.negate %d2 : {T}\nreturn %w2, %e : {part}, {T}}}",
            make_context(),
        )
        (function,) = module.ops
        ordered = scheduled(list(function.regions[0].block.ops), Fusion(compiler))
        order = [r.name_hint or "" for op in ordered for r in op.results]
        assert (order.index("product1") > order.index("e")) is is_late


def test_as_many_gradients_of_layers_in_python_wait_as_have_room():
    part, layers = layers_of_fsdp(16, 8, "")
    text = (
        f"func.func @main(%d0: {T}, %x: {T}, %w0: {part}) -> ({part}, {T}) {{{layers}\n"
        f"%e = stablehlo.negate %d16 : {T}\nreturn %w16, %e : {part}, {T}}}"
    )
    module = parse_program(text, make_context())
    (function,) = module.ops
    half = Fusion(TPU_MEGACORE, waiting=0.5)
    ordered = scheduled(list(function.regions[0].block.ops), half)
    order = [r.name_hint or "" for op in ordered for r in op.results]
    late = [order.index(f"product{n}") > order.index("e") for n in range(16)]
    assert late == [False] * 8 + [True] * 8
    most, some, least = (
        memory_profile(module, compiler=TPU_MEGACORE, fusion=fusion).peak_bytes
        for fusion in (None, half, Fusion(TPU_MEGACORE, saves_memory=True))
    )
    assert least < some < most
    v5p = replace(chip_named("v5p"), compiler=TPU_MEGACORE)
    chip = replace(v5p, memory_bytes=some)
    assert least < usage_on(module, chip).memory.peak_bytes <= some


def test_a_gradient_that_is_transposed_in_the_end_waits_for_no_other_layer():
    part, layers = layers_of_fsdp(2, 8, "")
    columns = layers.replace(part, "tensor<256x32xf32>")
    columns = columns.replace("scatter_dimension = 0", "scatter_dimension = 1")
    text = (
        f"func.func @main(%d0: {T}, %x: {T}, %w0: tensor<256x32xf32>)"
        f" -> (tensor<256x32xf32>, {T}) {{{columns}"
        f"\n%e = stablehlo.negate %d2 : {T}\nreturn %w2, %e : tensor<256x32xf32>, {T}}}"
    )
    # tiles of 128 columns: parts of fewer would be stored by columns
    text = text.replace("256x32", "1024x128").replace("256x256", "1024x1024")
    for compiler, is_late in ((TPU_MEGACORE, True), (TPU_V6E, False)):
        (function,) = parse_program(text, make_context()).ops
        ordered = scheduled(list(function.regions[0].block.ops), Fusion(compiler))
        order = [r.name_hint or "" for op in ordered for r in op.results]
        assert (order.index("product1") > order.index("e")) is is_late


@pytest.mark.parametrize(
    ("heads", "size", "is_moved"), [(16, 128, True), (32, 64, False)]
)
def test_parts_of_heads_that_rows_would_pad_are_not_transposed(
    heads: int, size: int, is_moved: bool
):
    """Columns of 64 take a tile of 128: the part that is scattered stays in columns."""
    whole, part = (f"tensor<{heads}x{size}x{width}xf32>" for width in (2048, 256))
    rows = f"tensor<512x{heads}x{size}xf32>, tensor<512x2048xf32>"
    text = f"""
func.func @main(%o: tensor<512x{heads}x{size}xf32>, %x: tensor<512x2048xf32>) -> {part} {{
  %0 = stablehlo.dot_general %o, %x, contracting_dims = [0] x [0] : ({rows}) -> {whole}
  %1 = "stablehlo.reduce_scatter"(%0) <{{scatter_dimension = 2 : i64,
      replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : ({whole}) -> {part}
  return %1 : {part}
}}
"""
    (function,) = parse_program(text, make_context()).ops
    product = function.regions[0].block.first_op
    assert product is not None
    assert Fusion(TPU_V6E).is_transposed_behind(product) is is_moved


UPDATED = f"""
func.func @main(%x: {T}, %w: {T} {{donated}}, %v: {T} {{donated}}) -> ({T}, {T}, {T}, {T}) {{{{
  %0 = stablehlo.dot_general %x, %x, {DOT}
  %1 = stablehlo.dot_general %0, %x, {DOT}
  %2 = stablehlo.subtract %w, %0 : {T}
  %3 = stablehlo.subtract %v, %1 : {T}
  return %2, {{first}}, %3, {{second}} : {T}, {T}, {T}, {T}
}}}}
"""


@pytest.mark.parametrize(
    ("donated", "others", "is_early"),
    [
        ("{jax.buffer_donor = true}", ("%w", "%v"), True),
        ("", ("%w", "%v"), True),  # no more than the gradient
        ("", ("%2", "%3"), False),
    ],
)
def test_updates_run_when_their_gradients_are_there(
    donated: str, others: tuple[str, str], is_early: bool
):
    """But for those that begin more than they end, of which each result has its place."""
    text = UPDATED.format(donated=donated, first=others[0], second=others[1])
    module = parse_program(text, make_context())
    ops = list(entry_function(module).body.block.ops)
    order = [ops.index(op) for op in scheduled(ops, Fusion(TPU))]
    assert order == ([0, 2, 1, 3, 4] if is_early else [0, 1, 2, 3, 4])


def test_no_update_runs_ahead_of_a_reader_of_its_place():
    text = f"""
func.func @main(%x: {T}, %w: {T} {{jax.buffer_donor = true}}) -> ({T}, {T}) {{
  %0 = stablehlo.dot_general %x, %x, {DOT}
  %1 = stablehlo.dot_general %0, %w, {DOT}
  %2 = stablehlo.subtract %w, %0 : {T}
  return %2, %1 : {T}, {T}
}}"""
    ops = list(entry_function(parse_program(text, make_context())).body.block.ops)
    order = [ops.index(op) for op in scheduled(ops, Fusion(TPU))]
    assert order == [0, 1, 2, 3]
