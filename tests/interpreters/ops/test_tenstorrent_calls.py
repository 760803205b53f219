"""tt-mlir's custom calls, computed: against loops over what each element looks at."""

import numpy as np
import pytest

import ttxdsl
from tests.bridges.tt_mlir.call_programs import CALLS, call
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError

ATTENTION = "tt.scaled_dot_product_attention"
PAGED = "tt.paged_scaled_dot_product_attention_decode"


def run(text: str, *inputs: object) -> list[np.ndarray]:
    arrays = [np.asarray(one) for one in inputs]
    return [np.asarray(one) for one in ttxdsl.load(text).simulate(arrays)]


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def look(query: np.ndarray, keys: np.ndarray, values: np.ndarray, scale: float):
    """One query at keys: weights by the exponentials of the scores."""
    weights = np.exp(keys @ query * scale)
    return weights @ values / weights.sum()


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({"is_causal": "True"}, lambda s: 0),
        ({"is_causal": "True", "sliding_window_size": "2"}, lambda s: max(0, s - 1)),
        ({"is_causal": "False", "scale": "0.3"}, None),
    ],
)
def test_attention_of_groups(options: dict[str, str], first):
    q, k, v = random(2, 4, 3, 5), random(2, 2, 3, 5), random(2, 2, 3, 5)
    shapes = [("2x4x3x5xf32", ""), ("2x2x3x5xf32", ""), ("2x2x3x5xf32", "")]
    (found,) = run(call(ATTENTION, options, shapes, "2x4x3x5xf32"), q, k, v)
    for b, h, s in np.ndindex(2, 4, 3):
        seen = slice(None) if first is None else slice(first(s), s + 1)
        keys, values = k[b, h // 2, seen], v[b, h // 2, seen]
        scale = float(options.get("scale", 5**-0.5))
        wanted = look(q[b, h, s], keys, values, scale)
        np.testing.assert_allclose(found[b, h, s], wanted, rtol=1e-5, atol=1e-6)


def test_a_mask_is_added():
    q, k, v = random(1, 1, 2, 4), random(1, 1, 2, 4), random(1, 1, 2, 4)
    mask = np.array([[0, -np.inf], [-np.inf, 0]], np.float32)[None, None]
    shapes = [("1x1x2x4xf32", "")] * 3 + [("1x1x2x2xf32", "")]
    text = call(ATTENTION, {"is_causal": "False"}, shapes, "1x1x2x4xf32")
    np.testing.assert_allclose(run(text, q, k, v, mask)[0], v)


def test_pages_of_a_cache():
    """What is written to the pages of two users is what those look at."""
    cache, new = np.zeros((4, 1, 2, 3), np.float32), random(1, 2, 1, 3)
    table = np.array([[3, 0], [1, 2]], np.int32)
    position = np.array([2, 1], np.int32)
    shapes = [("4x1x2x3xf32", ""), ("1x2x1x3xf32", ""), ("2xi32", ""), ("2x2xi32", "")]
    text = call("tt.paged_update_cache", {}, shapes, "4x1x2x3xf32")
    (updated,) = run(text, cache, new, position, table)
    wanted = cache.copy()
    wanted[0, 0, 0], wanted[1, 0, 1] = new[0, 0, 0], new[0, 1, 0]
    np.testing.assert_array_equal(updated, wanted)
    flags = {"has_cur_pos_tensor": "True", "is_causal": "True"}
    shapes = [("1x2x1x3xf32", ""), *[("4x1x2x3xf32", "")] * 2, *shapes[3:], shapes[2]]
    query, key = random(1, 2, 1, 3), random(4, 1, 2, 3)
    text = call(PAGED, flags, shapes, "1x2x1x3xf32")
    (found,) = run(text, query, key, updated, table, position)
    for user in range(2):
        seen = slice(position[user] + 1)
        keys, values = (
            one[table[user]].reshape(4, 3)[seen] for one in (key[:, 0], updated[:, 0])
        )
        wanted = look(query[0, user, 0], keys, values, 3**-0.5)
        np.testing.assert_allclose(found[0, user, 0], wanted, rtol=1e-5, atol=1e-6)


def test_a_cache_is_filled_for_one_user():
    cache, new = np.zeros((4, 1, 2, 3), np.float32), random(1, 1, 3, 3)
    table, user = np.array([[3, 0], [1, 2]], np.int32), np.array([1], np.int32)
    shapes = [("4x1x2x3xf32", ""), ("1x1x3x3xf32", ""), ("2x2xi32", ""), ("1xi32", "")]
    text = call("tt.paged_fill_cache", {}, shapes, "4x1x2x3xf32")
    (found,) = run(text, cache, new, table, user)
    wanted = cache.copy()
    wanted[1, 0], wanted[2, 0, 0] = new[0, 0, :2], new[0, 0, 2]
    np.testing.assert_array_equal(found, wanted)


def test_what_a_mask_leaves_out_of_a_product_is_zero():
    a, b = random(1, 2, 3, 4), random(1, 2, 4, 5)
    mask = np.array([[[[1, 0]], [[0, 1]]]], np.float32)
    shapes = [("1x2x3x4xf32", ""), ("1x2x4x5xf32", ""), ("1x2x1x2xf32", "")]
    up = call("tt.sparse_matmul", {}, shapes, "1x2x1x2x3x5xf32")
    (found,) = run(up, a, b, mask)
    for row, expert in np.ndindex(2, 2):
        wanted = a[0, row] @ b[0, expert] * (row == expert)
        np.testing.assert_allclose(
            found[0, row, 0, expert], wanted, rtol=1e-5, atol=1e-6
        )


def test_what_only_the_device_knows_is_an_error():
    for name in ("dispatch", "combine, experts", "sampling, rows"):
        program = ttxdsl.load(CALLS[name])
        with pytest.raises(UnsupportedError, match=r"it can be partitioned, not run"):
            program.simulate(program.random_inputs(0))


@pytest.mark.parametrize(
    ("options", "shapes", "said"),
    [
        ({"scale": "much"}, ["1x1x2x4xf32"] * 3, "scale that is no number"),
        ({}, ["1x1x2x4xf32"] * 3 + ["1x1x2x2xf32"], "is causal and has a mask"),
        (
            {"has_attention_sink": "True", "is_causal": "False"},
            ["1x1x2x4xf32"] * 3 + ["1x1x1x1xf32"],
            "attention sink",
        ),
        ({}, ["1x1x2x4xf32", "1x1x3x4xf32", "1x1x2x4xf32"], "do not fit"),
        ({}, ["1x1x2x4xf32"] * 2, "other operands than its options say"),
    ],
)
def test_what_is_not_clear_is_an_error(
    options: dict[str, str], shapes: list[str], said: str
):
    text = call(ATTENTION, options, [(one, "") for one in shapes], "1x1x2x4xf32")
    program = ttxdsl.load(text)
    with pytest.raises(CompileError, match=said):
        program.simulate(program.random_inputs(0))
