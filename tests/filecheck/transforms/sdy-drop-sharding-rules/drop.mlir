// RUN: xdsl-opt %s -p sdy-drop-sharding-rules | filecheck %s
// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules,sdy-drop-sharding-rules | filecheck %s

// Rules that a user wrote stay, all others go, in regions too.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: stablehlo.tanh %{{.*}} : tensor<4x8xf32>
  %0 = stablehlo.tanh %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=4, j=8, k=8}>} : tensor<4x8xf32>
  // CHECK: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>
  %1 = stablehlo.custom_call @mine(%0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NOT: sdy.sharding_rule
  %index = stablehlo.constant dense<0> : tensor<i32>
  %2 = "stablehlo.case"(%index) ({
    %3 = stablehlo.negate %1 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>} : tensor<4x8xf32>
    stablehlo.return %3 : tensor<4x8xf32>
  }) : (tensor<i32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
