// RUN: xdsl-opt %s -p sdy-add-func-data-flow-edges | filecheck %s
// RUN: xdsl-opt %s -p sdy-add-func-data-flow-edges,sdy-sink-func-data-flow-edges | filecheck %s --check-prefix=BACK

// BACK-NOT: sdy.func_data_flow_edge
sdy.mesh @mesh = <["a"=2]>

// CHECK:      @main(%x: tensor<8xf32>)
// CHECK-NEXT:   %[[C:.*]] = func.call @f(%x)
// CHECK-NEXT:   %[[E:.*]] = sdy.func_data_flow_edge %[[C]] : tensor<8xf32>
// CHECK-NEXT:   func.return %[[E]]
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK:      @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
// CHECK-NEXT:   %[[A:.*]] = sdy.func_data_flow_edge %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
// CHECK-NEXT:   func.return %[[A]]
func.func private @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
