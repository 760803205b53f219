"""Ops built from Python: types are inferred, and what is built verifies."""

from collections.abc import Callable

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import TensorType, f32, i1, i32
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
