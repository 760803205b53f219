// RUN: xdsl-opt %s -p sdy-pad-for-divisibility | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Padded with zeros where it is split, cut where it is gathered.

// CHECK:      func.func @there_and_back
// CHECK-NEXT:   %[[Z:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:   %[[P:.*]] = stablehlo.pad %x, %[[Z]], low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<4x7xi32>, tensor<i32>) -> tensor<4x8xi32>
// CHECK-NEXT:   %[[S:.*]] = sdy.all_slice [{}, {"y"}] %[[P]] out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x8xi32>
// CHECK-NEXT:   %[[N:.*]] = stablehlo.negate %[[S]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x8xi32>
// CHECK-NEXT:   %[[G:.*]] = sdy.all_gather [{}, {"y"}] %[[N]] out_sharding=<@mesh, [{}, {}]> : tensor<4x8xi32>
// CHECK-NEXT:   stablehlo.slice %[[G]] [0:4, 0:7] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4x8xi32>) -> tensor<4x7xi32>
func.func @there_and_back(%x: tensor<4x7xi32>) -> tensor<4x7xi32> {
  %0 = sdy.all_slice [{}, {"y"}] %x out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x7xi32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x7xi32>
  %2 = sdy.all_gather [{}, {"y"}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<4x7xi32>
  return %2 : tensor<4x7xi32>
}

// A product sums over zeros: those of %1 are known, those of %2 are put there.

// CHECK:      func.func @product
// CHECK:        %[[S:.*]] = sdy.all_slice [{"x"}] %{{.*}} : tensor<8xf32>
// CHECK-NEXT:   %[[E:.*]] = stablehlo.exponential %[[S]] {{.*}} : tensor<8xf32>
// CHECK-NEXT:   %[[I:.*]] = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK-NEXT:   %[[C:.*]] = stablehlo.constant dense<7> : tensor<i32>
// CHECK-NEXT:   %[[B:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [] : (tensor<i32>) -> tensor<8xi32>
// CHECK-NEXT:   %[[L:.*]] = stablehlo.compare LT, %[[I]], %[[B]] : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
// CHECK-NEXT:   %[[F:.*]] = stablehlo.constant dense<0.0
// CHECK-NEXT:   %[[Z:.*]] = stablehlo.broadcast_in_dim %[[F]], dims = []
// CHECK-NEXT:   %[[M:.*]] = stablehlo.select %[[L]], %[[E]], %[[Z]]
// CHECK-NEXT:   stablehlo.dot_general %[[S]], %[[M]], contracting_dims = [0] x [0]
func.func @product(%x: tensor<7xf32>) -> tensor<f32> {
  %1 = sdy.all_slice [{"x"}] %x out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %2 = stablehlo.exponential %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<7xf32>, tensor<7xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// A slice takes more where that stays on the device.

// CHECK:      func.func @slice
// CHECK:        stablehlo.slice %{{.*}} [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
func.func @slice(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<7xf32> {
  %0 = stablehlo.slice %x [0:7] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<7xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}
