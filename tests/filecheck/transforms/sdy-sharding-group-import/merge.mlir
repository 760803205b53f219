// RUN: xdsl-opt %s -p sdy-sharding-group-import | filecheck %s

func.func @main(%w: tensor<8xf32>, %x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) {
  // %y is in two groups, so these are one.
  // CHECK:      sdy.sharding_group %w group_id=0 : tensor<8xf32>
  // CHECK-NEXT: sdy.sharding_group %x group_id=1 : tensor<8xf32>
  // CHECK-NEXT: sdy.sharding_group %y group_id=1 : tensor<8xf32>
  // CHECK-NEXT: sdy.sharding_group %z group_id=1 : tensor<8xf32>
  // CHECK-NEXT: func.return
  sdy.sharding_group %w group_id=7 : tensor<8xf32>
  sdy.sharding_group %x group_id=5 : tensor<8xf32>
  sdy.sharding_group %y group_id=5 : tensor<8xf32>
  sdy.sharding_group %y group_id=9 : tensor<8xf32>
  sdy.sharding_group %z group_id=9 : tensor<8xf32>
  return
}
