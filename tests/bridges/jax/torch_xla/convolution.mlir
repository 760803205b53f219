module @IrToHlo.60 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<5xf32> {mhlo.sharding = "{replicated}"}, %arg1: tensor<5x3x3x3xf32> {mhlo.sharding = "{replicated}"}, %arg2: tensor<4x3x16x8xf32> {mhlo.sharding = "{devices=[2,1,4,1]0,1,2,3,4,5,6,7}"}) -> tensor<4x5x8x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<4x5x16x8xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.convolution(%arg2, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<4x3x16x8xf32>, tensor<5x3x3x3xf32>) -> tensor<4x5x16x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<5xf32>) -> tensor<4x5x16x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x5x16x8xf32>
    %3 = stablehlo.maximum %2, %cst : tensor<4x5x16x8xf32>
    %4 = "stablehlo.reduce_window"(%3, %cst_0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %5 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x5x16x8xf32>, tensor<f32>) -> tensor<4x5x8x4xf32>
    return %4 : tensor<4x5x8x4xf32>
  }
}
