// RUN: ttxdsl check %s -p 'tt-stablehlo-pipeline{first-stage=8 last-stage=11 pad-borders=true}'
//
// 8 sdy-insert-explicit-reshards: the shardings that it left contradict each other
//   11 update-global-to-local-shapes cannot go on from it: /tmp/s32/corp.mlir:4:5: 'sdy.reduce_scatter': no op before it leaves partial results along {"x"}, so what to combine, and by which function, is not known

builtin.module @jit_conv_general_dilated attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[3, 1, 7, 5, 0, 2, 6, 4]>
  func.func public @main(%arg0: tensor<2x8x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", "x", ?}, {}, {}]>, ttcore.shard_status = #ttcore.shard_status<sharded>}, %arg1: tensor<3x3x3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x", ?}]>, ttcore.shard_status = #ttcore.shard_status<sharded>}) -> (tensor<2x4x5x4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y", ?}, {?}, {"x", ?}]>}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 0], [2, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {"y", ?}, {?}, {"x", ?}]>]>} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x4x5x4xf32>
    func.return %0 : tensor<2x4x5x4xf32>
  }
}
