// RUN: xdsl-opt %s -p 'apply-tt-argument-annotations{argument-types="main=input,parameter,constant,default;other=input"}' | filecheck %s
// RUN: xdsl-opt %s -p apply-tt-argument-annotations | filecheck %s --check-prefix NONE

func.func public @main(%a: tensor<2xf32> {jax.buffer_donor = true}, %b: tensor<2xf32>, %c: tensor<2xf32>, %d: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @other(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

// CHECK: @main(%a: tensor<2xf32> {jax.buffer_donor = true, ttcore.argument_type = #ttcore.argument_type<input>},
// CHECK-SAME: %b: tensor<2xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
// CHECK-SAME: %c: tensor<2xf32> {ttcore.argument_type = #ttcore.argument_type<constant>},
// CHECK-SAME: %d: tensor<2xf32> {ttcore.argument_type = #ttcore.argument_type<default>})
// CHECK: @other(%a: tensor<2xf32> {ttcore.argument_type = #ttcore.argument_type<input>})

// NONE-NOT: ttcore
