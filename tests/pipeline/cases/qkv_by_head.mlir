module @jit_qkvh attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["m"=8]>
  func.func public @main(%arg0: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<32x192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<4x8x8xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}, {}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32xf32>, tensor<32x192xf32>) -> tensor<4x192xf32>
    %1 = stablehlo.reshape %0 : (tensor<4x192xf32>) -> tensor<4x8x3x8xf32>
    %2 = stablehlo.slice %1 [0:4, 0:8, 0:1, 0:8] : (tensor<4x8x3x8xf32>) -> tensor<4x8x1x8xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x8x1x8xf32>) -> tensor<4x8x8xf32>
    %4 = stablehlo.slice %1 [0:4, 0:8, 1:2, 0:8] : (tensor<4x8x3x8xf32>) -> tensor<4x8x1x8xf32>
    %5 = stablehlo.reshape %4 : (tensor<4x8x1x8xf32>) -> tensor<4x8x8xf32>
    %6 = stablehlo.dot_general %3, %5, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<4x8xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x1xf32>
    %8 = stablehlo.slice %1 [0:4, 0:8, 2:3, 0:8] : (tensor<4x8x3x8xf32>) -> tensor<4x8x1x8xf32>
    %9 = stablehlo.reshape %8 : (tensor<4x8x1x8xf32>) -> tensor<4x8x8xf32>
    %10 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<4x8x1xf32>) -> tensor<4x8x8xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<4x8x8xf32>
    return %11 : tensor<4x8x8xf32>
  }
}
