"""The host's memory in plans: what is there takes none of the device's, and its way takes time."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import ttxdsl
from ttxdsl.costs.chips import chip_named
from ttxdsl.insight.plan.plan import StepPlan

CHIP = "v5p"
SIZE = 1024 * 8192 * 4
"""Bytes of a device's part of a matrix."""


def planned(step: Any, *arguments: Any, **options: Any) -> StepPlan:
    """Plan a step as JAX lowers it for TPUs: for CPUs it leaves transfers out."""
    lowered = jax.jit(step, **options).trace(*arguments)
    text = lowered.lower(lowering_platforms=("tpu",)).as_text(debug_info=True)
    return ttxdsl.load(text).plan(CHIP)


@pytest.fixture(scope="module")
def mesh() -> Any:
    return jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))


def sharding(mesh: Any, kind: str | None = None) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec("data"), memory_kind=kind)


def momentum_step(mesh: Any, times: int) -> Any:
    device, host = sharding(mesh, "device"), sharding(mesh, "pinned_host")

    def step(w: Any, m: Any) -> Any:
        m = jax.device_put(m, device) * 0.9 + w
        for _ in range(times):
            m = jax.device_put(m, host)
        return w - m if times == 0 else (w, m)

    return step


def matrix(mesh: Any, kind: str | None = None) -> Any:
    return jax.ShapeDtypeStruct(
        (8192, 8192), jnp.float32, sharding=sharding(mesh, kind)
    )


def test_an_argument_on_the_host_is_not_in_the_device_s_memory(mesh: Any):
    # libtpu's memory_analysis tells such arguments apart, as host_argument_size_in_bytes
    step = momentum_step(mesh, 0)
    there = planned(step, matrix(mesh), matrix(mesh, "pinned_host"))
    here = planned(step, matrix(mesh), matrix(mesh))
    assert [value.name for value in here.memory.largest[:2]] == ["w", "m"]
    names = [value.name for value in there.memory.largest]
    assert names[0] == "w" and "m" not in names


def test_an_argument_on_the_host_that_is_computed_with_is_on_the_device(mesh: Any):
    # JAX refuses such a program, other writers of StableHLO may not
    text = jax.jit(lambda w, m: w - m).lower(matrix(mesh), matrix(mesh)).as_text()
    there = text.replace("{sdy.", '{mhlo.memory_kind = "pinned_host", sdy.')
    assert there != text
    peaks = {ttxdsl.load(t).plan(CHIP).memory.peak_bytes for t in (text, there)}
    assert peaks == {3 * SIZE}


@pytest.mark.parametrize("times", [1, 2])
def test_a_step_takes_as_long_as_the_busier_way(mesh: Any, times: int):
    # both ways at once; what is said to be on the host twice goes there once
    plan = planned(
        momentum_step(mesh, times),
        *(matrix(mesh), matrix(mesh, "pinned_host")),
        out_shardings=(sharding(mesh), sharding(mesh, "pinned_host")),
    )
    way = SIZE / chip_named(CHIP).host_bytes_per_second
    assert plan.time.host_s == pytest.approx(way)
    assert plan.time.step_s == pytest.approx(way)
    assert plan.time.bound == "host"
    assert "bound by host" in str(plan)


def test_saved_activations_on_the_host(mesh: Any):
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["stream"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def loss(ws: Any, x: Any, *, named_input: bool) -> Any:
        def layer(x: Any, w: Any) -> Any:
            x = checkpoint_name(x, "stream") if named_input else x
            y = x + jnp.tanh(x @ w)
            return y if named_input else checkpoint_name(y, "stream"), None

        return (
            jax.lax.scan(jax.checkpoint(layer, policy=policy), x, ws)[0] ** 2
        ).mean()

    ws = jax.ShapeDtypeStruct((6, 256, 256), jnp.float32)
    rows = 1 << 17  # what is saved is more than stays on the core
    x = jax.ShapeDtypeStruct((rows, 256), jnp.float32, sharding=sharding(mesh))
    plans = {
        named: planned(jax.grad(lambda *a, n=named: loss(*a, named_input=n)), ws, x)
        for named in (True, False)
    }
    for named, plan in plans.items():
        (saved,) = plan.memory.saved
        assert saved.on_host == named
        assert saved.called is not None and saved.called.startswith("the carry of the")
        assert saved.position is not None and Path(__file__).name in saved.position
        assert (", on the host" in str(plan)) == named
        changes = [variant.change for variant in plan.variants]
        assert ("saved activations offloaded to the host" in changes) == (not named)
        assert 0 not in plan.memory.by_category.values()
    # in bf16, to which products round them
    saved_bytes = 6 * (rows // 8) * 256 * 2
    less = plans[False].memory.peak_bytes - plans[True].memory.peak_bytes
    assert less == pytest.approx(saved_bytes, rel=0.1)


def test_every_command_tells_the_same_time(mesh: Any):
    step = momentum_step(mesh, 1)
    arguments = matrix(mesh), matrix(mesh, "pinned_host")
    lowered = jax.jit(step).trace(*arguments).lower(lowering_platforms=("tpu",))
    program = ttxdsl.load(lowered.as_text(debug_info=True))
    seconds = program.plan(CHIP, variants=False).time.step_s
    verdict = program.report_data(chip=CHIP)["verdict"]
    assert verdict["seconds"] == pytest.approx(seconds)
    assert verdict["bound"] == "host"
    assert program.diff(program, chip=CHIP).left.seconds == pytest.approx(seconds)
