// RUN: xdsl-opt %s -p sdy-flatten-call-graph --verify-diagnostics | filecheck %s

// CHECK: error: 'func.call' op: recursive call of '@f'
// CHECK: hint: rewrite the recursion as a stablehlo.while
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
