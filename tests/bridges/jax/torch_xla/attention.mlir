module @IrToHlo.87 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<4x6x16xf32> {mhlo.sharding = "{devices=[2,1,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"}, %arg1: tensor<16x16xf32> {mhlo.sharding = "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"}, %arg2: tensor<16x48xf32> {mhlo.sharding = "{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"}) -> tensor<4x6x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<24xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<24xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %arg0 : (tensor<4x6x16xf32>) -> tensor<24x16xf32>
    %1 = stablehlo.dot_general %0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<24x16xf32>, tensor<16x48xf32>) -> tensor<24x48xf32>
    %2 = stablehlo.reshape %1 : (tensor<24x48xf32>) -> tensor<4x6x48xf32>
    %3 = stablehlo.slice %2 [0:4, 0:6, 0:16] : (tensor<4x6x48xf32>) -> tensor<4x6x16xf32>
    %4 = stablehlo.reshape %3 : (tensor<4x6x16xf32>) -> tensor<4x6x4x4xf32>
    %5 = stablehlo.transpose %4, dims = [0, 2, 1, 3] {result_layout = dense<[3, 1, 2, 0]> : tensor<4xindex>, xla_shape = "f32[4,4,6,4]{3,1,2,0}"} : (tensor<4x6x4x4xf32>) -> tensor<4x4x6x4xf32>
    %6 = stablehlo.reshape %5 : (tensor<4x4x6x4xf32>) -> tensor<16x6x4xf32>
    %7 = stablehlo.slice %2 [0:4, 0:6, 16:32] : (tensor<4x6x48xf32>) -> tensor<4x6x16xf32>
    %8 = stablehlo.reshape %7 : (tensor<4x6x16xf32>) -> tensor<4x6x4x4xf32>
    %9 = stablehlo.transpose %8, dims = [0, 2, 3, 1] : (tensor<4x6x4x4xf32>) -> tensor<4x4x4x6xf32>
    %10 = stablehlo.reshape %9 : (tensor<4x4x4x6xf32>) -> tensor<16x4x6xf32>
    %11 = stablehlo.dot_general %6, %10, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x4xf32>, tensor<16x4x6xf32>) -> tensor<16x6x6xf32>
    %12 = stablehlo.reshape %11 : (tensor<16x6x6xf32>) -> tensor<4x4x6x6xf32>
    %13 = stablehlo.reduce(%12 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<4x4x6x6xf32>, tensor<f32>) -> tensor<4x4x6xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<4x4x6xf32>) -> tensor<4x4x6x6xf32>
    %15 = stablehlo.subtract %12, %14 : tensor<4x4x6x6xf32>
    %16 = stablehlo.exponential %15 : tensor<4x4x6x6xf32>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<4x4x6x6xf32>, tensor<f32>) -> tensor<4x4x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<4x4x6xf32>) -> tensor<4x4x6x6xf32>
    %19 = stablehlo.divide %16, %18 : tensor<4x4x6x6xf32>
    %20 = stablehlo.custom_call @Sharding(%19) {backend_config = "", mhlo.sharding = "{devices=[2,4,1,1]0,1,2,3,4,5,6,7}"} : (tensor<4x4x6x6xf32>) -> tensor<4x4x6x6xf32>
    %21 = stablehlo.reshape %20 : (tensor<4x4x6x6xf32>) -> tensor<16x6x6xf32>
    %22 = stablehlo.slice %2 [0:4, 0:6, 32:48] : (tensor<4x6x48xf32>) -> tensor<4x6x16xf32>
    %23 = stablehlo.reshape %22 : (tensor<4x6x16xf32>) -> tensor<4x6x4x4xf32>
    %24 = stablehlo.transpose %23, dims = [0, 2, 1, 3] {result_layout = dense<[3, 1, 2, 0]> : tensor<4xindex>, xla_shape = "f32[4,4,6,4]{3,1,2,0}"} : (tensor<4x6x4x4xf32>) -> tensor<4x4x6x4xf32>
    %25 = stablehlo.reshape %24 : (tensor<4x4x6x4xf32>) -> tensor<16x6x4xf32>
    %26 = stablehlo.dot_general %21, %25, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<16x6x6xf32>, tensor<16x6x4xf32>) -> tensor<16x6x4xf32>
    %27 = stablehlo.reshape %26 : (tensor<16x6x4xf32>) -> tensor<4x4x6x4xf32>
    %28 = stablehlo.transpose %27, dims = [0, 2, 1, 3] {result_layout = dense<[3, 1, 2, 0]> : tensor<4xindex>, xla_shape = "f32[4,6,4,4]{3,1,2,0}"} : (tensor<4x4x6x4xf32>) -> tensor<4x6x4x4xf32>
    %29 = stablehlo.reshape %28 : (tensor<4x6x4x4xf32>) -> tensor<24x16xf32>
    %30 = stablehlo.dot_general %29, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<24x16xf32>, tensor<16x16xf32>) -> tensor<24x16xf32>
    %31 = stablehlo.reshape %30 : (tensor<24x16xf32>) -> tensor<4x6x16xf32>
    %32 = stablehlo.add %31, %arg0 : tensor<4x6x16xf32>
    %33 = stablehlo.reshape %32 : (tensor<4x6x16xf32>) -> tensor<1x24x16xf32>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%33, %cst_0, %cst) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<1x24x16xf32>, tensor<24xf32>, tensor<24xf32>) -> (tensor<1x24x16xf32>, tensor<24xf32>, tensor<24xf32>)
    %34 = stablehlo.reshape %output : (tensor<1x24x16xf32>) -> tensor<4x6x16xf32>
    return %34 : tensor<4x6x16xf32>
  }
}
