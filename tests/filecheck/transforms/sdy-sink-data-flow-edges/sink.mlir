// RUN: xdsl-opt %s -p sdy-sink-data-flow-edges | filecheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-NOT: sdy.data_flow_edge
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>, <@mesh, [{?}]>]>}
  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<8xf32>, tensor<8xf32>
  %1 = sdy.data_flow_edge %0#0 sharding=<@mesh, [{"b"}]> : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 : tensor<8xf32>
  // CHECK: in_shardings=[<@mesh, [{"a", "b", ?}]>] out_shardings=[<@mesh, [{"a"}]>]
  %3 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"a", ?}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%p: tensor<4xf32>) {
    %4 = sdy.data_flow_edge %p sharding=<@mesh, [{"b", ?}]> : tensor<4xf32>
    sdy.return %4 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sdy.named_computation<"f">(%{{.*}}) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"b"}]>]
  %5 = sdy.named_computation<"f">(%2) (%p: tensor<8xf32>) {
    %6 = sdy.data_flow_edge %p sharding=<@mesh, [{"a"}]> : tensor<8xf32>
    sdy.return %6 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %7 = sdy.data_flow_edge %5 sharding=<@mesh, [{"b"}]> : tensor<8xf32>
  return %3, %7 : tensor<8xf32>, tensor<8xf32>
}

// Edges that nothing owns go too, with what they say.
// CHECK-LABEL: @of_nothing
// CHECK-NEXT:    %[[R:.*]] = stablehlo.negate %{{.*}} : tensor<8xf32>
// CHECK-NEXT:    func.return %[[R]]
func.func @of_nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.data_flow_edge %x : tensor<8xf32>
  %1 = stablehlo.negate %0 : tensor<8xf32>
  %2 = sdy.data_flow_edge %1 sharding=<@mesh, [{"b"}]> : tensor<8xf32>
  return %2 : tensor<8xf32>
}
