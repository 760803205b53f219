// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p 'apply-shardy-argument-annotations{mesh-shape=2,4}' | filecheck %s

func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// CHECK: error: mesh-shape 2x4: a program without shardings can only be split along its batch, over one axis
// CHECK-NEXT: hint: say 1,8, or annotate the program with shardings

// -----

sdy.mesh @mesh = <["x"=8]>
func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// CHECK: error: 'sdy.mesh' op: mesh-shape 2x4 does not fit the program, whose shardings are written for mesh '@mesh' of shape 8
// CHECK-NEXT: hint: leave mesh-shape out, or say 8
