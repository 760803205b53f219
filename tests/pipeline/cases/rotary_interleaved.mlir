module @jit_roti attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["m"=8]>
  func.func public @main(%arg0: tensor<4x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<4x128xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
    %0 = stablehlo.reshape %arg0 : (tensor<4x128xf32>) -> tensor<4x64x2xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x128xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<4x128xf32>
    %3 = stablehlo.slice %0 [0:4, 0:64, 1:2] : (tensor<4x64x2xf32>) -> tensor<4x64x1xf32>
    %4 = stablehlo.reshape %3 : (tensor<4x64x1xf32>) -> tensor<4x64xf32>
    %5 = stablehlo.negate %4 : tensor<4x64xf32>
    %6 = stablehlo.slice %0 [0:4, 0:64, 0:1] : (tensor<4x64x2xf32>) -> tensor<4x64x1xf32>
    %7 = stablehlo.reshape %6 : (tensor<4x64x1xf32>) -> tensor<4x64xf32>
    %8 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %10 = stablehlo.concatenate %8, %9, dim = 2 : (tensor<4x64x1xf32>, tensor<4x64x1xf32>) -> tensor<4x64x2xf32>
    %11 = stablehlo.reshape %10 : (tensor<4x64x2xf32>) -> tensor<4x128xf32>
    %12 = stablehlo.add %2, %11 : tensor<4x128xf32>
    return %12 : tensor<4x128xf32>
  }
}
