// RUN: xdsl-opt %s -p sdy-insert-func-call-reshards | filecheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK:      @main
// CHECK-NEXT:   %[[C:.*]], %[[D:.*]] = func.call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>, <@mesh, [{"a", ?}]>]>}
// CHECK-NEXT:   %[[R:.*]] = sdy.reshard %[[C]] <@mesh, [{"b"}]>
// CHECK-NEXT:   func.return %[[R]], %[[D]]
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = func.call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>, <@mesh, [{"a"}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
