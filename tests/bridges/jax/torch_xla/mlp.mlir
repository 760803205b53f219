module @IrToHlo.37 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<32x16xf32> {mhlo.sharding = "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"}, %arg1: tensor<16x32xf32> {mhlo.sharding = "{devices=[1,4,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"}, %arg2: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"}) -> (tensor<8x16xf32>, tensor<f32>) {
    %cst = stablehlo.constant dense<7.812500e-03> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<8x32xf32>
    %cst_1 = stablehlo.constant dense<0.707106769> : tensor<8x32xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<8x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
    %1 = stablehlo.multiply %0, %cst_2 : tensor<8x32xf32>
    %2 = stablehlo.multiply %0, %cst_1 : tensor<8x32xf32>
    %3 = stablehlo.custom_call @mhlo.erf(%2) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %4 = stablehlo.add %3, %cst_0 : tensor<8x32xf32>
    %5 = stablehlo.multiply %1, %4 : tensor<8x32xf32>
    %6 = stablehlo.custom_call @Sharding(%5) {backend_config = "", mhlo.sharding = "{devices=[2,4]0,1,2,3,4,5,6,7}"} : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %7 = stablehlo.dot_general %6, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
    %8 = stablehlo.custom_call @Sharding(%7) {backend_config = "", mhlo.sharding = "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %9 = stablehlo.multiply %8, %8 : tensor<8x16xf32>
    %10 = stablehlo.reduce(%9 init: %cst_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %11 = stablehlo.multiply %10, %cst : tensor<f32>
    return %8, %11 : tensor<8x16xf32>, tensor<f32>
  }
}
