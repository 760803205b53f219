"""Memory of programs as XLA for CPUs has them, which calls libraries: the bytes are XLA's own.

Each figure is the temporary memory of XLA's buffer assignment (jaxlib 0.10.2), in MiB; what is below
one, as sums of rows, is left out.
"""

import pytest

from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.usage.memory import MemoryProfile
from ttxdsl.costs.compilers import XLA_CPU
from ttxdsl.loading.program import parse_program

M = "tensor<1024x1024xf32>"
"""A matrix of 4 MiB."""
V = "tensor<1024xf32>"
DOT = f"contracting_dims = [1] x [0] : ({M}, {M}) -> {M}"
ZERO = "%zero = stablehlo.constant dense<0.0> : tensor<f32>"
ZEROS = f"{ZERO}\n%zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> {M}"


def profile_of(text: str) -> MemoryProfile:
    return DeviceUsage(parse_program(text), compiler=XLA_CPU).memory


def summed(value: str) -> str:
    """Return a sum over the columns of a matrix."""
    return f"stablehlo.reduce({value} init: %zero) applies stablehlo.add across dimensions = [1] : ({M}, tensor<f32>) -> {V}"


def function(body: str, results: str, arguments: str = f"%x: {M}, %w: {M}") -> str:
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}"


N = "tensor<1024x8xf32>"
"""A narrow matrix, with few bytes."""
NARROW = f"""%narrow = stablehlo.dot_general {{}}, %n, contracting_dims = [1] x [0] : ({M}, {N}) -> {N}
            return %narrow : {N}"""
WITH_NARROW = f"%x: {M}, %w: {M}, %n: {N}"

IMAGES = "tensor<32x32x32x32xf32>"
"""Also 4 MiB."""

LOOP = f"""stablehlo.while(%i = %first, %p = {{first}}, %q = {{second}}) : tensor<i32>, {M}, {M}
  cond {{{{
    %most = stablehlo.constant dense<8> : tensor<i32>
    %t = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }}}} do {{{{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %pp = stablehlo.sine %p : {M}
    %qq = stablehlo.subtract %q, %pp : {M}
    stablehlo.return %next, %pp, %qq : tensor<i32>, {M}, {M}
  }}}}"""

ROWS = "indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false"
"""A scatter of rows."""

GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids"
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>"
GATHER = f""""stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64, {CHANNEL.format(1)}, {GROUPS}}}> : (tensor<1024x512xf32>) -> {M}"""


def all_reduce(value: str, channel: int) -> str:
    return f""""stablehlo.all_reduce"({value}) <{{{CHANNEL.format(channel)}, {GROUPS}}}> ({{
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %s = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) : ({M}) -> {M}"""


def on_two(body: str) -> str:
    """Return a program of two devices, each with half of the columns of a matrix."""
    split = '[{}, {"d"}]'
    return f"""sdy.mesh @mesh = <["d"=2]>
    func.func @main(%x: {M} {{sdy.sharding = #sdy.sharding<@mesh, {split}>}}) -> {V} {{
      %all = sdy.manual_computation(%x) in_shardings=[<@mesh, {split}>] out_shardings=[<@mesh, [{{}}]>] manual_axes={{"d"}} (%a: tensor<1024x512xf32>) {{
        {ZERO}
        {body}
      }} : ({M}) -> {V}
      return %all : {V}
    }}"""


HEADS = "tensor<256x4x1024xf32>"
"""Also 4 MiB."""

PROGRAMS = {
    "several dimensions are summed: both operands are transposed": (
        8,
        function(
            f"""%0 = stablehlo.dot_general %x, %w, contracting_dims = [0, 2] x [0, 2] : ({HEADS}, {HEADS}) -> tensor<4x4xf32>
            return %0 : tensor<4x4xf32>""",
            "tensor<4x4xf32>",
            f"%x: {HEADS}, %w: {HEADS}",
        ),
    ),
    "a transpose of rows and columns is part of the product": (
        0,
        function(
            f"""%0 = stablehlo.transpose %w, dims = [1, 0] : ({M}) -> {M}
            %1 = stablehlo.dot_general %x, %0, {DOT}
            return %1 : {M}""",
            M,
        ),
    ),
    "a product is written over": (
        4,
        function(
            f"""%0 = stablehlo.dot_general %x, %w, {DOT}
            %1 = stablehlo.sine %0 : {M}
            %2 = stablehlo.dot_general %1, %w, {DOT}
            return %2 : {M}""",
            M,
        ),
    ),
    "a sum and a quotient read an exponential, which is stored, and the quotient is written over it": (
        4,
        function(
            f"""{ZERO}
            %0 = stablehlo.exponential %x : {M}
            %1 = {summed("%0")}
            %2 = stablehlo.broadcast_in_dim %1, dims = [0] : ({V}) -> {M}
            %3 = stablehlo.divide %0, %2 : {M}
            %4 = stablehlo.dot_general %3, %w, {DOT}
            return %4 : {M}""",
            M,
        ),
    ),
    "a product and the sum of its squares are one call": (
        0,
        function(
            f"""{ZERO}
            %0 = stablehlo.dot_general %x, %w, {DOT}
            %1 = stablehlo.multiply %0, %0 : {M}
            %2 = {summed("%1")}
            return %2 : {V}""",
            V,
        ),
    ),
    "a sum is made in each loop that reads it": (
        8,
        function(
            f"""%0 = stablehlo.add %x, %w : {M}
            %1 = stablehlo.sine %0 : {M}
            %2 = stablehlo.cosine %0 : {M}
            %3 = stablehlo.dot_general %1, %2, {DOT}
            return %3 : {M}""",
            M,
        ),
    ),
    "a sum that is read again behind a product is stored": (
        8,
        function(
            f"""%0 = stablehlo.add %x, %w : {M}
            %1 = stablehlo.sine %0 : {M}
            %2 = stablehlo.dot_general %1, %w, {DOT}
            %3 = stablehlo.multiply %2, %0 : {M}
            %4 = stablehlo.dot_general %3, %w, {DOT}
            return %4 : {M}""",
            M,
        ),
    ),
    "what needs little is made first": (
        12,
        function(
            f"""%0 = stablehlo.dot_general %x, %w, {DOT}
            %1 = stablehlo.dot_general %0, %w, {DOT}
            %2 = stablehlo.dot_general %1, %0, {DOT}
            {ZEROS}
            %3 = stablehlo.dot_general %2, %zeros, {DOT}
            return %3 : {M}""",
            M,
        ),
    ),
    "values have the place of a result that is not there yet": (
        4,
        function(
            f"""%0 = stablehlo.dot_general %x, %w, {DOT}
            %1 = stablehlo.sine %0 : {M}
            %2 = stablehlo.dot_general %1, %w, {DOT}
            %3 = stablehlo.dot_general %2, %w, {DOT}
            return %3 : {M}""",
            M,
        ),
    ),
    "a convolution reads images with features last": (
        8,
        function(
            f"""%0 = stablehlo.convolution(%x, %w) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[f, 0, 1, b], window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({IMAGES}, {IMAGES}) -> tensor<32x1x1x32xf32>
            return %0 : tensor<32x1x1x32xf32>""",
            "tensor<32x1x1x32xf32>",
            f"%x: {IMAGES}, %w: {IMAGES}",
        ),
    ),
    "a loop changes a copy of zeros that another one changes, too, made with them": (
        20,
        function(
            f"""{ZEROS}
            %0 = stablehlo.dot_general %x, %w, {DOT}
            %1 = stablehlo.dot_general %0, %w, {DOT}
            %2 = stablehlo.dot_general %1, %0, {DOT}
            %first = stablehlo.constant dense<0> : tensor<i32>
            %3:3 = {LOOP.format(first="%2", second="%zeros")}
            %4:3 = {LOOP.format(first="%3#1", second="%zeros")}
            %5 = stablehlo.dot_general %3#2, %4#2, {DOT}
            {NARROW.format("%5")}""",
            N,
            WITH_NARROW,
        ),
    ),
    "a loop writes several rows in their place": (
        8,
        function(
            f"""{ZEROS}
            %i = stablehlo.constant dense<0> : tensor<i32>
            %0 = stablehlo.while(%p = %zeros) : {M}
              cond {{
                %t = stablehlo.constant dense<true> : tensor<i1>
                stablehlo.return %t : tensor<i1>
              }} do {{
                %u = stablehlo.dot_general %w, %w, {DOT}
                %r = stablehlo.slice %u [0:1, 0:1024] : ({M}) -> tensor<1x1024xf32>
                %p1 = stablehlo.dynamic_update_slice %p, %r, %i, %i : ({M}, tensor<1x1024xf32>, tensor<i32>, tensor<i32>) -> {M}
                %p2 = stablehlo.dynamic_update_slice %p1, %r, %i, %i : ({M}, tensor<1x1024xf32>, tensor<i32>, tensor<i32>) -> {M}
                stablehlo.return %p2 : {M}
              }}
            %1 = {summed("%0")}
            return %1 : {V}""",
            V,
        ),
    ),
    "a result that is begun while the donated argument is read is copied into its place": (
        4,
        function(
            f"""%0 = stablehlo.dot_general %x, %w, {DOT}
            %1 = stablehlo.dot_general %0, %x, {DOT}
            return %0, %1 : {M}, {M}""",
            f"{M}, {M}",
            f"%x: {M} {{tf.aliasing_output = 0 : i32}}, %w: {M}",
        ),
    ),
    "a donated argument is written over twice": (
        0,
        function(
            f"""%0 = stablehlo.multiply %x, %x : {M}
            %i = stablehlo.iota dim = 0 : tensor<16x1xi32>
            %u = stablehlo.slice %w [0:16, 0:1024] : ({M}) -> tensor<16x1024xf32>
            %1 = "stablehlo.scatter"(%0, %i, %u) <{{{ROWS}}}> ({{
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              %s = stablehlo.add %a, %b : tensor<f32>
              stablehlo.return %s : tensor<f32>
            }}) : ({M}, tensor<16x1xi32>, tensor<16x1024xf32>) -> {M}
            return %1 : {M}""",
            M,
            f"%x: {M} {{tf.aliasing_output = 0 : i32}}, %w: {M}",
        ),
    ),
    "a case of one branch is that": (
        4,
        function(
            f"""%c = stablehlo.constant dense<0> : tensor<i32>
            %0 = "stablehlo.case"(%c) ({{
              %2 = stablehlo.sine %x : {M}
              stablehlo.return %2 : {M}
            }}) : (tensor<i32>) -> {M}
            %1 = stablehlo.reverse %0, dims = [0] : {M}
            {NARROW.format("%1")}""",
            N,
            WITH_NARROW,
        ),
    ),
    "a function is not made again behind a product": (
        12,
        function(
            f"""%0 = stablehlo.exponential %x : {M}
            %1 = stablehlo.dot_general %0, %w, {DOT}
            %2 = stablehlo.dot_general %1, %w, {DOT}
            %3 = stablehlo.multiply %2, %0 : {M}
            {NARROW.format("%3")}""",
            N,
            WITH_NARROW,
        ),
    ),
    "what has one operand is made again behind a product": (
        8,
        function(
            f"""%0 = stablehlo.sine %x : {M}
            %1 = stablehlo.dot_general %0, %w, {DOT}
            %2 = stablehlo.dot_general %1, %w, {DOT}
            %3 = stablehlo.multiply %2, %0 : {M}
            {NARROW.format("%3")}""",
            N,
            WITH_NARROW,
        ),
    ),
    "what joins columns reads what is stored": (
        8,
        function(
            f"""%0 = stablehlo.sine %x : {M}
            %1 = stablehlo.slice %0 [0:1024, 0:512] : ({M}) -> tensor<1024x512xf32>
            %2 = stablehlo.cosine %w : {M}
            %3 = stablehlo.slice %2 [0:1024, 0:512] : ({M}) -> tensor<1024x512xf32>
            %4 = stablehlo.concatenate %1, %3, dim = 1 : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> {M}
            {NARROW.format("%4")}""",
            N,
            WITH_NARROW,
        ),
    ),
    "a barrier keeps nothing from running early": (
        12,
        function(
            f"""%0 = stablehlo.dot_general %x, %w, {DOT}
            %1 = stablehlo.dot_general %0, %w, {DOT}
            %2 = stablehlo.dot_general %1, %0, {DOT}
            %3:2 = stablehlo.optimization_barrier %x, %2 : {M}, {M}
            %4 = stablehlo.sine %3#0 : {M}
            %5 = stablehlo.dot_general %3#1, %4, {DOT}
            return %5 : {M}""",
            M,
        ),
    ),
    "a maximum with minus infinity is none": (
        0,
        function(
            f"""{ZERO}
            %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
            %0 = stablehlo.dot_general %x, %w, {DOT}
            %1 = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum across dimensions = [1] : ({M}, tensor<f32>) -> {V}
            %2 = stablehlo.broadcast_in_dim %least, dims = [] : (tensor<f32>) -> {V}
            %3 = stablehlo.maximum %2, %1 : {V}
            %4 = stablehlo.broadcast_in_dim %3, dims = [0] : ({V}) -> {M}
            %5 = stablehlo.subtract %0, %4 : {M}
            %6 = {summed("%5")}
            return %6 : {V}""",
            V,
        ),
    ),
    "rows are added to a value in its place, not to zeros": (
        4,
        function(
            f"""{ZEROS}
            %i = stablehlo.iota dim = 0 : tensor<16x1xi32>
            %u = stablehlo.slice %x [0:16, 0:1024] : ({M}) -> tensor<16x1024xf32>
            %0 = "stablehlo.scatter"(%zeros, %i, %u) <{{{ROWS}}}> ({{
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              %s = stablehlo.add %a, %b : tensor<f32>
              stablehlo.return %s : tensor<f32>
            }}) : ({M}, tensor<16x1xi32>, tensor<16x1024xf32>) -> {M}
            %1 = stablehlo.dot_general %x, %w, {DOT}
            %2 = stablehlo.add %1, %0 : {M}
            {NARROW.format("%2")}""",
            N,
            WITH_NARROW,
        ),
    ),
    "a gather along the second dimension is transposed": (
        8,
        on_two(
            f"""%0 = {GATHER}
            %1 = stablehlo.dot_general %0, %0, {DOT}
            %2 = {summed("%1")}
            sdy.return %2 : {V}""",
        ),
    ),
    "sums among the same devices are one op": (
        16,
        on_two(
            f"""%0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> {M}
            %1 = {all_reduce("%0", 1)}
            %2 = stablehlo.sine %0 : {M}
            %3 = {all_reduce("%2", 2)}
            %4 = stablehlo.dot_general %1, %3, {DOT}
            %5 = {summed("%4")}
            sdy.return %5 : {V}""",
        ),
    ),
}


@pytest.mark.parametrize("rule", PROGRAMS)
def test_what_is_stored_is_what_xla_stores(rule: str):
    expected, text = PROGRAMS[rule]
    assert profile_of(text).parts.temporary >> 20 == expected


def test_a_condition_carries_nothing_on():
    profile = profile_of("""func.func @main(%x: tensor<i32>) -> (tensor<i32>, tensor<i1>) {
      %no = stablehlo.constant dense<false> : tensor<i1>
      %r:2 = stablehlo.while(%i = %x, %done = %no) : tensor<i32>, tensor<i1>
      cond {
        %go = stablehlo.not %done : tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %next = stablehlo.add %i, %i : tensor<i32>
        %end = stablehlo.compare GT, %next, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %next, %end : tensor<i32>, tensor<i1>
      }
      return %r#0, %r#1 : tensor<i32>, tensor<i1>
    }""")
    assert profile.parts.temporary < 16  # XLA: 4
