// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Collectives of a program that is still global.

// CHECK-LABEL: func.func @all_gather_0_1(
// CHECK: #sdy.op_sharding_rule<([j, i])->([k, i]) {i=8, j=4, k=8} need_replication={j, k}>
func.func @all_gather_0_1(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @all_gather_0_2(
// CHECK: #sdy.op_sharding_rule<([j, i], [j, i])->([k, i], [k, i]) {i=8, j=4, k=8} need_replication={j, k}>
func.func @all_gather_0_2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0:2 = "stablehlo.all_gather"(%arg0, %arg1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return
}

// CHECK-LABEL: func.func @all_gather_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, k]) {i=4, j=8, k=16} need_replication={j, k}>
func.func @all_gather_1_1(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @all_gather_1_2(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, k], [i, k]) {i=4, j=8, k=16} need_replication={j, k}>
func.func @all_gather_1_2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0:2 = "stablehlo.all_gather"(%arg0, %arg1) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
  return
}

// CHECK-LABEL: func.func @all_reduce(
// CHECK: #sdy.op_sharding_rule<([i, j], [i])->([i, j], [i]) {i=4, j=8}>
func.func @all_reduce(%arg0: tensor<4x8xf32>, %arg1: tensor<3xf32>) {
  %0:2 = "stablehlo.all_reduce"(%arg0, %arg1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<3xf32>) -> (tensor<4x8xf32>, tensor<3xf32>)
  return
}

// CHECK-LABEL: func.func @all_reduce_one(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @all_reduce_one(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @all_to_all_0_0_1(
// CHECK: #sdy.op_sharding_rule<([j, i])->([k, i]) {i=8, j=4, k=4} need_replication={j, k}>
func.func @all_to_all_0_0_1(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @all_to_all_0_0_2(
// CHECK: #sdy.op_sharding_rule<([j, i], [j, i])->([k, i], [k, i]) {i=8, j=4, k=4} need_replication={j, k}>
func.func @all_to_all_0_0_2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0:2 = "stablehlo.all_to_all"(%arg0, %arg1) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// CHECK-LABEL: func.func @all_to_all_0_1_1(
// CHECK: #sdy.op_sharding_rule<([i, k])->([j, l]) {i=4, j=2, k=8, l=16} need_replication={i, j, k, l}>
func.func @all_to_all_0_1_1(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>) -> tensor<2x16xf32>
  return
}

// CHECK-LABEL: func.func @all_to_all_0_1_2(
// CHECK: #sdy.op_sharding_rule<([i, k], [i, k])->([j, l], [j, l]) {i=4, j=2, k=8, l=16} need_replication={i, j, k, l}>
func.func @all_to_all_0_1_2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0:2 = "stablehlo.all_to_all"(%arg0, %arg1) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>)
  return
}

// CHECK-LABEL: func.func @all_to_all_1_0_1(
// CHECK: #sdy.op_sharding_rule<([k, i])->([l, j]) {i=8, j=4, k=4, l=8} need_replication={i, j, k, l}>
func.func @all_to_all_1_0_1(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @all_to_all_1_0_2(
// CHECK: #sdy.op_sharding_rule<([k, i], [k, i])->([l, j], [l, j]) {i=8, j=4, k=4, l=8} need_replication={i, j, k, l}>
func.func @all_to_all_1_0_2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0:2 = "stablehlo.all_to_all"(%arg0, %arg1) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return
}

// CHECK-LABEL: func.func @all_to_all_1_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, k]) {i=4, j=8, k=8} need_replication={j, k}>
func.func @all_to_all_1_1_1(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @all_to_all_1_1_2(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, k], [i, k]) {i=4, j=8, k=8} need_replication={j, k}>
func.func @all_to_all_1_1_2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0:2 = "stablehlo.all_to_all"(%arg0, %arg1) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// CHECK-LABEL: func.func @collective_broadcast(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @collective_broadcast(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @collective_permute(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @collective_permute(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @cross_replica_sum(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @cross_replica_sum(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.cross-replica-sum"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @reduce_scatter_0(
// CHECK: #sdy.op_sharding_rule<([j, i])->([k, i]) {i=8, j=8, k=4} need_replication={j, k}>
func.func @reduce_scatter_0(%arg0: tensor<8x8xf32>) {
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @reduce_scatter_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, k]) {i=4, j=16, k=8} need_replication={j, k}>
func.func @reduce_scatter_1(%arg0: tensor<4x16xf32>) {
  %0 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x16xf32>) -> tensor<4x8xf32>
  return
}
