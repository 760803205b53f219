// RUN: xdsl-opt %s -p sdy-remove-size-one-axes | filecheck %s

// CHECK: sdy.mesh @mesh = <["a"=4, "one"=1, "b"=2]>
sdy.mesh @mesh = <["a"=4, "one"=1, "b"=2]>

// Sub-axes that become neighbours are merged; an empty closed dimension has no priority.
// CHECK:      func.func @main(
// CHECK-SAME:   %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}p2]>}
// CHECK-SAME:   %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {?}p3], replicated={"b"}>}
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)2, "one", "a":(2)2}, {"b"}p2]>},
                %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one"}p1, {?}p3], replicated={"b"}>}) -> tensor<8x8xf32> {
  // CHECK: {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {}], unreduced={"a"}>]>}
  %0 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"one", ?}, {}], unreduced={"a"}>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
