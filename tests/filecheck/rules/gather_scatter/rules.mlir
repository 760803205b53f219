// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Gather and scatter.

// CHECK-LABEL: func.func @gather_10_8_4_1_1_8(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l])->([i, j]) {i=4, j=8, k=10, l=1} reduction={k} need_replication={l}>
func.func @gather_10_8_4_1_1_8(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @gather_10_8_4_1_1_8__2(
// CHECK: #sdy.op_sharding_rule<([j, l], [i, m])->([i, k, l]) {i=4, j=10, k=1, l=8, m=1} reduction={j} need_replication={k, m}>
func.func @gather_10_8_4_1_1_8__2(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xf32>, tensor<4x1xi32>) -> tensor<4x1x8xf32>
  return
}

// CHECK-LABEL: func.func @gather_10_8_4_5_2_3_2(
// CHECK: #sdy.op_sharding_rule<([k, l], [i, j, m])->([i, j, k, l]) {i=4, j=5, k=10, l=8, m=2} need_replication={k, l, m} blocked_propagation={k, l}>
func.func @gather_10_8_4_5_2_3_2(%arg0: tensor<10x8xf32>, %arg1: tensor<4x5x2xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 3, 2>}> : (tensor<10x8xf32>, tensor<4x5x2xi32>) -> tensor<4x5x3x2xf32>
  return
}

// CHECK-LABEL: func.func @gather_10_8_4_1_8(
// CHECK: #sdy.op_sharding_rule<([k, j], [i])->([i, j]) {i=4, j=8, k=10} reduction={k}>
func.func @gather_10_8_4_1_8(%arg0: tensor<10x8xf32>, %arg1: tensor<4xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<10x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @gather_10_8_2_4_5_1_1(
// CHECK: #sdy.op_sharding_rule<([k, l], [m, i, j])->([i, j]) {i=4, j=5, k=10, l=8, m=2} reduction={k, l} need_replication={m}>
func.func @gather_10_8_2_4_5_1_1(%arg0: tensor<10x8xf32>, %arg1: tensor<2x4x5xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1]>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<10x8xf32>, tensor<2x4x5xi32>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @gather_1_8_4_1_1_8(
// CHECK: #sdy.op_sharding_rule<([k, i], [j, l])->([i, j]) {i=8, j=4, k=1, l=1} need_replication={k, l}>
func.func @gather_1_8_4_1_1_8(%arg0: tensor<1x8xf32>, %arg1: tensor<4x1xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<1x8xf32>, tensor<4x1xi32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @gather_3_10_8_3_4_1_1_1_8(
// CHECK: #sdy.op_sharding_rule<([i, l, k], [i, j, m])->([i, j, k]) {i=3, j=4, k=8, l=10, m=1} reduction={l} need_replication={m}>
func.func @gather_3_10_8_3_4_1_1_1_8(%arg0: tensor<3x10x8xf32>, %arg1: tensor<3x4x1xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<3x10x8xf32>, tensor<3x4x1xi32>) -> tensor<3x4x8xf32>
  return
}

// CHECK-LABEL: func.func @gather_3_10_2_8_2_4_3_1_1_5_1_8(
// CHECK: #sdy.op_sharding_rule<([l, k, i, m], [i, j, l, n])->([i, j, k, l, m]) {i=2, j=4, k=10, l=3, m=8, n=1} need_replication={k, n} blocked_propagation={k}>
func.func @gather_3_10_2_8_2_4_3_1_1_5_1_8(%arg0: tensor<3x10x2x8xf32>, %arg1: tensor<2x4x3x1xi32>) {
  %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 4], operand_batching_dims = [0, 2], start_indices_batching_dims = [2, 0], start_index_map = [1], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5, 1, 8>}> : (tensor<3x10x2x8xf32>, tensor<2x4x3x1xi32>) -> tensor<2x4x5x3x8xf32>
  return
}

// CHECK-LABEL: func.func @scatter_10_8_4_1_4_8_add(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=10, l=1} reduction={i} need_replication={l}>
func.func @scatter_10_8_4_1_4_8_add(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  return
}

// CHECK-LABEL: func.func @scatter_10_8_4_1_4_8_maximum(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=10, l=1} reduction={i} need_replication={l}>
func.func @scatter_10_8_4_1_4_8_maximum(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  return
}

// CHECK-LABEL: func.func @scatter_10_8_4_1_4_8_minimum(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=10, l=1} reduction={i} need_replication={l}>
func.func @scatter_10_8_4_1_4_8_minimum(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.minimum %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  return
}

// CHECK-LABEL: func.func @scatter_10_8_4_1_4_8_multiply(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=10, l=1} reduction={i} need_replication={l}>
func.func @scatter_10_8_4_1_4_8_multiply(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.multiply %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  return
}

// CHECK-LABEL: func.func @scatter_10_8_4_1_4_8_subtract(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=10, l=1} need_replication={i, l}>
func.func @scatter_10_8_4_1_4_8_subtract(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.subtract %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  return
}

// CHECK-LABEL: func.func @scatter_10_8_4_1_4_8_replace(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=10, l=1} need_replication={i, l}>
func.func @scatter_10_8_4_1_4_8_replace(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    stablehlo.return %arg4 : tensor<f32>
  }) : (tensor<10x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  return
}

// CHECK-LABEL: func.func @scatter_10_8_4_1_4_8_swapped(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=10, l=1} reduction={i} need_replication={l}>
func.func @scatter_10_8_4_1_4_8_swapped(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg4, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  return
}

// CHECK-LABEL: func.func @scatter_10_8_4_1_4_8_double(
// CHECK: #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=10, l=1} need_replication={i, l}>
func.func @scatter_10_8_4_1_4_8_double(%arg0: tensor<10x8xf32>, %arg1: tensor<4x1xi32>, %arg2: tensor<4x8xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg4, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<10x8xf32>, tensor<4x1xi32>, tensor<4x8xf32>) -> tensor<10x8xf32>
  return
}
