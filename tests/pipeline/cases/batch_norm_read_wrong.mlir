func.func @main(%x: tensor<2x4x3x3xf32>, %s: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<2x4x3x3xf32> {
  %1:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 1.0E-2 : f32, feature_index = 1 : i64}> : (tensor<2x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>)
  return %1#0 : tensor<2x4x3x3xf32>
}
