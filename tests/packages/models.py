"""Programs of packages for models, their training, equations and densities."""

import os
from typing import Any

from tests.packages.making import BATCH, Made, numbers, program, split


def _keras(model: Any, inputs: Any = None, *, train: bool = False) -> Made:
    """A model's inference, or a training step; of pictures if no inputs are given."""
    import jax
    import jax.numpy as jnp

    values = [one.value for one in model.trainable_variables]
    others = [one.value for one in model.non_trainable_variables]

    def forward(values: Any, others: Any, images: Any) -> Any:
        return model.stateless_call(values, others, images, training=train)

    def step(values: Any, others: Any, images: Any, labels: Any) -> Any:
        def loss(values: Any) -> Any:
            scores, after = forward(values, others, images)
            chosen = jnp.take_along_axis(jnp.log(scores), labels[:, None], 1)
            return -chosen.mean(), after

        (value, after), slope = jax.value_and_grad(loss, has_aux=True)(values)
        return jax.tree.map(lambda v, g: v - 0.1 * g, values, slope), after, value

    if inputs is None:
        inputs = split(numbers(BATCH, 32, 32, 3))
    if train:
        return step, (values, others, inputs, split(jnp.arange(BATCH) % 10))
    return lambda *args: forward(*args)[0], (values, others, inputs)


def _application(name: str, **options: Any) -> Any:
    os.environ["KERAS_BACKEND"] = "jax"
    import keras

    # with other weights a batch may vary so little that its rounding decides
    keras.utils.set_random_seed(0)
    make = getattr(keras.applications, name)
    return make(weights=None, input_shape=(32, 32, 3), classes=10, **options)


@program
def keras_mobilenet_v2() -> Made:
    return _keras(_application("MobileNetV2", alpha=0.35))


@program
def keras_mobilenet_train_step() -> Made:
    return _keras(_application("MobileNet", alpha=0.25, dropout=0.0), train=True)


@program
def diffrax_lorenz() -> Made:
    import diffrax
    import jax
    import jax.numpy as jnp

    def slope(t: Any, y: Any, args: Any) -> Any:
        a, b, c = y
        return jnp.stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c])

    def solve(y: Any) -> Any:
        return diffrax.diffeqsolve(
            diffrax.ODETerm(slope),
            diffrax.Tsit5(),
            t0=0.0,
            t1=0.3,
            dt0=0.01,
            y0=y,
            saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 0.3, 5)),
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-5),
            max_steps=64,
        ).ys

    return jax.vmap(solve), (split(numbers(BATCH, 3)),)


@program
def diffrax_neural_ode_gradient() -> Made:
    import diffrax
    import equinox
    import jax
    import jax.numpy as jnp

    field = equinox.nn.MLP(2, 2, 16, 2, key=jax.random.key(1))
    arrays, rest = equinox.partition(field, equinox.is_array)

    def loss(arrays: Any, starts: Any, ends: Any) -> Any:
        model = equinox.combine(arrays, rest)

        def solve(y: Any) -> Any:
            return diffrax.diffeqsolve(
                diffrax.ODETerm(lambda t, y, args: model(y)),
                diffrax.Heun(),
                t0=0.0,
                t1=1.0,
                dt0=0.25,
                y0=y,
                max_steps=8,
            ).ys[0]

        return jnp.mean((jax.vmap(solve)(starts) - ends) ** 2)

    points = split(numbers(BATCH, 2)), split(numbers(BATCH, 2, seed=2))
    return jax.value_and_grad(loss), (arrays, *points)


@program
def diffrax_sde() -> Made:
    import diffrax
    import jax

    def solve(y: Any, key: Any) -> Any:
        motion = diffrax.VirtualBrownianTree(
            0.0, 1.0, 0.02, (), jax.random.wrap_key_data(key)
        )
        terms = diffrax.MultiTerm(
            diffrax.ODETerm(lambda t, y, args: -y),
            diffrax.ControlTerm(lambda t, y, args: 0.1 * y, motion),
        )
        return diffrax.diffeqsolve(
            terms, diffrax.Euler(), t0=0.0, t1=1.0, dt0=0.1, y0=y, max_steps=16
        ).ys

    keys = jax.random.key_data(jax.random.split(jax.random.key(3), BATCH))
    return jax.vmap(solve), (split(numbers(BATCH)), split(keys))


def _regression() -> Any:
    import numpyro
    from numpyro import distributions as dist

    def model(x: Any, y: Any = None) -> None:
        w = numpyro.sample("w", dist.Normal(0, 1).expand([3]).to_event(1))
        b = numpyro.sample("b", dist.Normal(0, 1))
        s = numpyro.sample("s", dist.HalfNormal(1.0))
        with numpyro.plate("data", x.shape[0]):
            numpyro.sample("y", dist.Normal(x @ w + b, s), obs=y)

    return model


@program
def numpyro_log_density() -> Made:
    import jax
    from numpyro.infer.util import log_density

    model = _regression()

    def density(values: Any, x: Any, y: Any) -> Any:
        return log_density(model, (x, y), {}, values)[0]

    values = {"w": numbers(3), "b": numbers(), "s": abs(numbers(seed=5))}
    data = split(numbers(4 * BATCH, 3)), split(numbers(4 * BATCH, seed=4))
    return jax.value_and_grad(density), (values, *data)


@program
def numpyro_svi_step() -> Made:
    import jax
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal
    from numpyro.optim import Adam

    model = _regression()
    svi = SVI(model, AutoNormal(model), Adam(0.01), Trace_ELBO())
    x, y = numbers(4 * BATCH, 3), numbers(4 * BATCH, seed=4)
    state = svi.init(jax.random.PRNGKey(0), x, y)
    return svi.update, (state, split(x), split(y))


@program
def numpyro_hmc_chains() -> Made:
    import jax
    from numpyro.infer import HMC
    from numpyro.infer.util import initialize_model

    model = _regression()
    x, y = numbers(16, 3), numbers(16, seed=4)
    keys = jax.random.split(jax.random.PRNGKey(0), BATCH)
    info = initialize_model(keys[0], model, model_args=(x, y))
    kernel = HMC(potential_fn=info.potential_fn, num_steps=4, step_size=0.01)
    start = info.param_info.z

    def chain(key: Any) -> Any:
        state = kernel.init(key, num_warmup=0, init_params=start)
        for _ in range(2):
            state = kernel.sample(state, (), {})
        return state.z, state.potential_energy

    return jax.vmap(chain), (split(keys),)


def _brax(name: str, backend: str) -> Made:
    import brax.envs
    import jax

    environment = brax.envs.get_environment(name, backend=backend)
    states = jax.vmap(environment.reset)(jax.random.split(jax.random.PRNGKey(0), BATCH))
    actions = numbers(BATCH, environment.action_size)

    def step(state: Any, action: Any) -> Any:
        state = environment.step(state, action)
        return state.obs, state.reward, state.done

    return jax.vmap(step), (split(states), split(actions))


@program
def brax_pendulum_spring() -> Made:
    return _brax("inverted_pendulum", "spring")


@program
def brax_pendulum_generalized() -> Made:
    return _brax("inverted_pendulum", "generalized")


@program
def brax_ant_positional() -> Made:
    return _brax("ant", "positional")


@program
def jax_md_energy_and_forces() -> Made:
    import jax
    from jax_md import energy, quantity, space

    distance, _ = space.periodic(3.0)
    soft = energy.soft_sphere_pair(distance)
    force = quantity.force(soft)
    places = 3 * jax.random.uniform(jax.random.key(0), (BATCH, 16, 2))
    return jax.vmap(lambda x: (soft(x), force(x))), (split(places),)


@program
def jax_md_nve() -> Made:
    import jax
    from jax_md import energy, simulate, space

    distance, shift = space.periodic(4.0)
    start, apply = simulate.nve(energy.lennard_jones_pair(distance), shift, 1e-3)
    grid = jax.numpy.stack(jax.numpy.meshgrid(*[jax.numpy.arange(4.0)] * 2), -1)

    def run(key: Any) -> Any:
        state = start(key, grid.reshape(16, 2), kT=0.1)
        state = jax.lax.fori_loop(0, 5, lambda _, state: apply(state), state)
        return state.position, state.momentum

    keys = jax.random.split(jax.random.PRNGKey(0), BATCH)
    return jax.vmap(run), (split(keys),)


@program
def jax_md_particles_split() -> Made:
    import jax
    from jax_md import energy, quantity, space

    distance, _ = space.periodic(3.0)
    soft = energy.soft_sphere_pair(distance)
    places = 3 * jax.random.uniform(jax.random.key(0), (4 * BATCH, 2))
    return quantity.force(soft), (split(places),)


@program
def e3nn_spherical_harmonics() -> Made:
    import e3nn_jax as e3nn

    def harmonics(vectors: Any) -> Any:
        return e3nn.spherical_harmonics("0e + 1o + 2e + 3o", vectors, True).array

    return harmonics, (split(numbers(4 * BATCH, 3)),)


@program
def e3nn_tensor_product_gate() -> Made:
    import e3nn_jax as e3nn

    irreps = e3nn.Irreps("4x0e + 4x0e + 2x1o")

    def layer(features: Any, vectors: Any) -> Any:
        x = e3nn.IrrepsArray(irreps, features)
        y = e3nn.spherical_harmonics("0e + 1o + 2e", vectors, True)
        product = e3nn.tensor_product(x, y, filter_ir_out="0e + 1o")
        scalars = e3nn.norm(product).array
        return product.array, e3nn.scalar_activation(e3nn.norm(product)).array, scalars

    features = numbers(BATCH, irreps.dim)
    return layer, (split(features), split(numbers(BATCH, 3, seed=2)))


@program
def e3nn_linear_gradient() -> Made:
    import e3nn_jax as e3nn
    import jax
    import jax.numpy as jnp

    linear = e3nn.flax.Linear("8x0e + 4x1o")
    x = numbers(BATCH, 4 + 6)

    def given(x: Any) -> Any:
        return e3nn.IrrepsArray("4x0e + 2x1o", x)

    weights = linear.init(jax.random.key(0), given(x))

    def loss(weights: Any, x: Any) -> Any:
        out = e3nn.gate(linear.apply(weights, given(x)))
        return jnp.mean(out.array**2)

    return jax.value_and_grad(loss), (weights, split(x))


@program
def flax_optax_train_step() -> Made:
    import jax
    import jax.numpy as jnp
    import optax
    from flax import linen

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            x = linen.relu(linen.Conv(8, (3, 3))(x))
            x = linen.LayerNorm()(linen.avg_pool(x, (2, 2), (2, 2)))
            return linen.Dense(10)(x.reshape(x.shape[0], -1))

    net, images = Net(), numbers(BATCH, 8, 8, 3)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    values = net.init(jax.random.key(0), images)

    def step(values: Any, state: Any, images: Any, labels: Any) -> Any:
        def loss(values: Any) -> Any:
            scores = net.apply(values, images)
            return optax.softmax_cross_entropy_with_integer_labels(
                scores, labels
            ).mean()

        value, slope = jax.value_and_grad(loss)(values)
        updates, state = optimizer.update(slope, state, values)
        return optax.apply_updates(values, updates), state, value

    labels = jnp.arange(BATCH) % 10
    return step, (values, optimizer.init(values), split(images), split(labels))


@program
def equinox_attention() -> Made:
    import equinox
    import jax

    attention = equinox.nn.MultiheadAttention(2, 16, key=jax.random.key(0))
    arrays, rest = equinox.partition(attention, equinox.is_array)

    def run(arrays: Any, x: Any) -> Any:
        model = equinox.combine(arrays, rest)
        return jax.vmap(lambda x: model(x, x, x))(x)

    return run, (arrays, split(numbers(BATCH, 6, 16)))


@program
def haiku_lstm() -> Made:
    import haiku
    import jax

    def forward(x: Any) -> Any:
        core = haiku.LSTM(16)
        return haiku.dynamic_unroll(core, x, core.initial_state(x.shape[1]))[0]

    net = haiku.without_apply_rng(haiku.transform(forward))
    x = numbers(BATCH, 6, 4)

    def swapped(values: Any, x: Any) -> Any:
        return net.apply(values, x.swapaxes(0, 1))

    return swapped, (net.init(jax.random.key(0), x.swapaxes(0, 1)), split(x))


@program
def distrax_flow() -> Made:
    import distrax
    import jax.numpy as jnp

    def density(shift: Any, x: Any) -> Any:
        base = distrax.MultivariateNormalDiag(jnp.zeros(3), jnp.ones(3))
        bijector = distrax.Block(
            distrax.Chain([distrax.Tanh(), distrax.ScalarAffine(shift, 0.5)]), 1
        )
        return distrax.Transformed(base, bijector).log_prob(jnp.tanh(x))

    return density, (numbers(3), split(numbers(BATCH, 3, seed=1)))


@program
def optimistix_newton() -> Made:
    import jax
    import jax.numpy as jnp
    import optimistix

    def solve(target: Any) -> Any:
        def residual(x: Any, args: Any) -> Any:
            return jnp.tanh(x) + x - target

        solver = optimistix.Newton(rtol=1e-5, atol=1e-5)
        return optimistix.root_find(residual, solver, target, max_steps=16).value

    return jax.vmap(solve), (split(numbers(BATCH, 3)),)


@program
def lineax_least_squares() -> Made:
    import jax
    import lineax

    def solve(matrix: Any, vector: Any) -> Any:
        operator = lineax.MatrixLinearOperator(matrix)
        return lineax.linear_solve(operator, vector, lineax.QR()).value

    return jax.vmap(solve), (
        split(numbers(BATCH, 6, 3)),
        split(numbers(BATCH, 6, seed=1)),
    )


@program
def blackjax_nuts_chains() -> Made:
    import blackjax
    import jax
    import jax.numpy as jnp

    nuts = blackjax.nuts(
        lambda x: -0.5 * jnp.sum(x**2),
        step_size=0.3,
        inverse_mass_matrix=jnp.ones(3),
        max_num_doublings=3,
    )

    def chain(key: Any, x: Any) -> Any:
        state, _ = nuts.step(key, nuts.init(x))
        return state.position, state.logdensity

    keys = jax.random.split(jax.random.PRNGKey(0), BATCH)
    return jax.vmap(chain), (split(keys), split(numbers(BATCH, 3)))


@program
def jraph_graph_convolution() -> Made:
    import jax
    import jax.numpy as jnp
    import jraph

    senders, receivers = jnp.arange(6), (jnp.arange(6) * 5 + 1) % 6

    def one(weights: Any, nodes: Any) -> Any:
        graph = jraph.GraphsTuple(
            nodes, None, receivers, senders, None, jnp.array([6]), jnp.array([6])
        )
        layer = jraph.GraphConvolution(lambda n: n @ weights, add_self_edges=True)
        return layer(graph).nodes

    layer = jax.vmap(one, in_axes=(None, 0))
    return layer, (numbers(4, 5), split(numbers(BATCH, 6, 4)))


def _keras_hub(name: str, **sizes: int) -> Made:
    os.environ["KERAS_BACKEND"] = "jax"
    import jax.numpy as jnp
    import keras
    import keras_hub

    keras.utils.set_random_seed(0)
    model = getattr(keras_hub.models, name)(
        vocabulary_size=50,
        num_query_heads=2,
        num_key_value_heads=1,
        hidden_dim=16,
        intermediate_dim=32,
        **sizes,
    )
    tokens = jnp.arange(BATCH * 8).reshape(BATCH, 8) % 50
    mask = jnp.ones((BATCH, 8), jnp.int32)
    return _keras(model, {"token_ids": split(tokens), "padding_mask": split(mask)})


@program
def keras_hub_gemma() -> Made:
    return _keras_hub("GemmaBackbone", num_layers=2, head_dim=8)


@program
def keras_hub_mixtral() -> Made:
    return _keras_hub("MixtralBackbone", num_layers=1, num_experts=4, top_k=2)


@program
def flax_nnx_train_step() -> Made:
    import jax
    import jax.numpy as jnp
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.norm = nnx.LayerNorm(16, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(2, 16, decode=False, rngs=rngs)
            self.groups = nnx.GroupNorm(16, 4, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.groups(x + self.attention(self.norm(x)))

    graph, values, rest = nnx.split(Block(nnx.Rngs(0)), nnx.Param, ...)

    def step(values: Any, x: Any) -> Any:
        def loss(values: Any) -> Any:
            return jnp.mean(nnx.merge(graph, values, rest, copy=True)(x) ** 2)

        value, slope = jax.value_and_grad(loss)(values)
        return jax.tree.map(lambda v, g: v - 0.1 * g, values, slope), value

    return step, (values, split(numbers(BATCH, 6, 16)))


@program
def quax_lora() -> Made:
    import equinox
    import jax
    import quax
    from quax.examples import lora

    net = equinox.nn.MLP(8, 8, 8, 1, key=jax.random.key(0))
    net = lora.loraify(net, rank=2, key=jax.random.key(1))
    arrays, rest = equinox.partition(net, equinox.is_array)

    def run(arrays: Any, x: Any) -> Any:
        return jax.vmap(quax.quaxify(equinox.combine(arrays, rest)))(x)

    return run, (arrays, split(numbers(BATCH, 8)))


def _flow(flow: Any) -> Made:
    import equinox
    import jax

    arrays, rest = equinox.partition(flow, equinox.is_inexact_array)

    def loss(arrays: Any, x: Any) -> Any:
        return -equinox.combine(arrays, rest).log_prob(x).mean()

    return jax.value_and_grad(loss), (arrays, split(numbers(2 * BATCH, 3)))


@program
def flowjax_spline_gradient() -> Made:
    import jax
    import jax.numpy as jnp
    from flowjax.bijections import RationalQuadraticSpline
    from flowjax.distributions import Normal
    from flowjax.flows import coupling_flow

    spline = RationalQuadraticSpline(knots=4, interval=2)
    base = Normal(jnp.zeros(3))
    key = jax.random.key(0)
    return _flow(
        coupling_flow(
            key, base_dist=base, transformer=spline, flow_layers=2, nn_width=8
        )
    )


@program
def flowjax_block_neural_gradient() -> Made:
    import jax
    import jax.numpy as jnp
    from flowjax.distributions import Normal
    from flowjax.flows import block_neural_autoregressive_flow

    base = Normal(jnp.zeros(3))
    return _flow(block_neural_autoregressive_flow(jax.random.key(0), base_dist=base))


@program
def distrax_hidden_markov() -> Made:
    import distrax
    import jax
    import jax.numpy as jnp

    def infer(seen: Any) -> Any:
        model = distrax.HMM(
            distrax.Categorical(logits=jnp.zeros(3)),
            distrax.Categorical(logits=numbers(3, 3)),
            distrax.Normal(jnp.arange(3.0), 1.0),
        )
        _, _, posterior, likelihood = model.forward_backward(seen)
        return posterior, likelihood, model.viterbi(seen)

    return jax.vmap(infer), (split(numbers(BATCH, 6)),)


@program
def tinygp_log_probability() -> Made:
    import jax
    import jax.numpy as jnp
    from tinygp import GaussianProcess, kernels

    places = jnp.linspace(0, 5, 12)

    def density(scale: Any, seen: Any) -> Any:
        kernel = scale[0] ** 2 * kernels.Matern52(scale[1])
        return GaussianProcess(kernel, places, diag=0.1).log_probability(seen)

    scales = 1 + abs(numbers(BATCH, 2))
    return jax.vmap(jax.value_and_grad(density)), (
        split(scales),
        split(numbers(BATCH, 12, seed=1)),
    )
