"""What regions capture, found by one walk of a nest."""

import pytest
from xdsl.ir import Operation

from tests.attack.bombs.deep import nested_regions
from ttxdsl.ir import captures
from ttxdsl.ir.captures import Captures
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import parse_program


def test_captures_are_the_values_from_outside_by_first_use() -> None:
    module = parse_program("""
func.func @main(%a: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %b = stablehlo.tanh %a : tensor<8xf32>
  %r = "stablehlo.if"(%p) ({
    %c = stablehlo.negate %b : tensor<8xf32>
    %q = "stablehlo.if"(%p) ({
      %d = stablehlo.add %c, %a : tensor<8xf32>
      stablehlo.return %d : tensor<8xf32>
    }, {
      stablehlo.return %c : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    stablehlo.return %q : tensor<8xf32>
  }, {
    stablehlo.return %b : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}""")
    outer, inner = (op for op in all_ops(module) if op.name == "stablehlo.if")
    known = Captures()

    def names(op_region: int, op: object = outer) -> list[str | None]:
        region = (outer if op is outer else inner).regions[op_region]
        return [value.name_hint for value in known.of(region)]

    assert names(0) == ["b", "p", "a"]
    assert names(1) == ["b"]
    assert names(0, inner) == ["c", "a"]
    used = [value.name_hint for value in known.used_by(outer)]
    assert used == ["p", "b", "p", "a", "b"]


def test_each_op_of_a_nest_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse_program(nested_regions("while", 60))
    looked: list[object] = []
    operands_of = captures.operands_of

    def counted(op: Operation) -> object:
        looked.append(op)
        return operands_of(op)

    monkeypatch.setattr(captures, "operands_of", counted)
    ops = all_ops(module)
    known = Captures()
    for op in ops:
        known.used_by(op)
    assert len(looked) <= 3 * len(ops)
