// RUN: xdsl-opt %s -p sdy-inline-meshes | filecheck %s

// CHECK-NOT: sdy.mesh @
sdy.mesh @mesh = <["a"=2, "b"=2]>
sdy.mesh @order = <["a"=2], device_ids=[1, 0]>

// CHECK: func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2, "b"=2]>, [{"a"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2], device_ids=[1, 0]>, [{?}]>})
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@order, [{?}]>}) {
  // CHECK: sdy.sharding_constraint %x <mesh<["a"=2, "b"=2]>, [{"b", ?}]>
  %0 = sdy.sharding_constraint %x <@mesh, [{"b", ?}]> : tensor<8xf32>
  // CHECK: in_shardings=[<mesh<["a"=2, "b"=2]>, [{"a"}]>] out_shardings=[<mesh<["a"=2, "b"=2]>, [{"a"}]>]
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%p: tensor<4xf32>) {
    sdy.return %p : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
