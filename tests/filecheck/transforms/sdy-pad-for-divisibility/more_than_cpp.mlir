// RUN: xdsl-opt %s -p sdy-pad-for-divisibility | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// What C++ sums over although it is the exponential of a padding zero, here changes
// nothing; and a constant may be larger.

// CHECK:      func.func @sum
// CHECK:        %[[E:.*]] = stablehlo.exponential
// CHECK:        %[[M:.*]] = stablehlo.select %{{.*}}, %[[E]], %{{.*}} : tensor<8xi1>, tensor<8xf32>
// CHECK-NEXT:   stablehlo.reduce(%[[M]] init: %zero)
func.func @sum(%x: tensor<7xf32>, %zero: tensor<f32>) -> tensor<f32> {
  %1 = sdy.all_slice [{"x"}] %x out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %2 = stablehlo.exponential %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// CHECK:      func.func @constant
// CHECK:        stablehlo.constant {{.*}}dense<1.0{{.*}}> : tensor<8xf32>
func.func @constant() -> tensor<7xf32> {
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<7xf32>
  %1 = sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %1 : tensor<7xf32>
}
