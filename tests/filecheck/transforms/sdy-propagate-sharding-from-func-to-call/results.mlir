// RUN: xdsl-opt %s -p sdy-propagate-sharding-from-func-to-call | filecheck %s

sdy.mesh @mesh = <["a"=2]>

// CHECK:      @main
// CHECK-NEXT:   func.call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>, <@mesh, [{?}]>]>}
// CHECK-NEXT:   func.call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{?}]>]>}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = func.call @f(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = func.call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{?}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, tensor<8xf32>) {
  return %x, %x : tensor<8xf32>, tensor<8xf32>
}
