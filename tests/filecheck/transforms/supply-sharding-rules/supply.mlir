// RUN: xdsl-opt %s -p supply-sharding-rules | filecheck %s
// RUN: xdsl-opt %s -p supply-sharding-rules,sdy-populate-op-sharding-rules,sdy-drop-sharding-rules | filecheck %s

// Ops that Shardy has no rule for, in alphabetical order. Others are left alone.

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>, %row: tensor<8xf32>, %column: tensor<4x1xf32>) {
  // CHECK-NEXT: chlo.broadcast_add {{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [j])->([i, j]) {i=4, j=8}, custom>
  %0 = chlo.broadcast_add %x, %row : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: chlo.broadcast_add {{.*}}sdy.sharding_rule = #sdy.op_sharding_rule<([j], [i, k])->([i, j]) {i=4, j=8, k=1}, custom>
  %1 = chlo.broadcast_add %row, %column {broadcast_dimensions = array<i64: 1>} : (tensor<8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: chlo.erf {{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}, custom>
  %2 = chlo.erf %x : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: chlo.next_after {{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8}, custom>
  %3 = chlo.next_after %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK-NEXT: chlo.top_k({{.*}}) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=4, j=8} need_replication={j} blocked_propagation={j}, custom>
  %4, %5 = chlo.top_k(%x, k = 2) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  // CHECK-NEXT: stablehlo.add %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %6 = stablehlo.add %x, %x : tensor<4x8xf32>
  // CHECK-NEXT: batch_norm_grad{{.*}}#sdy.op_sharding_rule<([i, j], [j], [j], [j], [i, j])->([i, j], [j], [j]) {i=4, j=8}, custom>
  %7:3 = "stablehlo.batch_norm_grad"(%x, %row, %row, %row, %x) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: batch_norm_training{{.*}}#sdy.op_sharding_rule<([i, j], [j], [j])->([i, j], [j], [j]) {i=4, j=8}, custom>
  %8:3 = "stablehlo.batch_norm_training"(%x, %row, %row) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: stablehlo.broadcast {{.*}} {sdy.sharding_rule = #sdy.op_sharding_rule<([j, k])->([i, j, k]) {i=2, j=4, k=8}, custom>
  %9 = stablehlo.broadcast %x, sizes = [2] : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  return
}
