"""From factors to rules: numbering, factors of size 1, dimensions that nobody names."""

from __future__ import annotations

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32, i32
from xdsl.ir import Attribute

from ttxdsl.rules.builder import (
    Factor,
    FactorType,
    Shapes,
    assemble,
    pointwise,
    resized,
)

SQUARE = Shapes(((4, 8), (4, 8)), ((4, 8),))


def test_product():
    dot = assemble(
        Shapes(((8, 4), (4, 16)), ((8, 16),)),
        [
            Factor(8, (0, None), 0),
            Factor(16, (None, 1), 1),
            Factor(4, (1, 0), None, FactorType.REDUCTION),
        ],
    )
    assert str(dot) == "([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}"


def test_every_kind_has_its_group():
    factors = [
        Factor(2, dim, dim, kind, True) for dim, kind in enumerate(list(FactorType))
    ]
    rule = assemble(Shapes(((2, 2, 2, 2),), ((2, 2, 2, 2),)), factors)
    assert (rule.reduction, rule.need_replication, rule.permutation) == (
        (1,),
        (2,),
        (3,),
    )
    assert rule.blocked == (0, 1, 2, 3)
    assert not rule.is_custom


def test_one_number_means_every_tensor_that_has_the_dimension():
    rule = assemble(Shapes(((), (4,), (4, 8)), ((4, 8),)), pointwise((4, 8)))
    assert str(rule) == "([], [i], [i, j])->([i, j]) {i=4, j=8}"


def test_unnamed_dimensions_get_factors_of_their_own_operands_first():
    rule = assemble(SQUARE, [Factor(8, (None, 1), None)])
    assert str(rule) == "([j, k], [l, i])->([m, n]) {i=8, j=1, k=1, l=1, m=1, n=1}"


def test_size_one_is_kept_only_alone():
    compound = [Factor(2, 0, 0), Factor(1, 0, 0), Factor(2, 0, 0), Factor(1, 1, 1)]
    rule = assemble(Shapes(((4, 1),), ((4, 1),)), compound)
    assert rule.operands == (((0, 2), (3,)),)


def test_size_zero_is_kept():
    rule = assemble(Shapes(((0,),), ((0,),)), [Factor(0, 0, 0)])
    assert rule.operands == (((0,),),)
    assert rule.factor_sizes == (0,)


def test_resized_marks_what_differs():
    before = test.TestPureOp(result_types=[TensorType(f32, [4, 8])])
    op = test.TestPureOp([before.results[0]], [TensorType(f32, [4, 3])])
    factors = list(resized(op, FactorType.PERMUTATION, blocked=True))
    assert factors == [Factor(4, 0, 0), Factor(8, 1, 1, FactorType.PERMUTATION, True)]


def test_too_few_dims_for_the_tensors_is_an_error():
    with pytest.raises(ValueError):
        assemble(SQUARE, [Factor(4, (0,), 0)])


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [
        (TensorType(f32, [4, 8]), Shapes((), ((4, 8),))),
        (i32, Shapes((), ((),))),
        (TensorType(f32, [4, DYNAMIC_INDEX]), None),
    ],
)
def test_shapes_of_values(kind: Attribute, shapes: Shapes | None):
    assert Shapes.of(test.TestOp(result_types=[kind])) == shapes
