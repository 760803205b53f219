// RUN: xdsl-opt %s -p sdy-export-named-computations | filecheck %s

sdy.mesh @mesh = <["a"=2]>

// CHECK:      @main(%x: tensor<8xf32>)
// CHECK-NEXT:   %[[C:.*]] = func.call @main_0(%x) {k = "v", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
// CHECK-NEXT:   func.return %[[C]]
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"main">(%x) in_shardings=[<@mesh, [{?}]>] (%p: tensor<8xf32>) {
    %1 = sdy.data_flow_edge %p sharding=<@mesh, [{"a", ?}]> : tensor<8xf32>
    %2 = stablehlo.negate %1 : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } {execution_thread = "t", k = "v"} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a"}]> : tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK:      func.func private @main_0(%[[P:.*]]: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}) -> tensor<8xf32>
// CHECK-SAME:   execution_thread = "t"
// CHECK-NEXT:   %[[N:.*]] = stablehlo.negate %[[P]]
// CHECK-NEXT:   func.return %[[N]]
