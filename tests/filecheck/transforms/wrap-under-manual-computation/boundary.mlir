// RUN: xdsl-opt %s -p wrap-under-manual-computation --split-input-file | filecheck %s

// Written shardings are taken over, openness and all; what says nothing is replicated.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}, tensor<4xf32>) {
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : tensor<8x4xf32>
  return %0, %b : tensor<8x4xf32>, tensor<4xf32>
}

// CHECK:      func.func @main(%a: tensor<8x4xf32>
// CHECK-NEXT:   %{{.*}}, %{{.*}} = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x", ?}, {?}]>, <@mesh, [{}]>] manual_axes={} (%arg2: tensor<8x4xf32>, %arg3: tensor<4xf32>) {
// CHECK-NEXT:     %{{.*}} = stablehlo.abs %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : tensor<8x4xf32>
// CHECK-NEXT:     sdy.return %{{.*}}, %arg3 : tensor<8x4xf32>, tensor<4xf32>
// CHECK-NEXT:   } : (tensor<8x4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
// CHECK-NEXT:   func.return

// -----

// A solved graph is left alone.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @solved(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%b: tensor<4x1xf32>) {
    sdy.return %b : tensor<4x1xf32>
  } : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK:      func.func @solved
// CHECK-NEXT:   sdy.manual_computation
// CHECK-NEXT:     sdy.return
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @nothing() {
  return
}

// CHECK:      func.func @nothing() {
// CHECK-NEXT:   sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
// CHECK-NEXT:     sdy.return
