import pytest

from tests.transforms.shardy.propagation.programs import ops_named, parse
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects.sdy import get_sharding
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.shardy.propagation.sharding_groups import ShardingGroups

PROGRAM = """
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, SECOND)
    -> tensor<8xf32> {
  sdy.sharding_group %x group_id=0 : tensor<8xf32>
  sdy.sharding_group %y group_id=0 : tensor<8xf32>
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}"""


def test_members_that_disagree_get_open_constraints_and_a_warning() -> None:
    module = parse(
        PROGRAM.replace(
            "SECOND", '%y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}'
        )
    )
    groups = ShardingGroups(module)
    with collect_remarks() as remarks:
        groups.align(module)
    assert [remark.severity for remark in remarks] == ["warning"]
    assert "sharding group 0 do not match" in remarks[0].message
    constraints = ops_named(module, "sdy.sharding_constraint")
    assert [get_sharding(op.results[0]) for op in constraints] == (
        [TensorSharding.fully_open("mesh", 1)] * 2
    )
    (add,) = ops_named(module, "stablehlo.add")
    assert set(add.operands) == {op.results[0] for op in constraints}
    first, second = add.operands
    assert groups.others_like(first) == [second]
    module.verify()


def test_a_value_is_in_one_group() -> None:
    module = parse(
        PROGRAM.replace("SECOND", "%y: tensor<8xf32>").replace(
            "%y group_id=0", "%x group_id=1"
        )
    )
    with pytest.raises(CompileError, match="only be in one sharding group"):
        ShardingGroups(module)


def test_a_value_may_be_in_its_group_twice() -> None:
    text = PROGRAM.replace(
        "SECOND", '%y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}'
    ).replace("%0 =", "sdy.sharding_group %x group_id=0 : tensor<8xf32>\n  %0 =")
    module = parse(text)
    groups = ShardingGroups(module)
    with collect_remarks():
        groups.align(module)
    module.verify()
    constraints = ops_named(module, "sdy.sharding_constraint")
    assert {groups.op_of(op.results[0]).name for op in constraints} == {
        "sdy.sharding_group"
    }
