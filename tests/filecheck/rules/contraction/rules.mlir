// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Matrix products and triangular solves.

// CHECK-LABEL: func.func @dot_4_8_8_5(
// CHECK: #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=4, j=5, k=8} reduction={k}>
func.func @dot_4_8_8_5(%arg0: tensor<4x8xf32>, %arg1: tensor<8x5xf32>) {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @dot_8_8_5(
// CHECK: #sdy.op_sharding_rule<([j], [j, i])->([i]) {i=5, j=8} reduction={j}>
func.func @dot_8_8_5(%arg0: tensor<8xf32>, %arg1: tensor<8x5xf32>) {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8xf32>, tensor<8x5xf32>) -> tensor<5xf32>
  return
}

// CHECK-LABEL: func.func @dot_4_8_8(
// CHECK: #sdy.op_sharding_rule<([i, j], [j])->([i]) {i=4, j=8} reduction={j}>
func.func @dot_4_8_8(%arg0: tensor<4x8xf32>, %arg1: tensor<8xf32>) {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @dot_8_8(
// CHECK: #sdy.op_sharding_rule<([i], [i])->([]) {i=8} reduction={i}>
func.func @dot_8_8(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @dot_1_8_8_1(
// CHECK: #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=1, j=1, k=8} reduction={k}>
func.func @dot_1_8_8_1(%arg0: tensor<1x8xf32>, %arg1: tensor<8x1xf32>) {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<1x8xf32>, tensor<8x1xf32>) -> tensor<1x1xf32>
  return
}

// CHECK-LABEL: func.func @dot_general_4_8_8_16_1_0(
// CHECK: #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=4, j=16, k=8} reduction={k}>
func.func @dot_general_4_8_8_16_1_0(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @dot_general_4_8_16_8_1_1(
// CHECK: #sdy.op_sharding_rule<([i, k], [j, k])->([i, j]) {i=4, j=16, k=8} reduction={k}>
func.func @dot_general_4_8_16_8_1_1(%arg0: tensor<4x8xf32>, %arg1: tensor<16x8xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @dot_general_8_4_8_16_0_0(
// CHECK: #sdy.op_sharding_rule<([k, i], [k, j])->([i, j]) {i=4, j=16, k=8} reduction={k}>
func.func @dot_general_8_4_8_16_0_0(%arg0: tensor<8x4xf32>, %arg1: tensor<8x16xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @dot_general_4_8(
// CHECK: #sdy.op_sharding_rule<([i], [j])->([i, j]) {i=4, j=8}>
func.func @dot_general_4_8(%arg0: tensor<4xf32>, %arg1: tensor<8xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [] : (tensor<4xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dot_general_8_8_0_0(
// CHECK: #sdy.op_sharding_rule<([i], [i])->([]) {i=8} reduction={i}>
func.func @dot_general_8_8_0_0(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @dot_general_3_2(
// CHECK: #sdy.op_sharding_rule<([], [i, j])->([i, j]) {i=3, j=2}>
func.func @dot_general_3_2(%arg0: tensor<f32>, %arg1: tensor<3x2xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [] x [] : (tensor<f32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: func.func @dot_general_2_4_8_2_8_16_0_0_2_1(
// CHECK: #sdy.op_sharding_rule<([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=4, k=16, l=8} reduction={l}>
func.func @dot_general_2_4_8_2_8_16_0_0_2_1(%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x8x16xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  return
}

// CHECK-LABEL: func.func @dot_general_4_2_8_8_16_2_1_2_2_0(
// CHECK: #sdy.op_sharding_rule<([j, i, l], [l, k, i])->([i, j, k]) {i=2, j=4, k=16, l=8} reduction={l}>
func.func @dot_general_4_2_8_8_16_2_1_2_2_0(%arg0: tensor<4x2x8xf32>, %arg1: tensor<8x16x2xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [1] x [2], contracting_dims = [2] x [0] : (tensor<4x2x8xf32>, tensor<8x16x2xf32>) -> tensor<2x4x16xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve_true_NO_TRANSPOSE(
// CHECK: #sdy.op_sharding_rule<([i, k], [i, j])->([k, j]) {i=4, j=7, k=4} need_replication={i, j, k}>
func.func @triangular_solve_true_NO_TRANSPOSE(%arg0: tensor<4x4xf32>, %arg1: tensor<4x7xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve_2_3_true_NO_TRANSPOSE(
// CHECK: #sdy.op_sharding_rule<([i, j, k, m], [i, j, k, l])->([i, j, m, l]) {i=2, j=3, k=4, l=7, m=4} need_replication={k, l, m}>
func.func @triangular_solve_2_3_true_NO_TRANSPOSE(%arg0: tensor<2x3x4x4xf32>, %arg1: tensor<2x3x4x7xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x4x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x4x7xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve_true_TRANSPOSE(
// CHECK: #sdy.op_sharding_rule<([k, i], [i, j])->([k, j]) {i=4, j=7, k=4} need_replication={i, j, k}>
func.func @triangular_solve_true_TRANSPOSE(%arg0: tensor<4x4xf32>, %arg1: tensor<4x7xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve_2_3_true_TRANSPOSE(
// CHECK: #sdy.op_sharding_rule<([i, j, m, k], [i, j, k, l])->([i, j, m, l]) {i=2, j=3, k=4, l=7, m=4} need_replication={k, l, m}>
func.func @triangular_solve_2_3_true_TRANSPOSE(%arg0: tensor<2x3x4x4xf32>, %arg1: tensor<2x3x4x7xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x4x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x4x7xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve_true_ADJOINT(
// CHECK: #sdy.op_sharding_rule<([k, i], [i, j])->([k, j]) {i=4, j=7, k=4} need_replication={i, j, k}>
func.func @triangular_solve_true_ADJOINT(%arg0: tensor<4x4xf32>, %arg1: tensor<4x7xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve_2_3_true_ADJOINT(
// CHECK: #sdy.op_sharding_rule<([i, j, m, k], [i, j, k, l])->([i, j, m, l]) {i=2, j=3, k=4, l=7, m=4} need_replication={k, l, m}>
func.func @triangular_solve_2_3_true_ADJOINT(%arg0: tensor<2x3x4x4xf32>, %arg1: tensor<2x3x4x7xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x3x4x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x4x7xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve_false_NO_TRANSPOSE(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, j])->([i, k]) {i=7, j=4, k=4} need_replication={i, j, k}>
func.func @triangular_solve_false_NO_TRANSPOSE(%arg0: tensor<4x4xf32>, %arg1: tensor<7x4xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
  return
}

// CHECK-LABEL: func.func @triangular_solve_2_3_false_NO_TRANSPOSE(
// CHECK: #sdy.op_sharding_rule<([i, j, m, l], [i, j, k, l])->([i, j, k, m]) {i=2, j=3, k=7, l=4, m=4} need_replication={k, l, m}>
func.func @triangular_solve_2_3_false_NO_TRANSPOSE(%arg0: tensor<2x3x4x4xf32>, %arg1: tensor<2x3x7x4xf32>) {
  %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x4x4xf32>, tensor<2x3x7x4xf32>) -> tensor<2x3x7x4xf32>
  return
}
