"""What is said of integers holds of those that JAX computes."""

import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.values.intervals import Interval
from ttxdsl.analysis.values.offsets import At, Offset, counted_dim, offset_of
from ttxdsl.dialects import stablehlo
from ttxdsl.loading.program import parse_program

ROWS, SIZE = 6, 5


def offset(compute: Callable[[Any, Any], Any], at: At | None = None) -> Offset:
    """What is said of a function of integers a row and of a table of numbers."""
    numbers = jax.ShapeDtypeStruct((ROWS,), jnp.int32)
    table = jax.ShapeDtypeStruct((ROWS, SIZE), jnp.float32)
    lowered = jax.jit(compute, keep_unused=True).lower(numbers, table)
    last = entry_function(parse_program(lowered.as_text())).body.block.last_op
    assert last is not None
    return offset_of(last.operands[0], at)


def rows() -> Any:
    return jnp.arange(ROWS)


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda i, t: rows() * SIZE + i % SIZE, (SIZE, 0, (0, SIZE - 1))),
        (lambda i, t: rows() * SIZE + jnp.clip(i, 0, 3), (SIZE, 0, (0, 3))),
        (lambda i, t: rows() * SIZE + (i & 3), (SIZE, 0, (0, 3))),
        (lambda i, t: np.arange(ROWS) * SIZE + i % 2, (SIZE, 0, (0, 1))),
        (lambda i, t: rows() * SIZE + jnp.argmax(t, 1), (SIZE, 0, (0, SIZE - 1))),
        (lambda i, t: (rows() + 1) * SIZE - 1 - i % 3, (SIZE, 0, (2, 4))),
        (lambda i, t: jnp.where(i < 2, jnp.maximum(i, 0), 2), (0, None, (0, 2))),
        (lambda i, t: jnp.where(i < 0, i + 9, i) * 0, (0, None, (0, 0))),
        (lambda i, t: (rows() * 4)[::2] + 1, (8, 0, (1, 1))),
        (lambda i, t: (rows()[:, None] * 4 + jnp.ones((1, 3), int)).T, (4, 1, (1, 1))),
        (lambda i, t: jax.lax.div(jnp.abs(i % 7 - 3), 2), (0, None, (0, 2))),
        (lambda i, t: jnp.sign(i) + 1, (0, None, (0, 2))),
    ],
)
def test_offsets(compute: Any, expected: tuple[int, int | None, tuple[int, int]]):
    factor, dim, rest = expected
    assert offset(compute) == Offset(factor, dim, Interval(*rest))


FOUR = "tensor<4xi32>"
LARGE = f"%c = stablehlo.constant dense<{2**60 + 1}> : tensor<4xi64>"


@pytest.mark.parametrize(
    ("ops", "expected"),
    [
        ("%v = stablehlo.iota dim = 1 : tensor<2x200xi8>", (0, None, (-128, 127))),
        ("%v = stablehlo.iota dim = 1 : tensor<2x200xui8>", (1, 1, (0, 0))),
        ("%v = stablehlo.constant dense<[[3], [4]]> : tensor<2x1xi32>", (1, 0, (3, 3))),
        (f"%v = stablehlo.constant dense<[7, 3, 4, 7]> : {FOUR}", (0, None, (3, 7))),
        (f"%v = stablehlo.constant dense<7> : {FOUR}", (0, None, (7, 7))),
        ("%v = stablehlo.constant dense<true> : tensor<2xi1>", (0, None, (1, 1))),
        (
            f"%i = stablehlo.iota dim = 0 : {FOUR}\n"
            f"%c = stablehlo.constant dense<4> : {FOUR}\n"
            f"%v = stablehlo.remainder %i, %c : {FOUR}",
            (1, 0, (0, 0)),
        ),
        (
            f"%i = stablehlo.iota dim = 0 : {FOUR}\n"
            f"%c = stablehlo.constant dense<3> : {FOUR}\n"
            f"%v = stablehlo.maximum %i, %c : {FOUR}",
            (0, None, (3, 3)),
        ),
        (
            f"%i = stablehlo.iota dim = 0 : {FOUR}\n"
            f"%c = stablehlo.constant dense<3> : {FOUR}\n"
            f"%p = stablehlo.compare GT, %i, %c : ({FOUR}, {FOUR}) -> tensor<4xi1>\n"
            f"%v = stablehlo.select %p, %c, %i : tensor<4xi1>, {FOUR}",
            (1, 0, (0, 0)),
        ),
        (
            f"{LARGE}\n%v = stablehlo.negate %c : tensor<4xi64>",
            (0, None, (~(2**60),) * 2),
        ),
        (
            f"{LARGE}\n%o = stablehlo.constant dense<1> : tensor<4xi64>\n"
            "%v = stablehlo.divide %c, %o : tensor<4xi64>",
            (0, None, (-(2**63), 2**63 - 1)),
        ),
    ],
)
def test_offsets_of_text(ops: str, expected: tuple[int, int | None, tuple[int, int]]):
    module = parse_program(f"func.func @main() {{\n{ops}\nreturn\n}}")
    *_, last = (op for op in module.walk() if op.results)
    factor, dim, rest = expected
    assert offset_of(last.results[0]) == Offset(factor, dim, Interval(*rest))


TWO = "tensor<2xi32>"
VECTORS = """%r = stablehlo.iota dim = 0 : tensor<4x1xi32>
%c = stablehlo.constant dense<5> : tensor<4x1xi32>
%k = stablehlo.concatenate %r, %c, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
"""


@pytest.mark.parametrize(
    ("ops", "at", "expected"),
    [
        (VECTORS, At(1, 0), (1, 0, (0, 0))),
        (VECTORS, At(1, 1), (0, None, (5, 5))),
        (VECTORS, At(0, 3), (0, None, (3, 5))),
        (VECTORS, None, (0, None, (0, 5))),
        (
            VECTORS + "%v = stablehlo.transpose %k, dims = [1, 0] :"
            " (tensor<4x2xi32>) -> tensor<2x4xi32>",
            At(0, 1),
            (0, None, (5, 5)),
        ),
        (
            VECTORS + "%v = stablehlo.reverse %k, dims = [1] : tensor<4x2xi32>",
            At(1, 0),
            (0, None, (0, 5)),
        ),
        (
            f"%i = stablehlo.iota dim = 0 : {TWO}\n"
            f"%v = stablehlo.concatenate %i, %i, dim = 0 : ({TWO}, {TWO}) -> {FOUR}",
            None,
            (0, None, (0, 1)),
        ),
        (
            f"%i = stablehlo.iota dim = 0 : {FOUR}\n"
            f"%c = stablehlo.constant dense<3> : {FOUR}\n"
            f"%v = stablehlo.remainder %i, %c : {FOUR}",
            None,
            (0, None, (0, 2)),
        ),
        (
            f"%i = stablehlo.iota dim = 0 : {FOUR}\n"
            f"%c = stablehlo.constant dense<2> : {FOUR}\n"
            f"%h = stablehlo.constant dense<9> : {FOUR}\n"
            f"%v = stablehlo.clamp %i, %c, %h : {FOUR}",
            None,
            (0, None, (0, 9)),
        ),
    ],
)
def test_offsets_of_parts(
    ops: str, at: At | None, expected: tuple[int, int | None, tuple[int, int]]
):
    module = parse_program(f"func.func @main() {{\n{ops}\nreturn\n}}")
    *_, last = (op for op in module.walk() if op.results)
    factor, dim, rest = expected
    assert offset_of(last.results[0], at) == Offset(factor, dim, Interval(*rest))


def test_a_place_of_index_vectors_behind_a_loop():
    text = """
func.func @main(%n: tensor<i1>) {
  %r = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %c = stablehlo.constant dense<5> : tensor<4x1xi32>
  %k = stablehlo.concatenate %r, %c, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0:2 = stablehlo.while(%a = %k, %b = %k) : tensor<4x2xi32>, tensor<4x2xi32>
  cond {
    stablehlo.return %n : tensor<i1>
  } do {
    %s = stablehlo.add %a, %b : tensor<4x2xi32>
    stablehlo.return %a, %s : tensor<4x2xi32>, tensor<4x2xi32>
  }
  return
}"""
    (sum_,) = (
        op for op in parse_program(text).walk() if isinstance(op, stablehlo.AddOp)
    )
    assert counted_dim(sum_.lhs, At(1, 0)) == 0
    assert offset_of(sum_.lhs, At(1, 1)) == Offset(0, None, Interval(5, 5))
    assert counted_dim(sum_.rhs, At(1, 0)) is None
    assert counted_dim(sum_.lhs) is None


def test_elements_of_other_places_are_not_those_that_a_predicate_is_of():
    """A row's number is negative, and the one that is read is another row's."""
    said = offset(lambda i, t: jnp.where(i < 0, jnp.flip(i), 0))
    assert said.rest == Interval(-(2.0**31), 2.0**31 - 1)


def test_what_wraps_is_any_number():
    assert offset(lambda i, t: jnp.maximum(i, 5) + 1).rest.low == -(2.0**31)


def random_integers(rng: random.Random, depth: int, i: Any, t: Any) -> Any:
    """A random integer a row."""
    if not depth:
        return rng.choice(
            [
                lambda: i,
                rows,
                lambda: jnp.argmax(t, axis=1),
                lambda: jnp.full((ROWS,), rng.randint(-4, 4)),
                lambda: jnp.asarray(np.arange(ROWS) * rng.randint(-3, 3)),
            ]
        )()
    a, b = (random_integers(rng, depth - rng.randint(1, depth), i, t) for _ in range(2))
    by = rng.choice([-7, -2, 1, 3, 8])
    holds = rng.choice(
        [
            lambda: a < b,
            lambda: (a >= by) & (b != 0),
            lambda: ~((a < by) | (a == b)),
            lambda: (a < 0) != (by < 0),
            lambda: i < by,
        ]
    )
    return rng.choice(
        [
            lambda: a + b,
            lambda: a - b,
            lambda: a * by,
            lambda: a % by,
            lambda: jax.lax.rem(a, jnp.full_like(a, by)),
            lambda: a // by,
            lambda: jax.lax.div(a, jnp.full_like(a, by)),
            lambda: jnp.minimum(a, by),
            lambda: jnp.maximum(a, b),
            lambda: jnp.clip(a, -3, 6),
            lambda: a & abs(by),
            lambda: -a,
            lambda: jnp.abs(a),
            lambda: jnp.flip(a),
            lambda: jnp.where(holds(), a, b),
            lambda: jnp.where(holds(), a + by, a),
            lambda: a[jnp.clip(b, 0, ROWS - 1)],
            lambda: jnp.cumsum(a),
        ]
    )()


def check_random_integers(seeds: range) -> None:
    told = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)

        def compute(i: Any, t: Any, seed: int = seed) -> Any:
            return random_integers(random.Random(seed), 4, i, t)

        def vectors(i: Any, t: Any, seed: int = seed) -> Any:
            entry = random_integers(random.Random(seed), 4, i, t)
            return -jnp.stack([i, entry], axis=1)[::-1]

        said = offset(compute), offset(vectors, At(1, 1))
        for _ in range(3):
            i = rng.integers(-9, 9, ROWS).astype(np.int32)
            table = rng.random((ROWS, SIZE)).astype(np.float32)
            integers = np.asarray(compute(jnp.asarray(i), table)).astype(np.int64)
            for (factor, dim, rest), left in zip(
                said, (integers, -integers[::-1]), strict=True
            ):
                if dim is not None:
                    left = left - factor * np.arange(ROWS)
                assert rest.low <= left.min() and left.max() <= rest.high, (seed, said)
        told += sum(rest.high - rest.low < 2**31 for *_, rest in said)
    assert told > 0.75 * len(seeds), told


def test_random_integers():
    check_random_integers(range(10))


@pytest.mark.fuzz
def test_many_random_integers():
    check_random_integers(range(10, 2_000))
