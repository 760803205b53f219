// RUN: xdsl-opt %s -p inline | filecheck %s

// What a data flow edge says of a function is nothing without calls.

// CHECK-LABEL: func.func public @main
// CHECK-NEXT:  %[[A:.*]] = stablehlo.tanh %{{.*}} : tensor<2xf32>
// CHECK-NEXT:  func.return %[[A]]
func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = sdy.func_data_flow_edge %x : tensor<2xf32>
  %1 = func.call @callee(%0) : (tensor<2xf32>) -> tensor<2xf32>
  %2 = sdy.func_data_flow_edge %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
func.func private @callee(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = sdy.func_data_flow_edge %x : tensor<2xf32>
  %1 = stablehlo.tanh %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
