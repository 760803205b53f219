// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p 'apply-shardy-argument-annotations{mesh-shape=1,8}' | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p 'apply-shardy-argument-annotations{mesh-shape=1,8 automatic-arg-analysis=false}' | filecheck %s --check-prefix OFF

// Twelve rows for eight devices, and no other dimension that they could share.

func.func public @layer(%x: tensor<12x3xf32>, %w: tensor<3x5xf32>) -> tensor<12x5xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<12x3xf32>, tensor<3x5xf32>) -> tensor<12x5xf32>
  return %0 : tensor<12x5xf32>
}

// CHECK: error: 'func.func' op: mesh-shape 1,8: 8 devices cannot share the batch of '@layer' evenly, which is dimension 0 of argument 0 of size 12
// CHECK-NEXT: hint: these fit: 1,2, 1,3, 1,4, 1,6, 1,12; with automatic-arg-analysis=false every device computes all of it
// OFF: @layer(%x: tensor<12x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}

// -----

// A loop carries the batch.

func.func public @loop(%n: tensor<i32>, %x: tensor<12x4xf32>, %w: tensor<4x4xf32>) -> tensor<12x4xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %h = %x) : tensor<i32>, tensor<12x4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<12x4xf32>, tensor<4x4xf32>) -> tensor<12x4xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<12x4xf32>
    }
  return %0#1 : tensor<12x4xf32>
}

// CHECK: hint: these fit: 1,2, 1,3, 1,4, 1,6, 1,12;
// OFF: @loop
