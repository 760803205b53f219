"""Steps with other checkpoints compute the same, and save less."""

from typing import Any

import jax
import numpy as np
import pytest

import ttxdsl
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.plan.remat import POLICIES, with_policy
from ttxdsl.insight.plan.saved import saved_activations

LAYERS, WIDTH = 4, 16
FULL, PRODUCTS = POLICIES.values()


def layer(x: Any, w: Any) -> Any:
    return x + jax.nn.silu(x @ w["up"]) @ w["down"], None


def step(params: Any, x: Any) -> Any:
    def loss(params: Any) -> Any:
        y, _ = jax.lax.scan(layer, x, params)
        return (y * y).sum()

    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def program() -> Any:
    shape = jax.ShapeDtypeStruct
    weights = {
        "up": shape((LAYERS, WIDTH, 2 * WIDTH), "float32"),
        "down": shape((LAYERS, 2 * WIDTH, WIDTH), "float32"),
    }
    return ttxdsl.from_jax(step, weights, shape((8, WIDTH), "float32"))


@pytest.mark.parametrize("saves", [FULL, PRODUCTS])
def test_it_computes_the_same_and_saves_less(saves: Any):
    before = program()
    module = with_policy(before.module, saves)
    after, own = map(ttxdsl.Program.of_module, (module, before.module))
    rng = np.random.default_rng(0)
    arrays = [
        rng.normal(size=array.shape).astype(array.dtype) * 0.3
        for array in map(np.asarray, own.random_inputs())
    ]
    pairs = zip(after.simulate(*arrays), own.simulate(*arrays), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    names = {saved.name for saved in saved_activations(module)}
    assert names == ({"carry"} if saves is FULL else {"carry", "dot_general"})
    total = sum(saved.bytes for saved in saved_activations(module))
    before_it = saved_activations(before.partition().module)
    assert 0 < total < sum(saved.bytes for saved in before_it)


def test_plans_have_both():
    plan = program().plan("v5e")
    changes = {variant.change: variant for variant in plan.variants}
    assert set(POLICIES) <= set(changes)


def test_what_saves_nothing_more_is_refused():
    module = with_policy(program().module, FULL)
    with pytest.raises(CompileError, match="no loop saves"):
        with_policy(module, FULL)
