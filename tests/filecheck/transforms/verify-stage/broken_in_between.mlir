// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p 'verify-stage{stage=9}' | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p 'verify-stage{stage=7}' | filecheck %s --check-prefix EARLIER
// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p 'verify-stage{stage=14}' | filecheck %s --check-prefix NONE

// What holds between stages 8 and 12, and may be otherwise before.

// NONE: error: stage: 14 is not 1 to 13

// Stage 8 keeps dimensions whole that their axes do not divide.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = stablehlo.slice %a [0:8, 0:6] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<8x8xf32>) -> tensor<8x6xf32>
  return %a : tensor<8x8xf32>
}

// CHECK: error: {{.*}}dimension 1 of tensor<8x6xf32> is uneven in{{.*}} after stage 9
// CHECK-NEXT: hint: stage 8 should have seen to that
// EARLIER: func.func @main

// -----

// Stage 9 wraps also where nothing is computed.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// CHECK: error: {{.*}}'@main' has no manual computation{{.*}} after stage 9
// CHECK-NEXT: hint: stage 9 should have seen to that
// EARLIER: func.func @main
