"""How a declaration and a dialect's base make an op, and that both dialects do so."""

from typing import ClassVar

from xdsl.dialects.builtin import AnyTensorTypeConstr, BoolAttr
from xdsl.irdl import operand_def, prop_def

from ttxdsl.dialects import ttir, ttnn
from ttxdsl.dialects._tt.op import ComputeOp, OneInputOp, TTOp, op_of


class Mine(TTOp):
    DIALECT: ClassVar[str] = "mine"
    OPS: ClassVar[list[type[TTOp]]] = []


class Handled(Mine):
    handle = operand_def(AnyTensorTypeConstr)


class Turn(OneInputOp):
    """The input, turned."""

    name = "turn"
    twice = prop_def(BoolAttr)


class TurnOp(Turn, Handled): ...


class BareOp(ComputeOp, Mine):
    """Own words."""

    name = "bare"


MadeOp = op_of(OneInputOp, Handled, "turn_back", "Of a table.")


def test_a_declaration_in_a_dialect_is_an_op():
    assert [TurnOp, BareOp, MadeOp] == Mine.OPS
    assert [op.name for op in Mine.OPS] == ["mine.turn", "mine.bare", "mine.turn_back"]
    assert [op.mnemonic() for op in Mine.OPS] == ["turn", "bare", "turn_back"]
    assert Turn.name == "turn"
    assert MadeOp.__name__ == "TurnBackOp"
    assert MadeOp.__module__ == __name__


def test_an_op_says_what_its_declaration_says():
    docs = [op.__doc__ for op in Mine.OPS]
    assert docs == ["The input, turned.", "Own words.", "Of a table."]


def test_operands_come_in_the_order_of_the_bases():
    definition = TurnOp.get_irdl_definition()
    assert [name for name, _ in definition.operands] == ["input", "handle"]
    assert [*definition.properties] == ["twice"]


BOTH = [
    (one, other)
    for one in ttir.TTIR.operations
    for other in ttnn.TTNN.operations
    if one.mnemonic() == other.mnemonic()
]

ORDERED_OTHERWISE = ("batch_norm_inference", "batch_norm_training")
"""ttir has the scale and the offset behind the input, ttnn the statistics."""


def test_what_both_dialects_have_is_declared_once():
    for one, other in BOTH:
        check_declared_once(one, other)


def check_declared_once(one: type[TTOp], other: type[TTOp]):
    # of several dimensions, and of one; factors and devices under other names
    if one.mnemonic() in ("prod", "repeat", "empty"):
        return
    assert one.__bases__[0] is other.__bases__[0]
    here, there = one.get_irdl_definition(), other.get_irdl_definition()
    assert [name for name, _ in here.results] == [name for name, _ in there.results]
    if one.mnemonic().endswith("quantize"):
        return  # scales and zero points are operands in ttnn
    added = {"output", "destinations", "device", "bias", "rest"}
    inputs = [
        [n for n, _ in of.operands if n not in added and not n.endswith("_output")]
        for of in (here, there)
    ]
    if one.mnemonic() in ORDERED_OTHERWISE:
        assert inputs[0] != inputs[1]
        inputs = [sorted(names) for names in inputs]
    elif one.mnemonic() == "distributed_rms_norm":
        assert inputs[0] == inputs[1][: len(inputs[0])]  # ttnn's has more
        return
    assert inputs[0] == inputs[1]
