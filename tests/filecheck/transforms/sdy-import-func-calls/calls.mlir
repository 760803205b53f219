// RUN: xdsl-opt %s -p sdy-import-func-calls | filecheck %s
// RUN: xdsl-opt %s -p 'sdy-import-func-calls{add-data-flow-edges-on-named-computations=false}' | filecheck %s --check-prefix=BARE

sdy.mesh @mesh = <["a"=2]>

// CHECK:      @main
// CHECK-NEXT:   %[[N:.*]] = sdy.named_computation<"f">(%x, %x) in_shardings=[<@mesh, [{?}]>, <@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a", ?}]>] (%[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>) {
// CHECK-NEXT:     %[[E:.*]] = sdy.data_flow_edge %[[A]] sharding=<@mesh, [{?}]>
// CHECK-NEXT:     %[[F:.*]] = sdy.data_flow_edge %[[B]] sharding=<@mesh, [{"a"}]>
// CHECK-NEXT:     %[[R:.*]] = stablehlo.add %[[E]], %[[F]]
// CHECK-NEXT:     sdy.return %[[R]]
// CHECK-NEXT:   } {mhlo.frontend_attributes = {k = "v"}} :
// CHECK-NEXT:   %[[O:.*]] = sdy.data_flow_edge %[[N]] sharding=<@mesh, [{"a", ?}]>
// CHECK-NEXT:   func.return %[[O]]
// CHECK-NOT:  @f(
// BARE-NOT:   sdy.data_flow_edge
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%x, %x) {mhlo.frontend_attributes = {k = "v"}, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}
