module @jit_rot attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["m"=8]>
  func.func public @main(%arg0: tensor<4x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<4x128xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
    %0 = stablehlo.slice %arg0 [0:4, 0:64] : (tensor<4x128xf32>) -> tensor<4x64xf32>
    %1 = stablehlo.slice %arg0 [0:4, 64:128] : (tensor<4x128xf32>) -> tensor<4x64xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x128xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<4x128xf32>
    %4 = stablehlo.negate %1 : tensor<4x64xf32>
    %5 = stablehlo.concatenate %4, %0, dim = 1 : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x128xf32>
    %6 = stablehlo.add %3, %5 : tensor<4x128xf32>
    return %6 : tensor<4x128xf32>
  }
}
