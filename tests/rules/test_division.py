"""Along which factors devices share an op out, and where shardings travel along others."""

import pytest
from xdsl.ir import Operation

from tests.rules.test_supplement import op_of, tensor
from ttxdsl.rules.division import Division, division
from ttxdsl.sharding.factors import factor_symbol


def call(target: str, *shape: int) -> Operation:
    one = tensor(*shape)
    return op_of("stablehlo.custom_call", [one], one, call_target_name=f'"{target}"')


def text(found: Division) -> str:
    symbols = ", ".join(map(factor_symbol, sorted(found.local)))
    return f"{found.rule} local={{{symbols}}}"


CASES = {
    "a matrix is needed whole, a batch is not": (
        op_of("stablehlo.cholesky", [tensor(4, 8, 8)], tensor(4, 8, 8)),
        "([i, j, k])->([i, j, k]) {i=4, j=8, k=8} need_replication={j, k} local={i}",
    ),
    "right-hand sides are independent": (
        op_of(
            "stablehlo.triangular_solve",
            [tensor(4, 8, 8), tensor(4, 8, 6)],
            tensor(4, 8, 6),
            left_side="true",
            lower="true",
            unit_diagonal="false",
            transpose_a="#stablehlo<transpose NO_TRANSPOSE>",
        ),
        "([i, j, l], [i, j, k])->([i, l, k]) {i=4, j=8, k=6, l=8} "
        "need_replication={j, k, l} local={i, k}",
    ),
    "a regrouped dimension is on one side only": (
        op_of("stablehlo.reshape", [tensor(4, 3, 5)], tensor(4, 5, 3)),
        "([i, j, l])->([i, k, m]) {i=4, j=3, k=5, l=5, m=3} local={i}",
    ),
    "without elements nothing belongs together": (
        op_of("stablehlo.reshape", [tensor(0, 4)], tensor(2, 0)),
        "([i, j])->([k, l]) {i=1, j=1, k=1, l=1} local={}",
    ),
    "a last dimension that keeps its size is sorted all the same": (
        call("mhlo.topk", 4, 8),
        "([i, j])->([k, l]) {i=1, j=1, k=1, l=1} local={}",
    ),
    "shardings travel along matrices that no device does a part of": (
        call("Cholesky", 4, 8, 8),
        "([i, j, k])->([i, l, m]) {i=4, j=1, k=1, l=1, m=1} local={i}",
    ),
    "an annotation, of which Shardy has no rule": (
        call("Sharding", 4, 8),
        "([i, j])->([i, j]) {i=4, j=8} local={i, j}",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_devices_share_out(name: str):
    op, expected = CASES[name]
    found = division(op)
    assert found is not None
    assert text(found) == expected


def test_nothing_is_known():
    assert division(call("unknown", 4)) is None
    assert division(call("tpu_custom_call", 4)) is None
    dynamic = "tensor<?xf32>"
    assert division(op_of("stablehlo.negate", [dynamic], dynamic)) is None
