"""Shards of another mesh: the sizes and numbers of the program that JAX lowers for it."""

import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import ttxdsl
from tests.sampling import sampled
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.calls.kernels import kernel_work
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import make_context, parse_program, program_text
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.shardy.other_meshes import replace_meshes
from ttxdsl.transforms.stages.inline import InlinePass

Sizes = tuple[int, int]

SPEC = P("data", None, "model")


def lowered(body: Callable[..., Any], sizes: Sizes, out: P = SPEC) -> str:
    """A `shard_map` of x, split by both axes, and of w, split by one."""
    mesh = jax.make_mesh(sizes, ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    step = jax.shard_map(
        body, mesh=mesh, in_specs=(SPEC, P("model")), out_specs=out, check_vma=False
    )
    x, w = (
        jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
        for shape, spec in (((16, 4, 16), SPEC), ((16, 8), P("model")))
    )
    return jax.jit(lambda x, w: step(x, w)).lower(x, w).as_text()


def on_other_mesh(text: str, sizes: Sizes) -> str:
    module = parse_program(text)
    meshes = [op for op in module.ops if isinstance(op, sdy.MeshOp)]
    new = Mesh(tuple(zip(("data", "model"), sizes, strict=True)))
    replace_meshes(module, dict.fromkeys(meshes, new))
    module.verify()
    return program_text(module)


def product(x: Any, w: Any) -> Any:
    """Products of shards, added up; a loop and constants of a shard's shape."""
    y = jax.lax.psum(jnp.einsum("bsd,dh->bsh", jnp.sin(x), w), "model")

    def turn(_: Any, carry: Any) -> Any:
        return carry + jnp.cos(carry) * jnp.ones_like(carry)

    return jax.lax.fori_loop(0, 3, turn, y)


def gradient(x: Any, w: Any) -> Any:
    """What is kept between forward and backward has parts of all devices."""
    return jax.grad(lambda x: jnp.sum(jax.nn.softmax(x @ w, -1)[:, :, 0] ** 2))(x)


def rows(x: Any, w: Any) -> Any:
    """Positions within a shard, a slice of what is whole, sums over a shard."""
    y = x[:, :2] * x[:, 2:] + x.max(axis=0)[None, :2] + jnp.sort(w, axis=1)[:, 0]
    return jnp.concatenate([y, jnp.flip(y, axis=1)], axis=1)


def local_types(text: str) -> list[str]:
    """The types of values within manual computations, in order, calls inlined."""
    module = parse_program(text)
    InlinePass().apply(make_context(), module)
    return [
        str(result.type)
        for computation in ops_of_type(module, sdy.ManualComputationOp)
        for op in computation.walk()
        if op is not computation
        for result in op.results
    ]


@pytest.mark.parametrize("body", [product, gradient, rows])
@pytest.mark.parametrize(
    "sizes", sampled([(4, 2), (8, 1), (1, 8), (2, 2)], 2, several=False)
)
def test_shards_are_those_of_jax(body: Callable[..., Any], sizes: Sizes):
    out = P("data") if body is product else SPEC
    other = on_other_mesh(lowered(body, (2, 4), out), sizes)
    expected = lowered(body, sizes, out)
    assert local_types(other) == local_types(expected)
    inputs = ttxdsl.load(expected).random_inputs(0)
    for mine, theirs in zip(
        ttxdsl.load(other).interpret(*inputs).results,
        ttxdsl.load(expected).interpret(*inputs).results,
        strict=True,
    ):
        np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-5)


def test_what_counts_on_a_shard_is_refused():
    def gathered(x: Any, w: Any) -> Any:
        return jax.lax.all_gather(x, "data", axis=0, tiled=True)[:2]

    with pytest.raises(CompileError, match="works along a shard, whose size changes"):
        on_other_mesh(lowered(gathered, (2, 4)), (4, 2))


DROPPED = """\
sdy.mesh @mesh = <["data"=4, "model"=1]>
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {}]>] out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data", "model"} (%a: tensor<1x6xf32>) {
    %1 = stablehlo.reshape %a : (tensor<1x6xf32>) -> tensor<6xf32>
    %2 = stablehlo.sine %1 : tensor<6xf32>
    %3 = stablehlo.reshape %2 : (tensor<6xf32>) -> tensor<1x6xf32>
    sdy.return %3 : tensor<1x6xf32>
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
"""


def test_what_drops_a_shard_of_one_is_refused():
    with pytest.raises(CompileError, match="drops a shard of one"):
        on_other_mesh(DROPPED, (2, 1))


KERNEL = """\
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%q: tensor<8x8x64x16xbf16>) -> tensor<8x8x64x16xbf16> {{
  %t = stablehlo.constant dense<[[[1, 0]], [[1, 0]], [[1, 0]], [[1, 0]]]> : tensor<4x1x2xi8>
  %0 = sdy.manual_computation(%q, %t) in_shardings=[<@mesh, [{{"data"}}, {{"model"}}, {{}}, {{}}]>, <@mesh, [{{"model"}}, {{}}, {{}}]>] out_shardings=[<@mesh, [{{"data"}}, {{"model"}}, {{}}, {{}}]>] manual_axes={{"data", "model"}} (%a: tensor<4x2x64x16xbf16>, %b: tensor<1x1x2xi8>) {{
    %1 = stablehlo.custom_call @tpu_custom_call(%b, %a, %a, %a) {{backend_config = {config}}} : (tensor<1x1x2xi8>, tensor<4x2x64x16xbf16>, tensor<4x2x64x16xbf16>, tensor<4x2x64x16xbf16>) -> tensor<4x2x64x16xbf16>
    sdy.return %1 : tensor<4x2x64x16xbf16>
  }} : (tensor<8x8x64x16xbf16>, tensor<4x1x2xi8>) -> tensor<8x8x64x16xbf16>
  return %0 : tensor<8x8x64x16xbf16>
}}
"""


@pytest.mark.parametrize(
    ("sizes", "shape", "table", "times"),
    [
        ((4, 2), (2, 4, 64, 16), (2, 1, 2), 1),
        ((1, 8), (8, 1, 64, 16), (1, 1, 2), 1),  # the table has a row a device
        ((2, 2), (4, 4, 64, 16), (2, 1, 2), 2),
    ],
)
def test_kernels_take_other_batches_and_heads(
    sizes: Sizes, shape: tuple[int, ...], table: tuple[int, ...], times: int
):
    estimate = {"flops": 1000, "transcendentals": 10, "bytes_accessed": 400}
    config = json.dumps({"custom_call_config": {"cost_estimate": estimate}})
    text = KERNEL.format(config=json.dumps(config))
    module = parse_program(on_other_mesh(text, sizes))
    (kernel,) = ops_of_type(module, stablehlo.CustomCallOp)
    assert kernel.results[0].type.get_shape() == shape
    assert kernel.operands[0].type.get_shape() == table
    work = kernel_work(kernel)
    assert work is not None
    assert (work.operations, work.bytes_touched) == (500 * times, 400 * times)


@pytest.mark.parametrize("back", ["reshape %2", "broadcast_in_dim %2, dims = [1, 2]"])
def test_a_kernel_of_one_row_takes_several(back: str):
    """JAX drops the dimension of a batch of one in front of a kernel."""
    estimate = {"flops": 1000, "transcendentals": 10, "bytes_accessed": 400}
    config = json.dumps({"custom_call_config": {"cost_estimate": estimate}})
    text = f"""\
sdy.mesh @mesh = <["data"=4, "model"=1]>
func.func @main(%q: tensor<4x64x16xbf16>) -> tensor<4x64x16xbf16> {{
  %0 = sdy.manual_computation(%q) in_shardings=[<@mesh, [{{"data"}}, {{}}, {{}}]>] out_shardings=[<@mesh, [{{"data"}}, {{}}, {{}}]>] manual_axes={{"data", "model"}} (%a: tensor<1x64x16xbf16>) {{
    %1 = stablehlo.reshape %a : (tensor<1x64x16xbf16>) -> tensor<64x16xbf16>
    %2 = stablehlo.custom_call @tpu_custom_call(%1) {{backend_config = {json.dumps(config)}}} : (tensor<64x16xbf16>) -> tensor<64x16xbf16>
    %3 = stablehlo.{back} : (tensor<64x16xbf16>) -> tensor<1x64x16xbf16>
    sdy.return %3 : tensor<1x64x16xbf16>
  }} : (tensor<4x64x16xbf16>) -> tensor<4x64x16xbf16>
  return %0 : tensor<4x64x16xbf16>
}}
"""
    module = parse_program(on_other_mesh(text, (2, 1)))
    (kernel,) = ops_of_type(module, stablehlo.CustomCallOp)
    assert kernel.results[0].type.get_shape() == (2, 64, 16)
    work = kernel_work(kernel)
    assert work is not None and work.operations == 1000
