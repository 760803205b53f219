// RUN: xdsl-opt %s -p sdy-drop-sharding-and-mesh | filecheck %s

// CHECK-NOT: sdy.
// CHECK: func.func @main(%x: tensor<8xf32> {tt.k = 1 : i32}) -> tensor<8xf32> {
// CHECK-NOT: sdy.
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>, tt.k = 1 : i32})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// An op that has no sharding has no edges.
// CHECK: %0 = stablehlo.tanh %x : tensor<8xf32>
func.func @edges(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
