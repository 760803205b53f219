"""Programs of devices: shard_map in JAX on eight CPU devices, and hand-written ones."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

import ttxdsl
from tests.interpreters.reference import parse, run, same_as_jax
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.mesh.collectives import ReplicaMismatchError
from ttxdsl.interpreters.runtime.run import Runner

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

AXES = ["x", "y", ("x", "y"), ("y", "x")]


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("kind", [lax.psum, lax.pmax, lax.pmin, lax.pmean])
def test_reductions_over_axes(kind, axes):
    same_as_jax(mapped(lambda x: kind(x, axes), P("x", "y"), P("x", "y")), X)


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("tiled", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
def test_all_gather(axes, tiled, dim):
    def gather(x):
        return lax.all_gather(x, axes, axis=dim, tiled=tiled) * 1.5

    same_as_jax(mapped(gather, P("x", "y"), P("x", "y") if tiled else P(("x", "y"))), X)


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_psum_scatter(axes, dim):
    def scatter(x):
        return lax.psum_scatter(x, axes, scatter_dimension=dim, tiled=True)

    same_as_jax(mapped(scatter, P(), P("x", "y")), X)


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (0, 0), (1, 1)])
def test_all_to_all(axes, dims):
    split, concat = dims

    def exchange(x):
        return lax.all_to_all(x, axes, split, concat, tiled=True)

    same_as_jax(mapped(exchange, P("x"), P("x", "y")), np.tile(X, (1, 2)))


@pytest.mark.parametrize(
    ("axis", "pairs"),
    [
        ("y", [(0, 1), (1, 2), (2, 3), (3, 0)]),
        ("y", [(0, 2), (3, 1)]),
        ("x", [(0, 1)]),
        (("x", "y"), [(i, (i + 3) % 8) for i in range(8)]),
        (("y", "x"), [(0, 7), (7, 1), (1, 0)]),
    ],
    ids=str,
)
def test_ppermute(axis, pairs):
    same_as_jax(
        mapped(lambda x: lax.ppermute(x, axis, pairs), P("x", "y"), P("x", "y")), X
    )


@pytest.mark.parametrize("order", [None, (7, 0, 3, 4, 1, 2, 6, 5)], ids=str)
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_axis_index(axes, order):
    over = mesh(order=order)

    def number(x):
        return x + lax.axis_index(axes).astype(np.float32) * 1000

    same_as_jax(mapped(number, P("x", "y"), P("x", "y"), over), X)


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


def test_slices_at_the_devices_place():
    """Starts that differ by device: only along the axis that they differ by."""

    def work(x):
        at = lax.axis_index("y") * np.int32(2)
        mine = lax.dynamic_slice(x, (np.int32(0), at), (x.shape[0], 2))
        back = lax.dynamic_update_slice(jnp.zeros_like(x), mine, (np.int32(0), at))
        picked = x[:, (jnp.arange(3) + at) % 8]
        return mine, lax.psum(back, "y"), picked

    same_as_jax(mapped(work, P("x"), (P("x", "y"), P("x"), P("x", "y"))), X)


def test_control_flow_that_differs_by_device():
    def work(x):
        n = lax.axis_index("y")
        y = lax.fori_loop(0, n, lambda i, x: x * 2 + i, x)
        z = lax.cond(n % 2 == 0, lambda x: x + 1, lambda x: -x, y)
        return lax.switch(n, [lambda z: z, lambda z: z * 3, lambda z: z - 7], z)

    same_as_jax(mapped(work, P("x", "y"), P("x", "y")), X)


def test_sums_with_a_body_over_values_that_differ():
    def work(x):
        scaled = x * (1 + lax.axis_index("x"))
        return jnp.argmax(scaled, axis=1).astype(np.int32), jnp.sort(scaled, axis=0)

    same_as_jax(mapped(work, P("x", "y"), (P(("x", "y")), P("x", "y"))), X)


def test_some_axes_stay_free():
    def outer(x):
        return (
            mapped(lambda x: lax.psum(x * 2, "x"), P("x"), P(), axis_names={"x"})(x) + 1
        )

    same_as_jax(outer, X)


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


SAME_PRODUCTS = """
sdy.mesh @mesh = <["x"=3]>
func.func @main(%a: tensor<{rows}x{inner}xf32>, %w: tensor<{columns}x{inner}xf32>) -> tensor<{m}x{columns}xf32> {{
  %0 = sdy.manual_computation(%a, %w) in_shardings=[<@mesh, [{{"x"}}, {{}}]>, <@mesh, [{{}}, {{}}]>] out_shardings=[<@mesh, [{{}}, {{}}]>] manual_axes={{"x"}} (%b: tensor<{m}x{inner}xf32>, %v: tensor<{columns}x{inner}xf32>) {{
    %1 = stablehlo.dot_general %b, %v, contracting_dims = [1] x [1] : (tensor<{m}x{inner}xf32>, tensor<{columns}x{inner}xf32>) -> tensor<{m}x{columns}xf32>
    sdy.return %1 : tensor<{m}x{columns}xf32>
  }} : (tensor<{rows}x{inner}xf32>, tensor<{columns}x{inner}xf32>) -> tensor<{m}x{columns}xf32>
  return %0 : tensor<{m}x{columns}xf32>
}}"""


def test_replicas_are_not_told_apart_by_their_place_in_a_product():
    """BLAS rounds some rows otherwise than others with the same numbers."""
    generator = np.random.default_rng(0)
    for _ in range(500):
        m, columns, inner = (int(n) for n in generator.integers(1, 100, 3))
        a, w = (generator.standard_normal((n, inner), np.float32) for n in (m, columns))
        rows = np.tile(a, (3, 1))
        if len(np.unique((rows @ w.T).reshape(3, m, columns), axis=0)) > 1:
            break
    else:
        pytest.skip("this BLAS rounds all rows alike")
    text = SAME_PRODUCTS.format(m=m, rows=3 * m, columns=columns, inner=inner)
    (found,) = run(text, rows, w)
    np.testing.assert_allclose(found, a @ w.T, rtol=1e-5, atol=1e-5)


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


def test_groups_by_mesh_axes():
    groups = """#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (2)2>]>"""
    body = REDUCE.replace("dense<{groups}> : tensor<{shape}xi64>", groups).format(
        handle=""
    )
    text = MANUAL.format(out='[{"x"}, {"y"}]', body=body)
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    (found,) = run(text, a)
    np.testing.assert_array_equal(found[:, 0:2], a[:, 0:2] + a[:, 2:4])
    np.testing.assert_array_equal(found[:, 6:8], a[:, 4:6] + a[:, 6:8])


def test_a_device_outside_of_the_mesh_is_an_error_that_names_the_op():
    body = REDUCE.format(groups="[[0, 1, 2, 3, 4, 5, 6, 7, 8]]", shape="1x9", handle="")
    text = MANUAL.format(out='[{"x"}, {"y"}]', body=body)
    with pytest.raises(
        InterpretationError, match=r"stablehlo.all_reduce.*process 8"
    ) as error:
        run(text, np.zeros((8, 8), np.float32))
    assert isinstance(error.value, CompileError)


def test_unreduced_results_are_summed():
    text = MANUAL.format(
        out='[{"x"}, {}], unreduced={"y"}', body="%w = stablehlo.concatenate %b, %b, %b, %b, dim = 1 : "
        "(tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> "
        "tensor<4x8xf32>\n sdy.return %w : tensor<4x8xf32>"
    )  # fmt: skip
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    (found,) = run(text, a)
    wanted = np.tile(a.reshape(8, 4, 2).sum(axis=1), (1, 4))
    np.testing.assert_array_equal(found, wanted)


GLOBAL = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"y"}, {"x"}]>] manual_axes={} (%b: tensor<8x8xf32>) {
    %1 = sdy.all_gather [{"x"}, {"y"}] %b out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = sdy.all_slice [{"y"}, {}] %1 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
    %3 = sdy.reshard %2 <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
    %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
    %5 = sdy.named_computation<"double">(%3) (%c: tensor<8x8xf32>) {
      %6 = stablehlo.add %c, %c : tensor<8x8xf32>
      sdy.return %6 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.return %5 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  sdy.sharding_group %0 group_id=3 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""


def test_collectives_of_global_programs_are_identities():
    a = np.arange(64, dtype=np.float32).reshape(8, 8)
    text = GLOBAL.replace(
        '%4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>',
        "",
    )
    np.testing.assert_array_equal(run(text, a)[0], 2 * a)


def test_process_ids_outside_of_a_mesh():
    text = """func.func @main() -> (tensor<ui32>, tensor<ui32>) {
      %p = stablehlo.partition_id : tensor<ui32>
      %r = stablehlo.replica_id : tensor<ui32>
      return %p, %r : tensor<ui32>, tensor<ui32>
    }"""
    assert [int(x) for x in run(text)] == [0, 0]


def test_a_number_of_each_device_on_a_mesh_of_one_axis():
    text = """sdy.mesh @m = <["a"=4]>
    func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"a"}]>] out_shardings=[<@m, []>] manual_axes={"a"} (%s: tensor<1xf32>) {
        %r = stablehlo.reshape %s : (tensor<1xf32>) -> tensor<f32>
        %t = "stablehlo.all_reduce"(%r) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %u = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %u : tensor<f32>
        }) : (tensor<f32>) -> tensor<f32>
        sdy.return %t : tensor<f32>
      } : (tensor<4xf32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    (total,) = run(text, np.arange(4, dtype=np.float32))
    assert total == 6


@pytest.mark.parametrize("lowered", [False, True], ids=["stage 13", "ttnn"])
def test_what_follows_from_device_numbers_is_computed_once_a_row(lowered: bool):
    """Numbers of rows differ along one axis: all that follows is computed twice, not eight
    times, also where only types say the mesh."""
    shape = "tensor<2x3xf32>"
    module = parse(f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: {shape}) -> tensor<4x3xf32> {{
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{}}, {{}}]>]
      out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={{"x", "y"}} (%p: {shape}) {{
    %i = stablehlo.partition_id : tensor<ui32>
    %n = stablehlo.convert %i : (tensor<ui32>) -> tensor<i32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %row = stablehlo.divide %n, %four : tensor<i32>
    %f = stablehlo.convert %row : (tensor<i32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> {shape}
    %s = stablehlo.add %b, %p : {shape}
    sdy.return %s : {shape}
  }} : ({shape}) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}}""")
    if lowered:
        convert_stablehlo_to_ttir(module)
        convert_ttir_to_ttnn(module)
    seen: list[tuple[int, ...]] = []

    class Watch(Interpreter.Listener):
        def did_interpret_op(self, op: Operation, results: tuple[Any, ...]) -> None:
            if op.name.endswith(".add"):
                seen.append(results[0].shape)

    runner = Runner(module)
    runner.interpreter.listeners = (Watch(),)
    (found,) = runner.run([np.ones((2, 3), np.float32)])
    assert found[:, 0].tolist() == [1, 1, 2, 2]
    assert seen == [(2, 1, 2, 3)]
