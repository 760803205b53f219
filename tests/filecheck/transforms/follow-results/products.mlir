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
