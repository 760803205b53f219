"""From jitted JAX functions: shardings, locations, order of arguments, refusals."""

import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

import ttxdsl
from ttxdsl import from_jax


@pytest.fixture(scope="module")
def mesh() -> jax.sharding.Mesh:
    return jax.make_mesh(
        (2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto)
    )


def layer(params: dict[str, jax.Array], x: jax.Array) -> dict[str, jax.Array]:
    hidden = jnp.tanh(x @ params["w"])
    return {"y": hidden @ params["v"], "norm": jnp.sum(hidden)}


def assert_trees_close(found: Any, wanted: Any) -> None:
    """Both have the same tree, and the same numbers."""
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        if jax.dtypes.issubdtype(other.dtype, jax.dtypes.prng_key):
            assert one.dtype == other.dtype
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-4, atol=1e-5)


def shapes(mesh: jax.sharding.Mesh) -> tuple[dict[str, Any], Any]:
    def array(shape: tuple[int, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(
            shape, jnp.float32, sharding=NamedSharding(mesh, P(*axes))
        )

    params = {"w": array((16, 8), None, "model"), "v": array((8, 4), "model", None)}
    return params, array((6, 16), "data", None)


def test_shapes_carry_the_shardings(mesh: jax.sharding.Mesh):
    program = from_jax(jax.jit(layer), *shapes(mesh))
    assert program.meshes["mesh"].axes == (("data", 2), ("model", 4))
    kinds = {(c.kind, c.axes_text) for c in program.partition().collectives()}
    assert ("all_reduce", "model") in kinds


def test_arrays_carry_the_shardings_and_give_the_numbers(mesh: jax.sharding.Mesh):
    values = jax.tree.map(
        lambda a: jax.device_put(
            np.random.default_rng(0).normal(size=a.shape).astype(a.dtype), a.sharding
        ),
        shapes(mesh),
    )
    jitted = jax.jit(layer)
    expected = jitted(*values)
    program = from_jax(jitted, *values)
    for form in (program, program.partition(), program.lower("ttnn")):
        assert_trees_close(form.simulate(*values), expected)


def test_plain_functions_and_keywords(mesh: jax.sharding.Mesh):
    params, x = shapes(mesh)
    assert from_jax(layer, params=params, x=x).source == "<jax layer>"


def test_errors_name_the_line_of_the_function(mesh: jax.sharding.Mesh):
    result = jax.ShapeDtypeStruct((8, 8), jnp.float32)

    def user(x: jax.Array) -> jax.Array:
        return jax.pure_callback(lambda x: x, result, x)  # the line that is meant

    line = user.__code__.co_firstlineno + 1
    x = jax.ShapeDtypeStruct(
        (8, 8), jnp.float32, sharding=NamedSharding(mesh, P("data"))
    )
    with pytest.raises(ttxdsl.CompileError, match=rf"test_programs\.py:{line}:"):
        from_jax(user, x).partition(strict=True)


@jax.tree_util.register_dataclass
@dataclass
class State:
    """As train states are: a dataclass of arrays and a key, some of them unused."""

    w: jax.Array
    key: jax.Array
    count: jax.Array


def states() -> State:
    return State(jnp.ones((3,)), jax.random.key(1), jnp.zeros((7,), jnp.int32))


def step(state: State, x: jax.Array, *, scale: jax.Array) -> tuple[State, Any]:
    key, _ = jax.random.split(state.key)
    return replace(state, w=state.w + x * scale, key=key), {"n": [None, x.sum()]}


def test_any_tree_goes_in_and_comes_back():
    state, x, scale = states(), jnp.arange(3.0), jnp.float32(2)
    jitted = jax.jit(step)
    program = from_jax(jitted, state, x, scale=scale)
    wanted = jitted(state, x, scale=scale)
    for form in (program, program.lower("ttnn")):
        assert_trees_close(form.simulate(state, x, scale=scale), wanted)
    # a list of numbers where the function has an array, keywords as a dictionary
    found = program.simulate(state, [0, 1, 2], {"scale": np.float32(2)})
    assert_trees_close(found, wanted)
    # the leaves by themselves
    leaves = jax.tree.leaves((state, x, scale))
    assert_trees_close(program.simulate(*leaves), wanted)
    (one,) = jax.tree.leaves(from_jax(jnp.sin, x).simulate([np.zeros(3, np.float32)]))
    np.testing.assert_array_equal(one, np.zeros(3))


def test_trees_are_checked():
    state, x, scale = states(), jnp.arange(3.0), jnp.float32(2)
    program = from_jax(step, state, x, scale=scale)
    report = program.check(state, x, {"scale": scale}, seeds=())
    assert report.ok
    assert "given inputs" in report.trials
    with pytest.raises(
        ttxdsl.CompileError, match=r"without keywords\[.scale.\], which"
    ):
        program.check(state, x)


def test_trees_go_into_programs_that_are_text():
    program = ttxdsl.load("""
        func.func @main(%a: tensor<3xf32>, %b: tensor<2xui32>, %c: tensor<7xi32>)
            -> tensor<3xf32> {
          return %a : tensor<3xf32>
        }""")
    (found,) = program.simulate(states())
    np.testing.assert_array_equal(found, np.ones(3))
    with pytest.raises(ttxdsl.CompileError, match="no arguments with names: scale"):
        program.simulate(states(), scale=2)


def test_dropped_arguments_are_left_out():
    """Each leaf that JAX drops has another shape, so a wrong one would be refused."""

    def some(a: Any, b: jax.Array) -> jax.Array:
        return a["used"] + 1

    a = {
        name: jnp.full((size,), 2.0) for name, size in (("z", 3), ("used", 5), ("a", 4))
    }
    program = from_jax(jax.jit(some), a, jnp.ones((6,)))
    assert len(program.random_inputs()) == 1
    np.testing.assert_array_equal(program.simulate(a, jnp.ones((6,))), np.full(5, 3))
    np.testing.assert_array_equal(program.simulate(a["used"]), np.full(5, 3))
    kept = from_jax(jax.jit(some, keep_unused=True), a, jnp.ones((6,)))
    assert len(kept.random_inputs()) == 4


@pytest.fixture(scope="module")
def picky() -> ttxdsl.Program:
    """Of four arrays, of which JAX drops two; all have one shape."""

    def some(p: dict[str, jax.Array], x: jax.Array, other: jax.Array) -> jax.Array:
        return p["used"] - x

    ones = jnp.ones(3)
    return from_jax(some, {"used": ones, "idle": ones}, ones, ones)


ONE, TWO = np.ones(3, np.float32), np.full(3, 2, np.float32)


@pytest.mark.parametrize(
    "arguments",
    [
        ({"used": TWO, "idle": ONE}, ONE, ONE),
        ({"used": TWO}, ONE, ONE),
        ({"used": TWO}, ONE),
        (TWO, ONE),
        ([TWO, (ONE,)],),
    ],
)
def test_what_is_not_used_may_be_left_out(picky: ttxdsl.Program, arguments: Any):
    np.testing.assert_array_equal(picky.simulate(*arguments), ONE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # as many arrays as the program takes, but not those
        (({"idle": ONE}, ONE), "called without args[0]['used'], which it uses"),
        (({"idle": ONE, "used": ONE, "more": ONE}, ONE, ONE), "with args[0]['more'], "),
        (({"idle": ONE, "use": ONE}, ONE, ONE), "args[0]['used'], which it uses, and "),
        ((ONE,), "takes 4 arguments, 1 were given"),
        ((ONE, ONE, ONE), "or the 2 that it uses (not args[0]['idle'] and args[2])"),
        (({"idle": ONE, "used": ONE},), "called without args[1], which it uses"),
        (({"idle": ONE, "used": ONE}, ONE, ONE, ONE), "4 arguments, 5 were given"),
    ],
)  # fmt: skip
def test_missing_arguments_are_named(
    picky: ttxdsl.Program, arguments: Any, message: str
):
    with pytest.raises(ttxdsl.CompileError) as raised:
        picky.simulate(*arguments)
    assert message in str(raised.value)


def test_shapes_have_no_values():
    shape = jax.ShapeDtypeStruct((3,), jnp.float32)
    program = from_jax(jnp.sin, shape)
    for way in (program.simulate, program.partition().simulate, program.run):
        with pytest.raises(
            ttxdsl.CompileError, match="ShapeDtypeStruct, which has a sh"
        ):
            way(shape)


def test_ordered_effects_are_tokens():
    def loud(x: jax.Array) -> jax.Array:
        jax.debug.print("{}", x, ordered=True)
        return x + 1

    program = from_jax(loud, jnp.ones(3))
    for form in (program, program.partition()):
        np.testing.assert_array_equal(form.simulate(jnp.ones(3)), np.full(3, 2))


def test_static_arguments_are_no_arguments():
    def scaled(x: jax.Array, times: int) -> jax.Array:
        return x * times

    x = jax.ShapeDtypeStruct((2,), jnp.float32)
    program = from_jax(jax.jit(scaled, static_argnums=1), x, 3)
    assert program.simulate(np.ones(2, np.float32))[0] == 3


def test_donated_arguments(mesh: jax.sharding.Mesh):
    params, x = shapes(mesh)
    program = from_jax(jax.jit(layer, donate_argnums=0), params, x)
    assert program.check(seeds=()).ok


def test_exported_functions(mesh: jax.sharding.Mesh):
    """The same comes of a function and of the same one exported."""
    values = shapes(mesh)
    exported = jax.export.export(jax.jit(layer))(*values)
    program = from_jax(exported)
    direct = from_jax(jax.jit(layer), *values)
    inputs = program.random_inputs()
    assert_trees_close(program.simulate(*inputs), direct.simulate(*inputs))
    assert program.partition().collectives() == direct.partition().collectives()
    with pytest.raises(ttxdsl.CompileError, match="has its arguments already"):
        from_jax(exported, *values)


def test_exported_functions_with_symbolic_dimensions(mesh: jax.sharding.Mesh):
    params, x = shapes(mesh)
    (b,) = jax.export.symbolic_shape("b")
    x = jax.ShapeDtypeStruct((2 * b, 16), jnp.float32, sharding=x.sharding)
    exported = jax.export.export(jax.jit(layer))(params, x)
    with pytest.raises(ttxdsl.CompileError, match="without a size: b"):
        from_jax(exported)
    program = from_jax(exported, shapes={"b": 3})
    inputs = program.random_inputs()
    direct = from_jax(jax.jit(layer), *shapes(mesh))
    assert_trees_close(program.partition().simulate(*inputs), direct.simulate(*inputs))
    assert [one.axes_text for one in program.partition().collectives()] == [
        one.axes_text for one in direct.partition().collectives()
    ]


def test_what_jax_made_of_a_function_is_a_program(mesh: jax.sharding.Mesh):
    values = shapes(mesh)
    jitted = jax.jit(layer)
    direct = from_jax(jitted, *values)
    inputs = direct.random_inputs()
    lowered = jitted.lower(*values)
    for made in (lowered, jitted.trace(*values), jax.export.export(jitted)(*values)):
        for program in (ttxdsl.load(made), from_jax(made)):
            assert program.source == "<jax layer>"
            assert_trees_close(program.simulate(*inputs), direct.simulate(*inputs))
            assert program.partition().collectives()
    for made in (lowered, jitted.trace(*values)):
        with pytest.raises(ttxdsl.CompileError, match="has its arguments already"):
            from_jax(made, *values)
    with pytest.raises(ttxdsl.CompileError, match="a compiled function is XLA's"):
        ttxdsl.load(lowered.compile())


@pytest.mark.parametrize("thing", [5, None, "func.func @main() { return }"])
def test_what_is_no_function(thing: object):
    with pytest.raises(ttxdsl.CompileError, match="is made of a function, not of"):
        from_jax(thing)


def test_what_wraps_jax():
    """As flax.nnx.jit does: what it lowers to holds what JAX lowers to."""

    class Wrapping:
        def lower(self, x: jax.Array) -> Any:
            return SimpleNamespace(lowered=jax.jit(jnp.sin).lower(x))

    class Other:
        def lower(self, x: jax.Array) -> str:
            return "no program"

    x = jnp.ones(3)
    np.testing.assert_allclose(from_jax(Wrapping(), x).simulate(x), np.sin(x))
    with pytest.raises(ttxdsl.CompileError, match=r"lower\(\) gives str"):
        from_jax(Other(), x)


def test_without_jax(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ttxdsl.CompileError, match="JAX is not installed"):
        from_jax(layer)
