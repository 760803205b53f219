"""Ops built from Python: types are inferred, and what is built verifies."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    Signedness,
    TensorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttxdsl.dialects import stablehlo as hlo

F46, F4 = TensorType(f32, (4, 6)), TensorType(f32, (4,))
S, SI, SB = TensorType(f32, ()), TensorType(i32, ()), TensorType(i1, ())


def value(value_type: Attribute) -> SSAValue:
    return test.TestOp(result_types=[value_type]).results[0]


def ends(*values: SSAValue) -> hlo.ReturnOp:
    return hlo.ReturnOp(values)


def region(*types: Attribute, result: int | None = 0) -> Region:
    block = Block(arg_types=types)
    block.add_op(ends() if result is None else ends(block.args[result]))
    return Region(block)


def returning(given: SSAValue) -> Region:
    return Region(Block([ends(given)]))


X, V, A, N, P = value(F46), value(F4), value(S), value(SI), value(SB)

BUILT: dict[str, tuple[Callable[[], Operation], str]] = {
    "unary": (lambda: hlo.ExpOp(X), "exponential %1 : tensor<4x6xf32>"),
    "finite": (lambda: hlo.IsFiniteOp(V), "(tensor<4xf32>) -> tensor<4xi1>"),
    "binary": (lambda: hlo.AddOp(X, X), "add %1, %1 : tensor<4x6xf32>"),
    "complex": (lambda: hlo.ComplexOp(V, V), ": tensor<4xcomplex<f32>>"),
}


@pytest.mark.parametrize("name", BUILT)
def test_what_is_built_verifies_and_prints(name: str):
    make, expected = BUILT[name]
    op = make()
    op.verify()
    assert expected in str(op)


def test_properties_are_in_the_order_in_which_mlir_prints_them():
    for make, _ in BUILT.values():
        names = list(make().properties)
        assert names == sorted(names)


def test_attributes_are_read_as_numbers():
    pairs = DenseIntOrFPElementsAttr.from_list(TensorType(i64, (2, 2)), [0, 1, 1, 0])
    assert hlo.id_pairs(pairs) == ((0, 1), (1, 0))
    assert hlo.padding_pairs(None, 2) == ((0, 0), (0, 0))
    assert hlo.window_values(None, 2) == (1, 1)


def test_the_one_op_of_a_computation():
    block = Block(arg_types=(S, S))
    added = hlo.AddOp(*block.args)
    block.add_ops((added, ends(added.result)))
    op = hlo.single_op_of(Region(block))
    assert isinstance(op, hlo.AddOp)
    assert op.lhs.type == S
    swapped = Block(arg_types=(S, S))
    total = hlo.AddOp(swapped.args[1], swapped.args[0])
    swapped.add_ops((total, ends(total.result)))
    assert hlo.single_op_of(Region(swapped)) is None
    assert hlo.single_op_of(region(S, S)) is None


def test_kinds_of_elements():
    unsigned = IntegerType(8, Signedness.UNSIGNED)
    assert hlo.element_kind(i1) is hlo.Kind.PRED
    assert hlo.element_kind(i64) is hlo.Kind.SINT
    assert hlo.element_kind(unsigned) is hlo.Kind.UINT
    assert hlo.element_kind(f32) is hlo.Kind.FLOAT
    assert not hlo.element_kind(IntegerType(7))
    assert not hlo.element_kind(IntegerType(8, Signedness.SIGNED))
