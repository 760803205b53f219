"""Who answers for an op: itself, a user, our tables, its trait; and what is remembered."""

from collections.abc import Iterator, Sequence
from typing import cast

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    TensorType,
    f32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.sdy import OpShardingRuleAttr
from ttxdsl.dialects.stablehlo import StableHLO
from ttxdsl.rules import (
    ShardingRuleTrait,
    register_sharding_rule,
    registry,
    sharding_rule,
    sharding_rule_of,
    unregister_sharding_rule,
)
from ttxdsl.rules.registry import RULES
from ttxdsl.rules.without import WITHOUT_RULE
from ttxdsl.sharding.factors import OpShardingRule, parse_rule


def value(*shape: int) -> SSAValue:
    return test.TestPureOp(result_types=[TensorType(f32, shape)]).results[0]


class BaseOp(IRDLOperation):
    """What `mine.matmul` is derived from."""


class RowsAlone(ShardingRuleTrait):
    def sharding_rule(
        self, op: Operation, *, conservative: bool
    ) -> OpShardingRule | None:
        if conservative:
            return None
        return parse_rule("([i, j], [k, l])->([i, m]) {i=4, j=8, k=8, l=16, m=16}")


@irdl_op_definition
class MatmulOp(BaseOp):
    name = "mine.matmul"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()


@irdl_op_definition
class RowsOp(BaseOp):
    name = "mine.rows"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(RowsAlone())


def product(op_class: type[BaseOp] = MatmulOp, inner: int = 8) -> BaseOp:
    return op_class(
        operands=[value(4, 8), value(inner, 16)],
        result_types=[TensorType(f32, [4, 16])],
    )


def transposed(operand: SSAValue, permutation: Sequence[int]) -> Operation:
    shape = cast("TensorType[Attribute]", operand.type).get_shape()
    return stablehlo.TransposeOp(
        operands=[operand],
        result_types=[TensorType(f32, [shape[dim] for dim in permutation])],
        properties={"permutation": DenseArrayBase.from_list(i64, list(permutation))},
    )


TEXT = "([i, k], [k, j])->([i, j]) reduction={k}"
RULE = "([i, k], [k, j])->([i, j]) {i=4, j=16, k=8} reduction={k}"


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    for op_class in (BaseOp, MatmulOp, RowsOp, stablehlo.AddOp):
        unregister_sharding_rule(op_class)


def test_text():
    register_sharding_rule(MatmulOp, TEXT)
    assert str(sharding_rule(product())) == RULE
    unregister_sharding_rule(MatmulOp)
    assert sharding_rule(product()) is None


def test_text_for_a_base_class():
    register_sharding_rule(BaseOp, TEXT)
    assert str(sharding_rule(product())) == RULE
    register_sharding_rule(MatmulOp, "([*, *], [*, *])->([*, *])")
    assert sharding_rule(product()) == parse_rule(
        "([i, j], [k, l])->([m, n]) {i=1, j=1, k=1, l=1, m=1, n=1}"
    )


@pytest.mark.parametrize("answer", [TEXT, parse_rule(RULE), None])
def test_function(answer: str | OpShardingRule | None):
    @sharding_rule_of(MatmulOp)
    def rule(op: MatmulOp) -> str | OpShardingRule | None:
        assert op.lhs is op.operands[0]
        return answer

    assert rule is not None
    expected = None if answer is None else parse_rule(RULE)
    assert sharding_rule(product()) == expected


def test_trait():
    rule = sharding_rule(product(RowsOp))
    assert rule is not None and rule.factor_sizes == (4, 8, 8, 16, 16)
    assert sharding_rule(product(RowsOp), conservative=True) is None
    # what a user registers comes before what the dialect says
    register_sharding_rule(RowsOp, TEXT)
    assert str(sharding_rule(product(RowsOp))) == RULE


def test_attribute_wins():
    add = stablehlo.AddOp(value(4), value(4))
    rule = parse_rule("([i], [j])->([k]) {i=4, j=4, k=4}")
    add.attributes["sdy.sharding_rule"] = OpShardingRuleAttr(rule)
    assert sharding_rule(add) == rule
    register_sharding_rule(stablehlo.AddOp, "([*], [*])->([*])", replace=True)
    assert sharding_rule(add) == rule


def test_ours_can_be_replaced_on_purpose_only():
    with pytest.raises(CompileError, match=r"AddOp has a sharding rule already"):
        register_sharding_rule(stablehlo.AddOp, "([i], [i])->([i])")
    register_sharding_rule(stablehlo.AddOp, "([i], [j])->([j])", replace=True)
    add = stablehlo.AddOp(value(4), value(4))
    assert str(sharding_rule(add)) == "([i], [j])->([j]) {i=4, j=4}"
    unregister_sharding_rule(stablehlo.AddOp)
    assert str(sharding_rule(add)) == "([i], [i])->([i]) {i=4}"


def test_registered_twice():
    register_sharding_rule(MatmulOp, TEXT)
    with pytest.raises(CompileError, match="replace=True"):
        register_sharding_rule(MatmulOp, TEXT)


def test_text_is_read_when_registered():
    with pytest.raises(CompileError) as error:
        register_sharding_rule(MatmulOp, "i,k")
    assert str(error.value) == (
        "error: cannot read the sharding rule 'i,k': malformed sharding rule 'i,k', "
        "expected '([i, k], [k, j])->([i, j]) reduction={k}'\n"
        "  hint: write it as '([i, k], [k, j])->([i, j]) reduction={k}'"
    )


def test_text_that_does_not_fit_names_op_and_dimension():
    register_sharding_rule(MatmulOp, TEXT)
    with pytest.raises(CompileError) as error:
        sharding_rule(product(inner=9))
    assert str(error.value) == (
        "error: 'mine.matmul' op: sharding rule "
        "'([i, k], [k, j])->([i, j]) reduction={k}' does not fit: operand 1 dimension 0 "
        "has size 9, but its factors are k=8 (from operand 0 dimension 1)\n"
        "  hint: correct the rule that is registered for this op class"
    )


def test_data_that_does_not_fit():
    register_sharding_rule(MatmulOp, lambda op: parse_rule("([i])->([i]) {i=4}"))
    with pytest.raises(CompileError, match=r"mine.matmul.*operands and mappings"):
        sharding_rule(product())


def test_attribute_that_does_not_fit():
    add = stablehlo.AddOp(value(4), value(4))
    add.attributes["sdy.sharding_rule"] = OpShardingRuleAttr(
        parse_rule("([i, j], [i, j])->([i, j]) {i=4, j=4}")
    )
    with pytest.raises(CompileError, match=r"stablehlo.add.*rank must match: 2 != 1"):
        sharding_rule(add)


def test_dynamic_shapes_have_no_rule():
    add = stablehlo.AddOp(value(DYNAMIC_INDEX), value(DYNAMIC_INDEX))
    assert sharding_rule(add) is None
    register_sharding_rule(MatmulOp, TEXT)
    assert sharding_rule(product(inner=DYNAMIC_INDEX)) is None


def test_equal_signatures_are_worked_out_once(monkeypatch: pytest.MonkeyPatch):
    calls: list[Operation] = []
    line = RULES[stablehlo.TransposeOp]

    def counted(op: stablehlo.TransposeOp, conservative: bool):
        calls.append(op)
        return line.factors(op, conservative)

    monkeypatch.setitem(
        RULES,
        stablehlo.TransposeOp,
        type(line)(line.op_class, counted, line.surroundings),
    )
    monkeypatch.setattr(registry, "_remembered", {})
    rules = [
        sharding_rule(transposed(value(2, 3, 5), permutation))
        for permutation in ((0, 2, 1), (2, 0, 1), (0, 2, 1))
    ]
    assert len(calls) == 2
    assert rules[0] is rules[2] != rules[1]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch):
    remembered: dict[object, object] = {}
    monkeypatch.setattr(registry, "_remembered", remembered)
    monkeypatch.setattr(registry, "_MOST_REMEMBERED", 4)
    for size in range(1, 20):
        rule = sharding_rule(stablehlo.NegOp(value(size)))
        assert rule is not None and rule.factor_sizes == (size,)
        assert len(remembered) <= 4


def test_every_stablehlo_op_has_a_rule_or_a_reason():
    ops = StableHLO.operations
    assert not [op.name for op in ops if (op in RULES) == (op in WITHOUT_RULE)]
