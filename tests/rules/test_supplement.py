"""Rules of ops that Shardy has none for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import TensorType, f32, i32
from xdsl.ir import Attribute, Operation

from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.dialects.chlo import Chlo, RaggedDotDimensionNumbersAttr, RaggedDotDims
from ttxdsl.loading.program import parse_program
from ttxdsl.rules import sharding_rule
from ttxdsl.rules.division import division
from ttxdsl.rules.registry import RULES as SHARDYS
from ttxdsl.rules.supplement import RULES, supplementary_rule
from ttxdsl.rules.without import WITHOUT_RULE

NOTHING_TO_PROPAGATE = {
    chlo.ConstantOp: "has no operands",
    chlo.ConstantLikeOp: "its operand gives the shape only",
    chlo.ScanOp: "its body decides",
}


def tensor(*shape: int, of: Attribute = f32) -> str:
    return str(TensorType(of, shape))


def op_of(
    name: str, operands: Sequence[str], result: str, **properties: str
) -> Operation:
    """An op of arguments of these types."""
    names = ", ".join(f"%{i}" for i in range(len(operands)))
    arguments = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(operands))
    said = ", ".join(f"{name} = {value}" for name, value in properties.items())
    module = parse_program(f"""
        func.func @main({arguments}) {{
          %r:{max(1, result.count("tensor<"))} = "{name}"({names}) <{{{said}}}> : ({", ".join(operands)}) -> {result}
          return
        }}""")
    return next(op for op in module.walk() if op.name == name)


def linalg_call(target: str, operands: Sequence[str], *results: str) -> Operation:
    """A custom call that JAX wrote without a rule."""
    types = ", ".join(results)
    name = f'"{target}"'
    return op_of("stablehlo.custom_call", operands, f"({types})", call_target_name=name)


def test_every_chlo_op_has_a_rule_or_a_reason():
    ops = Chlo.operations
    assert not [op.name for op in ops if (op in RULES) == (op in NOTHING_TO_PROPAGATE)]


def test_shardys_rules_are_not_repeated():
    # of custom calls the target decides
    assert RULES.keys() & SHARDYS.keys() == {stablehlo.CustomCallOp}
    others = RULES.keys() - SHARDYS.keys()
    assert {op for op in others if op.name.startswith("stablehlo.")} <= set(
        WITHOUT_RULE
    )
    call = linalg_call("Qr", [tensor(2, 6, 4)], tensor(2, 6, 4), tensor(2, 4))
    assert sharding_rule(call) is not None and supplementary_rule(call) is None


def test_rule_is_custom_and_not_the_registrys():
    op = op_of("chlo.erf", [tensor(4, 8)], tensor(4, 8))
    assert str(supplementary_rule(op)) == "([i, j])->([i, j]) {i=4, j=8}, custom"
    assert sharding_rule(op) is None
    assert supplementary_rule(op_of("stablehlo.negate", [tensor(4)], tensor(4))) is None
    assert (
        supplementary_rule(op_of("chlo.erf", ["tensor<?xf32>"], "tensor<?xf32>"))
        is None
    )


@pytest.mark.parametrize(
    ("lhs", "rhs", "sizes", "result", "dims", "rule"),
    [
        pytest.param(
            (2, 8, 5),
            (3, 2, 5, 7),
            (2, 3),
            (2, 8, 7),
            RaggedDotDims((0,), (1,), (2,), (2,), (1,), (0,)),
            "([i, j, m], [l, i, m, k], [n, o])->([i, j, k]) "
            "{i=2, j=8, k=7, l=3, m=5, n=1, o=1} reduction={m} need_replication={j, l}",
            id="rows in groups",
        ),
        pytest.param(
            (8, 5),
            (8, 7),
            (3,),
            (3, 5, 7),
            RaggedDotDims((), (), (0,), (0,), (0,), ()),
            "([l, j], [l, k], [m])->([i, j, k]) "
            "{i=3, j=5, k=7, l=8, m=1} need_replication={i, l}",
            id="contracted dimension in groups",
        ),
        pytest.param(
            (4, 8, 5),
            (4, 5, 7),
            (3,),
            (4, 8, 7),
            RaggedDotDims((0,), (0,), (2,), (1,), (0,), ()),
            "([i, j, l], [i, l, k], [m])->([i, j, k]) "
            "{i=4, j=8, k=7, l=5, m=1} reduction={l} need_replication={i}",
            id="batch in groups",
        ),
    ],
)
def test_ragged_dot(
    lhs: tuple[int, ...],
    rhs: tuple[int, ...],
    sizes: tuple[int, ...],
    result: tuple[int, ...],
    dims: RaggedDotDims,
    rule: str,
):
    op = op_of(
        "chlo.ragged_dot",
        [tensor(*lhs), tensor(*rhs), tensor(*sizes, of=i32)],
        tensor(*result),
        ragged_dot_dimension_numbers=str(RaggedDotDimensionNumbersAttr(dims)),
    )
    found = supplementary_rule(op)
    assert str(found) == f"{rule}, custom"


@pytest.mark.parametrize(
    ("lhs", "rhs", "rule"),
    [
        ((4, 8), (4, 8), "([i, j], [i, j])->([i, j]) {i=4, j=8}"),
        ((4, 8), (), "([i, j], [])->([i, j]) {i=4, j=8}"),
        ((4, 1), (8,), "([i, k], [j])->([i, j]) {i=4, j=8, k=1}"),
        ((4, 8), (1, 8), "([i, j], [k, j])->([i, j]) {i=4, j=8, k=1}"),
    ],
)
def test_broadcast(lhs: tuple[int, ...], rhs: tuple[int, ...], rule: str):
    op = op_of("chlo.broadcast_add", [tensor(*lhs), tensor(*rhs)], tensor(4, 8))
    assert str(supplementary_rule(op)) == f"{rule}, custom"


@pytest.mark.parametrize(
    ("target", "operands", "results", "rule"),
    [
        (
            "lapack_spotrf_ffi",
            [(2, 3, 5, 5)],
            [(2, 3, 5, 5), (2, 3)],
            "([i, j, k, l])->([i, j, m, n], [i, j]) "
            "{i=2, j=3, k=5, l=5, m=5, n=5} need_replication={k, l, m, n}",
        ),
        (
            "lapack_dgtsv_ffi",
            [(2, 5), (2, 5), (2, 5), (2, 5, 3)],
            [(2, 5), (2, 5), (2, 5), (2, 5, 3), (2,)],
            "([i, j], [i, k], [i, l], [i, m, n])->([i, o], [i, p], [i, q], [i, r, s], [i])"
            " {i=2, j=5, k=5, l=5, m=5, n=3, o=5, p=5, q=5, r=5, s=3} "
            "need_replication={j, k, l, m, n, o, p, q, r, s}",
        ),
        (
            "LuDecomposition",
            [(6, 4)],
            [(6, 4), (4,), (6,)],
            "([i, j])->([k, l], [m], [n]) {i=6, j=4, k=6, l=4, m=4, n=6} "
            "need_replication={i, j, k, l, m, n}",
        ),
        (
            "cu_lu_pivots_to_permutation",
            [(2, 4)],
            [(2, 6)],
            "([i, j])->([i, k]) {i=2, j=4, k=6} need_replication={j, k}",
        ),
        # numbers are the same for the whole batch
        (
            "cusolver_syrk_ffi",
            [(2, 5, 3), (2, 5, 5), (), ()],
            [(2, 5, 5)],
            "([i, j, k], [i, l, m], [], [])->([i, n, o]) "
            "{i=2, j=5, k=3, l=5, m=5, n=5, o=5} need_replication={j, k, l, m, n, o}",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) and "->" not in one else "",
)
def test_linear_algebra_splits_its_batch(
    target: str,
    operands: list[tuple[int, ...]],
    results: list[tuple[int, ...]],
    rule: str,
):
    inputs, outputs = ([tensor(*s) for s in shapes] for shapes in (operands, results))
    op = linalg_call(target, inputs, *outputs)
    assert str(supplementary_rule(op)) == f"{rule}, custom"
    found = division(op)
    assert found is not None
    whole = set(found.rule.need_replication)
    assert found.local == set(range(len(found.rule.factor_sizes))) - whole


def test_linear_algebra_whose_batches_differ_is_not_split():
    op = linalg_call("LuDecomposition", [tensor(2, 4, 4)], tensor(3, 4, 4))
    assert supplementary_rule(op) is None
