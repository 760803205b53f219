// RUN: xdsl-opt %s -p sdy-convert-global-to-local | filecheck %s

sdy.mesh @mesh = <["a"=4]>

// C++ looks up [0, 0, 4, 4], the major half.

// CHECK: func.func @minor_half
// CHECK: stablehlo.constant dense<[0, 4, 0, 4]> : tensor<4xi64>
func.func @minor_half(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(2)2}]>}) {
  %0 = sdy.all_slice [{"a":(2)2}] %x out_sharding=<@mesh, [{"a":(2)2}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// C++ adds the initial value on every device.

// CHECK: func.func @total
// CHECK: %[[F:.*]] = stablehlo.constant dense<[true, false, false, false]> : tensor<4xi1>
// CHECK: %[[I:.*]] = stablehlo.select %{{.*}}, %i, %{{.*}}
// CHECK: stablehlo.reduce(%x init: %[[I]])
func.func @total(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %i: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %1 = sdy.all_reduce {"a"} %0 out_sharding=<@mesh, []> : tensor<f32>
  return %1 : tensor<f32>
}

// C++ leaves out the arguments, and refuses the call.

// CHECK: func.func @calls
// CHECK: call @declared(%x) {{.*}} : (tensor<2xf32>) -> tensor<2xf32>
// CHECK: func.func private @declared(tensor<2xf32> {sdy.sharding = {{.*}}}) -> (tensor<2xf32> {sdy.sharding = {{.*}}})
func.func @calls(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  %0 = call @declared(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @declared(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})

// C++ keeps the sizes of the whole.

// CHECK: func.func @row
// CHECK: stablehlo.dynamic_slice {{.*}}, sizes = [1, 2] {{.*}} : (tensor<4x2xf32>
func.func @row(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) {
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"a"}]>]>} : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}
