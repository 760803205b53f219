// RUN: xdsl-opt -p convert-stablehlo-to-ttir,convert-ttir-to-ttnn %s | filecheck %s

// Case 4 of the design request, after stage 12: the argument lies on the devices already.

// CHECK:          %1 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 1x8>}> : () -> !ttnn.device
// CHECK-NEXT:     %2 = "ttnn.mesh_shard"(%0, %1) <{shard_type = #ttcore.shard_type<identity>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 8, 1, 1, 1>, shard_dims = array<i64: -1, 0>}> : (tensor<1024x2x32x32xf32>, !ttnn.device) -> tensor<128x2x32x32xf32, #ttcore.tensor_mesh<"mesh">>
// CHECK-NEXT:     %3 = "ttnn.reshape"(%2) <{shape = [256 : i32, 1024 : i32]}> : (tensor<128x2x32x32xf32, #ttcore.tensor_mesh<"mesh">>) -> tensor<256x1024xf32, #ttcore.tensor_mesh<"mesh">>
// CHECK-NEXT:     %4 = "ttnn.mesh_shard"(%3, %1) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 8, 1>, shard_dims = array<i64: -1, 0>}> : (tensor<256x1024xf32, #ttcore.tensor_mesh<"mesh">>, !ttnn.device) -> tensor<2048x1024xf32>
// CHECK-NEXT:     func.return %4 : tensor<2048x1024xf32>
sdy.mesh @mesh = <["x"=1, "batch"=8]>
func.func public @main(%arg0: tensor<1024x2x32x32xf32> {ttcore.shard_status = #ttcore.shard_status<sharded>}) -> (tensor<2048x1024xf32> {jax.result_info = ""}) {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"batch"}, {}, {}, {}]>] out_shardings=[<@mesh, [{"batch"}, {}]>] manual_axes={"x", "batch"} (%arg1: tensor<128x2x32x32xf32>) {
    %1 = stablehlo.reshape %arg1 : (tensor<128x2x32x32xf32>) -> tensor<256x1024xf32>
    sdy.return %1 : tensor<256x1024xf32>
  } : (tensor<1024x2x32x32xf32>) -> tensor<2048x1024xf32>
  return %0 : tensor<2048x1024xf32>
}
