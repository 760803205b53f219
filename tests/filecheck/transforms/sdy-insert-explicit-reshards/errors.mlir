// RUN: xdsl-opt %s -p sdy-insert-explicit-reshards --split-input-file --verify-diagnostics | filecheck %s

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: error: 'stablehlo.add' op: an unreduced axis would have to shard in
// CHECK-NEXT: hint: reduce the operands first, or shard by another axis

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  "stablehlo.custom_call"(%a) <{call_target_name = "print", has_side_effect = true}> : (tensor<8xf32>) -> ()
  return
}
// CHECK: error: 'stablehlo.custom_call' op: operand 0 has unreduced axes and the op has no results

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) {
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: error: 'sdy.reshard' op: <@mesh, [{}], unreduced={"x"}> and <@mesh, [{}], unreduced={"y"}> both have unreduced axes that the other lacks

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["a"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) {
  return %a : tensor<8xf32>
}
// CHECK: operand 0 has unreduced axes to handle and another mesh than its user
// CHECK-NEXT: hint: use one mesh, or reduce the value before it changes meshes

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = stablehlo.custom_call @two(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>, <@mesh, [{}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
// CHECK: error: 'stablehlo.custom_call' op: the results have different unreduced axes
