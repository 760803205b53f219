// RUN: xdsl-opt %s -p inline --split-input-file --verify-diagnostics | filecheck %s

func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @again(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @again(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @again(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK: :8:3: error: 'func.call' op: recursive call of '@again'
// CHECK-NEXT: hint: rewrite the recursion as a stablehlo.while

// -----

func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @elsewhere(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @elsewhere(tensor<2xf32>) -> tensor<2xf32>

// CHECK: error: 'func.call' op: function '@elsewhere' is declared but has no body
