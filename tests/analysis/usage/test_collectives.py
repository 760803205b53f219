"""Collectives as often as they run: what is counted is what the virtual mesh does."""

from collections import Counter
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec as P
from xdsl.dialects.builtin import StringAttr

import ttxdsl
from ttxdsl.analysis.usage.collectives import counts_of, guesses_text
from ttxdsl.costs.ring import Ring
from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.dialects.calls.custom import Communication, communication_of
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.ops.custom_calls import CUSTOM_CALLS
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.rules.custom_call import TARGETS

LAYERS, BATCH, LENGTH, WIDTH, HIDDEN, HEADS = 3, 4, 8, 16, 32, 4


def _layer(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    heads = [jnp.einsum("btd,dhk->bhtk", x, p[name]) for name in ("q", "k", "v")]
    weights = jax.nn.softmax(jnp.einsum("bhtk,bhsk->bhts", heads[0], heads[1]))
    mixed = jnp.einsum("bhts,bhsk->bthk", weights, heads[2])
    x = x + jnp.einsum("bthk,hkd->btd", mixed, p["o"])
    return x + jax.nn.gelu(x @ p["up"]) @ p["down"]


def _scanned(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda x, p: (_layer(p, x), None), x, p)[0]


def _unrolled(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    for at in range(LAYERS):
        x = _layer({name: value[at] for name, value in p.items()}, x)
    return x


@cache
def transformer(kind: str) -> ttxdsl.Program:
    """Layers on 2x4 devices with Megatron's shardings, forward and backward.

    Without the optimizations, which find in several layers what they do not find in one.
    """
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def array(shape: tuple[int, ...], *axes: str | None) -> Any:
        sharding = NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    heads = (LAYERS, WIDTH, HEADS, WIDTH // HEADS)
    split = (None, None, "model", None)
    p = {name: array(heads, *split) for name in ("q", "k", "v")}
    p["o"] = array((LAYERS, HEADS, WIDTH // HEADS, WIDTH), None, "model", None, None)
    p["up"] = array((LAYERS, WIDTH, HIDDEN), None, None, "model")
    p["down"] = array((LAYERS, HIDDEN, WIDTH), None, "model", None)
    x = array((BATCH, LENGTH, WIDTH), "data", None, None)
    forward = _scanned if kind == "scanned" else _unrolled

    def step(p: dict[str, jax.Array], x: jax.Array) -> Any:
        return jax.value_and_grad(lambda p, x: (forward(p, x) ** 2).mean(), (0, 1))(
            p, x
        )

    return ttxdsl.load(
        jax.jit(step).trace(p, x).lower(lowering_platforms=("cpu",)).as_text()
    ).partition(optimize=False)


@pytest.mark.parametrize("kind", ["scanned", "unrolled"])
def test_what_is_counted_is_what_runs(kind: str, monkeypatch: pytest.MonkeyPatch):
    program = transformer(kind)
    ran: Counter[str] = Counter()

    def watch(name: str) -> None:
        real = getattr(DeviceMesh, name)

        def counted(self: Any, *args: Any) -> Any:
            ran[name] += 1
            return real(self, *args)

        monkeypatch.setattr(DeviceMesh, name, counted)

    for name in ("all_reduce", "all_gather", "all_to_all", "reduce_scatter"):
        watch(name)
    run_module(program.module, program.random_inputs())
    assert dict(ran) == counts_of(program.collectives())


UNKNOWN = """\
sdy.mesh @mesh = <["x"=4]>
func.func public @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = stablehlo.while(%n = %zero, %y = %x) : tensor<f32>, tensor<8x8xf32>
  cond {
    %limit = stablehlo.constant dense<9.0> : tensor<f32>
    %p = stablehlo.compare LT, %n, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %next = stablehlo.add %n, %one : tensor<f32>
    %z = stablehlo.dot_general %y, %y, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %next, %z : tensor<f32>, tensor<8x8xf32>
  }
  return %r#1 : tensor<8x8xf32>
}
"""


def test_a_count_that_nobody_knows_is_said():
    program = ttxdsl.load(UNKNOWN).partition()
    guessed = program.collectives()
    assert [str(one.times) for one in guessed] == ["x? in loop"] * len(guessed)
    assert "--trip-count" in (guesses_text(guessed) or "")
    said = program.collectives(trip_count=9)
    assert guesses_text(said) is None
    assert [one.bytes_per_device for one in said] == [
        9 * one.bytes_per_device for one in guessed
    ]
    assert all(
        one.bytes_each == two.bytes_each for one, two in zip(said, guessed, strict=True)
    )


# custom calls


def in_devices(ops: str, before: str = "", argument: str = "%x") -> str:
    return f"""
sdy.mesh @mesh = <["e"=4]>
func.func @main(%x: tensor<8x3xf32>, %n: tensor<16xi32>) -> tensor<8x3xf32> {{
  {before}
  %0 = sdy.manual_computation({argument}, %n) in_shardings=[<@mesh, [{{"e"}}, {{}}]>, <@mesh, [{{"e"}}]>]
      out_shardings=[<@mesh, [{{"e"}}, {{}}]>] manual_axes={{"e"}}
      (%a: tensor<2x3xf32>, %i: tensor<4xi32>) {{
    %c = stablehlo.constant dense<[0, 1, 1, 0]> : tensor<4xi32>
    %k = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<i32>) -> tensor<4xi32>
    {ops}
    sdy.return %r : tensor<2x3xf32>
  }} : (tensor<8x3xf32>, tensor<16xi32>) -> tensor<8x3xf32>
  func.return %0 : tensor<8x3xf32>
}}"""


def ragged(starts: str, sizes: str, groups: str = "[[0, 1, 2, 3]]") -> str:
    shape = "2x2" if "], [" in groups else "1x4"
    return f"""%r = stablehlo.custom_call @ragged_all_to_all(%a, %a, {starts}, {sizes}, %i, %i) {{
        api_version = 4 : i32, backend_config = {{channel_id = 1 : i64,
        replica_groups = dense<{groups}> : tensor<{shape}xi64>}}}} : (tensor<2x3xf32>,
        tensor<2x3xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>)
        -> tensor<2x3xf32>"""


ROW = 12


@pytest.mark.parametrize(
    ("ops", "sent", "why"),
    [
        # of four devices one keeps a row of two that all send
        (ragged("%i", "%c"), 2 * ROW, "that constant sizes say"),
        # the first two slices are for the first device of two
        (ragged("%i", "%c", "[[0, 1], [2, 3]]"), ROW, "that constant sizes say"),
        (ragged("%i", "%i"), 2 * ROW, "at most all rows"),
        # all slices start at one row: each other device may get all
        (ragged("%p", "%i"), 6 * ROW, "at most all rows"),
        (ragged("%c", "%i"), 6 * ROW, "at most all rows"),
    ],
)
def test_rows_that_go_where_numbers_say(ops: str, sent: int, why: str):
    (found,) = ttxdsl.load(in_devices(ops)).partition().collectives()
    assert (found.kind, found.bytes_per_device) == ("ragged_all_to_all", sent)
    assert why in found.reason
    assert guesses_text([found]) is None
    assert found.axes_text == ("e" if found.group_size == 4 else "e:(2)2")
    assert found.ring is Ring.ALL_TO_ALL


def test_targets_with_rules_and_kernels_are_known():
    """A target that can be split or run has an answer to whether it communicates."""
    for target in (*TARGETS, *CUSTOM_CALLS):
        call = hlo.CustomCallOp.create(
            properties={"call_target_name": StringAttr(target)}
        )
        assert communication_of(call) is not Communication.UNKNOWN, target
