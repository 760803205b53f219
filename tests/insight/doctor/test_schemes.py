"""What is compiled first from nothing is what an expert starts with."""

from typing import Any

from tests.insight.doctor.jax_models import MODELS, jax, jnp, text_of
from ttxdsl.insight.doctor.doctor import diagnose
from ttxdsl.insight.doctor.jax_code import axis_names, partition_specs
from ttxdsl.insight.doctor.solving.candidates import SOLVED
from ttxdsl.loading.program import parse_program

DEVICES = 8


def trained(function: Any, params: Any, x: Any) -> str:
    """The step of SGD with momentum, whose state is given away."""

    def loss(params: Any, x: Any) -> Any:
        return jnp.mean(function(params, x) ** 2)

    def step(params: Any, mean: Any, x: Any) -> Any:
        slopes = jax.grad(loss)(params, x)
        mean = {name: 0.9 * mean[name] + slopes[name] for name in params}
        return {name: params[name] - 0.1 * mean[name] for name in params}, mean

    lowered = jax.jit(step, donate_argnums=(0, 1)).lower(params, params, x)
    return lowered.as_text(debug_info=True)


def array(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def dispatched(p: dict[str, Any], x: Any) -> Any:
    """A mixture of experts: tokens of each row go to places at theirs, and come back."""
    gates = jax.nn.softmax(x @ p["router"])
    chosen = jax.nn.one_hot(jnp.argmax(gates, -1), 8)
    row = jnp.broadcast_to(jnp.arange(x.shape[1]) // 8, x.shape[:2])
    places = chosen[..., None] * jax.nn.one_hot(row, 256)[:, :, None]
    sent = jnp.einsum("gtec,gtd->gecd", places, x)
    hidden = jax.nn.gelu(jnp.einsum("gecd,edf->gecf", sent, p["up"]))
    each = jnp.einsum("gecf,efd->gecd", hidden, p["down"])
    return x + jnp.einsum("gtec,gecd->gtd", places * gates[..., None], each)


def compiled_first(text: str, count: int, **options: Any) -> list[str]:
    """The meshes that a doctor compiles who has time for so many only."""
    diagnosis = diagnose(parse_program(text), DEVICES, limit=count, **options)
    refused = [str(one.candidate) for one in diagnosis.refused]
    assert not refused
    return [str(row.candidate) for row in diagnosis.rows]


def test_a_training_step_begins_with_fsdp():
    model, (params, x) = MODELS["scanned"]
    text = trained(model, params, x)
    assert compiled_first(text, 1) == ["fsdp=8, batch kept"]
    first = compiled_first(text, 4)
    assert "fsdp=8, batch kept" in first and "batch=8" not in first
    tensor = [one for one in first if "fsdp=4" in one or "fsdp=2" in one]
    assert len(tensor) == 2
    assert all(one.endswith("batch kept") for one in tensor)
    # between slices lies the first axis: tensor parallelism has the last
    assert all(one.startswith("fsdp=") for one in tensor)
    assert "batch=8" in compiled_first(text, 7)  # after those of the solver


def test_inference_begins_with_data_parallel_where_it_fits():
    text = text_of("scanned")
    whole = 2 * 8 * 64 * 256 * 4
    assert compiled_first(text, 1, memory=2 * whole) == ["batch=8"]
    # its parameters alone do not fit
    assert compiled_first(text, 1, memory=whole // 2) == ["fsdp=8"]


def test_experts_are_split_by_the_axis_of_the_batch():
    params = {
        "router": array(1024, 8),
        "up": array(8, 1024, 4096),
        "down": array(8, 4096, 1024),
    }
    text = trained(dispatched, params, array(16, 2048, 1024))
    diagnosis = diagnose(parse_program(text), DEVICES, limit=12)
    on_one_axis = [
        row
        for row in diagnosis.rows
        if row.candidate.shape == (8,) and not row.candidate.note.startswith(SOLVED)
    ]
    experts, other = on_one_axis[:2]
    assert str(experts.candidate) == "fsdp+experts=8"
    assert experts.measurement.seconds < 0.85 * other.measurement.seconds
    # the solver splits tokens within the products of experts, too
    best = diagnosis.rows[0]
    assert best.candidate.note == SOLVED
    assert best.measurement.seconds < 0.6 * experts.measurement.seconds
    assert best.measurement.peak_bytes < experts.measurement.peak_bytes
    assert axis_names(experts.candidate) == ("fsdp",)
    split = (("fsdp",), (), ())
    assert partition_specs(experts.candidate, diagnosis.arguments) == {
        "x": split,
        "params['router']": ((), ()),
        "mean['router']": ((), ()),
        "params['up']": split,
        "params['down']": split,
        "mean['up']": split,
        "mean['down']": split,
    }
