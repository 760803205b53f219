"""Collectives as often as they run: what is counted is what the virtual mesh does."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec as P
from xdsl.dialects.builtin import StringAttr

import ttxdsl
from ttxdsl.analysis.attribution.purposes import purposes
from ttxdsl.analysis.calls.execution_counts import Runs
from ttxdsl.analysis.usage.collectives import counts_of, guesses_text
from ttxdsl.analysis.usage.work import operations, operations_of
from ttxdsl.costs.ring import Ring
from ttxdsl.dialects import stablehlo as hlo
from ttxdsl.dialects.calls.custom import Communication, communication_of
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.ops.custom_calls import CUSTOM_CALLS
from ttxdsl.interpreters.runtime.run import run_module
from ttxdsl.ir.traversal import all_ops
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


def test_a_scanned_and_an_unrolled_transformer_cost_the_same():
    scanned, unrolled = (
        transformer(one).collectives() for one in ("scanned", "unrolled")
    )
    assert counts_of(scanned)["all_reduce"] >= 4 * LAYERS
    sent = [sum(one.bytes_per_device for one in side) for side in (scanned, unrolled)]
    assert sent[0] == sent[1]
    assert {one.times.count for one in scanned} >= {1, LAYERS}
    assert all(one.times.is_known for one in scanned)


def test_operations_of_a_scanned_and_an_unrolled_transformer():
    """The products are the same; the scan also takes its layers from stacks, and back."""
    products: list[int] = []
    everything: list[int] = []
    for kind in ("scanned", "unrolled"):
        module = transformer(kind).module
        runs = Runs(module)
        everything.append(operations_of(module, runs))
        dots = [op for op in all_ops(module) if op.name == "stablehlo.dot_general"]
        products.append(sum(runs.of(op).count * operations(op) for op in dots))
    assert products[0] == products[1] > 0
    assert everything[1] < everything[0] < 1.2 * everything[1]


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


def test_an_exchange_within_one_dimension_says_its_axes():
    text = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {"x"}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = "stablehlo.all_to_all"(%b) <{split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<4x32xf32>) -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}"""
    (exchange,) = ttxdsl.load(text).collectives()
    assert exchange.reason == (
        "written in the program: the result needs dimension 1 of an argument split by"
        " x:(2)2 in another order"
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


def one_call(target: str, config: str = "") -> str:
    return (
        f"%r = stablehlo.custom_call @{target}(%a) {config}"
        " : (tensor<2x3xf32>) -> tensor<2x3xf32>"
    )


@pytest.mark.parametrize(
    ("target", "config", "known"),
    [
        ("mystery", "", False),
        ("tt.all_to_all_dispatch", "", False),
        ("ragged_all_to_all", "", False),
        (
            "tpu_custom_call",
            '{backend_config = "{\\22config\\22: {\\22has_communication\\22: true}}"}',
            False,
        ),
        ("tpu_custom_call", '{backend_config = "{\\22config\\22: {}}"}', True),
        (
            "mosaic_gpu_v2",
            "{api_version = 4 : i32, backend_config = {uses_xla_collective_metadata = true}}",
            False,
        ),
        (
            "mosaic_gpu_v2",
            "{api_version = 4 : i32, backend_config = {uses_xla_collective_metadata = false}}",
            True,
        ),
        ("__cudnn$fmhaSoftmax", "", True),
        ("__cudnn$fmhaScaleBiasSoftmaxDropoutBackward", "", True),
        ("CustomSPMDPartitioning", "", True),
        ("lapack_spotrf_ffi", "", True),
        ("AllocateBuffer", "", True),
    ],
)
def test_whether_a_target_communicates(target: str, config: str, known: bool):
    call = one_call(f'"{target}"' if "$" in target else target, config)
    program = ttxdsl.load(in_devices(call)).partition()
    found = program.collectives()
    assert [one.kind for one in found] == ([] if known else [f"@{target}"])
    if not known:
        (row,) = found
        assert not row.is_priced and row.bytes_per_device == 0
        assert f"1 call of @{target}: " in (guesses_text(found) or "")
        assert not purposes(program.module, found)


def test_a_call_of_whole_values_needs_nothing_of_others():
    """Devices have all of what it reads; the gather of that is counted."""
    before = (
        "%y = stablehlo.custom_call @mystery(%x) : (tensor<8x3xf32>) -> tensor<8x3xf32>"
    )
    outside = ttxdsl.load(
        in_devices("%r = stablehlo.abs %a : tensor<2x3xf32>", before, "%y")
    ).partition()
    assert "@mystery" in outside.text
    assert not [one for one in outside.collectives() if not one.is_priced]


def test_targets_with_rules_and_kernels_are_known():
    """A target that can be split or run has an answer to whether it communicates."""
    for target in (*TARGETS, *CUSTOM_CALLS):
        call = hlo.CustomCallOp.create(
            properties={"call_target_name": StringAttr(target)}
        )
        assert communication_of(call) is not Communication.UNKNOWN, target
