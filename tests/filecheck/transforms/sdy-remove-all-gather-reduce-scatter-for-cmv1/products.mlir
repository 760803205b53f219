// RUN: xdsl-opt %s -p sdy-remove-all-gather-reduce-scatter-for-cmv1 | filecheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>

// The gather goes, and with it in front the scatter behind the product stays.

// CHECK:      func.func @gather
// CHECK-NEXT: %[[P:.*]] = stablehlo.dot %x, %y
// CHECK-NEXT: sdy.reduce_scatter [{"b"}, {}] %[[P]]
func.func @gather(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"a"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{}, {"a"}] %y out_sharding=<@mesh, [{"b"}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.dot %x, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.reduce_scatter [{"b"}, {}] %1 out_sharding=<@mesh, [{"b"}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Without one the scatter goes, and the product is sharded as it was.

// CHECK:      func.func @scatter
// CHECK-NEXT: %[[P:.*]] = stablehlo.dot %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>}
// CHECK-NEXT: return %[[P]]
func.func @scatter(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.reduce_scatter [{"b"}, {}] %0 out_sharding=<@mesh, [{"b"}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A gather that something else uses stays; so does a scatter of a sum that stays open.

// CHECK:      func.func @stays
// CHECK-NEXT: sdy.all_gather
// CHECK-NEXT: stablehlo.dot
// CHECK-NEXT: sdy.reduce_scatter
func.func @stays(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a", "b"}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.all_gather [{}, {"b"}] %x out_sharding=<@mesh, [{}, {"a"}]> : tensor<8x8xf32>
  %1 = stablehlo.dot %0, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"a", "b"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.reduce_scatter [{"a"}, {}] %1 out_sharding=<@mesh, [{"a"}, {}], unreduced={"b"}> : tensor<8x8xf32>
  return %2, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}
