// RUN: xdsl-opt %s -p canonicalize | filecheck %s

sdy.mesh @mesh = <["a"=2, "one"=1]>

// What the body does not use is not an operand, and a computation whose results nobody
// uses is gone. One that is manual along axes of size one stays.

// CHECK:      %[[R:.*]] = sdy.manual_computation(%y) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"one"} (%{{.*}}: tensor<8xf32>) {
// CHECK-NEXT:   stablehlo.negate
// CHECK-NEXT:   sdy.return
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x, %y) in_shardings=[<@mesh, [{"a"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"one"} (%p: tensor<8xf32>, %q: tensor<8xf32>) {
    %2 = stablehlo.negate %q : tensor<8xf32>
    sdy.return %2 : tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%p: tensor<8xf32>) {
    sdy.return %p : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
