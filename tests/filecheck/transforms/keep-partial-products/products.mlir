// RUN: xdsl-opt %s -p keep-partial-products | filecheck %s

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

// One operand alone is split along it: XLA exchanges that one, too.
// CHECK-LABEL: @exchanged
// CHECK-NOT: sdy.reshard
func.func @exchanged(
  %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
  %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}
) -> tensor<8x32xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
