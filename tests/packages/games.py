"""Programs of packages that simulate worlds, play in them and look at pictures."""

from typing import Any

from tests.packages.making import BATCH, Made, numbers, program, split


def _keys() -> Any:
    import jax

    return split(jax.random.split(jax.random.PRNGKey(0), BATCH))


@program
def gymnax_cartpole() -> Made:
    import gymnax
    import jax
    import jax.numpy as jnp

    world, how = gymnax.make("CartPole-v1")

    def play(key: Any) -> Any:
        seen, state = world.reset(key, how)

        def turn(carry: Any, _: Any) -> Any:
            seen, state, key = carry
            key, now = jax.random.split(key)
            action = (seen.sum() > 0).astype(jnp.int32)
            seen, state, *rest = world.step(now, state, action, how)
            return (seen, state, key), (seen, *rest[:2])

        return jax.lax.scan(turn, (seen, state, key), None, length=6)[1]

    return jax.vmap(play), (_keys(),)


def _jumanji(name: str, actions: tuple[int, ...], look: Any) -> Made:
    import jax
    import jumanji

    world = jumanji.make(name)

    def play(key: Any) -> Any:
        state, seen = world.reset(key)
        for action in actions:
            state, seen = world.step(state, action)
        return look(seen.observation), seen.reward

    return jax.vmap(play), (_keys(),)


@program
def jumanji_snake() -> Made:
    return _jumanji("Snake-v1", (0, 1, 2), lambda seen: seen.grid)


@program
def jumanji_game_2048() -> Made:
    return _jumanji("Game2048-v1", (0, 3, 2, 1), lambda seen: seen.board)


@program
def pgx_go() -> Made:
    import jax
    import jax.numpy as jnp
    import pgx

    world = pgx.make("go_9x9")

    def play(keys: Any) -> Any:
        state = jax.vmap(world.init)(keys)
        for action in (0, 1, 9, 13):
            state = jax.vmap(world.step)(state, jnp.full(BATCH, action))
        return state.observation, state.rewards, state.legal_action_mask

    return play, (_keys(),)


@program
def craftax_step() -> Made:
    import jax
    from craftax.craftax_env import make_craftax_env_from_name

    world = make_craftax_env_from_name("Craftax-Classic-Symbolic-v1", auto_reset=False)
    how = world.default_params

    def play(key: Any) -> Any:
        _, state = world.reset(key, how)
        return world.step(key, state, 3, how)[::2]

    return jax.vmap(play), (_keys(),)


@program
def mujoco_mjx_step() -> Made:
    import jax
    import jax.numpy as jnp
    import mujoco
    from mujoco import mjx

    text = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body pos="0 0 .3">
      <freejoint/><geom type="sphere" size=".1" mass="1"/></body></worldbody></mujoco>"""
    world = mjx.put_model(mujoco.MjModel.from_xml_string(text))
    start = mjx.make_data(world)

    def fall(height: Any) -> Any:
        state = start.replace(qpos=start.qpos.at[2].set(height))
        for _ in range(2):
            state = mjx.step(world, state)
        return state.qpos, state.qvel

    return jax.vmap(fall), (split(jnp.linspace(0.05, 0.3, BATCH)),)


@program
def mctx_gumbel_search() -> Made:
    import jax
    import jax.numpy as jnp
    import mctx

    def search(key: Any, weights: Any, seen: Any) -> Any:
        def look(state: Any) -> tuple[Any, Any]:
            scores = state @ weights
            return scores, scores.mean(-1)

        def turn(_: Any, key: Any, action: Any, state: Any) -> Any:
            state = jnp.tanh(state + jax.nn.one_hot(action, 4) @ weights.T)
            scores, value = look(state)
            given = mctx.RecurrentFnOutput(
                reward=state.sum(-1) * 0.1,
                discount=jnp.full(action.shape, 0.9),
                prior_logits=scores,
                value=value,
            )
            return given, state

        scores, value = look(seen)
        root = mctx.RootFnOutput(prior_logits=scores, value=value, embedding=seen)
        found = mctx.gumbel_muzero_policy(
            (), key, root, turn, num_simulations=8, max_num_considered_actions=4
        )
        return found.action, found.action_weights

    seen = split(numbers(BATCH, 6, seed=1))
    return search, (jax.random.PRNGKey(0), numbers(6, 4), seen)


@program
def rlax_vtrace() -> Made:
    import jax
    import jax.numpy as jnp
    import rlax

    def losses(values: Any, rewards: Any, discounts: Any, ratios: Any) -> Any:
        found = rlax.vtrace_td_error_and_advantage(
            values[:-1], values[1:], rewards, discounts, ratios
        )
        return found.errors, found.pg_advantage, found.q_estimate

    return jax.vmap(losses), (
        split(numbers(BATCH, 9)),
        split(numbers(BATCH, 8, seed=1)),
        split(jnp.full((BATCH, 8), 0.9)),
        split(abs(numbers(BATCH, 8, seed=2))),
    )


@program
def flashbax_prioritised_buffer() -> Made:
    import flashbax
    import jax
    import jax.numpy as jnp

    buffer = flashbax.make_prioritised_flat_buffer(32, 2, 8)

    def run(key: Any, items: Any) -> Any:
        state = buffer.init({"item": jnp.zeros(3)})
        for item in items:
            state = buffer.add(state, {"item": item})
        found = buffer.sample(state, key)
        state = buffer.set_priorities(state, found.indices, jnp.arange(8) + 1.0)
        found = buffer.sample(state, key)
        return jax.tree.leaves(found.experience)[0], found.probabilities

    return run, (jax.random.PRNGKey(0), split(numbers(BATCH, 3)))


@program
def pix_pictures() -> Made:
    import dm_pix
    import jax

    def change(picture: Any, angle: Any) -> Any:
        other = dm_pix.adjust_contrast(dm_pix.adjust_brightness(picture, 0.1), 1.2)
        other = dm_pix.flip_left_right(dm_pix.gaussian_blur(other, 1.0, 5))
        other = dm_pix.hsv_to_rgb(dm_pix.rgb_to_hsv(other))
        return (
            other,
            dm_pix.ssim(picture[None], other[None]),
            dm_pix.rotate(other, angle),
        )

    pictures = jax.random.uniform(jax.random.key(0), (BATCH, 16, 16, 3))
    return jax.vmap(change), (split(pictures), split(numbers(BATCH)))
