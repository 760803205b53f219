// RUN: xdsl-opt %s -p sdy-update-non-divisible-input-output-shardings | filecheck %s

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=3]>

// CHECK:      func.func @main(
// CHECK-SAME:   %x: tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b":(1)2}, {?}]>}
// CHECK-SAME:   %y: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b":(1)2, ?}, {"c"}p1]>}
func.func @main(%x: tensor<6x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}p1, {"a", ?}]>},
                %y: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b", ?}, {"c"}p1]>}) -> tensor<6x5xf32> {
  // Inside, uneven shardings may stay.
  // CHECK: stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>}
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>} : tensor<6x5xf32>
  // CHECK: in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a", "c"}, {}]>]
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"a", "b"}, {}]>] out_shardings=[<@mesh, [{"a", "c"}, {"b"}]>] manual_axes={"a"} (%p: tensor<3x5xf32>) {
    sdy.return %p : tensor<3x5xf32>
  } : (tensor<6x5xf32>) -> tensor<6x5xf32>
  return %1 : tensor<6x5xf32>
}
