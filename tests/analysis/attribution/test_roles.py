"""What collectives of training steps send, where the sizes of tensors tell it."""

import re
from importlib import import_module
from itertools import product
from math import prod
from typing import Any

import pytest

import ttxdsl
from tests.insight.report.training_steps import OF_DATA, SCHEMES, Step, lowered, symbols
from tests.sampling import sampled
from ttxdsl.analysis.attribution.purposes import purposes
from ttxdsl.analysis.attribution.roles import Role, collective_roles
from ttxdsl.api import Program
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.tensors import element_of, shape_of

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")

_SOME = [
    # five flags, each pair of them in all four ways
    Step("tensor", False, False, False, False, False),
    Step("fsdp", True, True, True, False, False),
    Step("experts", True, True, False, True, False),
    Step("data", True, False, True, True, True),
    Step("fsdp+tensor", False, True, False, True, True),
    Step("zero", False, False, True, False, True),
    # and all of them
    Step("experts", True, True, True, True, True),
]
_ALL = [
    Step(scheme, *flags)
    for scheme in SCHEMES
    for flags in product((False, True), repeat=5)
]
_SUMS = (stablehlo.AllReduceOp, stablehlo.ReduceScatterOp)


def wrong_labels(step: Step, device: Program) -> list[str]:
    """The collectives whose label is not what the sizes of their operand tell."""
    wrong: list[str] = []
    sent = [
        (op, roles, which)
        for op, roles in collective_roles(device.module)
        for which, _ in enumerate(op.operands)
    ]
    for op, roles, which in sent:
        operand = op.operands[which]
        count = prod(shape_of(operand))
        dims, role = symbols(count), roles.of(op, which)
        if count == 1:
            right = {Role.RESULTS}
            if step.clipped:
                right |= {Role.GRADIENT_STATISTICS}
        elif dims & OF_DATA:
            is_index = str(element_of(operand)) == "i32"
            right = {Role.ARGUMENTS if is_index else Role.ACTIVATIONS}
        elif isinstance(op, _SUMS) or dims - {"layers"} == {"model", "experts"}:
            right = {Role.GRADIENTS}
        else:
            right = {Role.PARAMETERS}
        if role not in right:
            wrong.append(f"{op.name} of {operand.type}: {role.value}")
        if role in (Role.GRADIENTS, Role.PARAMETERS):
            named = roles.arguments(op, which)
            for argument in named:
                size = symbols(prod(shape_of(argument)))
                is_parameter = "state['params']" in str(argument.location)
                if size - {"layers"} != dims - {"layers"} or not is_parameter:
                    wrong.append(f"{op.name} of {operand.type}: {argument.location}")
            if len(named) != 1:
                wrong.append(f"{op.name} of {operand.type}: {len(named)} arguments")
    return wrong


def check(step: Step) -> None:
    device = ttxdsl.load(lowered(step)).partition()
    assert not wrong_labels(step, device)
    lines = purposes(device.module, device.collectives())
    words = {(line.why, of) for line in lines for of in re.split(", | and ", line.of)}
    match step.scheme:
        case "data":
            assert ("data parallel", "gradients") in words
            assert not {"FSDP", "ZeRO"} & {why for why, _ in words}
        case "fsdp" | "fsdp+tensor":
            assert ("FSDP", "parameters") in words and ("FSDP", "gradients") in words
        case "tensor":
            assert ("partial sums", "activations") in words
        case "zero":
            assert ("ZeRO", "parameters") in words and ("ZeRO", "gradients") in words
            assert not any(why == "FSDP" for why, _ in words)
        case _:
            assert ("moved", "activations") in words
    assert "results" in {of for _, of in words}


@pytest.mark.parametrize("step", sampled(_SOME, 2), ids=str)
def test_labels_follow_values(step: Step):
    check(step)


@pytest.mark.fuzz
@pytest.mark.parametrize("step", _ALL, ids=str)
def test_labels_of_every_step(step: Step):
    check(step)


def _array(shape: tuple[int, ...], *axes: str | None, dtype: Any = jnp.float32) -> Any:
    auto = (jax.sharding.AxisType.Auto,) * 2
    mesh = jax.make_mesh((2, 2), ("data", "model"), axis_types=auto)
    placed = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
    return jax.ShapeDtypeStruct(shape, dtype, sharding=placed)


def _lines(function: Any, *arguments: Any, **options: Any) -> list[str]:
    """The summary of a function, without the bytes."""
    text = jax.jit(function, **options).lower(*arguments).as_text(debug_info=True)
    device = ttxdsl.load(text).partition()
    lines = purposes(device.module, device.collectives())
    return [str(line).rpartition(",")[0] for line in lines]


def _residual(x: Any, weights: Any) -> Any:
    return x + jnp.tanh(x @ weights["up"]) @ weights["down"]


def test_what_is_added_to_an_input_is_no_gradient():
    weights = {
        "up": _array((20, 28), None, "model"),
        "down": _array((28, 20), "model", None),
    }
    x = _array((24, 20), "data")
    found = _lines(_residual, x, weights, donate_argnums=0)
    assert found == ["partial sums: 1 all_reduce of results over model"]


def test_weights_of_inference_are_arguments_in_loops():
    weights = {
        "up": _array((3, 20, 28), None, "data", "model"),
        "down": _array((3, 28, 20), None, "model", "data"),
    }

    def deep(x: Any, weights: Any) -> Any:
        return jax.lax.scan(lambda x, layer: (_residual(x, layer), None), x, weights)[0]

    assert _lines(deep, _array((24, 20), "data"), weights) == [
        "gathered: 6 all_gathers of arguments over data",
        "partial sums: 3 all_reduces of activations over model",
    ]


def test_a_cache_is_no_parameter():
    """A step of decoding writes its keys where attention reads them."""

    def decode(cache: Any, weights: Any, x: Any, at: Any) -> Any:
        def layer(x: Any, given: Any) -> Any:
            cache, weights = given
            query = (x @ weights["q"]).reshape(24, 4, 16)
            keys = (x @ weights["k"]).reshape(24, 1, 4, 16)
            cache = jax.lax.dynamic_update_slice(cache, keys, (0, at, 0, 0))
            scores = jax.nn.softmax(jnp.einsum("bhk,bthk->bht", query, cache), -1)
            mixed = jnp.einsum("bht,bthk->bhk", scores, cache).reshape(24, 64)
            return x + mixed @ weights["o"], cache

        x, cache = jax.lax.scan(layer, x, (cache, weights))
        return cache, x

    cache = _array((3, 24, 26, 4, 16), None, None, "data", "model", None)
    weights = {
        "q": _array((3, 20, 64), None, None, "model"),
        "k": _array((3, 20, 64), None, None, "model"),
        "o": _array((3, 64, 20), None, "model", None),
    }
    x, at = _array((24, 20), "data"), _array((), dtype=jnp.int32)
    found = _lines(decode, cache, weights, x, at, donate_argnums=0)
    assert found and all("of activations" in line for line in found)


def test_statistics_of_a_batch_are_activations():
    """Running means are updated as parameters are; nothing is differentiated by them."""

    def forward(params: Any, stats: Any, x: Any) -> Any:
        for name in ("one", "two"):
            layer = params[name]
            x = x @ layer["w"] + layer["b"]
            mean = x.mean(0)
            square = jnp.square(x - mean).mean(0)
            stats = stats | {name: 0.9 * stats[name] + 0.1 * mean}
            x = jnp.tanh((x - mean) * jax.lax.rsqrt(square + 1e-5) * layer["s"])
        return jnp.mean(x**2), stats

    def step(state: Any, x: Any) -> Any:
        ask = jax.value_and_grad(forward, has_aux=True)
        (loss, stats), slopes = ask(state["params"], state["stats"], x)
        params = jax.tree.map(lambda w, s: w - 0.1 * s, state["params"], slopes)
        return {"params": params, "stats": stats}, loss

    layer = {"w": _array((20, 20)), "b": _array((20,)), "s": _array((20,))}
    state = {
        "params": {"one": layer, "two": layer},
        "stats": {"one": _array((20,)), "two": _array((20,))},
    }
    found = _lines(step, state, _array((24, 20), "data"))
    gradients = [line for line in found if "gradients" in line]
    assert gradients and all(line.startswith("data parallel: 1 ") for line in gradients)
    assert any(
        line.startswith("partial sums") and "activations" in line for line in found
    )


def test_gradients_that_are_returned():
    """No update says what is a parameter; what is multiplied alike does."""

    def loss(weights: Any, x: Any) -> Any:
        return jnp.mean(_residual(x, weights) ** 2)

    weights = {"up": _array((20, 28), "data"), "down": _array((28, 20), "data")}
    found = _lines(jax.value_and_grad(loss), weights, _array((2400, 20), "data"))
    assert found == [
        "data parallel: 1 all_reduce of gradients and results over data",
        "FSDP: 1 all_gather of parameters over data",
    ]


def test_the_last_gradient_may_depend_on_no_parameter():
    def loss(weights: Any, x: Any) -> Any:
        return (jnp.tanh(x @ weights["up"]) @ weights["down"] + weights["b"]).mean()

    def step(weights: Any, x: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(weights, x)
        return jax.tree.map(lambda w, s: w - 0.1 * s, weights, slopes), value

    weights = {"up": _array((20, 28)), "down": _array((28, 20)), "b": _array((20,))}
    assert _lines(step, weights, _array((2400, 20), "data")) == [
        "data parallel: 1 all_reduce of gradients and results over data",
    ]


def test_means_of_squares_are_state_of_the_optimizer():
    """Adafactor keeps sums over rows and columns of squares, which are split."""

    def loss(weights: Any, x: Any) -> Any:
        return jnp.mean(_residual(x, weights) ** 2)

    def step(state: Any, x: Any) -> Any:
        weights, rows, columns = state
        slopes = jax.grad(loss)(weights, x)
        rows = {k: 0.9 * rows[k] + jnp.mean(g**2, 1) for k, g in slopes.items()}
        columns = {k: 0.9 * columns[k] + jnp.mean(g**2, 0) for k, g in slopes.items()}
        new = {
            k: w - slopes[k] * jax.lax.rsqrt(rows[k][:, None] * columns[k][None])
            for k, w in weights.items()
        }
        return new, rows, columns

    weights = {"up": _array((20, 28), "data"), "down": _array((28, 20), "data")}
    rows = {"up": _array((20,)), "down": _array((28,))}
    columns = {"up": _array((28,)), "down": _array((20,))}
    options = {
        "out_shardings": jax.tree.map(lambda a: a.sharding, (weights, rows, columns))
    }
    found = _lines(
        step, (weights, rows, columns), _array((2400, 20), "data"), **options
    )
    state = [line for line in found if "optimizer state" in line]
    assert state
    assert not any("activations" in line for line in found)


def test_nothing_is_an_optimizer_s_where_nothing_is_trained():
    """A state that is a sum of maxima, and a function of that."""

    def count(state: Any, x: Any) -> Any:
        state = state + jnp.max(x, 0)
        return state, jnp.sum(jnp.sqrt(state))

    found = _lines(count, _array((20,), "model"), _array((24, 20), "data"))
    assert len(found) == 2
    assert all(
        line.endswith(("activations over data", "results over model")) for line in found
    )
