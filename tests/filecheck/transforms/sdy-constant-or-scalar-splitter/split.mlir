// RUN: xdsl-opt %s -p sdy-constant-or-scalar-splitter | filecheck %s

// CHECK-LABEL: @constants
func.func @constants(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // Each of the two uses has its own %c and %0; %s is a scalar and stays one.
  // CHECK-DAG:  %[[S:.*]] = sdy.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-DAG:  %[[B1:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = []
  // CHECK-DAG:  %[[B2:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = []
  // CHECK-DAG:  %[[N1:.*]] = stablehlo.negate %[[B1]]
  // CHECK-DAG:  %[[N2:.*]] = stablehlo.negate %[[B2]]
  // CHECK:      %[[A1:.*]] = stablehlo.add %x, %[[N1]]
  // CHECK-NEXT: %[[A2:.*]] = stablehlo.add %x, %[[N2]]
  // CHECK-NEXT: func.return %[[A1]], %[[A2]]
  %s = stablehlo.constant dense<1.0> : tensor<f32>
  %c = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
  %0 = stablehlo.negate %c : tensor<8x8xf32>
  %1 = stablehlo.add %x, %0 : tensor<8x8xf32>
  %2 = stablehlo.add %x, %0 : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @expansions
func.func @expansions(%s: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: %[[B1:.*]] = stablehlo.broadcast_in_dim %s
  // CHECK-NEXT: %[[B2:.*]] = stablehlo.broadcast_in_dim %s
  // CHECK-NEXT: func.return %[[B1]], %[[B2]]
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}
