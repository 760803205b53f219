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
