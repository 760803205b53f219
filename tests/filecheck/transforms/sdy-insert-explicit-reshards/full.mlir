// RUN: xdsl-opt %s -p sdy-insert-explicit-reshards --split-input-file | filecheck %s

// The op runs under the axes that most of the elements have already; what differs is
// resharded before and behind it.

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @dot(
    %lhs: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %rhs: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}
) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
// CHECK-LABEL: @dot
// CHECK: %0 = sdy.reshard %lhs <@mesh, [{}, {"y"}]>
// CHECK-NEXT: %1 = stablehlo.dot %0, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
// CHECK-NEXT: %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {"x"}]>
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: func.return %3

func.func @sort(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %1 = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
// What a sorted dimension cannot have, a batching one takes.
// CHECK-LABEL: @sort
// CHECK: sdy.reshard %a <@mesh, [{"x"}, {}]>
// CHECK: sdy.reshard %{{.*}} <@mesh, [{}, {"x"}]>

// -----

// Values at borders: returns, regions, calls.

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @returned(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  return %a, %a, %b : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: @returned
// CHECK: %0 = sdy.reshard %a <@mesh, [{}]>
// CHECK-NEXT: %1 = sdy.reshard %b <@mesh, [{"y"}]>
// CHECK-NEXT: func.return %0, %a, %1

func.func @loop(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %p: tensor<i1>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.while(%v = %a) : tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.negate %v {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
    %2 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @loop
// CHECK: %0 = sdy.reshard %a <@mesh, [{"y"}]>
// CHECK: stablehlo.while(%{{.*}} = %0)
// CHECK: %[[IOTA:.*]] = stablehlo.iota
// CHECK-NEXT: %[[LAST:.*]] = sdy.reshard %[[IOTA]] <@mesh, [{"y"}]>
// CHECK-NEXT: stablehlo.return %[[LAST]]

func.func @manual(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<2xf32>) {
    sdy.return %p : tensor<2xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @manual
// CHECK: %0 = sdy.reshard %a <@mesh, [{"x", "y"}]>
// CHECK-NEXT: sdy.manual_computation(%0)
// CHECK-NEXT: %{{.*}} = sdy.reshard %{{.*}} <@mesh, [{}]> : tensor<2xf32>

func.func private @callee(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>) -> tensor<8xf32> {
  return %b : tensor<8xf32>
}
func.func @caller(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
  %0 = func.call @callee(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @caller
// CHECK-NEXT: %0 = sdy.reshard %a <@mesh, [{?}]>
// CHECK-NEXT: %1 = sdy.reshard %a <@mesh, [{"x"}]>
// CHECK-NEXT: func.call @callee(%1, %0)

// -----

// Partial sums are reduced where a whole value is used, and no earlier.

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @unreduced(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "y"}>}) -> tensor<8xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @unreduced
// CHECK: %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}], unreduced={"y"}>
// CHECK-NEXT: %1 = stablehlo.negate %0
// CHECK-NEXT: sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}]>

func.func @to_unreduced(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "y"}>}) {
  return %a : tensor<8xf32>
}
// CHECK-LABEL: @to_unreduced
// CHECK: %0 = sdy.replicated_to_unreduced {"y"} %a out_sharding=<@mesh, [{"x"}], unreduced={"y"}>
// CHECK-NEXT: sdy.sharded_to_unreduced [{"x"}] %0 out_sharding=<@mesh, [{}], unreduced={"x", "y"}>
