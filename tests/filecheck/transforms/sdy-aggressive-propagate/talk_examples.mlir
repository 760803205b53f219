// RUN: xdsl-opt %s -p sdy-aggressive-propagate --split-input-file | filecheck %s

// The worked examples of the talk and of the compiler API document.

// Two matrix products: batch parallelism along the samples, tensor parallelism along
// the parameters. The hidden activations are sharded along both.

sdy.mesh @mesh = <["batch"=4, "model"=2]>
func.func @predict(
    %samples: tensor<16x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>},
    %param1: tensor<128x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %param2: tensor<256x10xf32>) -> tensor<16x10xf32> {
  %0 = stablehlo.dot %samples, %param1 : (tensor<16x128xf32>, tensor<128x256xf32>) -> tensor<16x256xf32>
  %1 = stablehlo.dot %0, %param2 : (tensor<16x256xf32>, tensor<256x10xf32>) -> tensor<16x10xf32>
  return %1 : tensor<16x10xf32>
}
// CHECK-LABEL: @predict
// CHECK-SAME:    %param2: tensor<256x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}, {?}]>}
// CHECK-SAME:    -> (tensor<16x10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch", ?}, {?}]>})
// CHECK:         stablehlo.dot %samples, %param1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"batch", ?}, {"model", ?}]>]>}
// CHECK:         stablehlo.dot %0, %param2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"batch", ?}, {?}]>]>}

// -----

// Propagate shardings in reshape: [ij, k]->[i, jk] with i=8, j=2, k=4 splits "y".

sdy.mesh @mesh = <["x"=4, "y"=4]>
func.func @reshape(%a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", ?}, {?}]>}) -> tensor<8x8xf32> {
  %b = stablehlo.reshape %a : (tensor<16x4xf32>) -> tensor<8x8xf32>
  return %b : tensor<8x8xf32>
}
// CHECK-LABEL: @reshape
// CHECK-SAME:    %a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y", ?}, {?}]>}
// CHECK:         stablehlo.reshape %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y":(1)2, ?}, {"y":(2)2, ?}]>]>}

// -----

// Axis splitting: "x" into two sub-axes, the major one into two again.

sdy.mesh @mesh_x = <["x"=8]>
func.func @axis_splitting(%arg0: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh_x, [{"x"}]>}) -> tensor<2x2x4xf32> {
  %0 = stablehlo.reshape %arg0 : (tensor<16xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<4x4xf32>) -> tensor<2x2x4xf32>
  return %1 : tensor<2x2x4xf32>
}
// CHECK-LABEL: @axis_splitting
// CHECK:         %0 = stablehlo.reshape {{.*}}[{"x":(1)4, ?}, {"x":(4)2, ?}]
// CHECK:         %1 = stablehlo.reshape {{.*}}[{"x":(1)2, ?}, {"x":(2)2, ?}, {"x":(4)2, ?}]

// -----

// Shard as: the group carries the sharding to a constant without data dependency.

sdy.mesh @mesh_xy = <["x"=2, "y"=2]>
func.func @jit_zeros_like(%arg0: tensor<8x2xi64> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x"}, {"y"}]>}) -> tensor<8x2xi64> {
  sdy.sharding_group %arg0 group_id=0 : tensor<8x2xi64>
  %0 = stablehlo.constant dense<0> : tensor<8x2xi64>
  sdy.sharding_group %0 group_id=0 : tensor<8x2xi64>
  return %0 : tensor<8x2xi64>
}
// CHECK-LABEL: @jit_zeros_like
// CHECK-SAME:    -> (tensor<8x2xi64> {sdy.sharding = #sdy.sharding<@mesh_xy, [{"x", ?}, {"y", ?}]>})
// CHECK:         stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh_xy, [{"x"}, {"y"}]>]>} dense<0>

// -----

// Manual computation with a free axis: "data" goes through the body, "model" does not
// appear in it.

sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @manual(%arg0: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"data", ?}, {"model", ?}]>, <@mesh, [{"model", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}], replicated={"model"}>] manual_axes={"model"} (%arg2: tensor<16x8xf32>, %arg3: tensor<8x32xf32>) {
    %1 = stablehlo.dot %arg2, %arg3 : (tensor<16x8xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
    sdy.return %1 : tensor<16x32xf32>
  } : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
// CHECK-LABEL: @manual
// CHECK:         stablehlo.dot {{.*}}[{"data", ?}, {?}]
