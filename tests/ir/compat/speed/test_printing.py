"""Attributes print as before, though the text of most is made once."""

from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    UnknownLoc,
    UnregisteredOp,
    f32,
    f64,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.printer import Printer

from tests.work import calls
from ttxdsl.api import load
from ttxdsl.ir.compat.speed import printing

EXAMPLE = Path(__file__).parents[4] / "examples/transformer_block.mlir"


class PlainPrinter(Printer):
    """A class of its own, which the mend leaves alone."""


def text(printer: type[Printer], op: Operation, *, generic: bool) -> str:
    stream = StringIO()
    printer(stream=stream, print_generic_format=generic).print_op(op)
    return stream.getvalue()


@pytest.mark.parametrize("form", ["stablehlo", "ttir", "ttnn"])
@pytest.mark.parametrize("generic", [False, True], ids=["pretty", "generic"])
def test_programs_print_the_same(form: str, generic: bool):
    program = load(EXAMPLE)
    module = program.module if form == "stablehlo" else program.lower(form).module  # pyright: ignore[reportArgumentType]
    for _ in range(2):
        assert text(Printer, module, generic=generic) == text(
            PlainPrinter, module, generic=generic
        )


def lines() -> list[Operation]:
    """Ops whose lines are alike but for what tells them apart, and such as have none."""
    source = test.TestOp(result_types=[i32, f32])
    first, second = source.results
    zeros = [FloatAttr(0.0, f32), FloatAttr(-0.0, f32), FloatAttr(0.0, f64)]
    later = test.TestOp(result_types=[i32])
    other = UnregisteredOp.with_name("some.op").create(
        operands=[first], attributes={"op_name__": StringAttr("some.op")}
    )
    block = Block([test.TestTermOp(successors=[Block()])])
    return [
        source,
        *(test.TestOp([first], [i32], properties={"prop1": one}) for one in zeros),
        *(test.TestOp([first], [i32], attributes={"prop1": one}) for one in zeros),
        test.TestOp([first], [i32, i32]),
        test.TestOp([first, first], [i32]),
        test.TestOp([second], [i32], properties={"prop1": UnitAttr()}),
        test.TestOp([first], attributes={"place": UnknownLoc(), "": UnitAttr()}),
        test.TestOp([first], attributes={"list": ArrayAttr([UnitAttr(), zeros[1]])}),
        test.TestOp([first, later.results[0]]),  # named before it is there
        later,
        other,
        test.TestOp(regions=[Region(block)]),
    ]


def test_what_is_behind_the_operands_is_written_once():
    source = test.TestOp(result_types=[i32])
    alike = [test.TestOp([*source.results] * 9) for _ in range(50)]
    block = Block([source, *alike])
    Printer(stream=StringIO()).print_block(block)
    once = calls(lambda: PlainPrinter(stream=StringIO()).print_block(block))
    assert calls(lambda: Printer(stream=StringIO()).print_block(block)) < once / 3


def test_dictionaries_of_arguments_are_written_once():
    """Also if each stage makes them anew, of the same attributes."""

    def function() -> FuncOp:
        types, said = [f32] * 100, {"a.b": StringAttr("x"), "a.c": UnitAttr()}
        said["a.d"] = kept
        op = FuncOp("f", (types, []), Region(Block(arg_types=types)))
        op.arg_attrs = ArrayAttr(DictionaryAttr(said) for _ in types)
        return op

    kept = ArrayAttr([IntegerAttr(1, i32)] * 3)
    op = function()
    assert text(Printer, op, generic=False) == text(PlainPrinter, op, generic=False)
    plain = calls(lambda: text(PlainPrinter, op, generic=False))
    assert calls(lambda: text(Printer, op, generic=False)) < plain / 3


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(printing, "_MOST_KEPT", 4)
    for size in range(20):
        assert str(TensorType(f32, [size, 77])) == f"tensor<{size}x77xf32>"
    assert len(printing._by_value) <= 4  # pyright: ignore[reportPrivateUsage]
    assert len(printing._by_identity) <= 4  # pyright: ignore[reportPrivateUsage]
