module @jit_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg2: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg3: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg4: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg5: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg6: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg7: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg8: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg9: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg10: tensor<8x32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg11: tensor<8x32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<128x64xf32> {jax.result_info = "result[0]['embedding']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][0]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][0]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][0]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][0]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][0]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][0]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][0]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][0]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][0]['v']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x32xi32>
    %1 = stablehlo.compare LT, %arg10, %0, SIGNED : (tensor<8x32xi32>, tensor<8x32xi32>) -> tensor<8x32xi1>
    %c_0 = stablehlo.constant dense<128> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x32xi32>
    %3 = stablehlo.add %arg10, %2 : tensor<8x32xi32>
    %4 = stablehlo.select %1, %3, %arg10 : tensor<8x32xi1>, tensor<8x32xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x32xi32>) -> tensor<8x32x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<128x64xf32>, tensor<8x32x1xi32>) -> tensor<8x32x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_1 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<8x32x1xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %12 = stablehlo.subtract %6, %11 : tensor<8x32x64xf32>
    %13 = stablehlo.multiply %12, %12 : tensor<8x32x64xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %15 = stablehlo.multiply %14, %12 : tensor<8x32x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%13 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_4 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %19 = stablehlo.divide %17, %18 : tensor<8x32x1xf32>
    %cst_5 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %21 = stablehlo.add %19, %20 : tensor<8x32x1xf32>
    %22 = stablehlo.sqrt %21 : tensor<8x32x1xf32>
    %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<8x32x1xf32>
    %25 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %26 = stablehlo.divide %12, %25 : tensor<8x32x64xf32>
    %27 = stablehlo.multiply %22, %22 : tensor<8x32x1xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %29 = stablehlo.divide %28, %27 : tensor<8x32x1xf32>
    %30 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %32 = stablehlo.multiply %26, %31 : tensor<8x32x64xf32>
    %33 = stablehlo.dot_general %arg7, %32, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %34 = stablehlo.transpose %33, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %35 = stablehlo.dot_general %arg3, %32, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %36 = stablehlo.transpose %35, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %37 = stablehlo.dot_general %arg9, %32, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %38 = stablehlo.transpose %37, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %39 = stablehlo.dot_general %34, %36, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_8 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %41 = stablehlo.divide %39, %40 : tensor<8x8x32x32xf32>
    %c_9 = stablehlo.constant dense<true> : tensor<i1>
    %42 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %43 = call @tril(%42) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_10 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %44:2 = call @_where(%43, %41, %cst_10) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_11 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %45 = stablehlo.reduce(%44#0 init: %cst_11) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %47 = stablehlo.maximum %46, %45 : tensor<8x8x32xf32>
    %48 = stablehlo.broadcast_in_dim %47, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %50 = stablehlo.subtract %44#0, %49 : tensor<8x8x32x32xf32>
    %51 = stablehlo.exponential %50 : tensor<8x8x32x32xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.reduce(%51 init: %cst_13) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %55 = stablehlo.divide %51, %54 : tensor<8x8x32x32xf32>
    %56 = stablehlo.multiply %53, %53 : tensor<8x8x32x1xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %58 = stablehlo.divide %57, %56 : tensor<8x8x32x1xf32>
    %59 = stablehlo.dot_general %38, %55, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %60 = stablehlo.transpose %59, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %61 = stablehlo.dot_general %60, %arg6, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %62 = stablehlo.add %6, %61 : tensor<8x32x64xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_15) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_16 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %66 = stablehlo.divide %64, %65 : tensor<8x32x1xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %68 = stablehlo.subtract %62, %67 : tensor<8x32x64xf32>
    %69 = stablehlo.multiply %68, %68 : tensor<8x32x64xf32>
    %cst_17 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %71 = stablehlo.multiply %70, %68 : tensor<8x32x64xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %72 = stablehlo.reduce(%69 init: %cst_18) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %73 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_19 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %75 = stablehlo.divide %73, %74 : tensor<8x32x1xf32>
    %cst_20 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %76 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %77 = stablehlo.add %75, %76 : tensor<8x32x1xf32>
    %78 = stablehlo.sqrt %77 : tensor<8x32x1xf32>
    %cst_21 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %80 = stablehlo.divide %79, %78 : tensor<8x32x1xf32>
    %81 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %82 = stablehlo.divide %68, %81 : tensor<8x32x64xf32>
    %83 = stablehlo.multiply %78, %78 : tensor<8x32x1xf32>
    %cst_22 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %85 = stablehlo.divide %84, %83 : tensor<8x32x1xf32>
    %86 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %87 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %88 = stablehlo.multiply %82, %87 : tensor<8x32x64xf32>
    %89 = stablehlo.dot_general %88, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %90 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %92 = stablehlo.add %89, %91 : tensor<8x32x256xf32>
    %93 = stablehlo.multiply %92, %92 : tensor<8x32x256xf32>
    %94 = stablehlo.multiply %93, %92 : tensor<8x32x256xf32>
    %95 = stablehlo.multiply %92, %92 : tensor<8x32x256xf32>
    %cst_23 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %97 = stablehlo.multiply %96, %95 : tensor<8x32x256xf32>
    %cst_24 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %99 = stablehlo.multiply %98, %94 : tensor<8x32x256xf32>
    %100 = stablehlo.add %92, %99 : tensor<8x32x256xf32>
    %cst_25 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %102 = stablehlo.multiply %101, %100 : tensor<8x32x256xf32>
    %103 = stablehlo.tanh %102 : tensor<8x32x256xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %105 = stablehlo.subtract %104, %103 : tensor<8x32x256xf32>
    %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %107 = stablehlo.add %106, %103 : tensor<8x32x256xf32>
    %cst_28 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %109 = stablehlo.multiply %108, %107 : tensor<8x32x256xf32>
    %110 = stablehlo.multiply %92, %109 : tensor<8x32x256xf32>
    %111 = stablehlo.dot_general %110, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %112 = stablehlo.add %62, %111 : tensor<8x32x64xf32>
    %113 = stablehlo.dot_general %112, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<128x64xf32>) -> tensor<8x32x128xf32>
    %114:3 = call @log_softmax(%113) : (tensor<8x32x128xf32>) -> (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x1xf32>)
    %115 = stablehlo.multiply %114#0, %arg11 : tensor<8x32x128xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %116 = stablehlo.reduce(%115 init: %cst_29) applies stablehlo.add across dimensions = [2] : (tensor<8x32x128xf32>, tensor<f32>) -> tensor<8x32xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %117 = stablehlo.reduce(%116 init: %cst_30) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_31 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %118 = stablehlo.divide %117, %cst_31 : tensor<f32>
    %119 = stablehlo.negate %118 : tensor<f32>
    %cst_32 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %120 = stablehlo.negate %cst_32 : tensor<f32>
    %cst_33 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %121 = stablehlo.divide %120, %cst_33 : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x128xf32>
    %124 = stablehlo.multiply %123, %arg11 : tensor<8x32x128xf32>
    %125 = call @log_softmax_0(%114#1, %114#2, %124) : (tensor<8x32x128xf32>, tensor<8x32x1xf32>, tensor<8x32x128xf32>) -> tensor<8x32x128xf32>
    %126 = stablehlo.dot_general %125, %112, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %127 = stablehlo.dot_general %125, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<128x64xf32>) -> tensor<8x32x64xf32>
    %128 = stablehlo.dot_general %127, %110, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %129 = stablehlo.transpose %128, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %130 = stablehlo.dot_general %127, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %131 = stablehlo.multiply %92, %130 : tensor<8x32x256xf32>
    %132 = stablehlo.multiply %130, %109 : tensor<8x32x256xf32>
    %cst_34 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %134 = stablehlo.multiply %133, %131 : tensor<8x32x256xf32>
    %135 = stablehlo.multiply %134, %105 : tensor<8x32x256xf32>
    %136 = stablehlo.multiply %135, %103 : tensor<8x32x256xf32>
    %137 = stablehlo.add %135, %136 : tensor<8x32x256xf32>
    %cst_35 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %139 = stablehlo.multiply %138, %137 : tensor<8x32x256xf32>
    %140 = stablehlo.add %132, %139 : tensor<8x32x256xf32>
    %cst_36 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %141 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %142 = stablehlo.multiply %141, %139 : tensor<8x32x256xf32>
    %143 = stablehlo.multiply %142, %97 : tensor<8x32x256xf32>
    %144 = stablehlo.add %140, %143 : tensor<8x32x256xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %145 = stablehlo.reduce(%144 init: %cst_37) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %146 = stablehlo.reshape %145 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.reduce(%146 init: %cst_38) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %148 = stablehlo.dot_general %144, %88, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %149 = stablehlo.transpose %148, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %150 = stablehlo.dot_general %144, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %151 = stablehlo.multiply %82, %150 : tensor<8x32x64xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %152 = stablehlo.reduce(%151 init: %cst_39) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %153 = stablehlo.reshape %152 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %154 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %155 = stablehlo.multiply %150, %154 : tensor<8x32x64xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %156 = stablehlo.reduce(%153 init: %cst_40) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %157 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %158 = stablehlo.multiply %155, %157 : tensor<8x32x64xf32>
    %159 = stablehlo.multiply %158, %68 : tensor<8x32x64xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %160 = stablehlo.reduce(%159 init: %cst_41) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %161 = stablehlo.reshape %160 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %162 = stablehlo.negate %161 : tensor<8x32x1xf32>
    %163 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %164 = stablehlo.divide %155, %163 : tensor<8x32x64xf32>
    %165 = stablehlo.multiply %162, %80 : tensor<8x32x1xf32>
    %cst_42 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %167 = stablehlo.divide %165, %166 : tensor<8x32x1xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %168 = stablehlo.reduce(%167 init: %cst_43) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %169 = stablehlo.broadcast_in_dim %168, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %170 = stablehlo.multiply %169, %71 : tensor<8x32x64xf32>
    %171 = stablehlo.add %164, %170 : tensor<8x32x64xf32>
    %172 = stablehlo.negate %171 : tensor<8x32x64xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.reduce(%172 init: %cst_44) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %174 = stablehlo.reshape %173 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %175 = stablehlo.add %127, %171 : tensor<8x32x64xf32>
    %cst_45 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %177 = stablehlo.divide %174, %176 : tensor<8x32x1xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.reduce(%177 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %179 = stablehlo.broadcast_in_dim %178, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %180 = stablehlo.add %175, %179 : tensor<8x32x64xf32>
    %181 = stablehlo.dot_general %180, %60, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %182 = stablehlo.transpose %181, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %183 = stablehlo.dot_general %180, %arg6, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %184 = stablehlo.transpose %183, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %185 = stablehlo.dot_general %184, %38, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %186 = stablehlo.dot_general %184, %55, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %187 = stablehlo.transpose %186, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %188 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %189 = stablehlo.multiply %185, %188 : tensor<8x8x32x32xf32>
    %190 = stablehlo.multiply %189, %51 : tensor<8x8x32x32xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %191 = stablehlo.reduce(%190 init: %cst_47) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %192 = stablehlo.reshape %191 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %193 = stablehlo.negate %192 : tensor<8x8x32x1xf32>
    %194 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %195 = stablehlo.divide %185, %194 : tensor<8x8x32x32xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %196 = stablehlo.reduce(%193 init: %cst_48) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %197 = stablehlo.broadcast_in_dim %196, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %198 = stablehlo.add %195, %197 : tensor<8x8x32x32xf32>
    %199 = stablehlo.multiply %198, %51 : tensor<8x8x32x32xf32>
    %200 = call @_where_1(%44#1, %199) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_49 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %202 = stablehlo.divide %200, %201 : tensor<8x8x32x32xf32>
    %203 = stablehlo.dot_general %202, %34, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %204 = stablehlo.dot_general %202, %36, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %205 = stablehlo.transpose %187, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %206 = stablehlo.dot_general %205, %arg9, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %207 = stablehlo.dot_general %205, %32, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %208 = stablehlo.transpose %207, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %209 = stablehlo.transpose %203, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %210 = stablehlo.dot_general %209, %arg3, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %211 = stablehlo.add %206, %210 : tensor<8x32x64xf32>
    %212 = stablehlo.dot_general %209, %32, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %213 = stablehlo.transpose %212, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %214 = stablehlo.transpose %204, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %215 = stablehlo.dot_general %214, %arg7, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %216 = stablehlo.add %211, %215 : tensor<8x32x64xf32>
    %217 = stablehlo.dot_general %214, %32, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %218 = stablehlo.transpose %217, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %219 = stablehlo.multiply %26, %216 : tensor<8x32x64xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %220 = stablehlo.reduce(%219 init: %cst_50) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %221 = stablehlo.reshape %220 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %222 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %223 = stablehlo.multiply %216, %222 : tensor<8x32x64xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %224 = stablehlo.reduce(%221 init: %cst_51) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %225 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %226 = stablehlo.multiply %223, %225 : tensor<8x32x64xf32>
    %227 = stablehlo.multiply %226, %12 : tensor<8x32x64xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %228 = stablehlo.reduce(%227 init: %cst_52) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %229 = stablehlo.reshape %228 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %230 = stablehlo.negate %229 : tensor<8x32x1xf32>
    %231 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %232 = stablehlo.divide %223, %231 : tensor<8x32x64xf32>
    %233 = stablehlo.multiply %230, %24 : tensor<8x32x1xf32>
    %cst_53 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %234 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %235 = stablehlo.divide %233, %234 : tensor<8x32x1xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %236 = stablehlo.reduce(%235 init: %cst_54) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %237 = stablehlo.broadcast_in_dim %236, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %238 = stablehlo.multiply %237, %15 : tensor<8x32x64xf32>
    %239 = stablehlo.add %232, %238 : tensor<8x32x64xf32>
    %240 = stablehlo.negate %239 : tensor<8x32x64xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %241 = stablehlo.reduce(%240 init: %cst_55) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %242 = stablehlo.reshape %241 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %243 = stablehlo.add %180, %239 : tensor<8x32x64xf32>
    %cst_56 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %244 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %245 = stablehlo.divide %242, %244 : tensor<8x32x1xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %246 = stablehlo.reduce(%245 init: %cst_57) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %247 = stablehlo.broadcast_in_dim %246, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %248 = stablehlo.add %243, %247 : tensor<8x32x64xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %249 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %250 = "stablehlo.scatter"(%249, %5, %248) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %282 = stablehlo.add %arg12, %arg13 : tensor<f32>
      stablehlo.return %282 : tensor<f32>
    }) : (tensor<128x64xf32>, tensor<8x32x1xi32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %251 = stablehlo.add %126, %250 : tensor<128x64xf32>
    %cst_59 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %253 = stablehlo.multiply %252, %251 : tensor<128x64xf32>
    %254 = stablehlo.subtract %arg0, %253 : tensor<128x64xf32>
    %cst_60 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %256 = stablehlo.multiply %255, %147 : tensor<256xf32>
    %257 = stablehlo.subtract %arg1, %256 : tensor<256xf32>
    %cst_61 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %258 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %259 = stablehlo.multiply %258, %129 : tensor<256x64xf32>
    %260 = stablehlo.subtract %arg2, %259 : tensor<256x64xf32>
    %cst_62 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %261 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %262 = stablehlo.multiply %261, %213 : tensor<64x8x8xf32>
    %263 = stablehlo.subtract %arg3, %262 : tensor<64x8x8xf32>
    %cst_63 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %265 = stablehlo.multiply %264, %224 : tensor<64xf32>
    %266 = stablehlo.subtract %arg4, %265 : tensor<64xf32>
    %cst_64 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %267 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %268 = stablehlo.multiply %267, %156 : tensor<64xf32>
    %269 = stablehlo.subtract %arg5, %268 : tensor<64xf32>
    %cst_65 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %270 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %271 = stablehlo.multiply %270, %182 : tensor<8x8x64xf32>
    %272 = stablehlo.subtract %arg6, %271 : tensor<8x8x64xf32>
    %cst_66 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %273 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %274 = stablehlo.multiply %273, %218 : tensor<64x8x8xf32>
    %275 = stablehlo.subtract %arg7, %274 : tensor<64x8x8xf32>
    %cst_67 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %276 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %277 = stablehlo.multiply %276, %149 : tensor<64x256xf32>
    %278 = stablehlo.subtract %arg8, %277 : tensor<64x256xf32>
    %cst_68 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %279 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %280 = stablehlo.multiply %279, %208 : tensor<64x8x8xf32>
    %281 = stablehlo.subtract %arg9, %280 : tensor<64x8x8xf32>
    return %254, %257, %260, %263, %266, %269, %272, %275, %278, %281, %119 : tensor<128x64xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<f32>
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
  func.func private @_where(%arg0: tensor<32x32xi1>, %arg1: tensor<8x8x32x32xf32>, %arg2: tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<32x32xi1>) -> tensor<8x8x32x32xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>
    return %3, %1 : tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>
  }
  func.func private @log_softmax(%arg0: tensor<8x32x128xf32>) -> (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x32x128xf32>, tensor<f32>) -> tensor<8x32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<8x32xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x32x128xf32>
    %6 = stablehlo.exponential %5 : tensor<8x32x128xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x32x128xf32>, tensor<f32>) -> tensor<8x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %9 = stablehlo.log %8 : tensor<8x32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x128xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<8x32x128xf32>
    return %11, %6, %8 : tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x1xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<8x32x128xf32>, %arg1: tensor<8x32x1xf32>, %arg2: tensor<8x32x128xf32>) -> tensor<8x32x128xf32> {
    %0 = stablehlo.negate %arg2 : tensor<8x32x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x32x128xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<8x32x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x128xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<8x32x128xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<8x32x128xf32>
    return %7 : tensor<8x32x128xf32>
  }
  func.func private @_where_1(%arg0: tensor<8x8x32x32xi1>, %arg1: tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>
    return %1 : tensor<8x8x32x32xf32>
  }
}
