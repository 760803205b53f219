// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// Meshes

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4, "z"=6]>
sdy.mesh @mesh = <["x"=2, "y"=4, "z"=6]>
// CHECK-NEXT: sdy.mesh @ordered = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @ordered = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
// device ids that count up are the default
// CHECK-NEXT: sdy.mesh @counted = <["x"=2, "y"=2]>
sdy.mesh @counted = <["x"=2, "y"=2], device_ids=[0, 1, 2, 3]>
// CHECK-NEXT: sdy.mesh @empty = <[]>
sdy.mesh @empty = <[]>
// CHECK-NEXT: sdy.mesh @maximal = <[], device_ids=[3]>
sdy.mesh @maximal = <[], device_ids=[3]>
// CHECK-NEXT: sdy.mesh @"a mesh" = <["an axis"=2]> {stablehlo.mesh = 1 : i32}
sdy.mesh @"a mesh" = <["an axis"=2]> {stablehlo.mesh = 1 : i32}

// Shardings of arguments and results

// CHECK:      func.func @shardings(
// CHECK-SAME:   %open: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}
// CHECK-SAME:   %priority: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p0, {"y", ?}p12]>}
// CHECK-SAME:   %sub_axes: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)2, "x"}, {"z":(1)3}]>}
// CHECK-SAME:   %explicit: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"x", "z":(1)2}, unreduced={"y"}>}
// CHECK-SAME:   %inlined: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a"}, {}]>}
// CHECK-SAME:   %quoted: tensor<f32> {sdy.sharding = #sdy.sharding<@"a mesh", []>}
// CHECK-SAME: ) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
func.func @shardings(
    %open: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>},
    %priority: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p0, {"y", ?}p12]>},
    %sub_axes: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)2, "x"}, {"z":(1)3}]>},
    %explicit: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}, replicated={"x", "z":(1)2}>},
    %inlined: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2]>, [{"a"}, {}]>},
    %quoted: tensor<f32> {sdy.sharding = #sdy.sharding<@"a mesh", []>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  return %open : tensor<8x8xf32>
}

// Attributes of any op

// CHECK-LABEL: @attributes
func.func @attributes(%a: tensor<8x8xf32>, %b: tensor<8x16xf32>, %scalar: tensor<f32>) {
  // CHECK: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@maximal, []>]>}
  %0:2 = "test.op"() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@maximal, []>]>} : () -> (tensor<8x8xf32>, i32)
  // CHECK: {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>}
  %1 = "test.op"(%a, %b) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k],[k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>} : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  // CHECK: {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, jk]) {i=2, j=4, k=8} need_replication={i} permutation={j} blocked_propagation={i, k}, custom>}
  %2 = "test.op"(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, jk]) {i=2, j=4, k=8} need_replication={i} permutation={j} blocked_propagation={i, k}, custom>} : (tensor<8x8xf32>) -> tensor<2x32xf32>
  // CHECK: {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>}
  %3 = "test.op"(%scalar) {sdy.sharding_rule = #sdy.op_sharding_rule<([])->([])>} : (tensor<f32>) -> tensor<f32>
  // CHECK: {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}, {step-2 = [{"y":(1)2 = result-0 -> [operand-0]}]}]>
  %4 = "test.op"(%a) {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0]}]}, {step-2 = [{"y":(1)2 = result-0 -> [operand-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}
