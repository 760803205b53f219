"""From factors to rules: numbering, factors of size 1, dimensions that nobody names."""

import pytest

from ttxdsl.rules.builder import Factor, FactorType, Shapes, assemble

SQUARE = Shapes(((4, 8), (4, 8)), ((4, 8),))


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


def test_size_zero_is_kept():
    rule = assemble(Shapes(((0,),), ((0,),)), [Factor(0, 0, 0)])
    assert rule.operands == (((0,),),)
    assert rule.factor_sizes == (0,)


def test_too_few_dims_for_the_tensors_is_an_error():
    with pytest.raises(ValueError):
        assemble(SQUARE, [Factor(4, (0,), 0)])
