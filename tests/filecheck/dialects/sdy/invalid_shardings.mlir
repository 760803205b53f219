// RUN: xdsl-opt %s --split-input-file --verify-diagnostics | filecheck %s

// What the messages look like; every constraint is in tests/dialects/test_sdy.py.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @argument(%a: i32, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z"}]>}) {
  return
}

// CHECK: 'func.func' op arg 1: dim 1: unknown axis name: "z"; the mesh is <["x"=2, "y"=4]>

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @op(%a: tensor<8x8xf32>) {
  %0:2 = "test.op"() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"y"}, {"y":(1)2}]>]>} : () -> (tensor<8xf32>, tensor<8x8xf32>)
  return
}

// CHECK: 'test.op' op result 1: both sub-axis and full-axis are used for axis name: "y"

// -----

func.func @constraint(%a: tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// CHECK: unknown mesh: @mesh

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @rule(%a: tensor<8x8xf32>) {
  %0 = "test.op"(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, i])->([i, i]) {i=8}>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// CHECK: 'test.op' op sharding rule: operand - cannot reuse factors for the same tensor value
