"""What `Program.to_jax` promises; each function runs where JAX has eight devices."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec as P

import ttxdsl
from ttxdsl import from_jax
from ttxdsl.diagnostics.errors import CompileError

SMALL = """
sdy.mesh @mesh = <["x"=4, "y"=2], device_ids=[3,1,7,5,0,2,6,4]>
func.func @forward(
    %a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(2)2}, {"y"}]>},
    %b: tensor<6x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>})
    -> (tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x6xf32>, tensor<6x12xf32>) -> tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}
"""

UNREDUCED = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(
    %a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}], unreduced={"x"}>})
    -> (tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}], unreduced={"x"}>}) {
  %0 = stablehlo.add %a, %a : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
"""

PARAMS = {
    "v": np.linspace(-1, 1, 256, dtype="f4").reshape(32, 8),
    "w": np.eye(16, 32, dtype="f4"),
}
BATCH = {"x": np.linspace(0, 1, 128, dtype="f4").reshape(8, 16)}


def step(params: Any, batch: Any, *, rate: float = 0.1) -> Any:
    def loss(p: Any) -> Any:
        return jnp.mean(jnp.square(jnp.tanh(batch["x"] @ p["w"]) @ p["v"]))

    value, gradient = jax.value_and_grad(loss)(params)
    moved = jax.tree.map(lambda p, g: p - jnp.float32(rate) * g, params, gradient)
    return moved, {"loss": value, "key": jax.random.key(3)}


def train_step() -> ttxdsl.Program:
    mesh = jax.make_mesh(
        (2, 4), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2
    )

    def of(shape: tuple[int, ...], *spec: str | None) -> Any:
        sharding = NamedSharding(mesh, P(*spec))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    params = {"w": of((16, 32), None, "b"), "v": of((32, 8), "b", None)}
    return from_jax(
        jax.jit(step, donate_argnums=0), params, {"x": of((8, 16), "a", None)}
    )


def assert_steps(found: Any, wanted: Any) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(
        jax.tree.leaves(found[0]), jax.tree.leaves(wanted[0]), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1]["loss"], wanted[1]["loss"], rtol=1e-5)


def pytrees_shardings_and_donation() -> None:
    ours = train_step().to_jax()
    found = ours(PARAMS, BATCH)
    assert_steps(found, step(PARAMS, BATCH))
    assert found[1]["key"] == jax.random.key(3)
    first = found[0]["w"]
    assert first.sharding.spec == P(None, "b")
    assert first.sharding.mesh.shape == {"a": 2, "b": 4}
    again = ours(found[0], batch=BATCH)
    assert_steps(again, step(step(PARAMS, BATCH)[0], BATCH))
    assert first.is_deleted()


def in_other_functions() -> None:
    ours = train_step().to_jax()

    @jax.jit
    def twice(params: Any, batch: Any) -> Any:
        return ours(ours(params, batch)[0], batch)

    wanted = step(step(PARAMS, BATCH)[0], BATCH)
    assert_steps(twice(PARAMS, BATCH), wanted)
    exported = jax.export.export(twice)(PARAMS, BATCH)
    assert exported.nr_devices == 8
    again = jax.export.deserialize(exported.serialize())
    replicated = NamedSharding(ours.mesh, P())
    placed = jax.device_put((PARAMS, BATCH), replicated)
    assert_steps(jax.jit(again.call)(*placed), wanted)
    with pytest.raises(NotImplementedError, match="ttxdsl_program"):
        jax.grad(lambda p: ours(p, BATCH)[1]["loss"])(PARAMS)


def lowered_and_compiled() -> None:
    program = train_step()
    ours = program.to_jax()
    of = jax.ShapeDtypeStruct
    shapes = jax.tree.map(lambda x: of(x.shape, x.dtype), (PARAMS, BATCH))
    lowered = ours.lower(*shapes)
    compiled = lowered.compile()
    text = compiled.as_text()
    made = sum(text.count(f" {kind}(") for kind in ("all-reduce", "all-gather"))
    assert 0 < made <= len(program.partition().collectives())
    assert compiled.memory_analysis().argument_size_in_bytes == 1024


def devices_in_orders() -> None:
    """Ids of the program count in the list of devices."""
    program = ttxdsl.load(SMALL)
    inputs = program.random_inputs()
    there = jax.devices()[::-1]
    (found,) = program.to_jax(there)(*inputs)
    np.testing.assert_allclose(found, inputs[0] @ inputs[1], rtol=1e-5, atol=1e-5)
    placed = [device.id for device in found.sharding.mesh.devices.flat]
    assert placed == [7 - number for number in (3, 1, 7, 5, 0, 2, 6, 4)]
    assert found.sharding.shard_shape(found.shape) == (8, 3)
    elsewhere = jax.device_put(
        inputs[0], NamedSharding(jax.make_mesh((8,), ("z",)), P("z"))
    )
    (again,) = program.to_jax(there)(elsewhere, inputs[1])
    np.testing.assert_array_equal(again, found)


def unreduced_borders() -> None:
    program = ttxdsl.load(UNREDUCED).partition()
    (array,) = program.random_inputs()
    (found,) = program.to_jax()(array)
    for shard in found.addressable_shards:
        np.testing.assert_array_equal(shard.data, (array + array)[shard.index])


def what_the_page_shows() -> None:
    """`py` blocks of docs/guide/engines.md print the `txt` blocks that follow them."""
    page = Path(__file__).parents[4] / "docs" / "guide" / "engines.md"
    names: dict[str, Any] = {}
    shown = re.findall(
        r"^```py\n(.*?)^```\n\n```txt\n(.*?)^```", page.read_text(), re.M | re.S
    )
    assert len(shown) == 2
    for code, printed in shown:
        out = StringIO()
        with redirect_stdout(out):
            exec(code, names)
        assert out.getvalue() == printed, out.getvalue()


def slices_of_slices() -> None:
    """XLA itself makes one slice of two at the sum of their indices, out of range here."""
    program = ttxdsl.load(
        """
sdy.mesh @mesh = <["x"=8]>
func.func @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %i: tensor<i8>, %j: tensor<ui32>) -> tensor<8x2xf32> {
  %z = stablehlo.constant dense<0> : tensor<i8>
  %u = stablehlo.constant dense<0> : tensor<ui32>
  %0 = stablehlo.dynamic_slice %a, %z, %i, sizes = [8, 4]
    : (tensor<8x8xf32>, tensor<i8>, tensor<i8>) -> tensor<8x4xf32>
  %1 = stablehlo.dynamic_slice %0, %u, %j, sizes = [8, 2]
    : (tensor<8x4xf32>, tensor<ui32>, tensor<ui32>) -> tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
"""
    )
    ours = program.to_jax()
    array = np.arange(64, dtype="f4").reshape(8, 8)
    for i, j, start in ((7, 1, 5), (7, 9, 6), (1, 9, 3), (-3, 1, 1)):
        (found,) = ours(array, np.int8(i), np.uint32(j))
        np.testing.assert_array_equal(found, array[:, start : start + 2])


def tensors_of_no_elements() -> None:
    """JAX itself cannot read one that is split."""
    program = ttxdsl.load(
        """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.negate %a : tensor<0x8xf32>
  return %0 : tensor<0x8xf32>
}
"""
    )
    (found,) = program.to_jax()(np.zeros((0, 8), "f4"))
    assert np.asarray(found).shape == (0, 8)


def lowered_programs_run_as_stage_13() -> None:
    program = ttxdsl.load(SMALL)
    inputs = program.random_inputs()
    (found,) = program.lower("ttnn").to_jax()(*inputs)
    np.testing.assert_allclose(found, inputs[0] @ inputs[1], rtol=1e-5, atol=1e-5)


def misfits_are_told() -> None:
    program = ttxdsl.load(SMALL)
    with pytest.raises(CompileError, match="runs on 8 devices, and there are 3"):
        program.to_jax(jax.devices()[:3])
    ours = program.to_jax()
    a, b = program.random_inputs()
    with pytest.raises(CompileError, match="takes 2 arguments, 1 were given"):
        ours(a)
    for wrong in (a[:4], jnp.asarray(a[:4]), a.astype("f8"), jnp.asarray(a, "f8")):
        with pytest.raises(CompileError, match=r"argument 0 of @main"):
            ours(wrong, b)
    with pytest.raises(CompileError, match="argument 1"):
        jax.jit(ours)(a, b.T)
    wide = ttxdsl.load(SMALL.replace("f32", "f64"))
    with jax.enable_x64(False), pytest.raises(CompileError, match="jax_enable_x64"):
        wide.to_jax()


def custom_calls_of_nobody_are_refused() -> None:
    program = ttxdsl.load(
        """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @nobody_knows(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""
    )
    with pytest.raises(CompileError, match="nobody_knows"):
        program.to_jax()(*program.random_inputs())
