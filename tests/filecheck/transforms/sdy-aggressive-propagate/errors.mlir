// RUN: xdsl-opt %s -p sdy-aggressive-propagate --split-input-file --verify-diagnostics | filecheck %s

func.func @dynamic(%arg0: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.negate %arg0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK: error: 'stablehlo.negate' op: propagation only supports ranked tensors with a static shape, not tensor<?xf32>
// CHECK-NEXT: hint: export the program for fixed sizes

// -----

func.func @tuple(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tuple %arg0 : tuple<tensor<8xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<8xf32>>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
// CHECK: error: 'stablehlo.tuple' op: propagation does not support tuples: tuple<tensor<8xf32>>

// -----

func.func @two_groups(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8xf32>
  sdy.sharding_group %arg0 group_id=1 : tensor<8xf32>
  return %arg0 : tensor<8xf32>
}
// CHECK: error: 'sdy.sharding_group' op: a value can only be in one sharding group
// CHECK-NEXT: hint: run sdy-sharding-group-import first, which merges groups
