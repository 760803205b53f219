// RUN: xdsl-opt %s -p sdy-manual-axes-cleanup | filecheck %s

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4]>

func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK:      in_shardings=[<@mesh, [{"c"}, {}], replicated={"a", "b"}>]
  // CHECK-SAME: out_shardings=[<@mesh, [{"c":(1)2}, {?}], replicated={"a", "c":(2)2}>]
  // CHECK-SAME: manual_axes={"a", "c"}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"c"}, {}], replicated={"b"}>] out_shardings=[<@mesh, [{"c":(1)2}, {?}]>] manual_axes={"c", "a"} (%p: tensor<2x8xf32>) {
    %1 = "test.op"(%p) : (tensor<2x8xf32>) -> tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
