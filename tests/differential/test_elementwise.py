"""Which ops are elementwise, asked of C++ by a conflict that they decide.

A product gives the op's operand its rows, a sum with an argument the op's result its
columns, both by one axis. Propagation with op priorities goes through elementwise ops
first: then the columns win, otherwise the rows.
"""

import re

import pytest

from tests.catalogue.use import Use
from tests.catalogue.uses import USES
from tests.differential.equal_text import run_ours
from tests.differential.oracle import Oracle
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

SHAPE_KEEPING = (stablehlo.ReverseOp, stablehlo.CholeskyOp, stablehlo.CustomCallOp)
"""Ops that keep a shape and are not of these classes."""

PROBED: dict[str, Use] = {
    op.name: USES[op.name]
    for op in (*POINTWISE, *chlo.Chlo.operations, *SHAPE_KEEPING)
    if op in SHAPE_KEEPING
    or (
        (op.name.startswith("chlo.") or op in POINTWISE)
        and issubclass(
            op,
            stablehlo.ElementwiseUnaryOp
            | stablehlo.ElementwiseBinaryOp
            | stablehlo.ClampOp
            | stablehlo.SelectOp
            | chlo.ChloUnaryOp
            | chlo.ChloBinaryOp
            | chlo.ChloBroadcastOp
            | chlo.BroadcastSelectOp
            | chlo.ConstantLikeOp,
        )
    )
}


def element(type: str) -> str:
    """The elements of a tensor type."""
    return re.sub(r"^tensor<(\d+x)*|>$", "", type)


def program(use: Use) -> str:
    """The program with the op, of the elements that its use in the catalogue has."""
    source, target = element(use.operands[-1]), element(use.results[0])
    types = [element(type) for type in use.operands]
    operands = ["%in" if kind == source else "%p" for kind in types]
    tensor = ", ".join(["[i, j]"] * len(operands))
    rule = f"#sdy.op_sharding_rule<({tensor})->([i, j]) {{i=8, j=8}}, custom>"
    # all tensors have one shape here
    broadcasts = "broadcast_dimensions" in use.props
    properties = f"<{{{use.props}}}>" if use.props and not broadcasts else ""
    op = (
        f'"{use.name}"({", ".join(operands)}) {properties} '
        f"{{sdy.sharding_rule = {rule}}}"
    )
    text = PROGRAM.replace("TYPES", ", ".join(f"tensor<8x8x{one}>" for one in types))
    return text.replace("INPUT", source).replace("OUTPUT", target).replace("OP", op)


def columns_win(text: str) -> bool:
    (line,) = (line for line in text.splitlines() if "stablehlo.dot" in line)
    rows = '[{"a", ?}, {?}]' in line
    assert rows or '[{?}, {"a", ?}]' in line
    return not rows


@pytest.mark.parametrize("name", PROBED)
def test_elementwise_as_in_cpp(oracle: Oracle, name: str) -> None:
    text = program(PROBED[name])
    expected = oracle.run(text, PASS)
    assert columns_win(oracle.run(run_ours(text, PASS))) == columns_win(expected)
