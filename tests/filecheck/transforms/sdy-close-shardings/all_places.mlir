// RUN: xdsl-opt %s -p sdy-close-shardings | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK:      func.func @main(
// CHECK-SAME:   %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// CHECK-SAME: ) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}p1]>}) {
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p2, {"y", ?}p1], replicated={"x"}>}) {
  // CHECK: "test.op"() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, [{}], unreduced={"y"}>]>}
  %0:2 = "test.op"() {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>, <@mesh, [{?}], replicated={"x"}, unreduced={"y"}>]>} : () -> (tensor<8x8xf32>, tensor<8xf32>)
  // CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}, {}]>
  %1 = sdy.sharding_constraint %a <@mesh, [{"x", ?}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.all_slice [{}, {"y"}] %{{.*}} out_sharding=<@mesh, [{"x"}, {"y"}]>
  %2 = sdy.all_slice [{}, {"y"}] %1 out_sharding=<@mesh, [{"x", ?}, {"y", ?}]> : tensor<8x8xf32>
  // CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>]
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x", ?}, {?}], replicated={"y"}>] out_shardings=[<@mesh, [{"x", ?}, {"y", ?}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    // CHECK: sdy.reshard %{{.*}} <@mesh, [{}, {"y"}]>
    %4 = sdy.reshard %b <@mesh, [{?}, {"y"}]> : tensor<4x8xf32>
    sdy.return %4 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.named_computation<"f">(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>]
  %5 = sdy.named_computation<"f">(%3) in_shardings=[<@mesh, [{"x", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] (%b: tensor<8x8xf32>) {
    sdy.return %b : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"x"}, {}]>
  %6 = sdy.data_flow_edge %5 sharding=<@mesh, [{"x", ?}, {?}]> : tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}
