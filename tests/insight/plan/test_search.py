"""Batches and meshes that were compiled: what fits, what is fastest, and the frontier."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

import ttxdsl
from ttxdsl.cli.main import main
from ttxdsl.diagnostics.errors import CompileError

EXAMPLES = Path(__file__).parents[3] / "examples"
STEP = EXAMPLES / "mlp_train_step.mlir"


def test_frontier():
    found = ttxdsl.load(STEP).plan_search("v5e")
    assert not found.refused
    own = ttxdsl.load(STEP).plan("v5e", variants=False)
    (same,) = (
        choice
        for choice in found.choices
        if (choice.mesh, choice.batch) == ("data=2 x model=4", Fraction(1))
    )
    assert same.peak_bytes == own.memory.peak_bytes
    assert same.step_s == pytest.approx(own.time.step_s)
    speeds = [choice.speed for choice in found.choices]
    assert speeds == sorted(speeds, reverse=True)
    frontier = [choice for choice in found.choices if choice.on_frontier]
    assert frontier[0] == found.choices[0]
    for choice in found.choices:
        beaten = any(
            other.speed >= choice.speed and other.peak_bytes < choice.peak_bytes
            for other in found.choices
        )
        if choice.on_frontier:
            assert not beaten


def test_checkpoints():
    """What layers compute again is an axis of the search, and takes time for memory."""
    jax = pytest.importorskip("jax")
    spec, shape = jax.sharding.PartitionSpec, jax.ShapeDtypeStruct
    mesh = jax.sharding.AbstractMesh((4,), ("data",))

    def layer(x, w):
        return x + jax.nn.silu(x @ w["up"]) @ w["down"], None

    def step(params, x):
        def loss(params, x):
            return (jax.lax.scan(layer, x, params)[0] ** 2).sum()

        grads = jax.grad(loss)(params, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    params = {
        "up": shape((4, 4096, 4096), "bfloat16"),
        "down": shape((4, 4096, 4096), "bfloat16"),
    }
    split = jax.sharding.NamedSharding(mesh, spec("data"))
    whole = jax.sharding.NamedSharding(mesh, spec())
    jitted = jax.jit(step, in_shardings=({"up": whole, "down": whole}, split))
    traced = jitted.trace(params, shape((8192, 4096), "bfloat16"))
    text = traced.lower(lowering_platforms=("cpu",)).as_text()
    found = ttxdsl.load(text).plan_search("v5e", batches=[Fraction(1)])
    assert not found.refused
    choices = {choice.remat: choice for choice in found.choices}
    assert set(choices) == {"as written", "all but products", "all"}
    memory = [choice.peak_bytes for choice in choices.values()]
    assert choices["all"].peak_bytes == min(memory) < max(memory)
    assert choices["all"].step_s == max(choice.step_s for choice in found.choices)


def test_command(capsys: pytest.CaptureFixture[str]):
    command = ["plan", str(STEP), "--chip", "v5e", "--search", "--candidates", "3"]
    assert main([*command, "--devices", "4"]) == 0
    assert "memory and speed of the frontier" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (len(data["choices"]), data["devices"]) == (3, 8)


def test_what_has_no_mesh():
    text = "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }"
    with pytest.raises(CompileError, match="0 meshes with axes"):
        ttxdsl.load(text).plan_search("v5e")
