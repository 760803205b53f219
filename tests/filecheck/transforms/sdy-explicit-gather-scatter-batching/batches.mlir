// RUN: xdsl-opt %s -p sdy-explicit-gather-scatter-batching | filecheck %s

// x[arange(4), i], as JAX writes it: negative indices are counted from the end.

// CHECK:      func.func @rows(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>)
// CHECK-NEXT:   stablehlo.gather{{.*}}operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1]
// CHECK-SAME:   (tensor<4x8xf32>, tensor<4x1xi32>) -> tensor<4xf32>
func.func @rows(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %size = stablehlo.constant dense<4> : tensor<i32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %sizes = stablehlo.broadcast_in_dim %size, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %count = stablehlo.iota dim = 0 : tensor<4xi32>
  %is_negative = stablehlo.compare LT, %count, %zeros : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %wrapped = stablehlo.add %count, %sizes : tensor<4xi32>
  %chosen = stablehlo.select %is_negative, %wrapped, %count : tensor<4xi1>, tensor<4xi32>
  %rows = stablehlo.broadcast_in_dim %chosen, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %indices = stablehlo.concatenate %rows, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.gather"(%x, %indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Entries of vectors that are not joined of columns are cut out.

// CHECK:      func.func @scatter
// CHECK-NEXT:   %[[I:.*]] = stablehlo.iota dim = 0 : tensor<4x3xi32>
// CHECK-NEXT:   %[[A:.*]] = stablehlo.slice %[[I]] [0:4, 0:1]
// CHECK-NEXT:   %[[B:.*]] = stablehlo.slice %[[I]] [0:4, 2:3]
// CHECK-NEXT:   %[[J:.*]] = stablehlo.concatenate %[[A]], %[[B]], dim = 1
// CHECK-NEXT:   stablehlo.scatter{{.*}}(%x, %[[J]], %u)
// CHECK-SAME:   input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [2, 1]
func.func @scatter(%x: tensor<4x4x4xi32>, %u: tensor<4xi32>) -> tensor<4x4x4xi32> {
  %indices = stablehlo.iota dim = 0 : tensor<4x3xi32>
  %0 = "stablehlo.scatter"(%x, %indices, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [2, 0, 1], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    stablehlo.return %q : tensor<i32>
  }) : (tensor<4x4x4xi32>, tensor<4x3xi32>, tensor<4xi32>) -> tensor<4x4x4xi32>
  return %0 : tensor<4x4x4xi32>
}

// A clamp to fewer rows does not count through all of them. C++ takes it for that.

// CHECK:     func.func @clamped
// CHECK-NOT: batching_dims
func.func @clamped(%x: tensor<4x8xf32>, %i: tensor<4x1xi32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %count = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %rows = stablehlo.clamp %zero, %count, %one : (tensor<i32>, tensor<4x1xi32>, tensor<i32>) -> tensor<4x1xi32>
  %indices = stablehlo.concatenate %rows, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %0 = "stablehlo.gather"(%x, %indices) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
