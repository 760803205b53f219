"""Small programs of devices on which engines have to agree to the bit."""

import numpy as np

from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.engine import VirtualDevices
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import parse_program


def _on_devices(body: str, element: str = "f32", mesh: str = '["x"=2, "y"=4]') -> str:
    """A function of one 16x32 argument, split by both axes, whose shard `%a` is 8x8."""
    whole, local = f"tensor<16x32x{element}>", f"tensor<8x8x{element}>"
    return f"""
sdy.mesh @mesh = <{mesh}>
func.func @main(%arg0: {whole}) -> {whole} {{
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>]
      out_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] manual_axes={{"x", "y"}}
      (%a: {local}) {{
{body}
    sdy.return %r : {local}
  }} : ({whole}) -> {whole}
  func.return %0 : {whole}
}}
"""


def _reduction(kind: str, element: str, groups: str) -> str:
    return _on_devices(
        f"""
    %r = "stablehlo.all_reduce"(%a) <{{replica_groups = {groups}}}> ({{
      ^bb0(%p: tensor<{element}>, %q: tensor<{element}>):
        %s = stablehlo.{kind} %p, %q : tensor<{element}>
        stablehlo.return %s : tensor<{element}>
    }}) : (tensor<8x8x{element}>) -> tensor<8x8x{element}>""",
        element,
    )


_ALL = "dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>"
LINES = "dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>"
COLUMNS = "dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>"
_CROOKED = "dense<[[3, 0], [1, 6], [7, 2], [5, 4]]> : tensor<4x2xi64>"
_UNEVEN = "dense<[[0, 5, 3], [1, 2, 4], [6, 7, -1]]> : tensor<3x3xi64>"
_ADDED = """({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
    })"""

_PADDED = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<16x32xf32> {ttxdsl.unpadded_shape = array<i64: 9, 30>})
    -> (tensor<16x32xf32> {ttxdsl.unpadded_shape = array<i64: 7, 31>}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {"y"}]>]
      out_shardings=[<@mesh, [{"y"}, {"x"}]>] manual_axes={"x", "y"}
      (%a: tensor<8x8xf32>) {
    %r = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<4x16xf32>
    sdy.return %r : tensor<4x16xf32>
  } : (tensor<16x32xf32>) -> tensor<16x32xf32>
  func.return %0 : tensor<16x32xf32>
}
"""


def loop_of_sums(groups: str) -> str:
    """A loop with a sum of `groups` that the devices of a line along `y` end together."""
    return _on_devices(
        f"""
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<8x8xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    %four = stablehlo.constant dense<4> : tensor<ui32>
    %line = stablehlo.divide %id, %four : tensor<ui32>
    %more = stablehlo.convert %line : (tensor<ui32>) -> tensor<f32>
    %step = stablehlo.broadcast_in_dim %more, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %by = stablehlo.add %step, %one : tensor<8x8xf32>
    %end = stablehlo.constant dense<4.0> : tensor<f32>
    %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %l:2 = stablehlo.while(%x = %a, %n = %z) : tensor<8x8xf32>, tensor<8x8xf32>
    cond {{
      %most = stablehlo.reduce(%n init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
      %go = stablehlo.compare LT, %most, %end : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    }} do {{
      %sum = "stablehlo.all_reduce"(%x) <{{replica_groups = {groups}}}> {_ADDED} : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %next = stablehlo.add %n, %by : tensor<8x8xf32>
      stablehlo.return %sum, %next : tensor<8x8xf32>, tensor<8x8xf32>
    }}
    %r = stablehlo.add %l#0, %l#1 : tensor<8x8xf32>"""
    )


PROGRAMS: dict[str, str] = {
    "loops of other lengths": loop_of_sums(LINES),
    "padded": _PADDED,
    "sum of all": _reduction("add", "f32", _ALL),
    "sum of bf16": _reduction("add", "bf16", LINES),
    "sum of f8": _reduction("add", "f8E4M3FN", COLUMNS),
    "sum of crooked groups": _reduction("add", "f32", _CROOKED),
    "sum of uneven groups": _reduction("add", "f32", _UNEVEN),
    "product of f64": _reduction("multiply", "f64", LINES),
    "largest": _reduction("maximum", "f32", COLUMNS),
    "smallest integer": _reduction("minimum", "i32", _ALL),
    "and": _reduction("and", "i1", LINES),
    "or": _reduction("or", "i1", _CROOKED),
    "xor": _reduction("xor", "i8", _ALL),
    "region": _on_devices(
        f"""
    %r = "stablehlo.all_reduce"(%a) <{{replica_groups = {LINES}}}> ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.multiply %p, %q : tensor<f32>
        %t = stablehlo.subtract %p, %s : tensor<f32>
        stablehlo.return %t : tensor<f32>
    }}) : (tensor<8x8xf32>) -> tensor<8x8xf32>"""
    ),
    "gather and scatter": _on_devices(
        f"""
    %g = "stablehlo.all_gather"(%a) <{{all_gather_dim = 1 : i64,
        replica_groups = {_CROOKED}}}> : (tensor<8x8xf32>) -> tensor<8x16xf32>
    %h = "stablehlo.all_gather"(%g) <{{all_gather_dim = 0 : i64,
        replica_groups = {LINES}}}> : (tensor<8x16xf32>) -> tensor<32x16xf32>
    %i = "stablehlo.reduce_scatter"(%h) <{{scatter_dimension = 0 : i64,
        replica_groups = {LINES}}}> {_ADDED} : (tensor<32x16xf32>) -> tensor<8x16xf32>
    %r = "stablehlo.reduce_scatter"(%i) <{{scatter_dimension = 1 : i64,
        replica_groups = {_CROOKED}}}> {_ADDED} : (tensor<8x16xf32>) -> tensor<8x8xf32>"""
    ),
    "all to all": _on_devices(
        f"""
    %e = "stablehlo.all_to_all"(%a) <{{split_dimension = 0 : i64,
        concat_dimension = 1 : i64, split_count = 4 : i64, replica_groups = {LINES}}}>
        : (tensor<8x8xf32>) -> tensor<2x32xf32>
    %r = "stablehlo.all_to_all"(%e) <{{split_dimension = 1 : i64,
        concat_dimension = 0 : i64, split_count = 4 : i64,
        replica_groups = dense<[[6, 1, 3, 0], [2, 7, 5, 4]]> : tensor<2x4xi64>}}>
        : (tensor<2x32xf32>) -> tensor<8x8xf32>"""
    ),
    "permute and broadcast": _on_devices(
        """
    %p = "stablehlo.collective_permute"(%a) <{
        source_target_pairs = dense<[[0, 5], [5, 1], [2, 2], [7, 0], [3, 4]]>
        : tensor<5x2xi64>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = "stablehlo.collective_broadcast"(%a) <{
        replica_groups = dense<[[6, 0, 1], [2, 7, 3]]> : tensor<2x3xi64>}>
        : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %r = stablehlo.subtract %p, %b : tensor<8x8xf32>"""
    ),
    "device order": _on_devices(
        f"""
    %n = stablehlo.partition_id : tensor<ui32>
    %f = stablehlo.convert %n : (tensor<ui32>) -> tensor<f32>
    %w = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %m = stablehlo.multiply %a, %w : tensor<8x8xf32>
    %r = "stablehlo.all_reduce"(%m) <{{replica_groups = {LINES}}}> {_ADDED}
        : (tensor<8x8xf32>) -> tensor<8x8xf32>""",
        mesh='["x"=2, "y"=4], device_ids=[7, 0, 3, 4, 1, 2, 6, 5]',
    ),
    # some devices leave the loop before others, and their collectives go on
    "loops and branches": _on_devices(
        f"""
    %n = stablehlo.partition_id : tensor<ui32>
    %four = stablehlo.constant dense<4> : tensor<ui32>
    %column = stablehlo.remainder %n, %four : tensor<ui32>
    %line = stablehlo.divide %n, %four : tensor<ui32>
    %k = stablehlo.constant dense<3> : tensor<ui32>
    %t = stablehlo.remainder %column, %k : tensor<ui32>
    %o = stablehlo.constant dense<1> : tensor<ui32>
    %z = stablehlo.constant dense<0> : tensor<ui32>
    %l:2 = stablehlo.while(%i = %t, %v = %a) : tensor<ui32>, tensor<8x8xf32>
      cond {{
        %c = stablehlo.compare GT, %i, %z : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        %j = stablehlo.subtract %i, %o : tensor<ui32>
        %u = "stablehlo.all_reduce"(%v) <{{replica_groups = {COLUMNS}}}> {_ADDED}
            : (tensor<8x8xf32>) -> tensor<8x8xf32>
        stablehlo.return %j, %u : tensor<ui32>, tensor<8x8xf32>
      }}
    %w = stablehlo.convert %line : (tensor<ui32>) -> tensor<i32>
    %r = "stablehlo.case"(%w) ({{
      %x = stablehlo.negate %l#1 : tensor<8x8xf32>
      stablehlo.return %x : tensor<8x8xf32>
    }}, {{
      %x = "stablehlo.all_reduce"(%l#1) <{{replica_groups = {LINES}}}> {_ADDED}
          : (tensor<8x8xf32>) -> tensor<8x8xf32>
      stablehlo.return %x : tensor<8x8xf32>
    }}) : (tensor<i32>) -> tensor<8x8xf32>"""
    ),
    "shards of shards": """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<16x32xf32>, %arg1: tensor<32x24xbf16>)
    -> (tensor<16x24xf32>, tensor<24x16xf32>, tensor<8xf32>) {
  %0:2 = sdy.manual_computation(%arg0, %arg1)
      in_shardings=[<@mesh, [{"y":(1)2}, {"x"}]>, <@mesh, [{"x"}, {"y":(2)2}]>]
      out_shardings=[<@mesh, [{"y":(1)2}, {"y":(2)2}], unreduced={"x"}>,
                     <@mesh, [{}, {"y":(1)2}], replicated={"x"}>]
      manual_axes={"x", "y"}
      (%a: tensor<8x16xf32>, %b: tensor<16x12xbf16>) {
    %c = stablehlo.convert %b : (tensor<16x12xbf16>) -> tensor<16x12xf32>
    %d = stablehlo.dot_general %a, %c, contracting_dims = [1] x [0]
        : (tensor<8x16xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>
    %s = "stablehlo.all_reduce"(%d) <{replica_groups = dense<[[0, 4], [1, 5], [2, 6],
        [3, 7]]> : tensor<4x2xi64>}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
    }) : (tensor<8x12xf32>) -> tensor<8x12xf32>
    %g = "stablehlo.all_gather"(%s) <{all_gather_dim = 1 : i64, replica_groups =
        dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}>
        : (tensor<8x12xf32>) -> tensor<8x24xf32>
    %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<8x24xf32>) -> tensor<24x8xf32>
    sdy.return %d, %t : tensor<8x12xf32>, tensor<24x8xf32>
  } : (tensor<16x32xf32>, tensor<32x24xbf16>) -> (tensor<16x24xf32>, tensor<24x16xf32>)
  %1 = stablehlo.slice %0#1 [3:4, 0:8] : (tensor<24x16xf32>) -> tensor<1x8xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
  func.return %0#0, %0#1, %2 : tensor<16x24xf32>, tensor<24x16xf32>, tensor<8xf32>
}
""",
}
"""Programs on eight devices by what they show."""


def wanted(text: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Random inputs, and the results of the virtual mesh, each device's by itself."""
    runner = Runner(parse_program(text), devices=VirtualDevices(apart=True))
    inputs = random_inputs(runner.function, 0)
    return inputs, [*runner.run(inputs)]


def same_bits(found: np.ndarray, wanted: np.ndarray) -> bool:
    return (
        found.dtype == wanted.dtype
        and found.shape == wanted.shape
        and found.tobytes() == wanted.tobytes()
    )
