module @jit_block attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg2: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg3: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg4: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg5: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg6: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg7: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg8: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg9: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg10: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg11: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg12: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg13: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg14: tensor<4x32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<4x32x64xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %1 = stablehlo.compare LT, %arg14, %0, SIGNED : (tensor<4x32xi32>, tensor<4x32xi32>) -> tensor<4x32xi1>
    %c_0 = stablehlo.constant dense<128> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x32xi32>
    %3 = stablehlo.add %arg14, %2 : tensor<4x32xi32>
    %4 = stablehlo.select %1, %3, %arg14 : tensor<4x32xi1>, tensor<4x32xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x32xi32>) -> tensor<4x32x1xi32>
    %6 = "stablehlo.gather"(%arg2, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<128x64xf32>, tensor<4x32x1xi32>) -> tensor<4x32x64xf32>
    %7 = stablehlo.broadcast_in_dim %arg5, dims = [1, 2] : (tensor<32x64xf32>) -> tensor<1x32x64xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x32x64xf32>) -> tensor<4x32x64xf32>
    %9 = stablehlo.add %6, %8 : tensor<4x32x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x32x64xf32>, tensor<f32>) -> tensor<4x32xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<4x32x1xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %14 = call @_var(%9, %c_2) : (tensor<4x32x64xf32>, tensor<i32>) -> tensor<4x32x1xf32>
    %15 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x64xf32>
    %16 = stablehlo.subtract %9, %15 : tensor<4x32x64xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %18 = stablehlo.add %14, %17 : tensor<4x32x1xf32>
    %19 = stablehlo.sqrt %18 : tensor<4x32x1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x64xf32>
    %21 = stablehlo.divide %16, %20 : tensor<4x32x64xf32>
    %22 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<4x32x64xf32>
    %24 = stablehlo.multiply %21, %23 : tensor<4x32x64xf32>
    %25 = stablehlo.broadcast_in_dim %arg9, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<4x32x64xf32>
    %27 = stablehlo.add %24, %26 : tensor<4x32x64xf32>
    %28 = stablehlo.dot_general %arg6, %27, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<4x32x64xf32>) -> tensor<8x8x4x32xf32>
    %29 = stablehlo.transpose %28, dims = [2, 0, 3, 1] : (tensor<8x8x4x32xf32>) -> tensor<4x8x32x8xf32>
    %30 = stablehlo.dot_general %arg3, %27, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<4x32x64xf32>) -> tensor<8x8x4x32xf32>
    %31 = stablehlo.transpose %30, dims = [2, 0, 3, 1] : (tensor<8x8x4x32xf32>) -> tensor<4x8x32x8xf32>
    %32 = stablehlo.dot_general %arg13, %27, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<4x32x64xf32>) -> tensor<8x8x4x32xf32>
    %33 = stablehlo.transpose %32, dims = [2, 0, 3, 1] : (tensor<8x8x4x32xf32>) -> tensor<4x8x32x8xf32>
    %34 = stablehlo.dot_general %29, %31, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32x8xf32>, tensor<4x8x32x8xf32>) -> tensor<4x8x32x32xf32>
    %cst_4 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %35 = stablehlo.sqrt %cst_4 : tensor<f32>
    %36 = stablehlo.convert %35 : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<f32>) -> tensor<4x8x32x32xf32>
    %38 = stablehlo.divide %34, %37 : tensor<4x8x32x32xf32>
    %c_5 = stablehlo.constant dense<true> : tensor<i1>
    %39 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %40 = call @tril(%39) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = call @_where_0(%40, %38, %cst_6) : (tensor<32x32xi1>, tensor<4x8x32x32xf32>, tensor<f32>) -> tensor<4x8x32x32xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<4x8x32x32xf32>, tensor<f32>) -> tensor<4x8x32xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x8x32xf32>
    %44 = stablehlo.maximum %43, %42 : tensor<4x8x32xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<4x8x32xf32>) -> tensor<4x8x32x1xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2, 3] : (tensor<4x8x32x1xf32>) -> tensor<4x8x32x32xf32>
    %47 = stablehlo.subtract %41, %46 : tensor<4x8x32x32xf32>
    %48 = stablehlo.exponential %47 : tensor<4x8x32x32xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<4x8x32x32xf32>, tensor<f32>) -> tensor<4x8x32xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<4x8x32xf32>) -> tensor<4x8x32x1xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2, 3] : (tensor<4x8x32x1xf32>) -> tensor<4x8x32x32xf32>
    %52 = stablehlo.divide %48, %51 : tensor<4x8x32x32xf32>
    %53 = stablehlo.dot_general %33, %52, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<4x8x32x8xf32>, tensor<4x8x32x32xf32>) -> tensor<4x8x8x32xf32>
    %54 = stablehlo.transpose %53, dims = [0, 3, 1, 2] : (tensor<4x8x8x32xf32>) -> tensor<4x32x8x8xf32>
    %55 = stablehlo.dot_general %54, %arg4, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<4x32x64xf32>
    %56 = stablehlo.add %9, %55 : tensor<4x32x64xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %57 = stablehlo.reduce(%56 init: %cst_10) applies stablehlo.add across dimensions = [2] : (tensor<4x32x64xf32>, tensor<f32>) -> tensor<4x32xf32>
    %58 = stablehlo.broadcast_in_dim %57, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %cst_11 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %60 = stablehlo.divide %58, %59 : tensor<4x32x1xf32>
    %c_12 = stablehlo.constant dense<0> : tensor<i32>
    %61 = call @_var(%56, %c_12) : (tensor<4x32x64xf32>, tensor<i32>) -> tensor<4x32x1xf32>
    %62 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x64xf32>
    %63 = stablehlo.subtract %56, %62 : tensor<4x32x64xf32>
    %cst_13 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %65 = stablehlo.add %61, %64 : tensor<4x32x1xf32>
    %66 = stablehlo.sqrt %65 : tensor<4x32x1xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x64xf32>
    %68 = stablehlo.divide %63, %67 : tensor<4x32x64xf32>
    %69 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<4x32x64xf32>
    %71 = stablehlo.multiply %68, %70 : tensor<4x32x64xf32>
    %72 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<4x32x64xf32>
    %74 = stablehlo.add %71, %73 : tensor<4x32x64xf32>
    %75 = stablehlo.dot_general %74, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x64xf32>, tensor<64x256xf32>) -> tensor<4x32x256xf32>
    %76 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<4x32x256xf32>
    %78 = stablehlo.add %75, %77 : tensor<4x32x256xf32>
    %79 = stablehlo.multiply %78, %78 : tensor<4x32x256xf32>
    %80 = stablehlo.multiply %79, %78 : tensor<4x32x256xf32>
    %cst_14 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x32x256xf32>
    %82 = stablehlo.multiply %81, %80 : tensor<4x32x256xf32>
    %83 = stablehlo.add %78, %82 : tensor<4x32x256xf32>
    %cst_15 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x32x256xf32>
    %85 = stablehlo.multiply %84, %83 : tensor<4x32x256xf32>
    %86 = stablehlo.tanh %85 : tensor<4x32x256xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x32x256xf32>
    %88 = stablehlo.add %87, %86 : tensor<4x32x256xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<4x32x256xf32>
    %90 = stablehlo.multiply %89, %88 : tensor<4x32x256xf32>
    %91 = stablehlo.multiply %78, %90 : tensor<4x32x256xf32>
    %92 = stablehlo.dot_general %91, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32x256xf32>, tensor<256x64xf32>) -> tensor<4x32x64xf32>
    %93 = stablehlo.add %56, %92 : tensor<4x32x64xf32>
    %94 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<4x32x64xf32>
    %96 = stablehlo.add %93, %95 : tensor<4x32x64xf32>
    return %96 : tensor<4x32x64xf32>
  }
  func.func private @_var(%arg0: tensor<4x32x64xf32>, %arg1: tensor<i32>) -> tensor<4x32x1xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<4x32x64xf32>, tensor<f32>) -> tensor<4x32xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<4x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<4x32x1xf32>) -> tensor<4x32x64xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x32x64xf32>
    %6 = chlo.square %5 : tensor<4x32x64xf32> -> tensor<4x32x64xf32>
    %7 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %8 = stablehlo.subtract %cst_1, %7 : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%6 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<4x32x64xf32>, tensor<f32>) -> tensor<4x32xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x32xf32>) -> tensor<4x32x1xf32>
    %11 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %12 = stablehlo.divide %10, %11 : tensor<4x32x1xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.compare GT, %8, %cst_3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %12, %cst_4) : (tensor<i1>, tensor<4x32x1xf32>, tensor<f32>) -> tensor<4x32x1xf32>
    return %14 : tensor<4x32x1xf32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<4x32x1xf32>, %arg2: tensor<f32>) -> tensor<4x32x1xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x32x1xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<i1>, tensor<4x32x1xf32>
    return %2 : tensor<4x32x1xf32>
  }
  func.func private @tril(%arg0: tensor<32x32xi1>) -> tensor<32x32xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<32x32xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x32xi32>
    %2 = stablehlo.add %0, %1 : tensor<32x32xi32>
    %3 = stablehlo.iota dim = 1 : tensor<32x32xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<32x32xi1>, tensor<32x32xi1>
    return %6 : tensor<32x32xi1>
  }
  func.func private @_where_0(%arg0: tensor<32x32xi1>, %arg1: tensor<4x8x32x32xf32>, %arg2: tensor<f32>) -> tensor<4x8x32x32xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<32x32xi1>) -> tensor<4x8x32x32xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x8x32x32xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x8x32x32xi1>, tensor<4x8x32x32xf32>
    return %3 : tensor<4x8x32x32xf32>
  }
}
