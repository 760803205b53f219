// RUN: xdsl-opt %s -p sdy-convert-global-to-local --split-input-file --verify-diagnostics | filecheck %s

sdy.mesh @mesh = <["a"=4]>

// CHECK: it needs elements of other shards along [{"a"}]
func.func @reverse(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  %0 = stablehlo.reverse %x, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=4]>

// CHECK: each device has a part of the result along [{"a"}], and no sdy.all_reduce follows
func.func @sum(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["a"=4]>

// CHECK: padding moves elements of dimension 0 to other devices
func.func @shifted(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %z: tensor<f32>) -> (tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  %0 = stablehlo.pad %x, %z, low = [4], high = [0], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

sdy.mesh @mesh = <["a"=4]>

// CHECK: 'sdy.reshard' op: it has no meaning in the program of one device
func.func @moves(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %x <@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=4]>

// CHECK: dimension 0 of size 7 is not divisible by 4
func.func @uneven(%x: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return %x : tensor<7xf32>
}
