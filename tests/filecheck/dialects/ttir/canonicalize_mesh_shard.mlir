// RUN: xdsl-opt -p canonicalize %s | filecheck %s

builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  // A tensor that goes to the devices and straight back never left.
  // CHECK-LABEL: @there_and_back
  // CHECK-NEXT:  func.return %a
  func.func @there_and_back(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = "ttir.empty"() : () -> tensor<4xf32, #ttcore.tensor_mesh<"mesh">>
    %1 = "ttir.mesh_shard"(%a, %0) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2>, shard_dims = array<i64: -1, 0>}> : (tensor<8xf32>, tensor<4xf32, #ttcore.tensor_mesh<"mesh">>) -> tensor<4xf32, #ttcore.tensor_mesh<"mesh">>
    %2 = "ttir.empty"() : () -> tensor<8xf32>
    %3 = "ttir.mesh_shard"(%1, %2) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2>, shard_dims = array<i64: -1, 0>}> : (tensor<4xf32, #ttcore.tensor_mesh<"mesh">>, tensor<8xf32>) -> tensor<8xf32>
    func.return %3 : tensor<8xf32>
  }

  // Shards of other dimensions are other shards.
  // CHECK-LABEL: @otherwise
  // CHECK:       "ttir.mesh_shard"
  // CHECK:       "ttir.mesh_shard"
  func.func @otherwise(%a: tensor<4x4xf32, #ttcore.tensor_mesh<"mesh">>) -> tensor<8x2xf32, #ttcore.tensor_mesh<"mesh">> {
    %0 = "ttir.empty"() : () -> tensor<8x4xf32>
    %1 = "ttir.mesh_shard"(%a, %0) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<shard_to_full>, shard_shape = array<i64: 2, 1>, shard_dims = array<i64: -1, 0>}> : (tensor<4x4xf32, #ttcore.tensor_mesh<"mesh">>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = "ttir.empty"() : () -> tensor<8x2xf32, #ttcore.tensor_mesh<"mesh">>
    %3 = "ttir.mesh_shard"(%1, %2) <{shard_type = #ttcore.shard_type<devices>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_dims = array<i64: -1, 1>}> : (tensor<8x4xf32>, tensor<8x2xf32, #ttcore.tensor_mesh<"mesh">>) -> tensor<8x2xf32, #ttcore.tensor_mesh<"mesh">>
    func.return %3 : tensor<8x2xf32, #ttcore.tensor_mesh<"mesh">>
  }

  // A destination that nothing writes to goes.
  // CHECK-LABEL: @unused
  // CHECK-NEXT:  func.return
  func.func @unused() {
    %0 = "ttir.empty"() : () -> tensor<8x4xf32>
    func.return
  }
}
