// RUN: xdsl-opt %s -p convert-ttir-to-ttnn | filecheck %s

// Room that is read, and not only written, is there in ttnn too.

// CHECK: %[[A:.*]] = "ttnn.zeros"() <{shape = #ttnn.shape<8x2>}>
// CHECK-NEXT: func.return %[[A]]
builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @otherwise() -> tensor<8x2xf32, #ttcore.tensor_mesh<"mesh">> {
    %0 = "ttir.empty"() : () -> tensor<8x2xf32, #ttcore.tensor_mesh<"mesh">>
    func.return %0 : tensor<8x2xf32, #ttcore.tensor_mesh<"mesh">>
  }
}
