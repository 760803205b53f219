// RUN: xdsl-opt %s -p sdy-reshard-to-collectives --split-input-file --verify-diagnostics | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK: error: 'sdy.reshard' op: reshard from <@mesh, [{"x"}], unreduced={"y"}> to <@mesh, [{}]> changes unreduced axes
// CHECK-NEXT: hint: run sdy-insert-explicit-reshards first
