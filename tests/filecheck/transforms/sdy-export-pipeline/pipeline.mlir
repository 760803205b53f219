// RUN: xdsl-opt %s -p sdy-export-pipeline | filecheck %s --check-prefix=MINIMAL
// RUN: xdsl-opt %s -p 'sdy-export-pipeline{enable-insert-explicit-collectives=true}' | filecheck %s --check-prefix=EXPLICIT
// RUN: xdsl-opt %s -p 'sdy-export-pipeline{enable-insert-explicit-collectives=true remove-all-gather-reduce-scatter-for-cmv1=true}' | filecheck %s --check-prefix=CMV1
// RUN: xdsl-opt %s -p 'sdy-export-pipeline{avoid-export-for-partitioning=true update-non-divisible-input-output-shardings=false}' | filecheck %s --check-prefix=AGAIN

sdy.mesh @mesh = <["a"=2, "b"=2]>

// A reshard only where the program asks for one, or collectives wherever shardings do not
// fit, or everything so that it can be propagated again.

// MINIMAL:       %z: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}
// MINIMAL-NEXT:  sdy.reshard %x <@mesh, [{}, {"b"}]>
// MINIMAL-NEXT:  stablehlo.dot
// MINIMAL-NEXT:  return

// EXPLICIT:      sdy.all_to_all
// EXPLICIT-NEXT: stablehlo.dot {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>}
// EXPLICIT-NEXT: sdy.reduce_scatter [{"b"}, {}]
// EXPLICIT-NEXT: return
// CMV1:          sdy.all_to_all
// CMV1-NEXT:     stablehlo.dot {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {"a"}]>]>}
// CMV1-NEXT:     return

// AGAIN:         %z: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}
// AGAIN-NEXT:    sdy.sharding_group
// AGAIN-NEXT:    sdy.sharding_constraint %x <@mesh, [{}, {"b"}]>
// AGAIN-NEXT:    stablehlo.dot
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", ?}, {?}]>}, %y: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}, %z: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}) {
  sdy.sharding_group %x group_id=0 : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{?}, {"b", ?}]> : tensor<8x8xf32>
  %1 = stablehlo.dot %0, %y : (tensor<8x8xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}
