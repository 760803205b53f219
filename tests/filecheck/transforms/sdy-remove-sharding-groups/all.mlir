// RUN: xdsl-opt %s -p sdy-remove-sharding-groups | filecheck %s

// CHECK-NOT: sdy.sharding_group
// CHECK: stablehlo.case
// CHECK-NOT: sdy.sharding_group
func.func @main(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  sdy.sharding_group %x group_id=0 : tensor<8xf32>
  %0 = "stablehlo.case"(%i) ({
    sdy.sharding_group %x group_id=1 : tensor<8xf32>
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
