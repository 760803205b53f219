"""Where gradients of heads run, and what the loss alone reads of logits."""

from dataclasses import replace

import pytest

from tests.analysis.usage.buffers.test_order import (
    DOT,
    TPU,
    TPU_MEGACORE,
    TPU_V6E,
    T,
)
from ttxdsl.analysis.usage.buffers.fusion import Fusion
from ttxdsl.analysis.usage.buffers.order import scheduled
from ttxdsl.costs.compilers import Compiler
from ttxdsl.loading.program import make_context, parse_program


def head(
    updated: str,
    saves: bool = False,
    group: int = 4,
    tokens: int = 256,
    moved: str = "",
    axes: int = 1,
    read_while_sent: float = 0,
    behind: str = "",
    slices: int = 1,
    is_summed: bool = False,
    added: bool = False,
    compiler: Compiler = TPU_V6E,
    loss: str = "",
) -> list[str]:
    """Return the order of a step's ops: a head's gradients, a loop, and the head's update.

    Args:
        updated: the op of the update.
        saves: whether a loop ahead saves twice the bytes of the gradient of what is read.
        group: devices that sum the gradient; 64 do not make windows of it.
        tokens: rows of the logits' gradient.
        moved: an op in the loop of gradients.
        axes: of the mesh, one after the other, that scatter the gradient; 2 have two groups.
        read_while_sent: of the compiler; nothing else behind the loop reads any bytes.
        behind: an op behind the loop of gradients.
        slices: of devices; those of several sum what is scattered in each.
        is_summed: whether replicas on one slice sum what is scattered in each.
        added: whether the gradient is added to another ahead of the loop.
        compiler: whose order.
        loss: ops ahead of the loop of gradients, of which the last makes `%begun`, that begins it.
    """
    part, rows = f"tensor<{256 // group}x256xf32>", f"tensor<{tokens}x256xf32>"
    types = [T, part] if axes == 1 else [T, f"tensor<{512 // group}x256xf32>", part]
    scatters = "\n".join(
        f"""%{"part" if at == axes else f"part{at}"} =
            "stablehlo.reduce_scatter"(%{"product" if at == 1 else f"part{at - 1}"})
            <{{scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }}) : ({types[at - 1]}) -> {types[at]}"""
        for at in range(1, axes + 1)
    )
    if slices > 1 or is_summed:
        scatters += f"""
          %sum = "stablehlo.all_reduce"(%part)
            <{{replica_groups = dense<0> : tensor<1x1xi64>}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }}) : ({part}) -> {part}"""
    gradient = "%sum" if slices > 1 or is_summed else "%part"
    if added:
        scatters += f"\n%both = stablehlo.add %part, %w : {part}"
        gradient = "%both"
    first, second = ("%saved#1", "%saved#2") if saves else ("%d", "%d")
    module = parse_program(
        f"""
        func.func @main(%w: {part}, %x: {T}, %g: {T}, %l: {rows}, %h: {rows})
            -> ({part}, {T}, {rows}) {{
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %four = stablehlo.constant dense<4> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %saved:3 = stablehlo.while(%i = %zero, %b = %x, %c = %x) : tensor<i32>, {T}, {T}
          cond {{
            %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          }} do {{
            %1 = stablehlo.dot_general %b, %c, {DOT}
            %n = stablehlo.add %i, %one : tensor<i32>
            stablehlo.return %n, %1, %b : tensor<i32>, {T}, {T}
          }}
          %product = stablehlo.dot_general %l, %h, contracting_dims = [0] x [0]
              : ({rows}, {rows}) -> {T}
          {scatters}
          %back = stablehlo.abs %l : {rows}
          {loss}
          %loop:2 = stablehlo.while(%i = %zero, %d = {"%begun" if loss else "%g"}) : tensor<i32>, {T}
          cond {{
            %p = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          }} do {{
            %0 = stablehlo.dot_general %d, {first}, {DOT}
            %1 = stablehlo.dot_general %0, {second}, {DOT}
            {moved}
            %n = stablehlo.add %i, %one : tensor<i32>
            stablehlo.return %n, %1 : tensor<i32>, {T}
          }}
          {behind}
          %new = {updated} %w, {gradient} : {part}
          return %new, %loop#1, %back : {part}, {T}, {rows}
        }}
        """,
        make_context(),
    )
    (function,) = module.ops
    ops = list(function.regions[0].block.ops)
    compiler = compiler.on(group * slices, slices)
    fusion = Fusion(replace(compiler, read_while_sent=read_while_sent))
    return [op.name.rpartition(".")[2] for op in scheduled(ops, fusion)]


def test_a_scattered_gradient_runs_ahead_if_nothing_behind_hides_its_last_message():
    early = ["dot_general", "reduce_scatter", "while"]
    update = "stablehlo.subtract"
    assert head(update, read_while_sent=1)[-5:-2] == early
    reading = f"%read = stablehlo.dot_general %loop#1, %loop#1, {DOT}"
    assert head(update, read_while_sent=9)[-5:-2] == early
    assert head(update, read_while_sent=9, behind=reading)[-6:-3] == early
    assert head(update, read_while_sent=8, behind=reading)[-6:-3] != early
    # one message hides no other
    sent = f"""%sent = "stablehlo.all_gather"(%loop#1) <{{all_gather_dim = 0 : i64,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> : ({T}) -> tensor<1024x256xf32>"""
    assert head(update, read_while_sent=1, behind=sent)[-6:-3] == early
    # a scatter reads and writes what it adds, not the table
    added = f"""%added = "stablehlo.scatter"(%loop#1, %rows, %few) <{{
        scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
        indices_are_sorted = false, unique_indices = false}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) : ({T}, tensor<8x1xi32>, tensor<8x256xf32>) -> {T}"""
    few = """%rows = stablehlo.constant dense<0> : tensor<8x1xi32>
        %few = stablehlo.constant dense<0.0> : tensor<8x256xf32>"""
    assert head(update, read_while_sent=1, behind=few + "\n" + added)[-8:-5] == early


def test_a_scattered_gradient_that_only_the_optimizer_needs_is_made_behind_the_loop():
    order = head("stablehlo.subtract")
    assert order[-5:] == [
        "while",
        "dot_general",
        "reduce_scatter",
        "subtract",
        "return",
    ]


def test_more_is_read_while_few_v5p_send():
    few, many, v6e = TPU_MEGACORE.on(16), TPU_MEGACORE.on(32), TPU_V6E.on(16)
    assert few.read_while_sent > many.read_while_sent > v6e.read_while_sent > 0
    assert many.read_while_sent == TPU_MEGACORE.read_while_sent


def test_what_is_added_to_a_gradient_of_another_embedding_is_made_behind_the_loop_too():
    """An encoder's loop is behind the gradients of what a decoder looked up."""
    order = head("stablehlo.subtract", added=True)
    assert order[-6:-2] == ["while", "dot_general", "reduce_scatter", "add"]


def test_a_gradient_that_is_added_to_another_is_made_before_the_loop():
    """It follows the other readers of the logits' gradient, which end the gathered weights."""
    order = head("stablehlo.add", group=64)
    assert head("stablehlo.add", read_while_sent=1) == order  # in windows
    assert order[-6:] == [
        "abs",
        "dot_general",
        "reduce_scatter",
        "while",
        "add",
        "return",
    ]


def test_unless_the_loop_holds_more_that_was_saved_for_it():
    order = head("stablehlo.add", saves=True, group=64)
    assert head("stablehlo.add", read_while_sent=0) != head("stablehlo.add", group=64)
    assert order[-5:] == ["while", "dot_general", "reduce_scatter", "add", "return"]
    assert head("stablehlo.add", saves=True, group=64, compiler=TPU) == order
    beside = head("stablehlo.add", True, group=64, tokens=512, compiler=TPU)
    assert beside[-6:-2] == ["dot_general", "reduce_scatter", "abs", "while"]


PLACED = f"""
%on_host = stablehlo.custom_call @annotate_device_placement(%1) {{mhlo.frontend_attributes =
    {{_xla_buffer_placement = "pinned_host"}}}} : ({T}) -> {T}
"""


def test_a_gradient_that_an_all_reduce_sums_is_made_ahead_if_it_is_less_than_the_logits():
    early = ["abs", "dot_general", "reduce_scatter", "while", "subtract", "return"]
    late = ["abs", "while", "dot_general", "reduce_scatter", "subtract", "return"]
    update = "stablehlo.subtract"
    assert head(update, group=64, tokens=512)[-6:] == early
    beside = ["dot_general", "reduce_scatter", "abs", "while", "subtract", "return"]
    assert head(update, group=64, tokens=512, compiler=TPU)[-6:] == beside
    assert head(update, group=64, tokens=256)[-6:] == late
    assert head(update, group=4, tokens=512)[-6:] == late
    assert head(update, group=64, tokens=512, moved=PLACED)[-6:] == late
    scattered_again = [*late[:4], "reduce_scatter", *late[4:]]
    assert head(update, group=64, tokens=512, axes=2)[-7:] == scattered_again


@pytest.mark.parametrize("update", ["stablehlo.subtract", "stablehlo.add"])
def test_a_gradient_that_slices_sum_is_made_behind_the_loop(update: str):
    """No product is in windows there, and the sum of parts takes longer than one of a slice."""
    late = ["dot_general", "reduce_scatter", "all_reduce"]
    assert head(update, slices=2, tokens=512)[-6:-2] == ["while", *late]


def test_a_gradient_that_replicas_sum_on_a_slice_is_made_ahead_of_the_loop():
    early = ["dot_general", "reduce_scatter", "all_reduce", "while"]
    order = head("stablehlo.subtract", is_summed=True, group=64, tokens=512)
    assert order[-6:-2] == early


def of_labels(scale: str, summed: bool) -> str:
    """Return the text of a softmax's sum and of labels' logits, which the loss alone needs."""
    row = "tensor<256xf32>"
    reduce = (
        f"applies stablehlo.add across dimensions = [1] : ({T}, tensor<f32>) -> {row}"
    )
    among = f"""%all = "stablehlo.all_reduce"(%sum)
            <{{replica_groups = dense<0> : tensor<1x1xi64>}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }}) : ({row}) -> {row}"""
    return f"""
      %number = stablehlo.constant dense<0.5> : {T}
      %scaled = stablehlo.{scale} %g, %number : {T}
      %start = stablehlo.constant dense<0.0> : tensor<f32>
      %exponentials = stablehlo.exponential %scaled : {T}
      %sum = stablehlo.reduce(%exponentials init: %start) {reduce}
      {among if summed else f"%all = stablehlo.negate %sum : {row}"}
      %labels = stablehlo.reduce(%scaled init: %start) {reduce}
      %begun = stablehlo.broadcast_in_dim %all, dims = [0] : ({row}) -> {T}"""


def test_labels_logits_that_devices_sum_are_read_behind_the_loop():
    """As far as they are scaled, and their gradient is read there, too."""
    update = "stablehlo.subtract"
    loss = of_labels("divide", summed=True)
    late = head(update, loss=loss)
    assert late[late.index("while", 5) + 1] == "dot_general"
    assert "reduce" in late[late.index("dot_general") :]
    early = [
        head(update, loss=of_labels("divide", summed=False)),
        head(update, loss=of_labels("maximum", summed=True)),
        head(update, loss=loss, read_while_sent=5),
    ]
    for order in early:
        assert "reduce" not in order[order.index("broadcast_in_dim") :]
    # what is read there hides the last message of the gradient
    assert head(update, loss=loss, read_while_sent=3) == late


@pytest.mark.parametrize("is_read_ahead", [False, True])
def test_what_only_ops_behind_the_loop_read_is_gathered_there(is_read_ahead: bool):
    part, begun = "tensor<64x256xf32>", "%whole#1" if is_read_ahead else "%g"
    gather = f"""%whole:2 = "stablehlo.all_gather"(%w, %w) <{{all_gather_dim = 0 : i64,
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}}> : ({part}, {part}) -> ({T}, {T})
      %begun = stablehlo.abs {begun} : {T}"""
    # its transpose is no op of its own
    reading = f"""%turned = stablehlo.transpose %whole#0, dims = [1, 0] : ({T}) -> {T}
      %read = stablehlo.dot_general %turned, %loop#1, {DOT}"""
    order = head("stablehlo.subtract", loss=gather, behind=reading)
    *_, last = (at for at, name in enumerate(order) if name == "while")
    assert (order.index("all_gather") < last) is is_read_ahead


def of_log_probabilities(among: bool, joined: bool) -> str:
    """Return the text of labels' log-probabilities, and of a gradient that two products read.

    Args:
        among: whether devices sum what they have of the rows.
        joined: whether labels are joined of two parts.
    """
    halves = "(tensor<128x1xi32>, tensor<128x1xi32>) -> tensor<256x1xi32>"
    row = "tensor<256xf32>"
    half = T.replace("f32", "bf16")
    reduce = (
        f"applies stablehlo.add across dimensions = [1] : ({T}, tensor<f32>) -> {row}"
    )
    summed = f"""%all = "stablehlo.all_reduce"(%sum)
            <{{replica_groups = dense<0> : tensor<1x1xi64>}}> ({{
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }}) : ({row}) -> {row}"""
    return f"""
      %start = stablehlo.constant dense<0.0> : tensor<f32>
      %first = stablehlo.constant dense<0> : tensor<128x1xi32>
      %at = stablehlo.{
        f"concatenate %first, %first, dim = 0 : {halves}"
        if joined
        else "constant dense<0> : tensor<256x1xi32>"
    }
      %logits = stablehlo.dot_general %x, %g, {DOT}
      %exponentials = stablehlo.exponential %logits : {T}
      %sum = stablehlo.reduce(%exponentials init: %start) {reduce}
      {summed if among else f"%all = stablehlo.abs %sum : {row}"}
      %log = stablehlo.log %all : {row}
      %wide = stablehlo.broadcast_in_dim %log, dims = [0] : ({row}) -> {T}
      %logp = stablehlo.subtract %logits, %wide : {T}
      %label = "stablehlo.gather"(%logp, %at) <{{dimension_numbers = #stablehlo.gather<
          collapsed_slice_dims = [1], operand_batching_dims = [0],
          start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>,
          indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}}>
          : ({T}, tensor<256x1xi32>) -> {row}
      %total = stablehlo.broadcast_in_dim %all, dims = [0] : ({row}) -> {T}
      %shares = stablehlo.divide %exponentials, %total : {T}
      %less = stablehlo.subtract %shares, %wide : {T}
      %gradient = stablehlo.convert %less : ({T}) -> {half}
      %of_head = stablehlo.dot_general %gradient, %gradient, contracting_dims = [0] x [0]
          : ({half}, {half}) -> {T}
      %begun = stablehlo.dot_general %gradient, %of_head, contracting_dims = [1] x [0]
          : ({half}, {T}) -> {T}"""


@pytest.mark.parametrize(
    ("among", "joined", "is_behind"),
    [(False, False, True), (True, False, False), (False, True, False)],
)
def test_labels_are_gathered_behind_a_gradient_that_their_kernel_stores(
    among: bool, joined: bool, is_behind: bool
):
    """Where devices have parts of the vocabulary, or labels are rolled, each has a kernel of its own."""
    order = head("stablehlo.subtract", loss=of_log_probabilities(among, joined))
    assert ("convert" in order[: order.index("gather")]) is is_behind
