func.func @main(%c: tensor<3x5x2xf32>, %u: tensor<3x1x2xf32>, %p: tensor<i32>) -> tensor<3x5x2xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %c, %u, %z, %p, %z : (tensor<3x5x2xf32>, tensor<3x1x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x5x2xf32>
  return %0 : tensor<3x5x2xf32>
}
