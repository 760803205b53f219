// RUN: xdsl-opt %s -p sdy-flatten-call-graph | filecheck %s
// RUN: xdsl-opt %s -p sdy-flatten-call-graph,sdy-unflatten-call-graph | filecheck %s --check-prefix=BACK

// CHECK:      @main
// CHECK-NEXT:   func.call @f(%x)
// CHECK-NEXT:   func.call @f_1(%{{.*}})
// BACK:       @main
// BACK-NEXT:    func.call @f(%x)
// BACK-NEXT:    func.call @f(%{{.*}})
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = func.call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK: func.func private @f(
// CHECK-NEXT: func.call @g(
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @g(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// CHECK: func.func private @g_0({{.*}}) -> tensor<8xf32> attributes {sdy.original_func_name = "g"} {
// CHECK: func.func private @f_1({{.*}}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
// CHECK-NEXT: func.call @g_0(
// BACK-NOT: sdy.original_func_name
