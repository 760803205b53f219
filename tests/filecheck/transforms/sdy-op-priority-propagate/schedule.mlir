// RUN: xdsl-opt %s -p sdy-op-priority-propagate --split-input-file | filecheck %s
// RUN: xdsl-opt %s -p 'sdy-op-priority-propagate{run-op-priority-propagation=false}' --split-input-file | filecheck %s --check-prefix PLAIN

// The dot stands first, but elementwise ops propagate first: "b" from the result wins.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @elementwise_first(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {?}]>}) {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: @elementwise_first
// CHECK:         stablehlo.dot {{.*}}[{"b", ?}, {?}]
// PLAIN-LABEL: @elementwise_first
// PLAIN:         stablehlo.dot {{.*}}[{"a", ?}, {?}]

// -----

// A broadcast propagates forward only at the very end.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @broadcast_last(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot %0, %arg1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.add %0, %arg1 : tensor<8x8xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
// CHECK-LABEL: @broadcast_last
// CHECK:         stablehlo.broadcast_in_dim {{.*}}[{"b", ?}, {?}]
// PLAIN-LABEL: @broadcast_last
// PLAIN:         stablehlo.broadcast_in_dim {{.*}}[{"a", ?}, {{.*}}]
