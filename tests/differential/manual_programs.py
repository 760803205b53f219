"""Programs with loops, branches and `jax.shard_map`, and what JAX computes with them.

Run as a script it prints one JSON line a program: name, text, arguments and results, or
with `--text`, the first two. To add a program, add a line to a table in `_main`.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tests.differential.made_by_jax import EIGHT_DEVICES, made_by_jax

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ManualProgram:
    """A lowered program, random arguments, and JAX's results on eight devices."""

    text: str
    arguments: list[Array]
    results: list[Array]


LOOPS = (
    "scan_of_layers",
    "scan_of_layers_split",
    "scan_gradient",
    "scan_over_a_split_axis",
    "while_loop",
    "while_loop_until_sum",
    "nested_loops",
    "cond",
    "switch",
)
MANUAL = (
    "all_axes",
    "all_axes_twice",
    "all_axes_only",
    "all_axes_gradient",
    "closure",
    "other_specs",
    "several_results",
    "one_axis",
    "one_axis_alone",
    "one_axis_gradient",
    "one_axis_then_the_other",
    "all_gather",
    "all_to_all",
    "ppermute",
    "psum_scatter",
    "axis_index",
    "loop_inside",
    "inside_a_loop",
    "inside_cond",
    "nested",
    "cumsum_along_free",
    "softmax_along_free",
    "sort_along_free",
    "uneven_along_free",
    "iota_along_free",
    "slice_by_axis_index",
    "two_of_three",
    "minor_axis_first",
    "nested_thrice",
    "constraint_inside",
    "while_with_psum",
    "gathered_weights",
    "ring_matmul",
    "vmapped",
    "no_arguments",
    "free_then_all_axes",
)
"""Names of the programs, known without running JAX."""


def _decoded(text: str) -> Array:
    return np.load(io.BytesIO(base64.b64decode(text)))


def _encoded(array: Any) -> str:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array))
    return base64.b64encode(stream.getvalue()).decode()


@cache
def manual_programs() -> dict[str, ManualProgram]:
    """Every program by name, made in a process of its own."""
    found: dict[str, ManualProgram] = {}
    for name, text, arguments, results in made_by_jax(__name__, **EIGHT_DEVICES):
        found[name] = ManualProgram(
            text,
            [_decoded(one) for one in arguments],
            [_decoded(one) for one in results],
        )
    return found


def _main() -> None:
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import NamedSharding, PartitionSpec as P

    auto = jax.sharding.AxisType.Auto
    flat = jax.make_mesh((2, 4), ("x", "y"), axis_types=(auto, auto))
    cube = jax.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=(auto,) * 3)

    def add(name: str, function: Callable[..., Any], *args: Any) -> None:
        assert name in LOOPS + MANUAL, name
        lowered = jax.jit(function, keep_unused=True).lower(*args)
        if "--text" in sys.argv:
            print(json.dumps([name, lowered.as_text()]))
            return
        rng = np.random.default_rng(0)
        values: list[Any] = []
        for arg in args:
            made = (
                rng.standard_normal(arg.shape)
                if arg.dtype.kind == "f"
                else rng.integers(0, 2, arg.shape)
            )
            values.append(np.asarray(made).astype(arg.dtype))
        placed = [
            jax.device_put(v, a.sharding) for v, a in zip(values, args, strict=True)
        ]
        results = jax.tree.leaves(jax.jit(function, keep_unused=True)(*placed))
        line = [
            name,
            lowered.as_text(),
            [_encoded(value) for value in values],
            [_encoded(result) for result in results],
        ]
        print(json.dumps(line))

    def arg(
        shape: tuple[int, ...], *spec: Any, over: Any = flat, dtype: Any = jnp.float32
    ) -> Any:
        return jax.ShapeDtypeStruct(
            shape, dtype, sharding=NamedSharding(over, P(*spec))
        )

    def by_hand(
        function: Callable[..., Any],
        ins: Any,
        outs: Any,
        axes: str = "",
        over: Any = flat,
        **options: Any,
    ) -> Any:
        """`shard_map`, manual on the axes of one letter each, or on all."""
        if axes:
            options["axis_names"] = set(axes)
        return jax.shard_map(
            function, mesh=over, in_specs=ins, out_specs=outs, **options
        )

    def by_hand_on_cube(*args: Any, **options: Any) -> Any:
        return by_hand(*args, over=cube, **options)

    x = arg((16, 32), "x", "y")
    rows = arg((16, 32), "x", None)
    w = arg((32, 64), "y", None)
    flag = arg((), dtype=jnp.bool_)

    # loops and branches

    def layers(p: Any, v: Any) -> Any:
        return lax.scan(lambda c, one: (jnp.tanh(c @ one), c.sum()), v, p)

    def split_layers(p: Any, q: Any, v: Any) -> Any:
        # by 8: or what is rounded in one layer is ten times as much after the next
        step = lambda c, one: (jnp.tanh(c @ one[0] / 8) @ one[1] / 8, None)  # noqa: E731
        return lax.scan(step, v, (p, q))[0]

    stack = arg((3, 32, 32), None, None, None)
    add("scan_of_layers", layers, stack, rows)
    add(
        "scan_of_layers_split",
        split_layers,
        arg((3, 32, 64), None, None, "y"),
        arg((3, 64, 32), None, "y", None),
        rows,
    )
    add(
        "scan_gradient",
        lambda p, v: jax.grad(lambda q: layers(q, v)[0].sum())(p),
        stack,
        rows,
    )
    add(
        "scan_over_a_split_axis",
        lambda v: lax.scan(lambda c, one: (c + one, c * one), jnp.zeros(32), v),
        x,
    )
    add(
        "while_loop",
        lambda v: lax.while_loop(
            lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 0.5 + 1), (0, v)
        ),
        x,
    )
    add(
        "while_loop_until_sum",
        lambda v: lax.while_loop(lambda c: c.sum() > 5, lambda c: c * 0.5, jnp.abs(v)),
        x,
    )
    add(
        "nested_loops",
        lambda v: lax.scan(
            lambda c, _: (lax.fori_loop(0, 3, lambda i, d: d * 1.1 + i, c), c.max()),
            v,
            None,
            length=3,
        ),
        x,
    )
    add("cond", lambda p, v: lax.cond(p, lambda a: a * 2, jnp.sin, v), flag, x)
    add(
        "switch",
        lambda i, v: lax.switch(
            i, [lambda a: a * 2, lambda a: a @ a.T @ a, lambda a: a[::-1]], v
        ),
        arg((), dtype=jnp.int32),
        x,
    )

    # manual on all axes

    def dot_psum(a: Any, b: Any) -> Any:
        return lax.psum(a @ b, "y")

    specs = (P("x", "y"), P("y", None)), P("x", None)
    add("all_axes_only", by_hand(dot_psum, *specs), x, w)
    add(
        "all_axes",
        lambda v, u: jnp.tanh(by_hand(dot_psum, *specs)(jnp.sin(v), u)) * 2,
        x,
        w,
    )
    add(
        "all_axes_gradient",
        lambda v, u: jax.grad(lambda q: by_hand(dot_psum, *specs)(v, q).sum())(u),
        x,
        w,
    )
    scatter = lambda a, b: lax.psum_scatter(  # noqa: E731
        a @ b, "y", scatter_dimension=1, tiled=True
    )
    add(
        "all_axes_twice",
        lambda v, u: by_hand(lambda a: a * 2, P("x", "y"), P("x", "y"))(
            by_hand(scatter, specs[0], P("x", "y"))(v, u)
        ),
        x,
        w,
    )
    add(
        "closure",
        lambda v: by_hand(lambda a: a @ jnp.ones((32, 4)), P("x", None), P("x", None))(
            v
        ),
        x,
    )
    add(
        "other_specs",
        lambda v: by_hand(lambda a: a * 2, P("y", "x"), P("y", "x"))(v) + 1,
        x,
    )
    add(
        "several_results",
        lambda v, u: [
            a * 2
            for a in by_hand(
                lambda a, b: (a * 2, lax.psum(b.sum(), "y"), b.T),
                (P("x", "y"), P("y", None)),
                (P("x", "y"), P(), P(None, "y")),
            )(v, u)
        ],
        x,
        w,
    )

    # manual on one axis of two

    half = (P(None, "y"), P("y", None)), P(), "y"
    add("one_axis_alone", by_hand(dot_psum, *half), x, w)
    add(
        "one_axis",
        lambda v, u: jnp.tanh(by_hand(dot_psum, *half)(jnp.sin(v), u)) * 2,
        rows,
        w,
    )
    add(
        "one_axis_gradient",
        lambda v, u: jax.grad(lambda q: jnp.sin(by_hand(dot_psum, *half)(v, q)).sum())(
            u
        ),
        x,
        w,
    )
    add(
        "one_axis_then_the_other",
        lambda v, u: by_hand(
            lambda a: a * lax.axis_index("x"), P("x", None), P("x", None), "x"
        )(by_hand(dot_psum, *half)(v, u)),
        x,
        w,
    )
    turn = [(i, (i + 1) % 4) for i in range(4)]
    columns = P(None, "y"), P(None, "y"), "y"
    add(
        "ppermute",
        lambda v: by_hand(lambda a: lax.ppermute(a, "y", turn), *columns)(v + 1),
        x,
    )
    add(
        "all_gather",
        lambda v: by_hand(
            lambda a: lax.all_gather(a, "y", axis=1, tiled=True),
            P(None, "y"),
            P(None, None),
            "y",
            check_vma=False,
        )(v + 1),
        x,
    )
    add(
        "all_to_all",
        lambda v: (
            by_hand(
                lambda a: lax.all_to_all(a, "y", 0, 1, tiled=True),
                P(None, "y"),
                P("y", None),
                "y",
            )(v + 1)
            * 3
        ),
        x,
    )
    add(
        "psum_scatter",
        lambda v: (
            by_hand(
                lambda a: lax.psum_scatter(a, "y", scatter_dimension=0, tiled=True),
                P(None, "y"),
                P("y", None),
                "y",
            )(v + 1)
            * 3
        ),
        x,
    )
    add(
        "axis_index",
        lambda v: by_hand(lambda a: a + lax.axis_index("y"), *columns)(v * 2),
        x,
    )
    add(
        "loop_inside",
        lambda v, u: by_hand(
            lambda a, b: lax.scan(
                lambda c, _: (jnp.tanh(c @ lax.psum(b.T @ b, "y")[:32, :32]), None),
                a,
                None,
                length=3,
            )[0],
            (P("x", None), P("y", None)),
            P("x", None),
            check_vma=False,
        )(v, u),
        arg((16, 32)),
        w,
    )
    add(
        "inside_a_loop",
        lambda v: lax.scan(
            lambda c, _: (
                by_hand(lambda a: lax.ppermute(a, "y", turn) * 1.1, *columns)(c),
                None,
            ),
            v,
            None,
            length=3,
        )[0],
        x,
    )
    add(
        "inside_cond",
        lambda p, v: lax.cond(
            p,
            lambda a: by_hand(lambda b: lax.psum(b, "y"), P(None, "y"), P(), "y")(a),
            lambda a: a[:, :8],
            v,
        ),
        flag,
        x,
    )
    add(
        "nested",
        lambda v: by_hand(
            lambda a: (
                by_hand(lambda b: lax.psum(b, "y"), P(None, "y"), P(), "y", over=None)(
                    a * 2
                )
                + lax.axis_index("x")
            ),
            P("x", None),
            P("x", None),
            "x",
        )(v + 1),
        x,
    )
    first = P("x", None), P("x", None), "x"
    for name, inner in {
        "cumsum_along_free": lambda a: jnp.cumsum(a, 1) + jnp.arange(32),
        "softmax_along_free": lambda a: jax.nn.softmax(a, 1),
        "sort_along_free": lambda a: jnp.sort(a, 1),
        "uneven_along_free": lambda a: jnp.sin(a[:, 1:])[:, :-1] * 2,
        "iota_along_free": lambda a: a + jnp.arange(32) + 9 * jnp.arange(8)[:, None],
        "slice_by_axis_index": lambda a: lax.dynamic_slice_in_dim(
            a, lax.axis_index("x") * 4, 8, 1
        ),
    }.items():
        add(name, lambda v, inner=inner: by_hand(inner, *first)(v), x)

    # a mesh of three axes

    X = arg((16, 32), ("a", "b"), "c", over=cube)
    weights = arg((32, 8), "a", "c", over=cube)
    add(
        "two_of_three",
        lambda v: (
            by_hand_on_cube(
                lambda a: lax.psum(a * 2, ("a", "c")), P("a", "c"), P(), "ac"
            )(v)
            + 1
        ),
        X,
    )
    minor_first = P(("c", "a"), None)
    add(
        "minor_axis_first",
        lambda v: (
            by_hand_on_cube(
                lambda a: a - lax.pmax(a, "c"), minor_first, minor_first, "ac"
            )(v)
            + 1
        ),
        X,
    )

    def innermost(v: Any) -> Any:
        spec = P(None, "c"), P(None, "c"), "c"
        return by_hand(
            lambda a: a + lax.axis_index("c") + lax.psum(a, "b"), *spec, over=None
        )(v * 2)

    add(
        "nested_thrice",
        lambda v: (
            by_hand_on_cube(
                lambda a: by_hand(
                    innermost, P("b", None), P("b", None), "b", over=None
                )(a + 1),
                P("a", None),
                P("a", None),
                "a",
            )(v)
            * 2
        ),
        X,
    )
    major = P("a", None), P("a", None), "a"
    for name, inner in {
        "constraint_inside": lambda a: (
            lax.with_sharding_constraint(jnp.sin(a), P(None, "b")) @ jnp.ones((32, 4))
        ),
        "while_with_psum": lambda a: lax.while_loop(
            lambda c: lax.psum(jnp.abs(c).sum(), "a") > 3, lambda c: c * 0.5, a
        ),
    }.items():
        add(name, lambda v, inner=inner: by_hand_on_cube(inner, *major)(v), X)
    add(
        "gathered_weights",
        lambda v, u: by_hand_on_cube(
            lambda a, b: a @ lax.all_gather(b, "a", axis=0, tiled=True),
            (P("a", None), P("a", None)),
            P("a", None),
            "a",
        )(v, u),
        X,
        weights,
    )

    def ring(a: Any, b: Any) -> Any:
        def step(_: Any, carried: Any) -> Any:
            total, part = carried
            return total + a @ part, lax.ppermute(part, "c", [(0, 1), (1, 0)])

        return lax.fori_loop(0, 2, step, (jnp.zeros((16, 4)), b))[0]

    add(
        "ring_matmul",
        lambda v, u: by_hand_on_cube(
            ring, (P(None, None), P(None, "c")), P(None, "c"), "c", check_vma=False
        )(v, u),
        X,
        weights,
    )
    add(
        "vmapped",
        lambda v: jax.vmap(
            by_hand_on_cube(lambda a: lax.psum(a, "c"), P("c"), P(), "c")
        )(v),
        X,
    )
    add(
        "no_arguments",
        lambda v: (
            by_hand_on_cube(
                lambda: lax.axis_index("a")[None] * jnp.ones((2,), jnp.float32),
                (),
                P("a"),
                "a",
            )()[:, None]
            + v[:4]
        ),
        X,
    )
    both = P("a", "c"), P("a", "c")
    add(
        "free_then_all_axes",
        lambda v: by_hand_on_cube(lambda a: a * 2, *both)(
            by_hand_on_cube(lambda a: a + 1, P("c"), P("c"), "c")(v)
        ),
        X,
    )


if __name__ == "__main__":
    _main()
