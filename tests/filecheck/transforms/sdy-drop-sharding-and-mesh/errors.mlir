// RUN: xdsl-opt %s -p sdy-drop-sharding-and-mesh --verify-diagnostics | filecheck %s

// CHECK: error: 'sdy.reshard' op: its sharding names a mesh that this pass would drop
// CHECK: hint: lower constraints, reshards, collectives and computations of the sdy dialect first
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.reshard %x <@mesh, [{"a"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
