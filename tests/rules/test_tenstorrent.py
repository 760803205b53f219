"""The rules of tt-mlir's custom calls: how shardings travel, and what is shared out."""

import pytest

from tests.bridges.tt_mlir.call_programs import call
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program
from ttxdsl.rules.division import division
from ttxdsl.rules.registry import sharding_rule


def the_call(target: str, options: dict[str, str], operands: str, results: str):
    text = call(target, options, [(s, "") for s in operands.split()], *results.split())
    (op,) = ops_of_type(parse_program(text), stablehlo.CustomCallOp)
    return op


ATTENTION = "tt.scaled_dot_product_attention"
HEADS = "4x8x6x5xf32 4x8x6x5xf32 4x8x6x5xf32"
UPDATE = "9x8x5x6xf32 1x4x8x6xf32 4xi32 4x7xi32"


@pytest.mark.parametrize(
    ("op", "rule", "local"),
    [
        (
            the_call(ATTENTION, {}, HEADS, "4x8x6x5xf32"),
            "([i, j, k, l], [i, j, k, l], [i, j, k, l])->([i, j, k, l])"
            " {i=4, j=8, k=6, l=5} need_replication={k, l}",
            {4, 8},
        ),
        (
            the_call(
                ATTENTION, {}, "4x8x6x5xf32 4x2x6x5xf32 4x2x6x5xf32", "4x8x6x5xf32"
            ),
            "([i, jk, l, m], [i, j, l, m], [i, j, l, m])->([i, jk, l, m])"
            " {i=4, j=2, k=4, l=6, m=5} need_replication={l, m}",
            {2, 4},
        ),
        (
            the_call(ATTENTION, {}, f"{HEADS} 4x1x6x6xf32", "4x8x6x5xf32"),
            "([i, j, k, l], [i, j, k, l], [i, j, k, l], [i, m, n, o])->([i, j, k, l])"
            " {i=4, j=8, k=6, l=5, m=1, n=1, o=1} need_replication={k, l}",
            {4, 8},
        ),
        (
            the_call("tt.paged_update_cache", {}, UPDATE, "9x8x5x6xf32"),
            "([k, i, l, m], [n, j, i, o], [j], [j, p])->([q, i, r, s])"
            " {i=8, j=4, k=1, l=1, m=1, n=1, o=1, p=1, q=1, r=1, s=1}",
            {8},
        ),
        (
            the_call(
                "tt.sparse_matmul",
                {"is_input_a_sparse": "False"},
                "2x4x6x5xf32 1x8x5x3xf32 2x4x1x8xf32",
                "2x4x1x8x6x3xf32",
            ),
            "reduction={l} need_replication={j, k} blocked_propagation={j, k}",
            {8, 5, 3},
        ),
        (
            the_call(
                "tt.indexer_score_dsa",
                {},
                "4x8x6x5xf32 4x1x7x5xf32 4x8x6x1xf32",
                "4x1x6x7xf32",
            ),
            "reduction={j}",
            {4, 8},
        ),
    ],
    ids=lambda value: value.call_target_name.data if hasattr(value, "regions") else "",
)
def test_a_call(op: stablehlo.CustomCallOp, rule: str, local: set[int]):
    """The size of a factor that devices share out tells which it is."""
    found, shared = sharding_rule(op), division(op)
    assert found is not None and shared is not None
    assert rule in str(found)
    sizes = {shared.rule.factor_sizes[factor] for factor in shared.local} - {1}
    assert sizes == local


@pytest.mark.parametrize(
    ("target", "options", "operands", "results"),
    [
        (ATTENTION, {}, "4x8x6x5xf32 4x3x6x5xf32 4x3x6x5xf32", "4x8x6x5xf32"),
        (ATTENTION, {}, "4x8x6x5xf32 4x8x7x5xf32 4x8x7x5xf32", "4x8x6x5xf32"),
        (ATTENTION, {}, f"{HEADS} 4x8xf32 4xf32", "4x8x6x5xf32"),
        ("tt.paged_update_cache", {}, "9x8x5x6xf32 1x4x8x6xf32", "9x8x5x6xf32"),
        (
            "tt.sparse_matmul",
            {"is_input_b_sparse": "False"},
            "2x4x6x5xf32 1x8x5x3xf32 2x4x1x8xf32",
            "2x4x1x8x6x3xf32",
        ),
        ("tenstorrent.rms_norm", {}, "4x8xf32", "4x8xf32"),
        ("tenstorrent.gather", {}, "4x8xf32 4x8xi32", "4x8xf32"),
    ],
)
def test_what_is_called_otherwise_has_none(
    target: str, options: dict[str, str], operands: str, results: str
):
    op = the_call(target, options, operands, results)
    assert sharding_rule(op) is None
    assert division(op) is None
