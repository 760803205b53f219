// RUN: xdsl-opt -p 'apply-shardy-argument-annotations,convert-stablehlo-to-ttir,convert-ttir-to-ttnn{num-links=2}' %s | filecheck %s

// Case 3 of the design request: solved, with arguments that lie on the devices.

// CHECK:          %2 = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 2x4>}> : () -> !ttnn.device
// CHECK-NEXT:     %3 = "ttnn.mesh_shard"(%0, %2) <{shard_type = #ttcore.shard_type<identity>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>, shard_dims = array<i64: 0, 1>}>
// CHECK-NEXT:     %4 = "ttnn.mesh_shard"(%1, %2) <{shard_type = #ttcore.shard_type<identity>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 4, 1>, shard_dims = array<i64: -1, 0>}>
// CHECK-NEXT:     %5 = "ttnn.matmul"(%3, %4) <{transpose_a = false, transpose_b = false}>
// CHECK-NEXT:     %6 = "ttnn.all_reduce"(%5, %2) <{reduce_type = #ttcore.reduce_type<sum>, cluster_axis = 1 : ui32, num_links = 2 : ui32}>
// CHECK-NEXT:     %7 = "ttnn.mesh_shard"(%6, %2) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 1>, shard_dims = array<i64: 0, -1>}>
// CHECK-NEXT:     func.return %7 : tensor<8192x16384xf32>
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(%arg0: tensor<8192x784xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<sharded>}, %arg1: tensor<784x16384xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>, ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.shard_status = #ttcore.shard_status<sharded>}) -> (tensor<8192x16384xf32> {jax.result_info = ""}) {
  %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%arg2: tensor<4096x196xf32>, %arg3: tensor<196x16384xf32>) {
    %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4096x196xf32>, tensor<196x16384xf32>) -> tensor<4096x16384xf32>
    %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %3 = stablehlo.add %arg4, %arg5 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<4096x16384xf32>) -> tensor<4096x16384xf32>
    sdy.return %2 : tensor<4096x16384xf32>
  } : (tensor<8192x784xf32>, tensor<784x16384xf32>) -> tensor<8192x16384xf32>
  return %0 : tensor<8192x16384xf32>
}
