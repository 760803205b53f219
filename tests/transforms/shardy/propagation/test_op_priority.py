from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)

from tests.transforms.shardy.propagation.programs import ops_named, parse
from ttxdsl.rules import (
    ElementwiseTrait,
    register_sharding_rule,
    sharding_rule,
    unregister_sharding_rule,
)
from ttxdsl.sharding.step import PropagationDirection
from ttxdsl.transforms.shardy.propagation.graph import Node, PropagationGraph
from ttxdsl.transforms.shardy.propagation.op_priority import directions_until
from ttxdsl.transforms.shardy.propagation.op_properties import is_elementwise

PROGRAM = """
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8xf32>, %p: tensor<f32>, %i: tensor<i32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.negate %x : tensor<8x8xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.dot %0, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = stablehlo.add %0, %2 : tensor<8x8xf32>
  %4 = stablehlo.dynamic_slice %3, %i, %i, sizes = [4, 8]
    : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %5 = stablehlo.clamp %p, %1, %p : (tensor<f32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = stablehlo.custom_call @MoveToHost(%6) {has_side_effect = true} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2, %7, %4, %5 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>
}
"""

NONE, FORWARD, BACKWARD, BOTH = (
    PropagationDirection.NONE,
    PropagationDirection.FORWARD,
    PropagationDirection.BACKWARD,
    PropagationDirection.BOTH,
)


def prepared(name: str) -> Node:
    module = parse(PROGRAM)
    graph = PropagationGraph(module)
    (op,) = ops_named(module, name)
    index = graph.node_of(op)
    assert index is not None
    graph.prepare(graph.nodes[index])
    return graph.nodes[index]


@irdl_op_definition
class SquareOp(IRDLOperation):
    """An elementwise op of somebody else's dialect."""

    name = "mine.square"

    operand = operand_def()
    result = result_def()

    traits = traits_def(ElementwiseTrait())


FOREIGN = """
func.func @main(%x: tensor<4x8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "mine.square"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.add ins(%0, %x : tensor<4x8xf32>, tensor<4x8xf32>)
                  outs(%out : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = linalg.mul ins(%1, %x : tensor<4x8xf32>, tensor<4x8xf32>)
                  outs(%out : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}"""


def test_ops_that_are_not_ours_may_be_elementwise() -> None:
    rule = "([...], [...], [...])->([...])"
    module = parse(FOREIGN, [Dialect("mine", [SquareOp])])
    square, add, multiply = (
        op
        for name in ("mine.square", "linalg.add", "linalg.mul")
        for op in ops_named(module, name)
    )
    assert is_elementwise(square)
    assert str(sharding_rule(square)) == "([i, j])->([i, j]) {i=4, j=8}"
    assert not is_elementwise(add)
    register_sharding_rule(linalg.AddOp, rule, elementwise=True)
    register_sharding_rule(
        linalg.MulOp, rule, elementwise=lambda op: op.inputs[0] is not op.inputs[1]
    )
    try:
        assert is_elementwise(add) and is_elementwise(multiply)
        graph = PropagationGraph(module)
        index = graph.node_of(add)
        assert index is not None
        graph.prepare(graph.nodes[index])
        assert directions_until(1)(graph.nodes[index]) == (BOTH, BOTH)
        multiply.operands[0] = multiply.operands[1]
        assert not is_elementwise(multiply)
    finally:
        unregister_sharding_rule(linalg.AddOp)
        unregister_sharding_rule(linalg.MulOp)
    assert not is_elementwise(add)
