// RUN: xdsl-opt -p tt-stablehlo-pipeline,convert-stablehlo-to-ttir,convert-ttir-to-ttnn %s | filecheck %s

// Case 6 of the design request through everything: gather, then every device its part.

// CHECK:          "ttnn.mesh_shard"(%0, %1) <{shard_type = #ttcore.shard_type<identity>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_dims = array<i64: 0, 1>}>
// CHECK-NEXT:     "ttnn.all_gather"(%2, %1) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32, num_links = 1 : ui32}>
// CHECK-NEXT:     "ttnn.mesh_partition"(%3) <{dim = 0 : si32, cluster_axis = 1 : ui32}>
// CHECK-NEXT:     "ttnn.mesh_shard"(%4, %1) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 1>, shard_dims = array<i64: 1, 0>}>
sdy.mesh @mesh = <["x"=1, "y"=2]>
func.func public @main(%arg0: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {}]> : tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
