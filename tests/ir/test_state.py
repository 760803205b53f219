"""Whether a module changed, by the objects that it consists of."""

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    ModuleOp,
    StringAttr,
    f32,
)
from xdsl.ir import Attribute
from xdsl.printer import Printer

from ttxdsl.ir.state import is_same, state_of


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


def test_what_is_made_of_the_same_parts_is_not_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Functions get an array of dictionaries anew in each stage."""
    parts = [StringAttr(f"x{n}") for n in range(10)]

    def attributes() -> ArrayAttr[DictionaryAttr]:
        return ArrayAttr(DictionaryAttr({"a": part, "b": f32}) for part in parts)

    op = test.TestOp(attributes={"a": attributes()})
    module = ModuleOp([op])
    before = state_of(module)
    printed: list[Attribute] = []
    print_attribute = Printer.print_attribute

    def count(printer: Printer, attribute: Attribute) -> None:
        printed.append(attribute)
        print_attribute(printer, attribute)

    monkeypatch.setattr(Printer, "print_attribute", count)
    op.attributes["a"] = attributes()
    assert is_same(before, state_of(module))
    parts[3] = StringAttr("y")
    op.attributes["a"] = attributes()
    assert not is_same(before, state_of(module))
    assert printed == []
