// RUN: xdsl-opt %s -p sdy-propagation-pipeline | filecheck %s
// RUN: xdsl-opt %s -p 'sdy-propagation-pipeline{dedup-functions-fully=true}' | filecheck %s --check-prefix=FULLY

// An inlined mesh gets a name, the two uses of @f are sharded each its own way, the
// constraint is a reshard, and nothing is open.

// CHECK:      sdy.mesh @mesh = <["a"=2, "b"=2]>
// CHECK:      @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>})
// CHECK-NEXT:   %[[F:.*]] = func.call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>}
// CHECK-NEXT:   %[[G:.*]] = func.call @f_0(%y) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>}
// CHECK-NEXT:   %[[R:.*]] = sdy.reshard %[[G]] <@mesh, [{}]>
// CHECK-NEXT:   func.return %[[F]], %[[R]]
// FULLY:      func.call @f(%{{.*}}) {{.*}}
// FULLY-NEXT: func.call @f(%{{.*}}) {{.*}}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=2]>, [{"a"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=2]>, [{"b"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = func.call @f(%y) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.sharding_constraint %1 <mesh<["a"=2, "b"=2]>, [{}]> : tensor<8xf32>
  return %0, %2 : tensor<8xf32>, tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
