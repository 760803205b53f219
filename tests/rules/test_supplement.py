"""Rules of ops that Shardy has none for."""

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import TensorType, f32, i32
from xdsl.ir import Attribute, Operation

from ttxdsl.dialects import chlo
from ttxdsl.dialects.chlo import Chlo, RaggedDotDimensionNumbersAttr, RaggedDotDims
from ttxdsl.loading.program import parse_program
from ttxdsl.rules.supplement import RULES, supplementary_rule

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


def test_every_chlo_op_has_a_rule_or_a_reason():
    ops = Chlo.operations
    assert not [op.name for op in ops if (op in RULES) == (op in NOTHING_TO_PROPAGATE)]


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
