// RUN: xdsl-opt %s | xdsl-opt | filecheck %s

// CHECK:      builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>, <"line" = 8>]>} {
builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x4>, <"line" = 8>]>} {
  // CHECK-NEXT: func.func private @arguments(
  // CHECK-SAME:   tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>}
  // CHECK-SAME:   tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.shard_status = #ttcore.shard_status<sharded>}
  // CHECK-SAME:   tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<constant>, ttcore.shard_status = #ttcore.shard_status<presharded>}
  // CHECK-SAME:   tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<default>}
  // CHECK-SAME:   tensor<4xf32, #ttcore.tensor_mesh<"mesh">>
  func.func private @arguments(
    tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>},
    tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.shard_status = #ttcore.shard_status<sharded>},
    tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<constant>, ttcore.shard_status = #ttcore.shard_status<presharded>},
    tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<default>},
    tensor<4xf32, #ttcore.tensor_mesh<"mesh">>
  )
}
