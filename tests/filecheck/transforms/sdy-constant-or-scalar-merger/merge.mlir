// RUN: xdsl-opt %s -p sdy-constant-or-scalar-merger | filecheck %s

sdy.mesh @mesh = <["a"=2]>

// CHECK-LABEL: @main
func.func @main(%s: tensor<f32>) {
  // CHECK-NEXT: %[[A:.*]] = sdy.constant dense<1.000000e+00> : tensor<8xf32>
  // CHECK-NEXT: %[[B:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} dense<1.000000e+00> : tensor<8xf32>
  // CHECK-NEXT: %[[C:.*]] = stablehlo.broadcast_in_dim %s
  // CHECK-NEXT: "test.op"(%[[A]], %[[B]], %[[A]], %[[C]], %[[C]])
  %0 = sdy.constant dense<1.0> : tensor<8xf32>
  %1 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} dense<1.0> : tensor<8xf32>
  %2 = sdy.constant dense<1.0> : tensor<8xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %4 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  "test.op"(%0, %1, %2, %3, %4) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> ()
  return
}
