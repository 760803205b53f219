"""Random bits are XLA's to the bit."""

from itertools import product

import jax
import numpy as np
import pytest

from tests.interpreters.reference import body, same_as_jax, same_as_xla


def generator(algorithm, states, shape, kind):
    state = f"tensor<{states}xui64>"
    bits = f"tensor<{''.join(f'{n}x' for n in shape)}{kind}>"
    return f"""(%s: {state}) -> ({state}, {bits}) {{
      %n, %b = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : ({state}) -> ({state}, {bits})
      return %n, %b : {state}, {bits}
    }}"""


KINDS = ("ui8", "ui16", "ui32", "ui64")
SHAPES = [(), (1,), (3,), (4,), (17,), (2, 3), (3, 5), (3, 4, 5), (5, 7, 1), (0,)]


@pytest.mark.parametrize(
    ("algorithm", "states"),
    [("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3), ("DEFAULT", 2)],
)
def test_bit_generator(algorithm, states):
    """Of all shapes and kinds; they are one program, since each takes long to compile."""
    state, ops, results = f"tensor<{states}xui64>", [], []
    for number, (kind, shape) in enumerate(product(KINDS, SHAPES)):
        bits = f"tensor<{''.join(f'{n}x' for n in shape)}{kind}>"
        ops.append(
            f"%n{number}, %b{number} = stablehlo.rng_bit_generator %s, "
            f"algorithm = {algorithm} : ({state}) -> ({state}, {bits})"
        )
        results += [(f"%n{number}", state), (f"%b{number}", bits)]
    values, types = (", ".join(part) for part in zip(*results, strict=True))
    body = "\n".join([*ops, f"return {values} : {types}"])
    numbers = np.array([0x0123456789ABCDEF, 2**64 - 2, 7], np.uint64)[:states]
    same_as_xla(f"(%s: {state}) -> ({types}) {{\n{body}\n}}", numbers, rtol=0, atol=0)


def test_the_specifications_example():
    state = np.array([1, 2], np.uint64)
    following, bits = body(generator("THREE_FRY", 2, (2, 2), "ui64"), state)
    assert following.tolist() == [1, 6]
    assert bits.tolist() == [
        [9236835810183407956, 16087790271692313299],
        [18212823393184779219, 2658481902456610144],
    ]


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg", "unsafe_rbg"])
@pytest.mark.parametrize(
    "sample", ["bits", "uniform", "normal", "bernoulli", "permutation"]
)
def test_jax_random(implementation, sample):
    def draw(seed):
        key = jax.random.key(seed, impl=implementation)
        key, other = jax.random.split(key)
        if sample == "permutation":
            return jax.random.permutation(other, 17)
        return getattr(jax.random, sample)(other, shape=(3, 5))

    if sample == "normal":
        same_as_jax(draw, np.int32(7), rtol=1e-5, atol=1e-6)
    else:
        same_as_jax(draw, np.int32(7), rtol=0, atol=0)


def test_rng_op_keeps_to_its_bounds():
    text = """(%a: tensor<i32>, %b: tensor<i32>, %s: tensor<2xi64>) -> tensor<20x5xi32> {
      %r = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<20x5xi32>
      return %r : tensor<20x5xi32>
    }"""
    (found,) = body(text, np.int32(-3), np.int32(4), np.array([20, 5]))
    assert found.min() == -3 and found.max() == 3
