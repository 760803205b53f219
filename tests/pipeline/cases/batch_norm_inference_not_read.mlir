func.func @main(%x: tensor<2x4x3x3xf32>, %s: tensor<4xf32>, %o: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<2x4x3x3xf32> {
  %w = stablehlo.abs %v : tensor<4xf32>
  %1 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %w) <{epsilon = 1.0E-2 : f32, feature_index = 1 : i64}> : (tensor<2x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x3xf32>
  return %1 : tensor<2x4x3x3xf32>
}
