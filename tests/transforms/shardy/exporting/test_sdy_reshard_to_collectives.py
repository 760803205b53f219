import pytest
from xdsl.dialects.func import FuncOp

import ttxdsl
from ttxdsl.diagnostics.errors import UnsupportedError
from ttxdsl.dialects import sdy
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.sharding.spec import TensorSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.exporting.sdy_reshard_to_collectives import (
    check_collectives,
)


def test_a_reshard_to_a_mesh_of_other_axes_is_refused_by_the_stages():
    """The pass alone leaves it there, as in C++; `unify-meshes` is before stage 1."""
    program = parse_program("""
        sdy.mesh @mesh = <["x"=2, "y"=2]>
        sdy.mesh @other = <["a"=4]>
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) -> tensor<8xf32> {
          %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
          %1 = sdy.reshard %0 <@other, [{"a"}]> : tensor<8xf32>
          return %1 : tensor<8xf32>
        }""")
    with pytest.raises(UnsupportedError, match="whose mesh has other axes"):
        TTStableHLOPipelinePass(first_stage=2).apply(make_context(), program)


def test_a_collective_that_propagation_unsettles_is_refused():
    """The maximum becomes sharded like what it is made of."""
    program = ttxdsl.load("""
        sdy.mesh @mesh = <["y"=4]>
        func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {?}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
          %c = stablehlo.constant dense<0xff800000> : tensor<f32>
          %0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<16xf32>
          %1 = sdy.all_slice [{"y"}] %0 out_sharding=<@mesh, [{"y"}]> : tensor<16xf32>
          return %1 : tensor<16xf32>
        }""")
    with pytest.raises(UnsupportedError, match="its operand is now"):
        program.partition()


@pytest.mark.parametrize("verify_each", [False, True])
def test_a_collective_that_a_constraint_unsettles_is_refused(verify_each: bool):
    """Its place is said, also where every stage's program is verified."""
    program = parse_program("""
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<8xf32>) {
          %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
          %1 = sdy.sharding_constraint %a <@mesh, [{"x"}p3]> : tensor<8xf32>
          return
        }""")
    pipeline = TTStableHLOPipelinePass(verify_each=verify_each)
    with pytest.raises(
        UnsupportedError, match=r"'sdy.all_reduce' op: .*operand is now"
    ):
        pipeline.apply(make_context(), program)


def test_a_collective_whose_operand_has_changed_is_refused():
    module = parse_program("""
        sdy.mesh @mesh = <["d"=1]>
        func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) -> tensor<16xf32> {
          %0 = sdy.sharded_to_unreduced [{"d"}] %a out_sharding=<@mesh, [{}], unreduced={"d"}> : tensor<16xf32>
          %1 = sdy.all_reduce {"d"} %0 out_sharding=<@mesh, [{}]> : tensor<16xf32>
          return %1 : tensor<16xf32>
        }""")
    check_collectives(module)
    argument = next(op for op in module.ops if isinstance(op, FuncOp)).args[0]
    sdy.set_sharding(argument, TensorSharding.fully_closed("mesh", 1))
    with pytest.raises(UnsupportedError, match="sharded-to-unreduced axis"):
        check_collectives(module)
