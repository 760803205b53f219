// RUN: xdsl-opt %s -p sdy-sharding-group-import --verify-diagnostics --split-input-file | filecheck %s

// CHECK: error: 'sdy.sharding_group' op: the members of sharding group 3 have different shapes: 8 and 4x2
// CHECK: hint: only tensors of one shape can be sharded alike
func.func @shapes(%x: tensor<8xf32>, %y: tensor<4x2xf32>) {
  sdy.sharding_group %x group_id=3 : tensor<8xf32>
  sdy.sharding_group %y group_id=3 : tensor<4x2xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2]>

// CHECK: error: 'sdy.sharding_group' op: sharding group 0 has members inside and outside of a manual computation
// CHECK: hint: use a group of its own inside of each manual computation
func.func @borders(%x: tensor<8xf32>) -> tensor<8xf32> {
  sdy.sharding_group %x group_id=0 : tensor<8xf32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}], replicated={"a"}>] out_shardings=[<@mesh, [{}], replicated={"a"}>] manual_axes={"a"} (%p: tensor<8xf32>) {
    sdy.sharding_group %p group_id=0 : tensor<8xf32>
    sdy.return %p : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
