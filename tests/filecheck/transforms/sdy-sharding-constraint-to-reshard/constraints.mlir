// RUN: xdsl-opt %s -p sdy-sharding-constraint-to-reshard | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @main
// CHECK-NOT:     sdy.sharding_constraint
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[USED:.*]] = sdy.reshard %a <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  %used = sdy.sharding_constraint %a <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.reshard %a <@mesh, [{}, {"y"}]> {test.unit} : tensor<8x8xf32>
  %dangling = sdy.sharding_constraint %a <@mesh, [{}, {"y"}]> {test.unit} : tensor<8x8xf32>
  // CHECK: sdy.manual_computation
  %0 = sdy.manual_computation(%used) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={} (%b: tensor<8x8xf32>) {
    // CHECK-NEXT: sdy.reshard %b <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
    %inner = sdy.sharding_constraint %b <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
    sdy.return %inner : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: func.return %[[RESULT:.*]] : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
