module @IrToHlo.67 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<8x12xf32> {mhlo.sharding = "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"}, %arg1: tensor<12x4xf32> {mhlo.sharding = "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dim_replicate}"}) -> (tensor<8x3xf32>, tensor<8x3x4xf32>, tensor<8x12xf32>) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<8x12xf32>
    %cst_0 = stablehlo.constant dense<0.693147182> : tensor<8x12xf32>
    %cst_1 = stablehlo.constant dense<1.8446743E+19> : tensor<8x12xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.iota dim = 0 : tensor<12xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<12xi32>) -> tensor<8x12xi32>
    %2:2 = "stablehlo.sort"(%arg0, %1) <{dimension = 1 : i64, is_stable = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
      %30 = stablehlo.compare  GT, %arg2, %arg3,  TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %30 : tensor<i1>
    }) : (tensor<8x12xf32>, tensor<8x12xi32>) -> (tensor<8x12xf32>, tensor<8x12xi32>)
    %3 = stablehlo.slice %2#0 [0:8, 0:3] : (tensor<8x12xf32>) -> tensor<8x3xf32>
    %4 = stablehlo.slice %2#1 [0:8, 0:3] : (tensor<8x12xi32>) -> tensor<8x3xi32>
    %5 = stablehlo.convert %4 : (tensor<8x3xi32>) -> tensor<8x3xi64>
    %6 = stablehlo.reshape %5 : (tensor<8x3xi64>) -> tensor<24xi64>
    %7 = stablehlo.convert %6 : (tensor<24xi64>) -> tensor<24xui32>
    %8 = "stablehlo.gather"(%arg1, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<12x4xf32>, tensor<24xui32>) -> tensor<24x4xf32>
    %9 = stablehlo.reshape %8 : (tensor<24x4xf32>) -> tensor<8x3x4xf32>
    %10 = stablehlo.sign %arg0 : tensor<8x12xf32>
    %11 = stablehlo.abs %arg0 : tensor<8x12xf32>
    %12 = stablehlo.compare  GE, %11, %cst_1 : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x12xi1>
    %13 = stablehlo.abs %11 : tensor<8x12xf32>
    %14 = stablehlo.log %13 : tensor<8x12xf32>
    %15 = stablehlo.add %14, %cst_0 : tensor<8x12xf32>
    %16 = stablehlo.compare  LE, %11, %cst : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x12xi1>
    %17 = stablehlo.multiply %11, %11 : tensor<8x12xf32>
    %18 = stablehlo.add %17, %cst : tensor<8x12xf32>
    %19 = stablehlo.sqrt %18 : tensor<8x12xf32>
    %20 = stablehlo.add %19, %cst : tensor<8x12xf32>
    %21 = stablehlo.divide %17, %20 : tensor<8x12xf32>
    %22 = stablehlo.add %11, %21 : tensor<8x12xf32>
    %23 = stablehlo.log_plus_one %22 : tensor<8x12xf32>
    %24 = stablehlo.add %11, %19 : tensor<8x12xf32>
    %25 = stablehlo.log %24 : tensor<8x12xf32>
    %26 = stablehlo.select %16, %23, %25 : tensor<8x12xi1>, tensor<8x12xf32>
    %27 = stablehlo.select %12, %15, %26 : tensor<8x12xi1>, tensor<8x12xf32>
    %28 = stablehlo.multiply %10, %27 : tensor<8x12xf32>
    %29 = "stablehlo.reduce_window"(%28, %cst_2) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [11, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 12>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %30 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %30 : tensor<f32>
    }) : (tensor<8x12xf32>, tensor<f32>) -> tensor<8x12xf32>
    return %3, %9, %29 : tensor<8x3xf32>, tensor<8x3x4xf32>, tensor<8x12xf32>
  }
}
