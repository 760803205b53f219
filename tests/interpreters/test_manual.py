"""Programs of devices: shard_map in JAX on eight CPU devices, and hand-written ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from xdsl.utils.exceptions import InterpretationError

import ttxdsl
from tests.interpreters.reference import run, same_as_jax
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.mesh.collectives import ReplicaMismatchError

P = PartitionSpec


def mesh(shape=(2, 4), names=("x", "y"), order=None):
    devices = np.array(jax.devices()[: int(np.prod(shape))])
    if order is not None:
        devices = devices[list(order)]
    return Mesh(devices.reshape(shape), names)


def mapped(function, ins, outs, over=None, **options):
    return jax.shard_map(
        function,
        mesh=over or mesh(),
        in_specs=ins,
        out_specs=outs,
        check_vma=False,
        **options,
    )


X = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)


@pytest.mark.parametrize(
    "order", [(7, 0, 3, 4, 1, 2, 6, 5), (1, 0, 3, 2, 5, 4, 7, 6)], ids=str
)
def test_collectives_on_reordered_devices(order):
    over = mesh(order=order)

    def work(x):
        gathered = lax.all_gather(x, "y", axis=1, tiled=True)
        moved = lax.ppermute(x, "x", [(0, 1), (1, 0)])
        return gathered.sum() + lax.psum(x, "x") + moved

    same_as_jax(mapped(work, P("x", "y"), P("x", "y"), over), X, reduction_length=64)


def test_sums_with_a_body_over_values_that_differ():
    def work(x):
        scaled = x * (1 + lax.axis_index("x"))
        return jnp.argmax(scaled, axis=1).astype(np.int32), jnp.sort(scaled, axis=0)

    same_as_jax(mapped(work, P("x", "y"), (P(("x", "y")), P("x", "y"))), X)


def test_nested_computations():
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
        %1 = sdy.manual_computation(%b) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"y"} (%c: tensor<4x2xf32>) {
          %id = stablehlo.partition_id : tensor<ui32>
          %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
          %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
          %2 = stablehlo.add %c, %g : tensor<4x2xf32>
          sdy.return %2 : tensor<4x2xf32>
        } : (tensor<4x8xf32>) -> tensor<4x8xf32>
        sdy.return %1 : tensor<4x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    a = np.zeros((8, 8), np.float32)
    (found,) = run(text, a)
    np.testing.assert_array_equal(found[::4, ::2], np.arange(8).reshape(2, 4))


MANUAL = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {{
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>] out_shardings=[<@mesh, {out}>] manual_axes={{"x", "y"}} (%b: tensor<4x2xf32>) {{
    {body}
  }} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}"""

REDUCE = """%1 = "stablehlo.all_reduce"(%b) <{{{handle}replica_groups = dense<{groups}> : tensor<{shape}xi64>}}> ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) : (tensor<4x2xf32>) -> tensor<4x2xf32>
      sdy.return %1 : tensor<4x2xf32>"""


def test_replicas_that_differ_are_reported():
    text = MANUAL.format(
        out='[{"x"}, {}]', body="%w = stablehlo.concatenate %b, %b, %b, %b, dim = 1 : "
        "(tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> "
        "tensor<4x8xf32>\n sdy.return %w : tensor<4x8xf32>"
    )  # fmt: skip
    a = np.zeros((8, 8), np.float32)
    assert not run(text, a)[0].any()
    a[5, 6] = 1
    with pytest.raises(ReplicaMismatchError) as error:
        run(text, a)
    assert error.value.coordinates == {"x": 1, "y": 3}
    assert error.value.index == (1, 0)
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "sdy.manual" in row)
    assert error.value.position == f"<unknown>:{line}:3"
    assert "error: result 0 of the manual computation: replicas differ" in str(
        error.value
    )


ON_ALL_DEVICES = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%t: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) -> tensor<{rows}x4xf32> {{
  %d = stablehlo.add %t, %t : tensor<4x4xf32>
  %0 = "stablehlo.{op}"(%d) <{{{said}, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>{ids}}}> {body} : (tensor<4x4xf32>) -> tensor<{rows}x4xf32>
  return %0 : tensor<{rows}x4xf32>
}}"""
ALONG_X = "replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>"
ALONG_Y = "replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>"
ADD = """({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
  })"""


def of_all_devices(op: str, said: str, rows: int, body: str = "") -> str:
    ids = "" if op == "collective_permute" else ", use_global_device_ids"
    return ON_ALL_DEVICES.format(op=op, said=said, rows=rows, body=body, ids=ids)


T = np.arange(16, dtype=np.float32).reshape(4, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            of_all_devices("all_gather", f"all_gather_dim = 0 : i64, {ALONG_X}", 8),
            np.concatenate([2 * T, 2 * T]),
        ),
        (of_all_devices("all_reduce", ALONG_X, 4, ADD), 4 * T),
        (
            of_all_devices(
                "collective_permute",
                "source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5],"
                " [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>",
                4,
            ),
            2 * T,
        ),
    ],
    ids=["all_gather", "all_reduce", "collective_permute"],
)
def test_outside_of_a_computation_all_devices_have_the_whole_value(
    text: str, expected: np.ndarray
):
    program = ttxdsl.load(text)
    ways = [program, program.partition(), program.lower("ttnn")]
    for way in ways:
        np.testing.assert_array_equal(way.simulate(T)[0], expected)


@pytest.mark.parametrize("dims", ['{"x"}, {"y"}', '{"y"}, {"x"}', '{}, {"y"}'])
def test_outside_of_a_computation_shards_that_differ_are_not_joined(dims: str):
    gathered = of_all_devices("all_gather", f"all_gather_dim = 0 : i64, {ALONG_Y}", 16)
    reduced = of_all_devices("all_reduce", ALONG_Y, 4, ADD)
    for text, expected in ((gathered, np.tile(2 * T, (4, 1))), (reduced, 8 * T)):
        program = ttxdsl.load(text.replace('{"x"}, {}', dims))
        for way in (program, program.lower("ttnn")):
            np.testing.assert_array_equal(way.simulate(T)[0], expected)


def test_outside_of_a_computation_devices_may_not_differ():
    said = f"scatter_dimension = 0 : i64, {ALONG_X}"
    text = of_all_devices("reduce_scatter", said, 2, ADD)
    with pytest.raises(
        ReplicaMismatchError, match="result 0 of the reduce_scatter: "
    ) as e:
        ttxdsl.load(text).simulate(T)
    assert e.value.position == "<text>:5:3"
    assert "put the collective in one" in str(e.value)


def test_other_devices_without_a_mesh():
    text = of_all_devices("all_reduce", ALONG_X, 4, ADD)
    text = text.replace('sdy.mesh @mesh = <["x"=2, "y"=4]>', "")
    text = text.replace('{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}', "")
    with pytest.raises(CompileError, match=r":5:3: .*names other devices, .*no mesh"):
        ttxdsl.load(text).simulate(T)
    alone = text.replace(ALONG_X, "replica_groups = dense<0> : tensor<1x1xi64>")
    np.testing.assert_array_equal(ttxdsl.load(alone).simulate(T)[0], 2 * T)


@pytest.mark.parametrize(
    ("groups", "shape", "handle"),
    [
        ("[[0, 1, 2, 3], [4, 5, 6, 7]]", "2x4", ""),
        ("[[3, 0, 2, 1], [7, 5, 6, 4]]", "2x4", "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids, "),
        ("[[0, 5], [1, 3], [2, 7], [4, 6]]", "4x2", "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids, "),
        ("[[0, 1, 2], [3, 4, 5], [6, 7, -1]]", "3x3", ""),
    ],
    ids=str,
)  # fmt: skip
def test_replica_groups(groups, shape, handle):
    body = REDUCE.format(groups=groups, shape=shape, handle=handle)
    text = MANUAL.format(out='[{"x"}, {"y"}]', body=body)
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    (found,) = run(text, a)
    parts = [
        a[i * 4 : i * 4 + 4, j * 2 : j * 2 + 2] for i in range(2) for j in range(4)
    ]
    for group in eval(groups):
        members = [m for m in group if m >= 0]
        for m in members:
            i, j = divmod(m, 4)
            got = found[i * 4 : i * 4 + 4, j * 2 : j * 2 + 2]
            np.testing.assert_array_equal(got, sum(parts[k] for k in members))


def test_a_device_outside_of_the_mesh_is_an_error_that_names_the_op():
    body = REDUCE.format(groups="[[0, 1, 2, 3, 4, 5, 6, 7, 8]]", shape="1x9", handle="")
    text = MANUAL.format(out='[{"x"}, {"y"}]', body=body)
    with pytest.raises(
        InterpretationError, match=r"stablehlo.all_reduce.*process 8"
    ) as error:
        run(text, np.zeros((8, 8), np.float32))
    assert isinstance(error.value, CompileError)
