"""Ops that are made directly are the ops that xDSL makes, field by field."""

import json
import subprocess
import sys
from typing import Any

import pytest
from xdsl.dialects import arith, cf, func, scf, test
from xdsl.dialects.builtin import UNKNOWN_LOC, StringAttr, UnitAttr, i1, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.core import SSAValues

from ttxdsl.dialects import stablehlo
from ttxdsl.ir.compat import mend_xdsl
from ttxdsl.ir.compat.speed import operations


def made() -> list[Operation]:
    """Ops of several kinds, each way to make one: with everything and with nothing."""
    source = test.TestOp(result_types=[i32, i32, i1])
    first, second, condition = source.results
    block = Block([test.TestTermOp()])
    inside = Region([Block([test.TestOp()]), Block()])
    ops: list[Any] = [
        source,
        test.TestOp(),
        test.TestOp.create(
            operands=[first, first, second],
            result_types=[i32],
            properties={"prop1": UnitAttr()},
            attributes={"note": StringAttr("here")},
            location=StringAttr("where"),  # pyright: ignore[reportArgumentType]
            successors=[block, block],
            regions=[inside, Region()],
        ),
        # defaults of properties: absent, and given
        arith.AddiOp(first, second),
        arith.AddiOp.create(operands=[first, second], result_types=[i32]),
        arith.AddiOp.create(
            operands=[first, second],
            result_types=[i32],
            properties={
                "overflowFlags": arith.IntegerOverflowAttr(
                    [arith.IntegerOverflowFlag.NSW]
                )
            },
        ),
        stablehlo.CompareOp.create(operands=[first, second], result_types=[i1]),
        cf.ConditionalBranchOp(condition, block, [first], block, [second]),
        scf.IfOp(condition, [i32], [scf.YieldOp(first)], [scf.YieldOp(second)]),
        func.FuncOp("f", ((i32,), ())),
    ]
    return ops


def fields(op: Operation) -> dict[str, Any]:
    """Every field of an op, what it refers to included, as text."""
    known = {id(op): "itself"}
    state: dict[str, Any] = {"class": type(op).__qualname__}
    for name, value in sorted(vars(op).items()):
        match name:
            case "_operands":
                state[name] = [str(operand.type) for operand in value]
                state["uses"] = [
                    [known.get(id(use.operation), "another"), use.index]
                    for operand in value
                    for use in operand.uses
                ]
            case "_operand_uses" | "_successor_uses":
                state[name] = [[use.index, use.operation is op] for use in value]
            case "results":
                state[name] = [[str(r.type), r.index, r.op is op] for r in value]
            case "regions":
                state[name] = [[len(r.blocks), r.parent is op] for r in value]
            case "_successors":
                state[name] = len(value)
            case "properties" | "attributes":
                state[name] = {key: str(entry) for key, entry in value.items()}
            case "location":
                state[name] = "unknown" if value is UNKNOWN_LOC else str(value)
            case _:
                state[name] = repr(value)
        state[f"type of {name}"] = type(value).__qualname__
    return state


def test_fields_are_those_that_xdsl_fills_in():
    """The same script in a process without our mends gives the same fields."""
    alone = subprocess.run(
        [sys.executable, "-m", "tests.ir.compat.speed.test_operations"],
        capture_output=True,
        text=True,
        check=True,
    )
    mend_xdsl()
    assert Operation.__init__.__module__ == "ttxdsl.ir.compat.speed.operations"
    mended = [fields(op) for op in made()]
    for ours, theirs in zip(mended, json.loads(alone.stdout), strict=True):
        # what xDSL leaves to the class's default is the same when it is asked for
        assert ours == theirs


def test_erasing_leaves_what_xdsl_leaves():
    mend_xdsl()
    source = test.TestOp(result_types=[i32, i32])
    user = test.TestOp(operands=[source.results[1]])
    with pytest.raises(ValueError, match="still has uses"):
        source.erase()
    source.erase(safe_erase=False)
    (left,) = user.operands
    assert type(left).__name__ == "ErasedSSAValue" and left.owner is source
    assert not list(source.results[0].uses) and not list(source.results[1].uses)


def test_added_ops_stand_behind_each_other():
    mend_xdsl()
    around = test.TestOp(regions=[Region(Block())])
    block = around.regions[0].block
    ops = [test.TestOp(), test.TestOp(), test.TestOp(regions=[Region()]), test.TestOp()]
    block.add_ops(ops)
    assert list(block.ops) == ops and list(reversed(block.ops)) == ops[::-1]
    assert all(op.parent is block for op in ops)
    assert block.first_op is ops[0] and block.last_op is ops[-1]
    assert ops[-1].next_op is None
    with pytest.raises(ValueError, match="already attached"):
        block.add_op(ops[1])
    with pytest.raises(ValueError, match="contained in the operation"):
        block.add_op(around)


def test_what_is_no_op_is_refused():
    mend_xdsl()
    with pytest.raises(TypeError, match="unexpected keyword"):
        test.TestOp.create(operand=[])  # pyright: ignore[reportCallIssue]
    taken = Region()
    test.TestOp.create(regions=[taken])
    with pytest.raises(ValueError, match="already attached"):
        test.TestOp.create(regions=[taken])


if __name__ == "__main__":
    assert Operation.__init__.__module__.startswith("xdsl."), "mended already"
    print(json.dumps([fields(op) for op in made()]))


def test_a_value_is_replaced_in_all_operands_of_a_user_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, other, new = (test.TestOp(result_types=[i32]) for _ in range(3))
    values = [old.results[0], other.results[0]] * 50
    user, second = test.TestOp(operands=values), test.TestOp(operands=values[:3])
    copied: list[int] = []

    def counted(operands: list[SSAValue]) -> SSAValues[SSAValue]:
        copied.append(len(operands))
        return SSAValues(operands)

    monkeypatch.setattr(operations, "_new_values", counted)
    old.results[0].replace_all_uses_with(new.results[0])
    assert sorted(copied) == [3, 100]
    assert list(user.operands) == [new.results[0], other.results[0]] * 50
    assert old.results[0].first_use is None
    uses = [(use.operation, use.index) for use in new.results[0].uses]
    assert sorted(index for op, index in uses if op is user) == list(range(0, 100, 2))
    assert sorted(index for op, index in uses if op is second) == [0, 2]
    new.results[0].replace_uses_with_if(old.results[0], lambda use: use.index > 50)
    assert len(list(old.results[0].uses)) == 24
    assert len(copied) == 3
