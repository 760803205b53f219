// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

// What the messages look like; every constraint is in tests/dialects/test_sdy.py.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @padding(%a: tensor<6x8xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"y"} (%b: tensor<2x8xf32>) {
    sdy.return %b : tensor<2x8xf32>
  } : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return
}

// CHECK: operand 0: dim 0 of size 6 is not divisible by the manual axes {"y"} of size 4

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @gather(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return
}

// CHECK: can't apply gathering axis "x" to operand sharding on dimension 0: {"x", "y"} does not end with it

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @bound(%a: tensor<8x8xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = sdy.reshard %b <@mesh, [{}, {"x"}]> : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// CHECK: operates on axis "x" which is already bound by a parent sdy.manual_computation op
