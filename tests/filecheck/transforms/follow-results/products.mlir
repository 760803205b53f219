// RUN: xdsl-opt %s -p follow-results | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Both operands are split by "x" along what is summed, and so is a dimension of the result.
// CHECK-LABEL: @whole
// CHECK: [[DOT:%.+]] = stablehlo.dot_general
// CHECK-SAME: #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>
// CHECK-NEXT: [[CUT:%.+]] = sdy.reshard [[DOT]] <@mesh, [{"x"}, {"y"}]>
// CHECK-NEXT: return [[CUT]]
func.func @whole(
  %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
  %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}
) -> tensor<8x32xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// One operand alone is split along it, and is split as the result instead.
// CHECK-LABEL: @exchanged
// CHECK-NEXT: [[LHS:%.+]] = sdy.reshard %a <@mesh, [{"x"}, {}]>
// CHECK-NEXT: stablehlo.dot_general [[LHS]], %b
func.func @exchanged(
  %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
  %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}
) -> tensor<8x32xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// The result has the right operand's split: the left one is whole, once for both readers.
// CHECK-LABEL: @whole_operand
// CHECK-NEXT: [[LHS:%.+]] = sdy.reshard %a <@mesh, [{}, {}]>
// CHECK-NEXT: stablehlo.dot_general [[LHS]], %b
// CHECK-NEXT: stablehlo.dot_general [[LHS]], %b
func.func @whole_operand(
  %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
  %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}
) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0, %1 : tensor<8x32xf32>, tensor<8x32xf32>
}

// Of an elementwise op every operand is split as the result.
// CHECK-LABEL: @elementwise
// CHECK-NEXT: [[A:%.+]] = sdy.reshard %a <@mesh, [{"x"}, {}]>
// CHECK-NEXT: [[B:%.+]] = sdy.reshard %b <@mesh, [{"x"}, {}]>
// CHECK-NEXT: stablehlo.add [[A]], [[B]]
func.func @elementwise(
  %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
  %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}
) -> tensor<8x16xf32> {
  %0 = stablehlo.add %a, %b
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// A table is no more than what is added to it, which the same axis splits: it is whole, and cut behind.
// CHECK-LABEL: @whole_table
// CHECK-NEXT: [[TABLE:%.+]] = sdy.reshard %t <@mesh, [{}, {}]>
// CHECK-NEXT: [[SUM:%.+]] = "stablehlo.scatter"([[TABLE]], %i, %u)
// CHECK: sdy.reshard [[SUM]] <@mesh, [{"x"}, {}]>
func.func @whole_table(
  %t: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
  %i: tensor<8x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
  %u: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
) -> tensor<8x16xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<8x16xf32>, tensor<8x1xi32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// What is added to a larger one is gathered instead.
// CHECK-LABEL: @larger_table
// CHECK-NEXT: "stablehlo.scatter"(%t, %i, %u)
func.func @larger_table(
  %t: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
  %i: tensor<8x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
  %u: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
) -> tensor<16x16xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : (tensor<16x16xf32>, tensor<8x1xi32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Several tables are split by their number, and what is looked up in them by the batch: they are whole.
// CHECK-LABEL: @tables
// CHECK-NEXT: [[TABLES:%.+]] = sdy.reshard %t <@mesh, [{}, {}, {}]>
// CHECK-NEXT: [[FOUND:%.+]] = "stablehlo.gather"([[TABLES]], %i)
// CHECK-SAME: [<@mesh, [{}, {"y"}, {}]>]
// CHECK-NEXT: sdy.reshard [[FOUND]] <@mesh, [{"y"}, {}, {}]>
func.func @tables(
  %t: tensor<4x64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}]>},
  %i: tensor<4x8x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}, {}]>}
) -> tensor<4x8x16xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 16>}>
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}, {}]>]>}
    : (tensor<4x64x16xf32>, tensor<4x8x1xi32>) -> tensor<4x8x16xf32>
  return %0 : tensor<4x8x16xf32>
}
