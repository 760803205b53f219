module @jit_halves attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["m"=8]>
  func.func public @main(%arg0: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<4x64xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32xf32>, tensor<32x128xf32>) -> tensor<4x128xf32>
    %1 = stablehlo.slice %0 [0:4, 0:64] : (tensor<4x128xf32>) -> tensor<4x64xf32>
    %2 = stablehlo.slice %0 [0:4, 64:128] : (tensor<4x128xf32>) -> tensor<4x64xf32>
    %3 = call @silu(%1) : (tensor<4x64xf32>) -> tensor<4x64xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<4x64xf32>
    return %4 : tensor<4x64xf32>
  }
  func.func private @silu(%arg0: tensor<4x64xf32>) -> tensor<4x64xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4x64xf32>
    %1 = stablehlo.exponential %0 : tensor<4x64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
    %3 = stablehlo.add %2, %1 : tensor<4x64xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
    %5 = stablehlo.divide %4, %3 : tensor<4x64xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<4x64xf32>
    return %6 : tensor<4x64xf32>
  }
}
