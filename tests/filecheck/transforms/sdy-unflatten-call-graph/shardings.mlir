// RUN: xdsl-opt %s -p sdy-unflatten-call-graph | filecheck %s
// RUN: xdsl-opt %s -p 'sdy-unflatten-call-graph{dedup-functions-fully=true}' | filecheck %s --check-prefix=FULLY

sdy.mesh @mesh = <["a"=2]>

// CHECK:      @main
// CHECK-NEXT:   func.call @f(
// CHECK-NEXT:   func.call @g(
// CHECK-NEXT:   func.call @g(
// FULLY:      @main
// FULLY-NEXT:   func.call @h(
// FULLY-NEXT:   func.call @h(
// FULLY-NEXT:   func.call @h(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = func.call @g(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = func.call @h(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @g(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %x : tensor<8xf32>
}
func.func private @h(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %x : tensor<8xf32>
}
