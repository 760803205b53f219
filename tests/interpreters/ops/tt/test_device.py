"""ttir and ttnn: each op in both dialects against NumPy, and meshes by hand."""

import numpy as np
import pytest

from tests.catalogue.tt import floats, one_op
from tests.interpreters.reference import run
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import ttir, ttnn
from ttxdsl.interpreters.mesh.collectives import ReplicaMismatchError
from ttxdsl.interpreters.ops.tt.table import TABLE

pytestmark = pytest.mark.usefixtures("no_warnings")

NOT_RUN = {
    "distributed_layer_norm", "distributed_rms_norm", "fill_cache", "prepare_conv2d_bias",
    "prepare_conv2d_weights", "prepare_conv_transpose2d_bias",
    "prepare_conv_transpose2d_weights",
}  # fmt: skip
"""Ops of tt-mlir that are read and verified only: docs/reference/limits.md."""


@pytest.mark.parametrize("base", [ttir.TTIROp, ttnn.TTNNOp], ids=lambda b: b.DIALECT)
def test_every_op_of_both_dialects_runs(base):
    names = {op.mnemonic() for op in base.OPS}
    assert names - {"yield"} - NOT_RUN <= {*TABLE}
    assert not NOT_RUN & {*TABLE}


@pytest.mark.parametrize("descending", [True, False])
def test_sort_and_topk(descending):
    x = np.array([[3, 1, 3, np.nan, -1], [2, 2, 0, 5, 2]], np.float32)
    said = f"dim = 1 : si32, descending = {str(descending).lower()}, stable = true"
    values, places = one_op("ttir", "sort", [x], None, said, [x, x.astype(np.int32)])
    wanted = (
        [[3, 0, 2, 1, 4], [3, 0, 1, 4, 2]]
        if descending
        else [[4, 1, 0, 2, 3], [2, 0, 1, 4, 3]]
    )
    assert places.tolist() == wanted
    np.testing.assert_array_equal(values, np.take_along_axis(x, places, 1))
    said = f"k = 2 : i32, dim = 1 : i32, largest = {str(descending).lower()}, sorted = true"
    _, best = one_op(
        "ttir", "topk", [x], None, said, [x[:, :2], x[:, :2].astype(np.int32)]
    )
    assert best.tolist() == [row[:2] for row in wanted]


def test_topk_orders_as_chlo_does():
    """Of the NaNs that x86 makes most have their sign set: they are the smallest."""
    x = np.array([0.0, np.nan, np.copysign(np.nan, -1), np.inf, -0.0, 1], np.float32)
    said = "k = 6 : i32, dim = 0 : i32, largest = true, sorted = true"
    _, best = one_op("ttir", "topk", [x], None, said, [x, x.astype(np.int32)])
    assert best.tolist() == [1, 3, 5, 0, 4, 2]


@pytest.mark.parametrize("dialect", ["ttir", "ttnn"])
def test_conv2d(dialect):
    x, w = floats(2, 5, 6, 4), floats(6, 2, 3, 2, seed=1)
    padded = np.pad(x, [(0, 0), (1, 0), (0, 2), (0, 0)])
    wanted = np.zeros((2, 2, 7, 6), np.float32)
    for o in range(6):
        group = slice(2 * (o // 3), 2 * (o // 3) + 2)
        for i in range(2):
            for j in range(7):
                patch = padded[:, 2 * i : 2 * i + 3, j : j + 2, group]
                wanted[:, i, j, o] = np.einsum("nhwc,chw->n", patch, w[o])
    numbers = (
        "stride = array<i32: 2, 1>, dilation = array<i32: 1, 1>, groups = 2 : i32, "
    )
    if dialect == "ttir":
        said = numbers + "padding = array<i32: 1, 0, 0, 2>"
        (found,) = one_op("ttir", "conv2d", [x, w], wanted, said)
    else:
        text = f"""func.func @main(%x: tensor<1x1x60x4xf32>, %w: tensor<6x2x3x2xf32>) -> tensor<1x1x28x6xf32> {{
          %d = "ttnn.get_device"() <{{mesh_shape = #ttnn<mesh_shape 1x1>}}> : () -> !ttnn.device
          %r = "ttnn.conv2d"(%x, %w, %d) <{{{numbers} padding = array<i32: 1, 0, 0, 2>, in_channels = 4 : i32,
            out_channels = 6 : i32, batch_size = 2 : i32, input_height = 5 : i32, input_width = 6 : i32,
            kernel_size = array<i32: 3, 2>}}> : (tensor<1x1x60x4xf32>, tensor<6x2x3x2xf32>, !ttnn.device) -> tensor<1x1x28x6xf32>
          return %r : tensor<1x1x28x6xf32>
        }}"""
        (found,) = run(text, x.reshape(1, 1, 60, 4), w)
        found = found.reshape(wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_creation():
    text = """func.func @main() -> (tensor<2x2xf32>, tensor<2x2xi32>, tensor<2xbf16>, tensor<2x3xi32>) {
      %a = "ttir.zeros"() <{shape = array<i32: 2, 2>}> : () -> tensor<2x2xf32>
      %b = "ttir.ones"() <{shape = array<i32: 2, 2>}> : () -> tensor<2x2xi32>
      %c = "ttir.full"() <{shape = array<i32: 2>, fill_value = 2.5 : f32}> : () -> tensor<2xbf16>
      %d = "ttir.arange"() <{start = 1 : si64, end = 7 : si64, step = 2 : si64, arange_dimension = 1 : i64}> : () -> tensor<2x3xi32>
      return %a, %b, %c, %d : tensor<2x2xf32>, tensor<2x2xi32>, tensor<2xbf16>, tensor<2x3xi32>
    }"""
    found = [x.tolist() for x in run(text)]
    assert found == [[[0, 0]] * 2, [[1, 1]] * 2, [2.5, 2.5], [[1, 3, 5]] * 2]


def test_control_flow():
    text = """func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) {
      %zero = "ttir.zeros"() <{shape = array<i32>}> : () -> tensor<i32>
      %w:2 = "ttir.while"(%n, %zero) ({
      ^bb0(%i: tensor<i32>, %s: tensor<i32>):
        %e = "ttir.empty"() : () -> tensor<i1>
        %p = "ttir.gt"(%i, %zero, %e) : (tensor<i32>, tensor<i32>, tensor<i1>) -> tensor<i1>
        "ttir.yield"(%p) : (tensor<i1>) -> ()
      }, {
      ^bb0(%i: tensor<i32>, %s: tensor<i32>):
        %one = "ttir.ones"() <{shape = array<i32>}> : () -> tensor<i32>
        %e = "ttir.empty"() : () -> tensor<i32>
        %j = "ttir.subtract"(%i, %one, %e) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
        %t = "ttir.add"(%s, %i, %e) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
        "ttir.yield"(%j, %t) : (tensor<i32>, tensor<i32>) -> ()
      }) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
      %e = "ttir.empty"() : () -> tensor<i1>
      %big = "ttir.gt"(%w#1, %n, %e) : (tensor<i32>, tensor<i32>, tensor<i1>) -> tensor<i1>
      %b = "ttir.if"(%big) ({
        "ttir.yield"(%w#1) : (tensor<i32>) -> ()
      }, {
        "ttir.yield"(%n) : (tensor<i32>) -> ()
      }) : (tensor<i1>) -> tensor<i32>
      %c = "ttir.case"(%zero) ({
        "ttir.yield"(%n) : (tensor<i32>) -> ()
      }, {
        "ttir.yield"(%zero) : (tensor<i32>) -> ()
      }) : (tensor<i32>) -> tensor<i32>
      return %w#1, %b, %c : tensor<i32>, tensor<i32>, tensor<i32>
    }"""
    assert [int(x) for x in run(text, np.int32(4))] == [10, 10, 4]
    assert [int(x) for x in run(text, np.int32(-2))] == [0, 0, -2]


# meshes

MESH = """
module attributes {{ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>}} {{
  func.func @main(%a: tensor<8x8xf32>) -> tensor<{out}xf32> {{
    %0 = "ttir.empty"() : () -> {local}
    %1 = "ttir.mesh_shard"(%a, %0) <{{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_dims = array<i64: 0, 1>}}> : (tensor<8x8xf32>, {local}) -> {local}
    %2 = "ttir.empty"() : () -> {result}
    %3 = "ttir.{op}"(%1, %2) <{{{said}}}> : ({local}, {result}) -> {result}
    %4 = "ttir.empty"() : () -> tensor<{out}xf32>
    %5 = "ttir.mesh_shard"(%3, %4) <{{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: {parts}>, shard_dims = array<i64: {dims}>}}> : ({result}, tensor<{out}xf32>) -> tensor<{out}xf32>
    return %5 : tensor<{out}xf32>
  }}
}}"""


def local(shape):
    return f'tensor<{shape}xf32, #ttcore.tensor_mesh<"mesh">>'


def on_mesh(op, said, result, out, parts, dims):
    text = MESH.format(
        op=op,
        said=said,
        local=local("4x2"),
        result=local(result),
        out=out,
        parts=parts,
        dims=dims,
    )
    return run(text, A)[0]


A = np.arange(64, dtype=np.float32).reshape(8, 8)
PARTS = A.reshape(2, 4, 4, 2)  # [x, row, y, column]


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "std", "var", "prod"])
def test_all_reduce(kind):
    said = f"reduce_type = #ttcore.reduce_type<{kind}>, cluster_axis = 1 : ui32"
    found = on_mesh("all_reduce", said, "4x2", "8x2", "2, 1", "0, -1")
    wanted = getattr(np, kind)(PARTS, axis=2).reshape(8, 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_gather_scatter_partition_exchange():
    said = "all_gather_dim = 1 : si32, cluster_axis = 1 : ui32"
    np.testing.assert_array_equal(
        on_mesh("all_gather", said, "4x8", "8x8", "2, 1", "0, -1"), A
    )
    said = "all_gather_dim = 1 : si32, cluster_axis = 0 : ui32"
    found = on_mesh("all_gather", said, "4x4", "4x16", "1, 4", "-1, 1")
    np.testing.assert_array_equal(found, PARTS.transpose(1, 2, 0, 3).reshape(4, 16))
    said = "reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 0 : si32, cluster_axis = 1 : ui32"
    found = on_mesh("reduce_scatter", said, "1x2", "8x2", "8, 1", "0, 0")
    np.testing.assert_array_equal(found, PARTS.sum(axis=2).reshape(8, 2))
    said = "dim = 0 : si32, cluster_axis = 0 : ui32"
    found = on_mesh("mesh_partition", said, "2x2", "4x8", "2, 4", "0, 1")
    np.testing.assert_array_equal(found, np.concatenate([A[:2], A[6:]]))
    said = "split_dim = 0 : si32, concat_dim = 1 : si32, cluster_axis = 1 : ui32"
    found = on_mesh("all_to_all", said, "1x8", "8x8", "8, 1", "0, 0")
    np.testing.assert_array_equal(found, A)


def test_a_wrong_shard_to_full_names_the_device():
    with pytest.raises(ReplicaMismatchError) as error:
        on_mesh("abs", "", "4x2", "8x2", "2, 1", "0, -1")
    assert error.value.coordinates == {"axis0": 0, "axis1": 1}
    assert "ttir.mesh_shard" in str(error.value)


def test_no_mesh_is_an_error():
    text = MESH.format(op="abs", said="", local=local("4x2"), result=local("4x2"), out="8x8",
                       parts="2, 4", dims="0, 1")  # fmt: skip
    text = text.replace(
        'module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>]>}', "module"
    )
    with pytest.raises(Exception, match="mesh") as error:
        run(text, A)
    assert isinstance(error.value, CompileError) or "verify" in str(error.value)
