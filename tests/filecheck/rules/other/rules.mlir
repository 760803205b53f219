// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Ops that belong to no larger family.

sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @batch_norm_inference_0(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i], [i], [i], [i])->([i, j, k]) {i=2, j=3, k=4}>
func.func @batch_norm_inference_0(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) <{epsilon = 1.000000e-03 : f32, feature_index = 0 : i64}> : (tensor<2x3x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @batch_norm_inference_1(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [j], [j], [j], [j])->([i, j, k]) {i=2, j=3, k=4}>
func.func @batch_norm_inference_1(%arg0: tensor<2x3x4xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3xf32>, %arg4: tensor<3xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @batch_norm_inference_2(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [k], [k], [k], [k])->([i, j, k]) {i=2, j=3, k=4}>
func.func @batch_norm_inference_2(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg2, %arg3, %arg4) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @cholesky_4_4(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=4} need_replication={i, j}>
func.func @cholesky_4_4(%arg0: tensor<4x4xf32>) {
  %0 = stablehlo.cholesky %arg0, lower = true : tensor<4x4xf32>
  return
}

// CHECK-LABEL: func.func @cholesky_2_3_5_5(
// CHECK: #sdy.op_sharding_rule<([i, j, k, l])->([i, j, k, l]) {i=2, j=3, k=5, l=5} need_replication={k, l}>
func.func @cholesky_2_3_5_5(%arg0: tensor<2x3x5x5xf32>) {
  %0 = stablehlo.cholesky %arg0, lower = true : tensor<2x3x5x5xf32>
  return
}

// CHECK-LABEL: func.func @rng_bit_generator(
// CHECK: #sdy.op_sharding_rule<([i])->([i], []) {i=2} need_replication={i} blocked_propagation={i}>
func.func @rng_bit_generator(%arg0: tensor<2xui64>) {
  %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
  return
}

// CHECK-LABEL: func.func @rng_bit_generator_4(
// CHECK: #sdy.op_sharding_rule<([i])->([i], [j]) {i=2, j=4} need_replication={i} blocked_propagation={i}>
func.func @rng_bit_generator_4(%arg0: tensor<2xui64>) {
  %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}

// CHECK-LABEL: func.func @rng_bit_generator_4_1_6(
// CHECK: #sdy.op_sharding_rule<([i])->([i], [j, k, l]) {i=2, j=4, k=1, l=6} need_replication={i} blocked_propagation={i}>
func.func @rng_bit_generator_4_1_6(%arg0: tensor<2xui64>) {
  %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x1x6xui32>)
  return
}

// CHECK-LABEL: func.func @sdy_reshard(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @sdy_reshard(%arg0: tensor<4x8xf32>) {
  %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @sdy_sharding_constraint(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @sdy_sharding_constraint(%arg0: tensor<4x8xf32>) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  return
}
