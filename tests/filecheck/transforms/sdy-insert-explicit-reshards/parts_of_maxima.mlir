// RUN: xdsl-opt %s -p sdy-insert-explicit-reshards --split-input-file --verify-diagnostics | filecheck %s

// The first two answers are those of jaxlib 0.12.0.1.

sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @used
func.func @used(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %0 = stablehlo.negate %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK-LABEL: func.func @returned
func.func @returned(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"x"}>}) {
  // CHECK-DAG: sdy.sharded_to_unreduced [{"x"}] %a out_sharding=<@mesh, [{}], unreduced=max{"x"}> : tensor<8xf32>
  // CHECK-DAG: sdy.replicated_to_unreduced {"x"} %b out_sharding=<@mesh, [{}], unreduced=min{"x"}> : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// C++ passes the parts on.

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @of_a_sum(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) {
  return %a : tensor<8xf32>
}
// CHECK: error: 'func.return' op: operand 0 is <@mesh, [{}], unreduced={"x"}> and its user wants parts of another reduction
