"""JAX's own custom calls: ragged_all_to_all against what JAX's documentation says of it.

XLA's CPU has no ragged-all-to-all. So each function is written twice, with JAX's op and
with `dense`, which says the same by an all_gather: JAX runs and differentiates that.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental.layout import Layout, with_layout_constraint
from jax.sharding import Mesh, PartitionSpec as P

import ttxdsl
from tests.interpreters.rank_programs import same_bits
from tests.interpreters.reference import lowered, parse, run
from tests.interpreters.thread_ranks import ThreadRank, on_ranks
from tests.sampling import sampled
from ttxdsl.bridges.mpi.engine import RankRunner
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks

Ragged = Callable[..., jax.Array]


def mesh(
    shape: tuple[int, ...] = (4,),
    names: tuple[str, ...] = ("ep",),
    order: tuple[int, ...] | None = None,
) -> Mesh:
    devices = np.array(jax.devices()[: int(np.prod(shape))])
    if order is not None:
        devices = devices[list(order)]
    return Mesh(devices.reshape(shape), names)


def dense(
    operand: jax.Array,
    output: jax.Array,
    starts: jax.Array,
    sizes: jax.Array,
    places: jax.Array,
    received: jax.Array,
    *,
    axis_name: str | tuple[str, ...],
) -> jax.Array:
    """What `lax.ragged_all_to_all` documents, slice by slice, of what all devices have."""
    everybody = [lax.all_gather(x, axis_name) for x in (operand, starts, sizes, places)]
    rows = jnp.arange(output.shape[0])
    me, count = lax.axis_index(axis_name), len(everybody[0])
    each = starts.shape[0] // count
    for source in range(count):
        for at in range(each):
            theirs, start, size, place = (x[source] for x in everybody)
            start, size, place = (x[me * each + at] for x in (start, size, place))
            taken = theirs[jnp.clip(rows - place + start, 0, theirs.shape[0] - 1)]
            here = (rows >= place) & (rows < place + size)
            output = jnp.where(
                here.reshape(-1, *(1,) * (output.ndim - 1)), taken, output
            )
    return output


def both(
    function: Callable[[Ragged], Callable[..., Any]], *args: Any
) -> tuple[str, list[np.ndarray], list[np.ndarray]]:
    """The program with JAX's op, its results here, and those of the dense one in JAX."""
    text = lowered(function(lax.ragged_all_to_all), *args)
    assert "@ragged_all_to_all" in text
    inputs = [np.asarray(leaf) for leaf in jax.tree.leaves(args)]
    wanted = jax.tree.leaves(jax.jit(function(dense))(*args))
    return text, [*run(text, *inputs)], [*map(np.asarray, wanted)]


def on_every_path(text: str, inputs: list[np.ndarray], wanted: list[np.ndarray]):
    """The program of one device, ttir, ttnn and several processes say the same."""
    local = ttxdsl.load(text).partition()
    for form in (local, local.lower("ttir"), local.lower("ttnn")):
        found = form.simulate(*inputs)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    module = parse(local.lower("ttnn").text)
    expected = local.lower("ttnn").simulate(*inputs)

    def work(rank: ThreadRank):
        return RankRunner(module, rank).run(inputs)

    first, *_ = on_ranks(2, work)
    assert all(map(same_bits, first, expected))


def test_the_example_of_the_documentation():
    def function(ragged: Ragged):
        def device(*args: jax.Array) -> jax.Array:
            operand, output, *numbers = (x[0] for x in args)
            return ragged(operand, output, *numbers, axis_name="ep")[None]

        return jax.shard_map(
            device,
            mesh=mesh((2,)),
            in_specs=P("ep"),
            out_specs=P("ep"),
            check_vma=False,
        )

    numbers = [[[0, 1], [0, 1]], [[1, 2], [1, 1]], [[0, 0], [1, 2]], [[1, 1], [2, 1]]]
    args = [
        jnp.array([[1, 2, 2], [3, 4, 0]], jnp.float32),
        jnp.zeros((2, 4), jnp.float32),
        *(jnp.array(one, jnp.int32) for one in numbers),
    ]
    text, found, wanted = both(function, *args)
    np.testing.assert_array_equal(found[0], [[1, 3, 0, 0], [2, 2, 4, 0]])
    np.testing.assert_array_equal(wanted[0], found[0])
    on_every_path(text, [np.asarray(x) for x in args], found)


TOKENS, WIDTH, EXPERTS = 6, 5, 8


def experts(
    ragged: Ragged, axis: str | tuple[str, ...], devices: int, room: int
) -> Callable[..., jax.Array]:
    """Tokens to the devices of their experts and back, as MaxText does it."""
    local = EXPERTS // devices

    def device(x: jax.Array, router: jax.Array, w: jax.Array) -> jax.Array:
        me = lax.axis_index(axis)
        expert = jnp.argmax(x @ router, axis=-1)
        order = jnp.argsort(expert)
        counts = jnp.bincount(expert, length=EXPERTS).reshape(devices, local).sum(1)
        everyones = lax.all_gather(counts, axis)  # [source, target]
        before = jnp.cumsum(everyones, axis=0) - everyones
        start = jnp.cumsum(counts) - counts
        taken = everyones[:, me]
        sent = (start, counts, before[me], taken)
        x = ragged(x[order], jnp.zeros((room, WIDTH), x.dtype), *sent, axis_name=axis)
        # each row by the weights of the device that has it, so that places matter
        x = jnp.tanh(x @ w[0]) * jnp.cos(jnp.arange(room, dtype=x.dtype))[:, None]
        starts = lax.all_gather(start, axis)[:, me]
        back = (before[:, me], taken, starts, counts)
        x = ragged(x, jnp.zeros((TOKENS, WIDTH), x.dtype), *back, axis_name=axis)
        return jnp.zeros_like(x).at[order].set(x)

    return device


@pytest.mark.parametrize(
    ("shape", "names", "axis", "order"),
    sampled(
        [
            ((2, 4), ("dp", "ep"), "ep", (3, 0, 7, 5, 1, 2, 6, 4)),
            ((8,), ("ep",), "ep", None),
            ((2, 4), ("x", "y"), ("y", "x"), None),
            ((2, 4), ("dp", "ep"), "ep", None),
            ((4, 2), ("ep", "tp"), "ep", None),
        ],
        1,
    ),
    ids=str,
)
def test_dispatch_to_experts_and_its_gradient(shape, names, axis, order):
    over = mesh(shape, names, order)
    sizes = dict(zip(names, shape, strict=True))
    axes = (axis,) if isinstance(axis, str) else axis
    devices = int(np.prod([sizes[name] for name in axes]))
    # `dp` splits tokens, too, `tp` holds the same on all
    batch = tuple(name for name in names if name in axes or name == "dp")
    shards = int(np.prod([sizes[name] for name in batch]))

    def function(ragged: Ragged):
        layer = jax.shard_map(
            experts(ragged, axis, devices, devices * TOKENS),
            mesh=over,
            in_specs=(P(batch), P(), P(axes)),
            out_specs=P(batch),
            check_vma=False,
        )

        def loss(x: jax.Array, router: jax.Array, w: jax.Array) -> jax.Array:
            return (layer(x, router, w) ** 2).sum()

        return jax.value_and_grad(loss, (0, 2))

    rng = np.random.default_rng(1)
    args = [
        rng.standard_normal(shape).astype(np.float32)
        for shape in (
            (shards * TOKENS, WIDTH),
            (WIDTH, EXPERTS),
            (devices, WIDTH, WIDTH),
        )
    ]
    text, found, wanted = both(function, *args)
    assert text.count("@ragged_all_to_all") >= 4  # both ways, and back
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5)
    on_every_path(text, args, found)
    sent = [
        one
        for one in ttxdsl.load(text).partition().collectives()
        if one.kind == "ragged_all_to_all"
    ]
    row = WIDTH * 4
    # rows of a device go to others at most; back come as many as others have room for
    assert {one.bytes_per_device for one in sent} == {
        row * TOKENS,
        row * min(devices * TOKENS, (devices - 1) * TOKENS),
    }
    assert all(one.group_size == devices for one in sent)


@pytest.mark.parametrize(
    "element", sampled([jnp.bfloat16, jnp.int8, jnp.bool_, jnp.complex64], 2)
)
def test_several_slices_a_device_of_any_elements(element):
    """Three slices for each of four devices; what is in no slice is left as it was."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(0, 3, (4, 12)).astype(np.int32)
    starts = np.cumsum(sizes, axis=1) - sizes + 1
    arriving = sizes.reshape(4, 4, 3).transpose(1, 0, 2).reshape(4, 12)
    puts = np.cumsum(arriving, axis=1) - arriving + 2
    places = puts.reshape(4, 4, 3).transpose(1, 0, 2).reshape(4, 12)

    def function(ragged: Ragged):
        def device(*args: jax.Array) -> jax.Array:
            operand, output, *numbers = (x[0] for x in args)
            return ragged(operand, output, *numbers, axis_name="ep")[None]

        return jax.shard_map(
            device, mesh=mesh(), in_specs=P("ep"), out_specs=P("ep"), check_vma=False
        )

    rows = jnp.asarray(rng.integers(-9, 9, (4, 26, 2, 3))).astype(element)
    room = jnp.asarray(rng.integers(-9, 9, (4, 30, 2, 3))).astype(element)
    numbers = (jnp.asarray(x, jnp.int32) for x in (starts, sizes, places, arriving))
    _, found, wanted = both(function, rows, room, *numbers)
    np.testing.assert_array_equal(found[0], wanted[0])


def ragged_program(sizes: str, received: str, room: int = 2) -> str:
    return f"""
sdy.mesh @mesh = <["e"=2]>
func.func @main(%x: tensor<4x3xf32>) -> tensor<{2 * room}x3xf32> {{
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"e"}}, {{}}]>]
      out_shardings=[<@mesh, [{{"e"}}, {{}}]>] manual_axes={{"e"}} (%a: tensor<2x3xf32>) {{
    %z = stablehlo.constant dense<0.0> : tensor<{room}x3xf32>
    %c = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
    %p = stablehlo.constant dense<0> : tensor<2xi32>
    %s = stablehlo.constant dense<{sizes}> : tensor<2xi32>
    %r = stablehlo.constant dense<{received}> : tensor<2xi32>
    %1 = stablehlo.custom_call @ragged_all_to_all(%a, %z, %c, %s, %p, %r) {{
        api_version = 4 : i32, backend_config = {{replica_groups = dense<[[0, 1]]>
        : tensor<1x2xi64>}}}} : (tensor<2x3xf32>, tensor<{room}x3xf32>, tensor<2xi32>,
        tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<{room}x3xf32>
    sdy.return %1 : tensor<{room}x3xf32>
  }} : (tensor<4x3xf32>) -> tensor<{2 * room}x3xf32>
  func.return %0 : tensor<{2 * room}x3xf32>
}}"""


@pytest.mark.parametrize(
    ("sizes", "received", "said"),
    [
        ("[1, 1]", "[1, 1]", None),
        ("[3, 3]", "[3, 3]", "device 0 sends rows 0 to 3 of 2 to device 0"),
        (
            "[1, 1]",
            "[1, 2]",
            "device 1 sends rows 0 to 1 of 2 to device 0, which takes 2",
        ),
        ("[-1, -1]", "[-1, -1]", "device 0 sends rows 0 to -1"),
    ],
)
def test_what_jax_leaves_undefined_is_left_out_and_said(sizes, received, said):
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    with collect_remarks() as remarks:
        run(ragged_program(sizes, received), x)
    assert [said in str(one) for one in remarks] == ([] if said is None else [True])


def test_a_call_that_is_not_jax_s():
    text = ragged_program("[1, 1]", "[1, 1]").replace("replica_groups =", "groups =")
    with pytest.raises(CompileError, match="no ragged_all_to_all as JAX writes it"):
        run(text, np.zeros((4, 3), np.float32))
    (row,) = ttxdsl.load(text).collectives()
    assert not row.is_priced


def for_tpu(function: Callable[..., Any], *args: Any) -> str:
    lowering = jax.jit(function).trace(*args).lower(lowering_platforms=("tpu",))
    return lowering.as_text()


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3},
        {"k": 5, "reduction_dimension": 0, "recall_target": 0.8},
        {"k": 4, "aggregate_to_topk": False},
        {"k": 2, "reduction_input_size_override": 4096, "aggregate_to_topk": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", sampled([lax.approx_max_k, lax.approx_min_k], 1))
@pytest.mark.parametrize("split", [0, 1])
def test_approximate_top_k_finds_them_all(kind, options, split):
    """XLA's CPU finds them all, too; the output's size is what JAX says."""
    axes = [None, None]
    axes[split] = "ep"

    def function(x: jax.Array) -> Any:
        sharding = jax.sharding.NamedSharding(mesh(), P(*axes))
        x = lax.with_sharding_constraint(x, sharding)
        return kind(x, **options)

    x = np.random.default_rng(5).permutation(16 * 256).reshape(16, 256)
    x = (x / 7).astype(np.float32)
    if options.get("reduction_dimension") != 0:
        options = {"reduction_dimension": 1} | options
    text = for_tpu(function, x)
    assert "@ApproxTopK" in text
    wanted = [*map(np.asarray, jax.jit(function)(x))]
    program = ttxdsl.load(text)
    local = program.partition()
    for form in (program, local, local.lower("ttir"), local.lower("ttnn")):
        for one, other in zip(form.simulate(x), wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    # rows are independent: nothing is sent if those are split
    moves = split == options["reduction_dimension"]
    assert bool(local.collectives()) == moves


def test_approximate_top_k_of_another_computation():
    text = """
func.func private @first(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>)
    -> tensor<i1> {
  %0 = stablehlo.abs %a : tensor<f32>
  %1 = stablehlo.abs %b : tensor<f32>
  %2 = stablehlo.compare GT, %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  func.return %2 : tensor<i1>
}
func.func @main(%x: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %v = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @PartialReduce(%x, %i, %v, %n) {called_computations = [@first],
      backend_config = "{}"} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<2x2xf32>, tensor<2x2xi32>)
  func.return %0#0, %0#1 : tensor<2x2xf32>, tensor<2x2xi32>
}"""
    values, places = run(text, np.array([[1, -4, 3, 0], [2, 1, -5, 4]], np.float32))
    np.testing.assert_array_equal(values, [[-4, 3], [-5, 4]])
    np.testing.assert_array_equal(places, [[1, 2], [2, 3]])
    broken = text.replace("called_computations = [@first],", "")
    with pytest.raises(CompileError, match="@PartialReduce has other operands"):
        run(broken, np.zeros((2, 4), np.float32))


def test_memory_that_is_allocated_is_split_without_communication():
    def function(x: jax.Array) -> jax.Array:
        room = lax.empty((8, 6), jnp.float32)
        spread = jax.sharding.NamedSharding(mesh(), P("ep"))
        room = lax.with_sharding_constraint(room, spread)
        room = lax.dynamic_update_slice(room, x[:, :3], (0, 0))
        return lax.dynamic_update_slice(room, x[:, 3:], (0, 3)) + 1

    x = np.arange(48, dtype=np.float32).reshape(8, 6)
    text = for_tpu(function, x)
    assert "@AllocateBuffer" in text
    program = ttxdsl.load(text)
    with collect_remarks() as remarks:
        local = program.partition()
    assert not remarks and not local.collectives()
    assert "@AllocateBuffer() : () -> tensor<2x6xf32>" in local.text
    for form in (program, local, local.lower("ttnn")):
        (found,) = form.simulate(x)
        np.testing.assert_array_equal(found, x + 1)


def test_a_layout_and_an_inspection_change_nothing():
    def function(x: jax.Array) -> jax.Array:
        spread = jax.sharding.NamedSharding(mesh(), P("ep"))
        y = lax.with_sharding_constraint(jnp.sin(x), spread)
        jax.debug.inspect_array_sharding(y, callback=print)
        return with_layout_constraint(y, Layout((1, 0))) * 2

    x = np.arange(48, dtype=np.float32).reshape(8, 6)
    text = lowered(function, x)
    assert "@InspectSharding" in text and "@LayoutConstraint" in text
    program = ttxdsl.load(text)
    local = program.partition()
    assert not local.collectives()
    for form in (program, local, local.lower("ttnn")):
        (found,) = form.simulate(x)
        np.testing.assert_allclose(found, 2 * np.sin(x), rtol=1e-6)
