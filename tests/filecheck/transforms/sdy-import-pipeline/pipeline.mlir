// RUN: xdsl-opt %s -p sdy-import-pipeline | filecheck %s
// RUN: xdsl-opt %s -p 'sdy-import-pipeline{dedup-functions-fully=true}' | filecheck %s --check-prefix=FULLY

sdy.mesh @mesh = <["a"=2, "one"=1]>

// Shardings lose the axis of size one, and a loop gets an edge. Constraints wait for calls to have
// their own functions, unless they never get them.

// CHECK-NOT:  @unused
// CHECK:      %[[N:.*]] = stablehlo.negate %{{.*}} : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_constraint %[[N]] <@mesh, [{"a"}]>
// CHECK:      sdy.data_flow_edge %{{.*}} : tensor<8xf32>
// FULLY:      stablehlo.negate %{{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"a", "one"}]> : tensor<8xf32>
  %2 = stablehlo.while(%i = %1) : tensor<8xf32>
  cond {
    %3 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    stablehlo.return %i : tensor<8xf32>
  }
  return %2 : tensor<8xf32>
}
func.func private @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
