// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Ops inside regions have rules too, and a rule that is there already stays.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>, %zero: tensor<f32>) -> tensor<4xf32> {
  // CHECK: stablehlo.tanh {{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=4, j=8, k=8}>}
  %0 = stablehlo.tanh %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k]) {i=4, j=8, k=8}>} : tensor<4x8xf32>
  // CHECK: stablehlo.custom_call @mine({{.*}}) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>}
  %1 = stablehlo.custom_call @mine(%0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [])->([i]) {i=4, j=8} reduction={j}>}
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.case
  // CHECK: stablehlo.negate {{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}>}
  // CHECK-NOT: sdy.sharding_rule
  %index = stablehlo.constant dense<0> : tensor<i32>
  %3 = "stablehlo.case"(%index) ({
    %4 = stablehlo.negate %2 : tensor<4xf32>
    stablehlo.return %4 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
