"""The order of ops, asked once a block, is xDSL's."""

from itertools import product

from tests.insight.why import programs
from ttxdsl.ir.traversal import OpOrder, all_ops
from ttxdsl.loading.program import parse_program


def test_order_of_ops():
    ops, order = all_ops(parse_program(programs.CONFLICTING)), OpOrder()
    behind = [order.is_behind(op, other) for op, other in product(ops, ops)]
    assert behind == [other.is_before_in_block(op) for op, other in product(ops, ops)]
    assert any(behind)
