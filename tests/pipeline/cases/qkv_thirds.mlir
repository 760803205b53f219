module @jit_qkv attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["m"=8]>
  func.func public @main(%arg0: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<32x192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<4x8x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32xf32>, tensor<32x192xf32>) -> tensor<4x192xf32>
    %1 = stablehlo.slice %0 [0:4, 0:64] : (tensor<4x192xf32>) -> tensor<4x64xf32>
    %2 = stablehlo.slice %0 [0:4, 64:128] : (tensor<4x192xf32>) -> tensor<4x64xf32>
    %3 = stablehlo.slice %0 [0:4, 128:192] : (tensor<4x192xf32>) -> tensor<4x64xf32>
    %4 = stablehlo.reshape %1 : (tensor<4x64xf32>) -> tensor<4x8x8xf32>
    %5 = stablehlo.reshape %2 : (tensor<4x64xf32>) -> tensor<4x8x8xf32>
    %6 = stablehlo.dot_general %4, %5, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<4x8xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x1xf32>
    %8 = stablehlo.reshape %3 : (tensor<4x64xf32>) -> tensor<4x8x8xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<4x8x1xf32>) -> tensor<4x8x8xf32>
    %10 = stablehlo.multiply %9, %8 : tensor<4x8x8xf32>
    return %10 : tensor<4x8x8xf32>
  }
}
