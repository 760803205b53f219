"""Which ops are elementwise, asked of C++ by a conflict that they decide.

A product gives the op's operand its rows, a sum with an argument the op's result its
columns, both by one axis. Propagation with op priorities goes through elementwise ops
first: then the columns win, otherwise the rows.
"""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle, OracleRejected
from ttxdsl.dialects import chlo, stablehlo
from ttxdsl.rules.elementwise import POINTWISE

PASS = "sdy-op-priority-propagate"

PROGRAM = """
sdy.mesh @mesh = <["a"=2]>
func.func @main(
    %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>},
    %y: tensor<8x8xf32>, %p: tensor<8x8xi1>,
    %z: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a"}]>}
) -> tensor<8x8xf32> {
  %product = stablehlo.dot %x, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %in = stablehlo.convert %product : (tensor<8x8xf32>) -> tensor<8x8xINPUT>
  %out = OP : (TYPES) -> tensor<8x8xOUTPUT>
  %result = stablehlo.convert %out : (tensor<8x8xOUTPUT>) -> tensor<8x8xf32>
  %sum = stablehlo.add %result, %z : tensor<8x8xf32>
  return %sum : tensor<8x8xf32>
}"""

ELEMENTS = (
    ("f32", "f32"),
    ("i32", "i32"),
    ("i1", "i1"),
    ("f32", "i1"),
    ("complex<f32>", "f32"),
    ("complex<f32>", "complex<f32>"),
    ("f32", "complex<f32>"),
)
"""Of operands and results; an op is probed with the first that C++ takes."""

LESS = "<{comparison_direction = #stablehlo<comparison_direction LT>}>"
PROPERTIES = {
    "stablehlo.compare": LESS,
    "chlo.broadcast_compare": "<{comparison_direction = #chlo<comparison_direction LT>}>",
    "stablehlo.reduce_precision": "<{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}>",
    "chlo.constant_like": "<{value = 1.0 : f32}>",
    "stablehlo.reverse": "<{dimensions = array<i64: 0>}>",
    "stablehlo.cholesky": "<{lower = true}>",
    "stablehlo.custom_call": '<{call_target_name = "unknown"}>',
}

OPERANDS: dict[type[Operation], tuple[str, ...]] = {
    **dict.fromkeys(
        (
            op_class
            for op_class in (*POINTWISE, *chlo.Chlo.operations)
            if issubclass(op_class, stablehlo.ElementwiseUnaryOp | chlo.ChloUnaryOp)
        ),
        ("in",),
    ),
    **dict.fromkeys(
        (
            op_class
            for op_class in (*POINTWISE, *chlo.Chlo.operations)
            if issubclass(
                op_class,
                stablehlo.ElementwiseBinaryOp
                | chlo.ChloBinaryOp
                | chlo.ChloBroadcastOp,
            )
        ),
        ("in", "in"),
    ),
    stablehlo.ClampOp: ("in", "in", "in"),
    stablehlo.SelectOp: ("p", "in", "in"),
    chlo.BroadcastSelectOp: ("p", "in", "in"),
    chlo.ConstantLikeOp: ("in",),
    stablehlo.ReverseOp: ("in",),
    stablehlo.CholeskyOp: ("in",),
    stablehlo.CustomCallOp: ("in",),
}


def programs(op_class: type[Operation]) -> list[str]:
    """The program with the op, one an element type."""
    operands = OPERANDS[op_class]
    tensor = ", ".join(["[i, j]"] * len(operands))
    rule = f"#sdy.op_sharding_rule<({tensor})->([i, j]) {{i=8, j=8}}, custom>"
    name = op_class.name
    found: list[str] = []
    for source, target in ELEMENTS:
        types = ["i1" if operand == "p" else source for operand in operands]
        op = (
            f'"{name}"({", ".join(f"%{operand}" for operand in operands)}) '
            f"{PROPERTIES.get(name, '')} {{sdy.sharding_rule = {rule}}}"
        )
        text = PROGRAM.replace("TYPES", ", ".join(f"tensor<8x8x{t}>" for t in types))
        text = text.replace("INPUT", source).replace("OUTPUT", target)
        found.append(text.replace("OP", op))
    return found


def columns_win(text: str) -> bool:
    (line,) = (line for line in text.splitlines() if "stablehlo.dot" in line)
    rows = '[{"a", ?}, {?}]' in line
    assert rows or '[{?}, {"a", ?}]' in line
    return not rows


@pytest.mark.parametrize("op_class", OPERANDS, ids=lambda op_class: op_class.name)
def test_elementwise_as_in_cpp(oracle: Oracle, op_class: type[Operation]) -> None:
    for text in programs(op_class):
        try:
            expected = oracle.run(text, PASS)
        except OracleRejected:
            continue
        assert columns_win(oracle.run(run_ours(text, PASS))) == columns_win(expected)
        return
    pytest.fail("C++ takes it with none of the element types")
