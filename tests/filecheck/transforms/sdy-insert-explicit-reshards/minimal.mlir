// RUN: xdsl-opt %s -p 'sdy-insert-explicit-reshards{enable-full-version=false}' | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Conflicts stay.
func.func @add(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @add
// CHECK-NOT: sdy.reshard
// CHECK: func.return

// The result is smaller than the operand that would have to be resharded.
func.func @dot(%a: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK-LABEL: @dot
// CHECK: %0 = stablehlo.dot_general
// CHECK-SAME: <@mesh, [{}, {"y"}]>
// CHECK-NEXT: sdy.reshard %0 <@mesh, [{}, {"x"}]>

func.func @concatenate(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<4xf32>) -> tensor<8xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @concatenate
// CHECK: sdy.reshard %a <@mesh, [{}]>

// Reductions of what stays unreduced only.
func.func @reduction(%a: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, %b: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
// CHECK-LABEL: @reduction
// CHECK-NEXT: stablehlo.dot
// CHECK-NEXT: %1 = stablehlo.dot
// CHECK-NEXT: %2 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}, {}], unreduced={"y"}>
// CHECK-NEXT: sdy.all_reduce {"y"} %2 out_sharding=<@mesh, [{}, {}]>
