"""Programs of packages that optimize, transport, evolve, and simulate matter."""

from typing import Any

from tests.packages.making import BATCH, Made, numbers, program, split


@program
def jaxopt_lbfgs() -> Made:
    import jax.numpy as jnp
    import jaxopt

    def loss(x: Any, a: Any, b: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0, -(a @ x) * b)) + 0.05 * jnp.sum(x * x)

    def solve(a: Any, b: Any) -> Any:
        found = jaxopt.LBFGS(loss, maxiter=6).run(jnp.zeros(5), a, b)
        return found.params, found.state.value

    signs = jnp.sign(numbers(8 * BATCH, seed=1))
    return solve, (split(numbers(8 * BATCH, 5)), split(signs))


@program
def jaxopt_implicit_gradient() -> Made:
    import jax
    import jax.numpy as jnp
    import jaxopt

    def ridge(x: Any, strength: Any, a: Any, b: Any) -> Any:
        return jnp.mean((a @ x - b) ** 2) + strength * jnp.sum(x * x)

    def outer(strength: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        inner = jaxopt.GradientDescent(ridge, maxiter=20, implicit_diff=True)
        x = inner.run(jnp.zeros(3), strength, a, b).params
        return jnp.mean((c @ x - d) ** 2)

    data = [
        split(numbers(4 * BATCH, *more, seed=seed))
        for seed, more in enumerate([(3,), (), (3,), ()])
    ]
    return jax.value_and_grad(outer), (jnp.float32(0.1), *data)


@program
def ott_sinkhorn() -> Made:
    from ott.geometry import pointcloud
    from ott.solvers import linear

    def solve(x: Any, y: Any) -> Any:
        cloud = pointcloud.PointCloud(x, y, epsilon=0.5)
        found = linear.solve(cloud, max_iterations=20, inner_iterations=5)
        return found.f, found.g

    points = numbers(2 * BATCH, 2), numbers(2 * BATCH, 2, seed=1)
    return solve, tuple(split(one) for one in points)


@program
def ott_soft_sort() -> Made:
    from ott.tools import soft_sort

    return lambda x: soft_sort.sort(x, axis=-1), (split(numbers(BATCH, 6)),)


@program
def evosax_cma_es() -> Made:
    import jax
    import jax.numpy as jnp
    from evosax.algorithms import CMA_ES

    strategy = CMA_ES(population_size=2 * BATCH, solution=jnp.zeros(4))
    how = strategy.default_params
    start = strategy.init(jax.random.key(0), jnp.zeros(4), how)

    def evolve(key: Any, wanted: Any) -> Any:
        state, key = start, jax.random.wrap_key_data(key)
        for _ in range(2):
            there, state = strategy.ask(key, state, how)
            fitness = jnp.sum((there - wanted) ** 2, -1)
            state, _ = strategy.tell(key, there, fitness, state, how)
        return state.mean, state.std

    return evolve, (jax.random.key_data(jax.random.key(1)), numbers(4))


def _step(optimizer: Any) -> Made:
    import jax
    import jax.numpy as jnp
    import optax

    weights = {
        "a": numbers(8, 16),
        "b": numbers(16, seed=1),
        "c": numbers(16, 4, seed=2),
    }

    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w["a"] + w["b"]) @ w["c"] - y) ** 2)

    def step(w: Any, state: Any, x: Any, y: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(w, x, y)
        again = {"value": value, "grad": slope, "value_fn": lambda w: loss(w, x, y)}
        more = isinstance(optimizer, optax.GradientTransformationExtraArgs)
        updates, state = optimizer.update(slope, state, w, **(again if more else {}))
        return optax.apply_updates(w, updates), jax.tree.leaves(state), value

    data = numbers(2 * BATCH, 8, seed=3), numbers(2 * BATCH, 4, seed=4)
    return step, (weights, optimizer.init(weights), *map(split, data))


@program
def optax_muon_step() -> Made:
    import optax

    return _step(optax.contrib.muon(1e-3))


@program
def optax_lbfgs_step() -> Made:
    import optax

    return _step(optax.lbfgs())


@program
def optax_adafactor_step() -> Made:
    import optax

    return _step(optax.adafactor(1e-3))


@program
def optax_ctc_gradient() -> Made:
    import jax
    import jax.numpy as jnp
    import optax

    def loss(scores: Any, labels: Any) -> Any:
        return optax.ctc_loss(
            scores, jnp.zeros((BATCH, 7)), labels, jnp.zeros((BATCH, 3))
        ).sum()

    labels = 1 + jnp.arange(BATCH * 3).reshape(BATCH, 3) % 4
    return jax.value_and_grad(loss), (split(numbers(BATCH, 7, 5)), split(labels))


@program
def optax_assignment() -> Made:
    import jax
    import optax

    solve = jax.vmap(optax.assignment.hungarian_algorithm)
    return solve, (split(numbers(BATCH, 4, 4)),)


@program
def dynamiqs_master_equation() -> Made:
    import dynamiqs
    import jax
    import jax.numpy as jnp

    dynamiqs.set_progress_meter(False)
    lower = dynamiqs.destroy(4)

    def solve(shift: Any) -> Any:
        return dynamiqs.mesolve(
            dynamiqs.dag(lower) @ lower * shift,
            [jnp.sqrt(0.1) * lower],
            dynamiqs.fock(4, 1),
            jnp.linspace(0, 1, 3),
            exp_ops=[dynamiqs.number(4)],
        ).expects

    return jax.vmap(solve), (split(numbers(BATCH)),)


@program
def netket_local_energy() -> Made:
    import jax
    import jax.numpy as jnp
    import netket

    chain, spins = netket.graph.Chain(4), netket.hilbert.Spin(0.5, 4)
    energy = netket.operator.IsingJax(spins, chain, h=1.0)
    machine = netket.models.RBM(alpha=1, param_dtype=jnp.float32)
    seen = jnp.sign(numbers(BATCH, 4))
    weights = machine.init(jax.random.key(0), seen)

    def local(weights: Any, seen: Any) -> Any:
        near, elements = energy.get_conn_padded(seen)
        ratio = machine.apply(weights, near) - machine.apply(weights, seen)[:, None]
        return jnp.sum(elements * jnp.exp(ratio), -1)

    return local, (weights, split(seen))


@program
def jaxley_cell() -> Made:
    import jax
    import jax.numpy as jnp
    import jaxley
    from jaxley.channels import HH

    branch = jaxley.Branch(jaxley.Compartment(), ncomp=2)
    cell = jaxley.Cell([branch], parents=[-1])
    cell.insert(HH())
    cell.branch(0).loc(0.0).record()

    def run(current: Any) -> Any:
        place = cell.branch(0).loc(0.0)
        given = place.data_stimulate(current * jnp.ones(10), None)
        return jaxley.integrate(cell, data_stimuli=given, delta_t=0.025)

    return jax.vmap(run), (split(abs(numbers(BATCH))),)


@program
def nifty_correlated_field() -> Made:
    import jax
    import nifty8.re as nifty

    maker = nifty.CorrelatedFieldMaker("c")
    maker.set_amplitude_total_offset(offset_mean=0.0, offset_std=(1e-1, 1e-2))
    maker.add_fluctuations(
        (8,),
        distances=0.1,
        fluctuations=(1.0, 0.1),
        loglogavgslope=(-2.0, 0.1),
        prefix="a",
    )
    field = maker.finalize()
    start = nifty.random_like(jax.random.PRNGKey(0), field.domain)

    def at(scale: Any) -> Any:
        return field(jax.tree.map(lambda one: one * scale, start))

    return jax.vmap(at), (split(numbers(BATCH)),)


@program
def jaxlie_poses() -> Made:
    import jax
    import jaxlie

    def move(x: Any, point: Any) -> Any:
        def moved(x: Any) -> Any:
            return jaxlie.SE3.exp(x).apply(point)

        pose = jaxlie.SE3.exp(x)
        return moved(x), (pose @ pose.inverse()).log(), jax.jacfwd(moved)(x)

    return jax.vmap(move), (split(numbers(BATCH, 6)), split(numbers(BATCH, 3, seed=1)))
