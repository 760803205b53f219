"""What state becomes is one thing with it, in every change that is proposed."""

import re
from functools import cache
from importlib import import_module
from typing import Any

import pytest

import ttxdsl
from tests.sampling import sampled
from ttxdsl.bridges.xla.comparing import compare_with_xla
from ttxdsl.insight.why.answers import Counterfactual
from ttxdsl.insight.why.explain import Explainer
from ttxdsl.loading.program import parse_program

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
P: Any = jax.sharding.PartitionSpec


@cache
def step(*, given_away: bool = True, results: bool = True) -> str:
    """A step with momentum, whose first matrix is split where it is contracted.

    Args:
        given_away: whether the state is donated.
        results: whether the shardings of results are said; else XLA aliases them.
    """
    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=auto)

    def array(shape: tuple[int, ...], *axes: str | None) -> Any:
        placed = jax.sharding.NamedSharding(mesh, P(*axes))
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=placed)

    def loss(params: Any, x: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ params["up"]) @ params["down"]) ** 2)

    def train(state: Any, x: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(state["params"], x)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], slopes)
        params = jax.tree.map(lambda w, m: w - 0.01 * m, state["params"], mean)
        return {"params": params, "mean": mean}, value

    tree = {"up": array((64, 128), "model"), "down": array((128, 64), "model")}
    state = {"params": tree, "mean": tree}
    options: dict[str, Any] = {"donate_argnums": 0} if given_away else {}
    if results:
        kept = jax.tree.map(lambda one: one.sharding, state)
        options["out_shardings"] = kept, jax.sharding.NamedSharding(mesh, P())
    lowered = jax.jit(train, **options).lower(state, array((256, 64), "data"))
    return lowered.as_text(debug_info=True)


def annotated(text: str, names: tuple[str, ...], sharding: str) -> str:
    """The text with arguments and results annotated, by hand."""
    (line,) = (line for line in text.splitlines() if "func.func public @main" in line)
    given, made = line.split(") -> (")
    results = re.split(r", (?=tensor<)", made)
    new = f"sdy.sharding = #sdy.sharding<@mesh, {sharding}>"
    written = r"sdy\.sharding = #sdy\.sharding<@mesh, \[[^\]]*\]>"
    for name in names:
        kind, _, number = name.rpartition(" ")
        if kind == "result":
            at = int(number)
            had = re.sub(written, new, results[at])
            if had == results[at]:
                had = results[at].replace("{", f"{{{new}, ", 1)
            results[at] = had
        else:
            given, count = re.subn(rf"({name}: [^%]*?){written}", rf"\1{new}", given)
            assert count == 1
    return text.replace(line, f"{given}) -> ({', '.join(results)}")


@cache
def proposals(text: str) -> list[Counterfactual]:
    """What helps any collective, arguments annotated otherwise."""
    explainer = Explainer(parse_program(text), text, tries=6)
    count = len(ttxdsl.load(text).partition().collectives())
    return [
        change
        for number in range(count)
        for change in explainer.collective(number).counterfactuals
    ]


@pytest.mark.parametrize(
    ("given_away", "results"), sampled([(True, True), (True, False), (False, False)], 1)
)
def test_what_is_promised_is_saved(given_away: bool, results: bool):
    text = step(given_away=given_away, results=results)
    found = proposals(text)
    assert found
    for proposal in found:
        (change,) = proposal.changes
        assert change.kind == "annotate argument" and change.sharding is not None
        number = change.value.removeprefix("%arg")
        assert f"result {number}" in change.alike  # the state comes back in its order
        assert "result[0]['params']" in str(change)
        names = (change.value, *change.alike)
        device = ttxdsl.load(annotated(text, names, change.sharding)).partition()
        sent = sum(one.bytes_per_device for one in device.collectives())
        assert sent == proposal.figures.bytes


def test_xla_saves_it_too():
    text = step(given_away=True, results=True)  # kept of the test above
    best = min(proposals(text), key=lambda one: one.figures.bytes)
    (change,) = best.changes
    assert change.sharding == '[{}, {"model"}]'
    names = (change.value, *change.alike)
    assert len(names) == 4  # the parameter and its mean, before and after
    ours, xla = compare_with_xla(ttxdsl.load(text)).bytes
    both = annotated(text, names, change.sharding)
    ours_then, xla_then = compare_with_xla(ttxdsl.load(both)).bytes
    assert ours - ours_then == best.base.bytes - best.figures.bytes > 0
    assert xla_then < xla
    alone = annotated(text, (change.value,), change.sharding)
    assert compare_with_xla(ttxdsl.load(alone)).bytes == (ours, xla)
