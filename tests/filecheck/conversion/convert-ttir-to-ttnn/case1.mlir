// RUN: xdsl-opt -p convert-stablehlo-to-ttir,convert-ttir-to-ttnn %s | filecheck %s

// Case 1 of the design request, after stage 12.

// CHECK:      builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
// CHECK-NEXT:   func.func public @abs(%0: tensor<32x48x24x32xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<32x48x24x32xf32> {
// CHECK-NEXT:     %1 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x2>}> : () -> !ttnn.device
// CHECK-NEXT:     %2 = "ttnn.mesh_shard"(%0, %1) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1, 1, 1>, shard_dims = array<i64: -1, 0>}> : (tensor<32x48x24x32xf32>, !ttnn.device) -> tensor<16x48x24x32xf32, #ttcore.tensor_mesh<"mesh">>
// CHECK-NEXT:     %3 = "ttnn.abs"(%2) : (tensor<16x48x24x32xf32, #ttcore.tensor_mesh<"mesh">>) -> tensor<16x48x24x32xf32, #ttcore.tensor_mesh<"mesh">>
// CHECK-NEXT:     %4 = "ttnn.mesh_shard"(%3, %1) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 1, 1, 1>, shard_dims = array<i64: -1, 0>}> : (tensor<16x48x24x32xf32, #ttcore.tensor_mesh<"mesh">>, !ttnn.device) -> tensor<32x48x24x32xf32>
// CHECK-NEXT:     func.return %4 : tensor<32x48x24x32xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
sdy.mesh @mesh = <["model"=1, "batch"=2]>
func.func public @abs(%arg0: tensor<32x48x24x32xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<32x48x24x32xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"batch"}, {}, {}, {}]>] out_shardings=[<@mesh, [{"batch"}, {}, {}, {}]>] manual_axes={"model", "batch"} (%arg1: tensor<16x48x24x32xf32>) {
    %1 = stablehlo.abs %arg1 : tensor<16x48x24x32xf32>
    sdy.return %1 : tensor<16x48x24x32xf32>
  } : (tensor<32x48x24x32xf32>) -> tensor<32x48x24x32xf32>
  return %0 : tensor<32x48x24x32xf32>
}
