sdy.mesh @mesh = <["b"=8]>
func.func @main(%x: tensor<16x4x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}, {}, {}]>}, %s: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<16x4x6x6xf32> {
  %1:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 1.0E-2 : f32, feature_index = 1 : i64}> : (tensor<16x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<16x4x6x6xf32>, tensor<4xf32>, tensor<4xf32>)
  return %1#0 : tensor<16x4x6x6xf32>
}
