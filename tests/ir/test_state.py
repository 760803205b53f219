"""Whether a module changed, by the objects that it consists of."""

from __future__ import annotations

from xdsl.dialects import test
from xdsl.dialects.builtin import FloatAttr, ModuleOp, StringAttr, f32

from ttxdsl.ir.state import is_same, state_of


def test_what_was_made_anew_and_says_the_same_is_no_change() -> None:
    op = test.TestOp(attributes={"a": StringAttr("x")}, result_types=[f32])
    module = ModuleOp([op])
    before = state_of(module)
    assert is_same(before, state_of(module))
    op.attributes["a"] = StringAttr("x")
    assert is_same(before, state_of(module))
    op.attributes["a"] = StringAttr("y")
    assert not is_same(before, state_of(module))


def test_zeros_of_other_signs_and_other_ops_are_changes() -> None:
    op = test.TestOp(attributes={"a": FloatAttr(0.0, f32)})
    module = ModuleOp([op])
    before = state_of(module)
    op.attributes["a"] = FloatAttr(-0.0, f32)
    assert not is_same(before, state_of(module))
    op.attributes["a"] = FloatAttr(0.0, f32)
    assert is_same(before, state_of(module))
    op.detach()
    module.body.block.add_op(test.TestOp(attributes={"a": FloatAttr(0.0, f32)}))
    assert not is_same(before, state_of(module))
