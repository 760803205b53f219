// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every op of the family indexing, in both forms.

// CHECK-LABEL: @dynamic_gather(
// CHECK:      %{{.*}} = "stablehlo.dynamic_gather"(%{{.*}}, %{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>}> : (tensor<3x4x6xf32>, tensor<3x5x1xi32>, tensor<3xi64>) -> tensor<3x5x6xf32>
func.func @dynamic_gather(%0: tensor<3x4x6xf32>, %1: tensor<3x5x1xi32>) {
  %k = stablehlo.constant dense<[1, 1, 6]> : tensor<3xi64>
  %2 = "stablehlo.dynamic_gather"(%0, %1, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>}> : (tensor<3x4x6xf32>, tensor<3x5x1xi32>, tensor<3xi64>) -> tensor<3x5x6xf32>
  func.return
}

// CHECK-LABEL: @gather(
// CHECK:      %{{.*}} = "stablehlo.gather"(%{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<3x4x6xf32>, tensor<3x5x1xi32>) -> tensor<3x5x6xf32>
func.func @gather(%0: tensor<3x4x6xf32>, %1: tensor<3x5x1xi32>) {
  %2 = "stablehlo.gather"(%0, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<3x4x6xf32>, tensor<3x5x1xi32>) -> tensor<3x5x6xf32>
  func.return
}

// CHECK-LABEL: @scatter(
// CHECK:      %{{.*}} = "stablehlo.scatter"(%{{.*}}, %{{.*}}, %{{.*}}) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %{{.*}} = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<f32>
// CHECK-NEXT: }) : (tensor<3x4x6xf32>, tensor<3x5x1xi32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>
func.func @scatter(%0: tensor<3x4x6xf32>, %1: tensor<3x5x1xi32>, %2: tensor<3x5x6xf32>) {
  %3 = "stablehlo.scatter"(%0, %1, %2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3x4x6xf32>, tensor<3x5x1xi32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>
  func.return
}

// CHECK-LABEL: @torch_index_select(
// CHECK:      %{{.*}} = "stablehlo.torch_index_select"(%{{.*}}, %{{.*}}) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<4x2xf32>
func.func @torch_index_select(%0: tensor<4x6xf32>, %1: tensor<2xi32>) {
  %2 = "stablehlo.torch_index_select"(%0, %1) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<4x2xf32>
  func.return
}
