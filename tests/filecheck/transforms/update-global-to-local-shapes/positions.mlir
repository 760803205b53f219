// RUN: xdsl-opt %s -p wrap-under-manual-computation,update-global-to-local-shapes | filecheck %s

// What speaks of positions differs from device to device.

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @perm = <["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>

func.func @iota() -> (tensor<16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<16xi32>
  return %0 : tensor<16xi32>
}
// CHECK-LABEL: func.func @iota
// CHECK: %[[ID:.*]] = stablehlo.partition_id : tensor<ui32>
// CHECK: %[[DEVICE:.*]] = stablehlo.convert %[[ID]] : (tensor<ui32>) -> tensor<i32>
// CHECK: %[[FOUR:.*]] = stablehlo.constant dense<4> : tensor<i32>
// CHECK: %[[INDEX:.*]] = stablehlo.remainder %[[DEVICE]], %[[FOUR]] : tensor<i32>
// CHECK: stablehlo.multiply %[[INDEX]]
// CHECK: stablehlo.iota dim = 0 : tensor<4xi32>
// CHECK: stablehlo.add

func.func @device_order() -> (tensor<16xi32> {sdy.sharding = #sdy.sharding<@perm, [{"x"}]>}) {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@perm, [{"x"}]>]>} : tensor<16xi32>
  return %0 : tensor<16xi32>
}
// Device 0 is at x=1, device 1 at x=0: the index is looked up.
// CHECK-LABEL: func.func @device_order
// CHECK: stablehlo.constant dense<[1, 0, 1, 0]> : tensor<4xi32>
// CHECK: stablehlo.dynamic_slice

func.func @splat() -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<2.0> : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// CHECK-LABEL: func.func @splat
// CHECK-NOT: partition_id
// CHECK: stablehlo.constant dense<2.000000e+00> : tensor<4xf32>

func.func @constant() -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: func.func @constant
// CHECK: %[[WHOLE:.*]] = stablehlo.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK: stablehlo.composite "sdy.all_slice" %[[WHOLE]] {composite_attributes = {axis = "y", dim = 0 : i64}, decomposition = @sdy.all_slice0} : (tensor<4xf32>) -> tensor<1xf32>

// CHECK: func.func private @sdy.all_slice0(%{{.*}}: tensor<4xf32>) -> tensor<1xf32> {
// CHECK: stablehlo.partition_id
// CHECK: stablehlo.dynamic_slice
