// RUN: xdsl-opt %s -p sdy-add-data-flow-edges | filecheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>

func.func @main(%x: tensor<8xf32>, %t: !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token) {
  // Tokens have none.
  // CHECK:      %[[BARRIER:.*]], %[[TOKEN:.*]] = stablehlo.optimization_barrier
  // CHECK-NEXT: %[[EDGE:.*]] = sdy.data_flow_edge %[[BARRIER]] sharding=<@mesh, [{"a", ?}]> : tensor<8xf32>
  %0:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>, <@mesh, []>]>} %x, %t : tensor<8xf32>, !stablehlo.token
  // A block argument's edge names free axes only.
  // CHECK-NEXT: %[[MANUAL:.*]] = sdy.manual_computation(%[[EDGE]])
  // CHECK-NEXT:   %[[IN:.*]] = sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"b"}]> : tensor<4xf32>
  // CHECK-NEXT:   sdy.return %[[IN]]
  // CHECK:      %[[OUT:.*]] = sdy.data_flow_edge %[[MANUAL]] sharding=<@mesh, [{"a", ?}]> : tensor<8xf32>
  // CHECK-NEXT: func.return %[[OUT]], %[[TOKEN]]
  %1 = sdy.manual_computation(%0#0) in_shardings=[<@mesh, [{"a", "b"}]>] out_shardings=[<@mesh, [{"a", ?}]>] manual_axes={"a"} (%p: tensor<4xf32>) {
    sdy.return %p : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %0#1 : tensor<8xf32>, !stablehlo.token
}
