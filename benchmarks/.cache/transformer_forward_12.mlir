module @jit_forward attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg2: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg3: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg4: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg5: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg6: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg7: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg8: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg9: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg10: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg11: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg12: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg13: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg14: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg15: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg16: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg17: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg18: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg19: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg20: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg21: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg22: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg23: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg24: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg25: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg26: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg27: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg28: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg29: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg30: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg31: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg32: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg33: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg34: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg35: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg36: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg37: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg38: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg39: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg40: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg41: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg42: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg43: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg44: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg45: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg46: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg47: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg48: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg49: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg50: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg51: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg52: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg53: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg54: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg55: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg56: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg57: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg58: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg59: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg60: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg61: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg62: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg63: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg64: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg65: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg66: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg67: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg68: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg69: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg70: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg71: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg72: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg73: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg74: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg75: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg76: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg77: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg78: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg79: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg80: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg81: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg82: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg83: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg84: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg85: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg86: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg87: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg88: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg89: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg90: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg91: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg92: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg93: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg94: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg95: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg96: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg97: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg98: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg99: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg100: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg101: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg102: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg103: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg104: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg105: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg106: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg107: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg108: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg109: tensor<8x32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8x32x128xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x32xi32>
    %1 = stablehlo.compare LT, %arg109, %0, SIGNED : (tensor<8x32xi32>, tensor<8x32xi32>) -> tensor<8x32xi1>
    %c_0 = stablehlo.constant dense<128> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x32xi32>
    %3 = stablehlo.add %arg109, %2 : tensor<8x32xi32>
    %4 = stablehlo.select %1, %3, %arg109 : tensor<8x32xi1>, tensor<8x32xi32>
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
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_3 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %17 = stablehlo.divide %15, %16 : tensor<8x32x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %19 = stablehlo.add %17, %18 : tensor<8x32x1xf32>
    %20 = stablehlo.sqrt %19 : tensor<8x32x1xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %22 = stablehlo.divide %12, %21 : tensor<8x32x64xf32>
    %23 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %25 = stablehlo.multiply %22, %24 : tensor<8x32x64xf32>
    %26 = stablehlo.dot_general %arg7, %25, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %27 = stablehlo.transpose %26, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %28 = stablehlo.dot_general %arg3, %25, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %29 = stablehlo.transpose %28, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %30 = stablehlo.dot_general %arg9, %25, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %31 = stablehlo.transpose %30, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %32 = stablehlo.dot_general %27, %29, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_5 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %34 = stablehlo.divide %32, %33 : tensor<8x8x32x32xf32>
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %35 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %36 = call @tril(%35) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %37 = call @_where(%36, %34, %cst_7) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_8) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %40 = stablehlo.maximum %39, %38 : tensor<8x8x32xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %42 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %43 = stablehlo.subtract %37, %42 : tensor<8x8x32x32xf32>
    %44 = stablehlo.exponential %43 : tensor<8x8x32x32xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %48 = stablehlo.divide %44, %47 : tensor<8x8x32x32xf32>
    %49 = stablehlo.dot_general %31, %48, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %50 = stablehlo.transpose %49, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %51 = stablehlo.dot_general %50, %arg6, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %52 = stablehlo.add %6, %51 : tensor<8x32x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.reduce(%52 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_12 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %56 = stablehlo.divide %54, %55 : tensor<8x32x1xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %58 = stablehlo.subtract %52, %57 : tensor<8x32x64xf32>
    %59 = stablehlo.multiply %58, %58 : tensor<8x32x64xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %60 = stablehlo.reduce(%59 init: %cst_13) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_14 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %63 = stablehlo.divide %61, %62 : tensor<8x32x1xf32>
    %cst_15 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %65 = stablehlo.add %63, %64 : tensor<8x32x1xf32>
    %66 = stablehlo.sqrt %65 : tensor<8x32x1xf32>
    %67 = stablehlo.broadcast_in_dim %66, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %68 = stablehlo.divide %58, %67 : tensor<8x32x64xf32>
    %69 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %71 = stablehlo.multiply %68, %70 : tensor<8x32x64xf32>
    %72 = stablehlo.dot_general %71, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %73 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %75 = stablehlo.add %72, %74 : tensor<8x32x256xf32>
    %76 = stablehlo.multiply %75, %75 : tensor<8x32x256xf32>
    %77 = stablehlo.multiply %76, %75 : tensor<8x32x256xf32>
    %cst_16 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<8x32x256xf32>
    %80 = stablehlo.add %75, %79 : tensor<8x32x256xf32>
    %cst_17 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %81 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %82 = stablehlo.multiply %81, %80 : tensor<8x32x256xf32>
    %83 = stablehlo.tanh %82 : tensor<8x32x256xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %85 = stablehlo.add %84, %83 : tensor<8x32x256xf32>
    %cst_19 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %87 = stablehlo.multiply %86, %85 : tensor<8x32x256xf32>
    %88 = stablehlo.multiply %75, %87 : tensor<8x32x256xf32>
    %89 = stablehlo.dot_general %88, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %90 = stablehlo.add %52, %89 : tensor<8x32x64xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %91 = stablehlo.reduce(%90 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %92 = stablehlo.broadcast_in_dim %91, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_21 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %94 = stablehlo.divide %92, %93 : tensor<8x32x1xf32>
    %95 = stablehlo.broadcast_in_dim %94, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %96 = stablehlo.subtract %90, %95 : tensor<8x32x64xf32>
    %97 = stablehlo.multiply %96, %96 : tensor<8x32x64xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.reduce(%97 init: %cst_22) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_23 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %101 = stablehlo.divide %99, %100 : tensor<8x32x1xf32>
    %cst_24 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %103 = stablehlo.add %101, %102 : tensor<8x32x1xf32>
    %104 = stablehlo.sqrt %103 : tensor<8x32x1xf32>
    %105 = stablehlo.broadcast_in_dim %104, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %106 = stablehlo.divide %96, %105 : tensor<8x32x64xf32>
    %107 = stablehlo.broadcast_in_dim %arg13, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %108 = stablehlo.broadcast_in_dim %107, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %109 = stablehlo.multiply %106, %108 : tensor<8x32x64xf32>
    %110 = stablehlo.dot_general %arg16, %109, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %111 = stablehlo.transpose %110, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %112 = stablehlo.dot_general %arg12, %109, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %113 = stablehlo.transpose %112, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %114 = stablehlo.dot_general %arg18, %109, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %115 = stablehlo.transpose %114, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %116 = stablehlo.dot_general %111, %113, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_25 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %118 = stablehlo.divide %116, %117 : tensor<8x8x32x32xf32>
    %c_26 = stablehlo.constant dense<true> : tensor<i1>
    %119 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %120 = call @tril(%119) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_27 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %121 = call @_where(%120, %118, %cst_27) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_28 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %122 = stablehlo.reduce(%121 init: %cst_28) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_29 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %123 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %124 = stablehlo.maximum %123, %122 : tensor<8x8x32xf32>
    %125 = stablehlo.broadcast_in_dim %124, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %126 = stablehlo.broadcast_in_dim %125, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %127 = stablehlo.subtract %121, %126 : tensor<8x8x32x32xf32>
    %128 = stablehlo.exponential %127 : tensor<8x8x32x32xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.reduce(%128 init: %cst_30) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %132 = stablehlo.divide %128, %131 : tensor<8x8x32x32xf32>
    %133 = stablehlo.dot_general %115, %132, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %134 = stablehlo.transpose %133, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %135 = stablehlo.dot_general %134, %arg15, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %136 = stablehlo.add %90, %135 : tensor<8x32x64xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %137 = stablehlo.reduce(%136 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %138 = stablehlo.broadcast_in_dim %137, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_32 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %140 = stablehlo.divide %138, %139 : tensor<8x32x1xf32>
    %141 = stablehlo.broadcast_in_dim %140, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %142 = stablehlo.subtract %136, %141 : tensor<8x32x64xf32>
    %143 = stablehlo.multiply %142, %142 : tensor<8x32x64xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %144 = stablehlo.reduce(%143 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %145 = stablehlo.broadcast_in_dim %144, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_34 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %147 = stablehlo.divide %145, %146 : tensor<8x32x1xf32>
    %cst_35 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %148 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %149 = stablehlo.add %147, %148 : tensor<8x32x1xf32>
    %150 = stablehlo.sqrt %149 : tensor<8x32x1xf32>
    %151 = stablehlo.broadcast_in_dim %150, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %152 = stablehlo.divide %142, %151 : tensor<8x32x64xf32>
    %153 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %154 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %155 = stablehlo.multiply %152, %154 : tensor<8x32x64xf32>
    %156 = stablehlo.dot_general %155, %arg17, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %157 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %159 = stablehlo.add %156, %158 : tensor<8x32x256xf32>
    %160 = stablehlo.multiply %159, %159 : tensor<8x32x256xf32>
    %161 = stablehlo.multiply %160, %159 : tensor<8x32x256xf32>
    %cst_36 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %163 = stablehlo.multiply %162, %161 : tensor<8x32x256xf32>
    %164 = stablehlo.add %159, %163 : tensor<8x32x256xf32>
    %cst_37 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %166 = stablehlo.multiply %165, %164 : tensor<8x32x256xf32>
    %167 = stablehlo.tanh %166 : tensor<8x32x256xf32>
    %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %169 = stablehlo.add %168, %167 : tensor<8x32x256xf32>
    %cst_39 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %171 = stablehlo.multiply %170, %169 : tensor<8x32x256xf32>
    %172 = stablehlo.multiply %159, %171 : tensor<8x32x256xf32>
    %173 = stablehlo.dot_general %172, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %174 = stablehlo.add %136, %173 : tensor<8x32x64xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %175 = stablehlo.reduce(%174 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %176 = stablehlo.broadcast_in_dim %175, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_41 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %178 = stablehlo.divide %176, %177 : tensor<8x32x1xf32>
    %179 = stablehlo.broadcast_in_dim %178, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %180 = stablehlo.subtract %174, %179 : tensor<8x32x64xf32>
    %181 = stablehlo.multiply %180, %180 : tensor<8x32x64xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %182 = stablehlo.reduce(%181 init: %cst_42) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %183 = stablehlo.broadcast_in_dim %182, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_43 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %185 = stablehlo.divide %183, %184 : tensor<8x32x1xf32>
    %cst_44 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %187 = stablehlo.add %185, %186 : tensor<8x32x1xf32>
    %188 = stablehlo.sqrt %187 : tensor<8x32x1xf32>
    %189 = stablehlo.broadcast_in_dim %188, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %190 = stablehlo.divide %180, %189 : tensor<8x32x64xf32>
    %191 = stablehlo.broadcast_in_dim %arg22, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %192 = stablehlo.broadcast_in_dim %191, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %193 = stablehlo.multiply %190, %192 : tensor<8x32x64xf32>
    %194 = stablehlo.dot_general %arg25, %193, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %195 = stablehlo.transpose %194, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %196 = stablehlo.dot_general %arg21, %193, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %197 = stablehlo.transpose %196, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %198 = stablehlo.dot_general %arg27, %193, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %199 = stablehlo.transpose %198, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %200 = stablehlo.dot_general %195, %197, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_45 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %201 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %202 = stablehlo.divide %200, %201 : tensor<8x8x32x32xf32>
    %c_46 = stablehlo.constant dense<true> : tensor<i1>
    %203 = stablehlo.broadcast_in_dim %c_46, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %204 = call @tril(%203) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_47 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %205 = call @_where(%204, %202, %cst_47) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_48 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %206 = stablehlo.reduce(%205 init: %cst_48) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_49 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %208 = stablehlo.maximum %207, %206 : tensor<8x8x32xf32>
    %209 = stablehlo.broadcast_in_dim %208, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %210 = stablehlo.broadcast_in_dim %209, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %211 = stablehlo.subtract %205, %210 : tensor<8x8x32x32xf32>
    %212 = stablehlo.exponential %211 : tensor<8x8x32x32xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %213 = stablehlo.reduce(%212 init: %cst_50) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %214 = stablehlo.broadcast_in_dim %213, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %215 = stablehlo.broadcast_in_dim %214, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %216 = stablehlo.divide %212, %215 : tensor<8x8x32x32xf32>
    %217 = stablehlo.dot_general %199, %216, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %218 = stablehlo.transpose %217, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %219 = stablehlo.dot_general %218, %arg24, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %220 = stablehlo.add %174, %219 : tensor<8x32x64xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %221 = stablehlo.reduce(%220 init: %cst_51) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %222 = stablehlo.broadcast_in_dim %221, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_52 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %224 = stablehlo.divide %222, %223 : tensor<8x32x1xf32>
    %225 = stablehlo.broadcast_in_dim %224, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %226 = stablehlo.subtract %220, %225 : tensor<8x32x64xf32>
    %227 = stablehlo.multiply %226, %226 : tensor<8x32x64xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %228 = stablehlo.reduce(%227 init: %cst_53) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %229 = stablehlo.broadcast_in_dim %228, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_54 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %231 = stablehlo.divide %229, %230 : tensor<8x32x1xf32>
    %cst_55 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %233 = stablehlo.add %231, %232 : tensor<8x32x1xf32>
    %234 = stablehlo.sqrt %233 : tensor<8x32x1xf32>
    %235 = stablehlo.broadcast_in_dim %234, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %236 = stablehlo.divide %226, %235 : tensor<8x32x64xf32>
    %237 = stablehlo.broadcast_in_dim %arg23, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %238 = stablehlo.broadcast_in_dim %237, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %239 = stablehlo.multiply %236, %238 : tensor<8x32x64xf32>
    %240 = stablehlo.dot_general %239, %arg26, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %241 = stablehlo.broadcast_in_dim %arg19, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %242 = stablehlo.broadcast_in_dim %241, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %243 = stablehlo.add %240, %242 : tensor<8x32x256xf32>
    %244 = stablehlo.multiply %243, %243 : tensor<8x32x256xf32>
    %245 = stablehlo.multiply %244, %243 : tensor<8x32x256xf32>
    %cst_56 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %246 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %247 = stablehlo.multiply %246, %245 : tensor<8x32x256xf32>
    %248 = stablehlo.add %243, %247 : tensor<8x32x256xf32>
    %cst_57 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %249 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %250 = stablehlo.multiply %249, %248 : tensor<8x32x256xf32>
    %251 = stablehlo.tanh %250 : tensor<8x32x256xf32>
    %cst_58 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %253 = stablehlo.add %252, %251 : tensor<8x32x256xf32>
    %cst_59 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %254 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %255 = stablehlo.multiply %254, %253 : tensor<8x32x256xf32>
    %256 = stablehlo.multiply %243, %255 : tensor<8x32x256xf32>
    %257 = stablehlo.dot_general %256, %arg20, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %258 = stablehlo.add %220, %257 : tensor<8x32x64xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %259 = stablehlo.reduce(%258 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %260 = stablehlo.broadcast_in_dim %259, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_61 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %261 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %262 = stablehlo.divide %260, %261 : tensor<8x32x1xf32>
    %263 = stablehlo.broadcast_in_dim %262, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %264 = stablehlo.subtract %258, %263 : tensor<8x32x64xf32>
    %265 = stablehlo.multiply %264, %264 : tensor<8x32x64xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %266 = stablehlo.reduce(%265 init: %cst_62) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %267 = stablehlo.broadcast_in_dim %266, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_63 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %268 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %269 = stablehlo.divide %267, %268 : tensor<8x32x1xf32>
    %cst_64 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %270 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %271 = stablehlo.add %269, %270 : tensor<8x32x1xf32>
    %272 = stablehlo.sqrt %271 : tensor<8x32x1xf32>
    %273 = stablehlo.broadcast_in_dim %272, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %274 = stablehlo.divide %264, %273 : tensor<8x32x64xf32>
    %275 = stablehlo.broadcast_in_dim %arg31, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %276 = stablehlo.broadcast_in_dim %275, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %277 = stablehlo.multiply %274, %276 : tensor<8x32x64xf32>
    %278 = stablehlo.dot_general %arg34, %277, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %279 = stablehlo.transpose %278, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %280 = stablehlo.dot_general %arg30, %277, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %281 = stablehlo.transpose %280, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %282 = stablehlo.dot_general %arg36, %277, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %283 = stablehlo.transpose %282, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %284 = stablehlo.dot_general %279, %281, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_65 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %286 = stablehlo.divide %284, %285 : tensor<8x8x32x32xf32>
    %c_66 = stablehlo.constant dense<true> : tensor<i1>
    %287 = stablehlo.broadcast_in_dim %c_66, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %288 = call @tril(%287) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_67 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %289 = call @_where(%288, %286, %cst_67) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_68 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %290 = stablehlo.reduce(%289 init: %cst_68) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_69 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %291 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %292 = stablehlo.maximum %291, %290 : tensor<8x8x32xf32>
    %293 = stablehlo.broadcast_in_dim %292, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %294 = stablehlo.broadcast_in_dim %293, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %295 = stablehlo.subtract %289, %294 : tensor<8x8x32x32xf32>
    %296 = stablehlo.exponential %295 : tensor<8x8x32x32xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %297 = stablehlo.reduce(%296 init: %cst_70) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %298 = stablehlo.broadcast_in_dim %297, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %299 = stablehlo.broadcast_in_dim %298, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %300 = stablehlo.divide %296, %299 : tensor<8x8x32x32xf32>
    %301 = stablehlo.dot_general %283, %300, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %302 = stablehlo.transpose %301, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %303 = stablehlo.dot_general %302, %arg33, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %304 = stablehlo.add %258, %303 : tensor<8x32x64xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %305 = stablehlo.reduce(%304 init: %cst_71) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %306 = stablehlo.broadcast_in_dim %305, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_72 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %307 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %308 = stablehlo.divide %306, %307 : tensor<8x32x1xf32>
    %309 = stablehlo.broadcast_in_dim %308, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %310 = stablehlo.subtract %304, %309 : tensor<8x32x64xf32>
    %311 = stablehlo.multiply %310, %310 : tensor<8x32x64xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %312 = stablehlo.reduce(%311 init: %cst_73) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %313 = stablehlo.broadcast_in_dim %312, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_74 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %314 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %315 = stablehlo.divide %313, %314 : tensor<8x32x1xf32>
    %cst_75 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %317 = stablehlo.add %315, %316 : tensor<8x32x1xf32>
    %318 = stablehlo.sqrt %317 : tensor<8x32x1xf32>
    %319 = stablehlo.broadcast_in_dim %318, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %320 = stablehlo.divide %310, %319 : tensor<8x32x64xf32>
    %321 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %322 = stablehlo.broadcast_in_dim %321, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %323 = stablehlo.multiply %320, %322 : tensor<8x32x64xf32>
    %324 = stablehlo.dot_general %323, %arg35, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %325 = stablehlo.broadcast_in_dim %arg28, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %326 = stablehlo.broadcast_in_dim %325, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %327 = stablehlo.add %324, %326 : tensor<8x32x256xf32>
    %328 = stablehlo.multiply %327, %327 : tensor<8x32x256xf32>
    %329 = stablehlo.multiply %328, %327 : tensor<8x32x256xf32>
    %cst_76 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %330 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %331 = stablehlo.multiply %330, %329 : tensor<8x32x256xf32>
    %332 = stablehlo.add %327, %331 : tensor<8x32x256xf32>
    %cst_77 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %333 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %334 = stablehlo.multiply %333, %332 : tensor<8x32x256xf32>
    %335 = stablehlo.tanh %334 : tensor<8x32x256xf32>
    %cst_78 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %336 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %337 = stablehlo.add %336, %335 : tensor<8x32x256xf32>
    %cst_79 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %339 = stablehlo.multiply %338, %337 : tensor<8x32x256xf32>
    %340 = stablehlo.multiply %327, %339 : tensor<8x32x256xf32>
    %341 = stablehlo.dot_general %340, %arg29, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %342 = stablehlo.add %304, %341 : tensor<8x32x64xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %343 = stablehlo.reduce(%342 init: %cst_80) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %344 = stablehlo.broadcast_in_dim %343, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_81 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %345 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %346 = stablehlo.divide %344, %345 : tensor<8x32x1xf32>
    %347 = stablehlo.broadcast_in_dim %346, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %348 = stablehlo.subtract %342, %347 : tensor<8x32x64xf32>
    %349 = stablehlo.multiply %348, %348 : tensor<8x32x64xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %350 = stablehlo.reduce(%349 init: %cst_82) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %351 = stablehlo.broadcast_in_dim %350, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_83 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %352 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %353 = stablehlo.divide %351, %352 : tensor<8x32x1xf32>
    %cst_84 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %354 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %355 = stablehlo.add %353, %354 : tensor<8x32x1xf32>
    %356 = stablehlo.sqrt %355 : tensor<8x32x1xf32>
    %357 = stablehlo.broadcast_in_dim %356, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %358 = stablehlo.divide %348, %357 : tensor<8x32x64xf32>
    %359 = stablehlo.broadcast_in_dim %arg40, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %360 = stablehlo.broadcast_in_dim %359, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %361 = stablehlo.multiply %358, %360 : tensor<8x32x64xf32>
    %362 = stablehlo.dot_general %arg43, %361, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %363 = stablehlo.transpose %362, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %364 = stablehlo.dot_general %arg39, %361, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %365 = stablehlo.transpose %364, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %366 = stablehlo.dot_general %arg45, %361, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %367 = stablehlo.transpose %366, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %368 = stablehlo.dot_general %363, %365, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_85 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %369 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %370 = stablehlo.divide %368, %369 : tensor<8x8x32x32xf32>
    %c_86 = stablehlo.constant dense<true> : tensor<i1>
    %371 = stablehlo.broadcast_in_dim %c_86, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %372 = call @tril(%371) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_87 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %373 = call @_where(%372, %370, %cst_87) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_88 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %374 = stablehlo.reduce(%373 init: %cst_88) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_89 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %376 = stablehlo.maximum %375, %374 : tensor<8x8x32xf32>
    %377 = stablehlo.broadcast_in_dim %376, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %378 = stablehlo.broadcast_in_dim %377, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %379 = stablehlo.subtract %373, %378 : tensor<8x8x32x32xf32>
    %380 = stablehlo.exponential %379 : tensor<8x8x32x32xf32>
    %cst_90 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %381 = stablehlo.reduce(%380 init: %cst_90) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %382 = stablehlo.broadcast_in_dim %381, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %383 = stablehlo.broadcast_in_dim %382, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %384 = stablehlo.divide %380, %383 : tensor<8x8x32x32xf32>
    %385 = stablehlo.dot_general %367, %384, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %386 = stablehlo.transpose %385, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %387 = stablehlo.dot_general %386, %arg42, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %388 = stablehlo.add %342, %387 : tensor<8x32x64xf32>
    %cst_91 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %389 = stablehlo.reduce(%388 init: %cst_91) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %390 = stablehlo.broadcast_in_dim %389, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_92 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %391 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %392 = stablehlo.divide %390, %391 : tensor<8x32x1xf32>
    %393 = stablehlo.broadcast_in_dim %392, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %394 = stablehlo.subtract %388, %393 : tensor<8x32x64xf32>
    %395 = stablehlo.multiply %394, %394 : tensor<8x32x64xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %396 = stablehlo.reduce(%395 init: %cst_93) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %397 = stablehlo.broadcast_in_dim %396, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_94 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %398 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %399 = stablehlo.divide %397, %398 : tensor<8x32x1xf32>
    %cst_95 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %400 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %401 = stablehlo.add %399, %400 : tensor<8x32x1xf32>
    %402 = stablehlo.sqrt %401 : tensor<8x32x1xf32>
    %403 = stablehlo.broadcast_in_dim %402, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %404 = stablehlo.divide %394, %403 : tensor<8x32x64xf32>
    %405 = stablehlo.broadcast_in_dim %arg41, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %406 = stablehlo.broadcast_in_dim %405, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %407 = stablehlo.multiply %404, %406 : tensor<8x32x64xf32>
    %408 = stablehlo.dot_general %407, %arg44, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %409 = stablehlo.broadcast_in_dim %arg37, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %410 = stablehlo.broadcast_in_dim %409, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %411 = stablehlo.add %408, %410 : tensor<8x32x256xf32>
    %412 = stablehlo.multiply %411, %411 : tensor<8x32x256xf32>
    %413 = stablehlo.multiply %412, %411 : tensor<8x32x256xf32>
    %cst_96 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %414 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %415 = stablehlo.multiply %414, %413 : tensor<8x32x256xf32>
    %416 = stablehlo.add %411, %415 : tensor<8x32x256xf32>
    %cst_97 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %417 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %418 = stablehlo.multiply %417, %416 : tensor<8x32x256xf32>
    %419 = stablehlo.tanh %418 : tensor<8x32x256xf32>
    %cst_98 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %420 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %421 = stablehlo.add %420, %419 : tensor<8x32x256xf32>
    %cst_99 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %422 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %423 = stablehlo.multiply %422, %421 : tensor<8x32x256xf32>
    %424 = stablehlo.multiply %411, %423 : tensor<8x32x256xf32>
    %425 = stablehlo.dot_general %424, %arg38, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %426 = stablehlo.add %388, %425 : tensor<8x32x64xf32>
    %cst_100 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %427 = stablehlo.reduce(%426 init: %cst_100) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %428 = stablehlo.broadcast_in_dim %427, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_101 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %429 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %430 = stablehlo.divide %428, %429 : tensor<8x32x1xf32>
    %431 = stablehlo.broadcast_in_dim %430, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %432 = stablehlo.subtract %426, %431 : tensor<8x32x64xf32>
    %433 = stablehlo.multiply %432, %432 : tensor<8x32x64xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %434 = stablehlo.reduce(%433 init: %cst_102) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %435 = stablehlo.broadcast_in_dim %434, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_103 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %436 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %437 = stablehlo.divide %435, %436 : tensor<8x32x1xf32>
    %cst_104 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %438 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %439 = stablehlo.add %437, %438 : tensor<8x32x1xf32>
    %440 = stablehlo.sqrt %439 : tensor<8x32x1xf32>
    %441 = stablehlo.broadcast_in_dim %440, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %442 = stablehlo.divide %432, %441 : tensor<8x32x64xf32>
    %443 = stablehlo.broadcast_in_dim %arg49, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %444 = stablehlo.broadcast_in_dim %443, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %445 = stablehlo.multiply %442, %444 : tensor<8x32x64xf32>
    %446 = stablehlo.dot_general %arg52, %445, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %447 = stablehlo.transpose %446, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %448 = stablehlo.dot_general %arg48, %445, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %449 = stablehlo.transpose %448, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %450 = stablehlo.dot_general %arg54, %445, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %451 = stablehlo.transpose %450, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %452 = stablehlo.dot_general %447, %449, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_105 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %453 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %454 = stablehlo.divide %452, %453 : tensor<8x8x32x32xf32>
    %c_106 = stablehlo.constant dense<true> : tensor<i1>
    %455 = stablehlo.broadcast_in_dim %c_106, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %456 = call @tril(%455) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_107 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %457 = call @_where(%456, %454, %cst_107) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_108 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %458 = stablehlo.reduce(%457 init: %cst_108) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_109 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %459 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %460 = stablehlo.maximum %459, %458 : tensor<8x8x32xf32>
    %461 = stablehlo.broadcast_in_dim %460, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %462 = stablehlo.broadcast_in_dim %461, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %463 = stablehlo.subtract %457, %462 : tensor<8x8x32x32xf32>
    %464 = stablehlo.exponential %463 : tensor<8x8x32x32xf32>
    %cst_110 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %465 = stablehlo.reduce(%464 init: %cst_110) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %466 = stablehlo.broadcast_in_dim %465, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %467 = stablehlo.broadcast_in_dim %466, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %468 = stablehlo.divide %464, %467 : tensor<8x8x32x32xf32>
    %469 = stablehlo.dot_general %451, %468, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %470 = stablehlo.transpose %469, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %471 = stablehlo.dot_general %470, %arg51, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %472 = stablehlo.add %426, %471 : tensor<8x32x64xf32>
    %cst_111 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %473 = stablehlo.reduce(%472 init: %cst_111) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %474 = stablehlo.broadcast_in_dim %473, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_112 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %475 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %476 = stablehlo.divide %474, %475 : tensor<8x32x1xf32>
    %477 = stablehlo.broadcast_in_dim %476, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %478 = stablehlo.subtract %472, %477 : tensor<8x32x64xf32>
    %479 = stablehlo.multiply %478, %478 : tensor<8x32x64xf32>
    %cst_113 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %480 = stablehlo.reduce(%479 init: %cst_113) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %481 = stablehlo.broadcast_in_dim %480, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_114 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %482 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %483 = stablehlo.divide %481, %482 : tensor<8x32x1xf32>
    %cst_115 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %484 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %485 = stablehlo.add %483, %484 : tensor<8x32x1xf32>
    %486 = stablehlo.sqrt %485 : tensor<8x32x1xf32>
    %487 = stablehlo.broadcast_in_dim %486, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %488 = stablehlo.divide %478, %487 : tensor<8x32x64xf32>
    %489 = stablehlo.broadcast_in_dim %arg50, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %490 = stablehlo.broadcast_in_dim %489, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %491 = stablehlo.multiply %488, %490 : tensor<8x32x64xf32>
    %492 = stablehlo.dot_general %491, %arg53, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %493 = stablehlo.broadcast_in_dim %arg46, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %494 = stablehlo.broadcast_in_dim %493, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %495 = stablehlo.add %492, %494 : tensor<8x32x256xf32>
    %496 = stablehlo.multiply %495, %495 : tensor<8x32x256xf32>
    %497 = stablehlo.multiply %496, %495 : tensor<8x32x256xf32>
    %cst_116 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %498 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %499 = stablehlo.multiply %498, %497 : tensor<8x32x256xf32>
    %500 = stablehlo.add %495, %499 : tensor<8x32x256xf32>
    %cst_117 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %501 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %502 = stablehlo.multiply %501, %500 : tensor<8x32x256xf32>
    %503 = stablehlo.tanh %502 : tensor<8x32x256xf32>
    %cst_118 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %504 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %505 = stablehlo.add %504, %503 : tensor<8x32x256xf32>
    %cst_119 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %506 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %507 = stablehlo.multiply %506, %505 : tensor<8x32x256xf32>
    %508 = stablehlo.multiply %495, %507 : tensor<8x32x256xf32>
    %509 = stablehlo.dot_general %508, %arg47, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %510 = stablehlo.add %472, %509 : tensor<8x32x64xf32>
    %cst_120 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %511 = stablehlo.reduce(%510 init: %cst_120) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %512 = stablehlo.broadcast_in_dim %511, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_121 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %513 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %514 = stablehlo.divide %512, %513 : tensor<8x32x1xf32>
    %515 = stablehlo.broadcast_in_dim %514, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %516 = stablehlo.subtract %510, %515 : tensor<8x32x64xf32>
    %517 = stablehlo.multiply %516, %516 : tensor<8x32x64xf32>
    %cst_122 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %518 = stablehlo.reduce(%517 init: %cst_122) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %519 = stablehlo.broadcast_in_dim %518, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_123 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %520 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %521 = stablehlo.divide %519, %520 : tensor<8x32x1xf32>
    %cst_124 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %522 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %523 = stablehlo.add %521, %522 : tensor<8x32x1xf32>
    %524 = stablehlo.sqrt %523 : tensor<8x32x1xf32>
    %525 = stablehlo.broadcast_in_dim %524, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %526 = stablehlo.divide %516, %525 : tensor<8x32x64xf32>
    %527 = stablehlo.broadcast_in_dim %arg58, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %528 = stablehlo.broadcast_in_dim %527, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %529 = stablehlo.multiply %526, %528 : tensor<8x32x64xf32>
    %530 = stablehlo.dot_general %arg61, %529, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %531 = stablehlo.transpose %530, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %532 = stablehlo.dot_general %arg57, %529, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %533 = stablehlo.transpose %532, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %534 = stablehlo.dot_general %arg63, %529, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %535 = stablehlo.transpose %534, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %536 = stablehlo.dot_general %531, %533, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_125 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %537 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %538 = stablehlo.divide %536, %537 : tensor<8x8x32x32xf32>
    %c_126 = stablehlo.constant dense<true> : tensor<i1>
    %539 = stablehlo.broadcast_in_dim %c_126, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %540 = call @tril(%539) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_127 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %541 = call @_where(%540, %538, %cst_127) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_128 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %542 = stablehlo.reduce(%541 init: %cst_128) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_129 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %543 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %544 = stablehlo.maximum %543, %542 : tensor<8x8x32xf32>
    %545 = stablehlo.broadcast_in_dim %544, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %546 = stablehlo.broadcast_in_dim %545, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %547 = stablehlo.subtract %541, %546 : tensor<8x8x32x32xf32>
    %548 = stablehlo.exponential %547 : tensor<8x8x32x32xf32>
    %cst_130 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %549 = stablehlo.reduce(%548 init: %cst_130) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %550 = stablehlo.broadcast_in_dim %549, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %551 = stablehlo.broadcast_in_dim %550, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %552 = stablehlo.divide %548, %551 : tensor<8x8x32x32xf32>
    %553 = stablehlo.dot_general %535, %552, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %554 = stablehlo.transpose %553, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %555 = stablehlo.dot_general %554, %arg60, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %556 = stablehlo.add %510, %555 : tensor<8x32x64xf32>
    %cst_131 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %557 = stablehlo.reduce(%556 init: %cst_131) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %558 = stablehlo.broadcast_in_dim %557, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_132 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %559 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %560 = stablehlo.divide %558, %559 : tensor<8x32x1xf32>
    %561 = stablehlo.broadcast_in_dim %560, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %562 = stablehlo.subtract %556, %561 : tensor<8x32x64xf32>
    %563 = stablehlo.multiply %562, %562 : tensor<8x32x64xf32>
    %cst_133 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %564 = stablehlo.reduce(%563 init: %cst_133) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %565 = stablehlo.broadcast_in_dim %564, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_134 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %566 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %567 = stablehlo.divide %565, %566 : tensor<8x32x1xf32>
    %cst_135 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %568 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %569 = stablehlo.add %567, %568 : tensor<8x32x1xf32>
    %570 = stablehlo.sqrt %569 : tensor<8x32x1xf32>
    %571 = stablehlo.broadcast_in_dim %570, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %572 = stablehlo.divide %562, %571 : tensor<8x32x64xf32>
    %573 = stablehlo.broadcast_in_dim %arg59, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %574 = stablehlo.broadcast_in_dim %573, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %575 = stablehlo.multiply %572, %574 : tensor<8x32x64xf32>
    %576 = stablehlo.dot_general %575, %arg62, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %577 = stablehlo.broadcast_in_dim %arg55, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %578 = stablehlo.broadcast_in_dim %577, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %579 = stablehlo.add %576, %578 : tensor<8x32x256xf32>
    %580 = stablehlo.multiply %579, %579 : tensor<8x32x256xf32>
    %581 = stablehlo.multiply %580, %579 : tensor<8x32x256xf32>
    %cst_136 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %582 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %583 = stablehlo.multiply %582, %581 : tensor<8x32x256xf32>
    %584 = stablehlo.add %579, %583 : tensor<8x32x256xf32>
    %cst_137 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %585 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %586 = stablehlo.multiply %585, %584 : tensor<8x32x256xf32>
    %587 = stablehlo.tanh %586 : tensor<8x32x256xf32>
    %cst_138 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %588 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %589 = stablehlo.add %588, %587 : tensor<8x32x256xf32>
    %cst_139 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %590 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %591 = stablehlo.multiply %590, %589 : tensor<8x32x256xf32>
    %592 = stablehlo.multiply %579, %591 : tensor<8x32x256xf32>
    %593 = stablehlo.dot_general %592, %arg56, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %594 = stablehlo.add %556, %593 : tensor<8x32x64xf32>
    %cst_140 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %595 = stablehlo.reduce(%594 init: %cst_140) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %596 = stablehlo.broadcast_in_dim %595, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_141 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %597 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %598 = stablehlo.divide %596, %597 : tensor<8x32x1xf32>
    %599 = stablehlo.broadcast_in_dim %598, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %600 = stablehlo.subtract %594, %599 : tensor<8x32x64xf32>
    %601 = stablehlo.multiply %600, %600 : tensor<8x32x64xf32>
    %cst_142 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %602 = stablehlo.reduce(%601 init: %cst_142) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %603 = stablehlo.broadcast_in_dim %602, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_143 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %604 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %605 = stablehlo.divide %603, %604 : tensor<8x32x1xf32>
    %cst_144 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %606 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %607 = stablehlo.add %605, %606 : tensor<8x32x1xf32>
    %608 = stablehlo.sqrt %607 : tensor<8x32x1xf32>
    %609 = stablehlo.broadcast_in_dim %608, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %610 = stablehlo.divide %600, %609 : tensor<8x32x64xf32>
    %611 = stablehlo.broadcast_in_dim %arg67, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %612 = stablehlo.broadcast_in_dim %611, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %613 = stablehlo.multiply %610, %612 : tensor<8x32x64xf32>
    %614 = stablehlo.dot_general %arg70, %613, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %615 = stablehlo.transpose %614, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %616 = stablehlo.dot_general %arg66, %613, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %617 = stablehlo.transpose %616, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %618 = stablehlo.dot_general %arg72, %613, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %619 = stablehlo.transpose %618, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %620 = stablehlo.dot_general %615, %617, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_145 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %621 = stablehlo.broadcast_in_dim %cst_145, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %622 = stablehlo.divide %620, %621 : tensor<8x8x32x32xf32>
    %c_146 = stablehlo.constant dense<true> : tensor<i1>
    %623 = stablehlo.broadcast_in_dim %c_146, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %624 = call @tril(%623) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_147 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %625 = call @_where(%624, %622, %cst_147) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_148 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %626 = stablehlo.reduce(%625 init: %cst_148) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_149 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %627 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %628 = stablehlo.maximum %627, %626 : tensor<8x8x32xf32>
    %629 = stablehlo.broadcast_in_dim %628, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %630 = stablehlo.broadcast_in_dim %629, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %631 = stablehlo.subtract %625, %630 : tensor<8x8x32x32xf32>
    %632 = stablehlo.exponential %631 : tensor<8x8x32x32xf32>
    %cst_150 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %633 = stablehlo.reduce(%632 init: %cst_150) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %634 = stablehlo.broadcast_in_dim %633, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %635 = stablehlo.broadcast_in_dim %634, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %636 = stablehlo.divide %632, %635 : tensor<8x8x32x32xf32>
    %637 = stablehlo.dot_general %619, %636, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %638 = stablehlo.transpose %637, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %639 = stablehlo.dot_general %638, %arg69, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %640 = stablehlo.add %594, %639 : tensor<8x32x64xf32>
    %cst_151 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %641 = stablehlo.reduce(%640 init: %cst_151) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %642 = stablehlo.broadcast_in_dim %641, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_152 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %643 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %644 = stablehlo.divide %642, %643 : tensor<8x32x1xf32>
    %645 = stablehlo.broadcast_in_dim %644, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %646 = stablehlo.subtract %640, %645 : tensor<8x32x64xf32>
    %647 = stablehlo.multiply %646, %646 : tensor<8x32x64xf32>
    %cst_153 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %648 = stablehlo.reduce(%647 init: %cst_153) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %649 = stablehlo.broadcast_in_dim %648, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_154 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %650 = stablehlo.broadcast_in_dim %cst_154, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %651 = stablehlo.divide %649, %650 : tensor<8x32x1xf32>
    %cst_155 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %652 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %653 = stablehlo.add %651, %652 : tensor<8x32x1xf32>
    %654 = stablehlo.sqrt %653 : tensor<8x32x1xf32>
    %655 = stablehlo.broadcast_in_dim %654, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %656 = stablehlo.divide %646, %655 : tensor<8x32x64xf32>
    %657 = stablehlo.broadcast_in_dim %arg68, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %658 = stablehlo.broadcast_in_dim %657, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %659 = stablehlo.multiply %656, %658 : tensor<8x32x64xf32>
    %660 = stablehlo.dot_general %659, %arg71, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %661 = stablehlo.broadcast_in_dim %arg64, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %662 = stablehlo.broadcast_in_dim %661, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %663 = stablehlo.add %660, %662 : tensor<8x32x256xf32>
    %664 = stablehlo.multiply %663, %663 : tensor<8x32x256xf32>
    %665 = stablehlo.multiply %664, %663 : tensor<8x32x256xf32>
    %cst_156 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %666 = stablehlo.broadcast_in_dim %cst_156, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %667 = stablehlo.multiply %666, %665 : tensor<8x32x256xf32>
    %668 = stablehlo.add %663, %667 : tensor<8x32x256xf32>
    %cst_157 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %669 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %670 = stablehlo.multiply %669, %668 : tensor<8x32x256xf32>
    %671 = stablehlo.tanh %670 : tensor<8x32x256xf32>
    %cst_158 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %672 = stablehlo.broadcast_in_dim %cst_158, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %673 = stablehlo.add %672, %671 : tensor<8x32x256xf32>
    %cst_159 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %674 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %675 = stablehlo.multiply %674, %673 : tensor<8x32x256xf32>
    %676 = stablehlo.multiply %663, %675 : tensor<8x32x256xf32>
    %677 = stablehlo.dot_general %676, %arg65, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %678 = stablehlo.add %640, %677 : tensor<8x32x64xf32>
    %cst_160 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %679 = stablehlo.reduce(%678 init: %cst_160) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %680 = stablehlo.broadcast_in_dim %679, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_161 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %681 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %682 = stablehlo.divide %680, %681 : tensor<8x32x1xf32>
    %683 = stablehlo.broadcast_in_dim %682, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %684 = stablehlo.subtract %678, %683 : tensor<8x32x64xf32>
    %685 = stablehlo.multiply %684, %684 : tensor<8x32x64xf32>
    %cst_162 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %686 = stablehlo.reduce(%685 init: %cst_162) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %687 = stablehlo.broadcast_in_dim %686, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_163 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %688 = stablehlo.broadcast_in_dim %cst_163, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %689 = stablehlo.divide %687, %688 : tensor<8x32x1xf32>
    %cst_164 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %690 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %691 = stablehlo.add %689, %690 : tensor<8x32x1xf32>
    %692 = stablehlo.sqrt %691 : tensor<8x32x1xf32>
    %693 = stablehlo.broadcast_in_dim %692, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %694 = stablehlo.divide %684, %693 : tensor<8x32x64xf32>
    %695 = stablehlo.broadcast_in_dim %arg76, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %696 = stablehlo.broadcast_in_dim %695, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %697 = stablehlo.multiply %694, %696 : tensor<8x32x64xf32>
    %698 = stablehlo.dot_general %arg79, %697, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %699 = stablehlo.transpose %698, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %700 = stablehlo.dot_general %arg75, %697, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %701 = stablehlo.transpose %700, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %702 = stablehlo.dot_general %arg81, %697, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %703 = stablehlo.transpose %702, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %704 = stablehlo.dot_general %699, %701, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_165 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %705 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %706 = stablehlo.divide %704, %705 : tensor<8x8x32x32xf32>
    %c_166 = stablehlo.constant dense<true> : tensor<i1>
    %707 = stablehlo.broadcast_in_dim %c_166, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %708 = call @tril(%707) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_167 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %709 = call @_where(%708, %706, %cst_167) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_168 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %710 = stablehlo.reduce(%709 init: %cst_168) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_169 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %711 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %712 = stablehlo.maximum %711, %710 : tensor<8x8x32xf32>
    %713 = stablehlo.broadcast_in_dim %712, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %714 = stablehlo.broadcast_in_dim %713, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %715 = stablehlo.subtract %709, %714 : tensor<8x8x32x32xf32>
    %716 = stablehlo.exponential %715 : tensor<8x8x32x32xf32>
    %cst_170 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %717 = stablehlo.reduce(%716 init: %cst_170) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %718 = stablehlo.broadcast_in_dim %717, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %719 = stablehlo.broadcast_in_dim %718, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %720 = stablehlo.divide %716, %719 : tensor<8x8x32x32xf32>
    %721 = stablehlo.dot_general %703, %720, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %722 = stablehlo.transpose %721, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %723 = stablehlo.dot_general %722, %arg78, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %724 = stablehlo.add %678, %723 : tensor<8x32x64xf32>
    %cst_171 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %725 = stablehlo.reduce(%724 init: %cst_171) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %726 = stablehlo.broadcast_in_dim %725, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_172 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %727 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %728 = stablehlo.divide %726, %727 : tensor<8x32x1xf32>
    %729 = stablehlo.broadcast_in_dim %728, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %730 = stablehlo.subtract %724, %729 : tensor<8x32x64xf32>
    %731 = stablehlo.multiply %730, %730 : tensor<8x32x64xf32>
    %cst_173 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %732 = stablehlo.reduce(%731 init: %cst_173) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %733 = stablehlo.broadcast_in_dim %732, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_174 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %734 = stablehlo.broadcast_in_dim %cst_174, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %735 = stablehlo.divide %733, %734 : tensor<8x32x1xf32>
    %cst_175 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %736 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %737 = stablehlo.add %735, %736 : tensor<8x32x1xf32>
    %738 = stablehlo.sqrt %737 : tensor<8x32x1xf32>
    %739 = stablehlo.broadcast_in_dim %738, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %740 = stablehlo.divide %730, %739 : tensor<8x32x64xf32>
    %741 = stablehlo.broadcast_in_dim %arg77, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %742 = stablehlo.broadcast_in_dim %741, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %743 = stablehlo.multiply %740, %742 : tensor<8x32x64xf32>
    %744 = stablehlo.dot_general %743, %arg80, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %745 = stablehlo.broadcast_in_dim %arg73, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %746 = stablehlo.broadcast_in_dim %745, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %747 = stablehlo.add %744, %746 : tensor<8x32x256xf32>
    %748 = stablehlo.multiply %747, %747 : tensor<8x32x256xf32>
    %749 = stablehlo.multiply %748, %747 : tensor<8x32x256xf32>
    %cst_176 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %750 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %751 = stablehlo.multiply %750, %749 : tensor<8x32x256xf32>
    %752 = stablehlo.add %747, %751 : tensor<8x32x256xf32>
    %cst_177 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %753 = stablehlo.broadcast_in_dim %cst_177, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %754 = stablehlo.multiply %753, %752 : tensor<8x32x256xf32>
    %755 = stablehlo.tanh %754 : tensor<8x32x256xf32>
    %cst_178 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %756 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %757 = stablehlo.add %756, %755 : tensor<8x32x256xf32>
    %cst_179 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %758 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %759 = stablehlo.multiply %758, %757 : tensor<8x32x256xf32>
    %760 = stablehlo.multiply %747, %759 : tensor<8x32x256xf32>
    %761 = stablehlo.dot_general %760, %arg74, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %762 = stablehlo.add %724, %761 : tensor<8x32x64xf32>
    %cst_180 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %763 = stablehlo.reduce(%762 init: %cst_180) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %764 = stablehlo.broadcast_in_dim %763, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_181 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %765 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %766 = stablehlo.divide %764, %765 : tensor<8x32x1xf32>
    %767 = stablehlo.broadcast_in_dim %766, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %768 = stablehlo.subtract %762, %767 : tensor<8x32x64xf32>
    %769 = stablehlo.multiply %768, %768 : tensor<8x32x64xf32>
    %cst_182 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %770 = stablehlo.reduce(%769 init: %cst_182) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %771 = stablehlo.broadcast_in_dim %770, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_183 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %772 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %773 = stablehlo.divide %771, %772 : tensor<8x32x1xf32>
    %cst_184 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %774 = stablehlo.broadcast_in_dim %cst_184, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %775 = stablehlo.add %773, %774 : tensor<8x32x1xf32>
    %776 = stablehlo.sqrt %775 : tensor<8x32x1xf32>
    %777 = stablehlo.broadcast_in_dim %776, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %778 = stablehlo.divide %768, %777 : tensor<8x32x64xf32>
    %779 = stablehlo.broadcast_in_dim %arg85, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %780 = stablehlo.broadcast_in_dim %779, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %781 = stablehlo.multiply %778, %780 : tensor<8x32x64xf32>
    %782 = stablehlo.dot_general %arg88, %781, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %783 = stablehlo.transpose %782, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %784 = stablehlo.dot_general %arg84, %781, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %785 = stablehlo.transpose %784, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %786 = stablehlo.dot_general %arg90, %781, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %787 = stablehlo.transpose %786, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %788 = stablehlo.dot_general %783, %785, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_185 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %789 = stablehlo.broadcast_in_dim %cst_185, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %790 = stablehlo.divide %788, %789 : tensor<8x8x32x32xf32>
    %c_186 = stablehlo.constant dense<true> : tensor<i1>
    %791 = stablehlo.broadcast_in_dim %c_186, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %792 = call @tril(%791) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_187 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %793 = call @_where(%792, %790, %cst_187) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_188 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %794 = stablehlo.reduce(%793 init: %cst_188) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_189 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %795 = stablehlo.broadcast_in_dim %cst_189, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %796 = stablehlo.maximum %795, %794 : tensor<8x8x32xf32>
    %797 = stablehlo.broadcast_in_dim %796, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %798 = stablehlo.broadcast_in_dim %797, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %799 = stablehlo.subtract %793, %798 : tensor<8x8x32x32xf32>
    %800 = stablehlo.exponential %799 : tensor<8x8x32x32xf32>
    %cst_190 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %801 = stablehlo.reduce(%800 init: %cst_190) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %802 = stablehlo.broadcast_in_dim %801, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %803 = stablehlo.broadcast_in_dim %802, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %804 = stablehlo.divide %800, %803 : tensor<8x8x32x32xf32>
    %805 = stablehlo.dot_general %787, %804, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %806 = stablehlo.transpose %805, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %807 = stablehlo.dot_general %806, %arg87, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %808 = stablehlo.add %762, %807 : tensor<8x32x64xf32>
    %cst_191 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %809 = stablehlo.reduce(%808 init: %cst_191) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %810 = stablehlo.broadcast_in_dim %809, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_192 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %811 = stablehlo.broadcast_in_dim %cst_192, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %812 = stablehlo.divide %810, %811 : tensor<8x32x1xf32>
    %813 = stablehlo.broadcast_in_dim %812, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %814 = stablehlo.subtract %808, %813 : tensor<8x32x64xf32>
    %815 = stablehlo.multiply %814, %814 : tensor<8x32x64xf32>
    %cst_193 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %816 = stablehlo.reduce(%815 init: %cst_193) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %817 = stablehlo.broadcast_in_dim %816, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_194 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %818 = stablehlo.broadcast_in_dim %cst_194, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %819 = stablehlo.divide %817, %818 : tensor<8x32x1xf32>
    %cst_195 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %820 = stablehlo.broadcast_in_dim %cst_195, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %821 = stablehlo.add %819, %820 : tensor<8x32x1xf32>
    %822 = stablehlo.sqrt %821 : tensor<8x32x1xf32>
    %823 = stablehlo.broadcast_in_dim %822, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %824 = stablehlo.divide %814, %823 : tensor<8x32x64xf32>
    %825 = stablehlo.broadcast_in_dim %arg86, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %826 = stablehlo.broadcast_in_dim %825, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %827 = stablehlo.multiply %824, %826 : tensor<8x32x64xf32>
    %828 = stablehlo.dot_general %827, %arg89, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %829 = stablehlo.broadcast_in_dim %arg82, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %830 = stablehlo.broadcast_in_dim %829, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %831 = stablehlo.add %828, %830 : tensor<8x32x256xf32>
    %832 = stablehlo.multiply %831, %831 : tensor<8x32x256xf32>
    %833 = stablehlo.multiply %832, %831 : tensor<8x32x256xf32>
    %cst_196 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %834 = stablehlo.broadcast_in_dim %cst_196, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %835 = stablehlo.multiply %834, %833 : tensor<8x32x256xf32>
    %836 = stablehlo.add %831, %835 : tensor<8x32x256xf32>
    %cst_197 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %837 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %838 = stablehlo.multiply %837, %836 : tensor<8x32x256xf32>
    %839 = stablehlo.tanh %838 : tensor<8x32x256xf32>
    %cst_198 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %840 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %841 = stablehlo.add %840, %839 : tensor<8x32x256xf32>
    %cst_199 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %842 = stablehlo.broadcast_in_dim %cst_199, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %843 = stablehlo.multiply %842, %841 : tensor<8x32x256xf32>
    %844 = stablehlo.multiply %831, %843 : tensor<8x32x256xf32>
    %845 = stablehlo.dot_general %844, %arg83, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %846 = stablehlo.add %808, %845 : tensor<8x32x64xf32>
    %cst_200 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %847 = stablehlo.reduce(%846 init: %cst_200) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %848 = stablehlo.broadcast_in_dim %847, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_201 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %849 = stablehlo.broadcast_in_dim %cst_201, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %850 = stablehlo.divide %848, %849 : tensor<8x32x1xf32>
    %851 = stablehlo.broadcast_in_dim %850, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %852 = stablehlo.subtract %846, %851 : tensor<8x32x64xf32>
    %853 = stablehlo.multiply %852, %852 : tensor<8x32x64xf32>
    %cst_202 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %854 = stablehlo.reduce(%853 init: %cst_202) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %855 = stablehlo.broadcast_in_dim %854, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_203 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %856 = stablehlo.broadcast_in_dim %cst_203, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %857 = stablehlo.divide %855, %856 : tensor<8x32x1xf32>
    %cst_204 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %858 = stablehlo.broadcast_in_dim %cst_204, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %859 = stablehlo.add %857, %858 : tensor<8x32x1xf32>
    %860 = stablehlo.sqrt %859 : tensor<8x32x1xf32>
    %861 = stablehlo.broadcast_in_dim %860, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %862 = stablehlo.divide %852, %861 : tensor<8x32x64xf32>
    %863 = stablehlo.broadcast_in_dim %arg94, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %864 = stablehlo.broadcast_in_dim %863, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %865 = stablehlo.multiply %862, %864 : tensor<8x32x64xf32>
    %866 = stablehlo.dot_general %arg97, %865, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %867 = stablehlo.transpose %866, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %868 = stablehlo.dot_general %arg93, %865, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %869 = stablehlo.transpose %868, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %870 = stablehlo.dot_general %arg99, %865, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %871 = stablehlo.transpose %870, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %872 = stablehlo.dot_general %867, %869, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_205 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %873 = stablehlo.broadcast_in_dim %cst_205, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %874 = stablehlo.divide %872, %873 : tensor<8x8x32x32xf32>
    %c_206 = stablehlo.constant dense<true> : tensor<i1>
    %875 = stablehlo.broadcast_in_dim %c_206, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %876 = call @tril(%875) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_207 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %877 = call @_where(%876, %874, %cst_207) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_208 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %878 = stablehlo.reduce(%877 init: %cst_208) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_209 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %879 = stablehlo.broadcast_in_dim %cst_209, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %880 = stablehlo.maximum %879, %878 : tensor<8x8x32xf32>
    %881 = stablehlo.broadcast_in_dim %880, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %882 = stablehlo.broadcast_in_dim %881, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %883 = stablehlo.subtract %877, %882 : tensor<8x8x32x32xf32>
    %884 = stablehlo.exponential %883 : tensor<8x8x32x32xf32>
    %cst_210 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %885 = stablehlo.reduce(%884 init: %cst_210) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %886 = stablehlo.broadcast_in_dim %885, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %887 = stablehlo.broadcast_in_dim %886, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %888 = stablehlo.divide %884, %887 : tensor<8x8x32x32xf32>
    %889 = stablehlo.dot_general %871, %888, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %890 = stablehlo.transpose %889, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %891 = stablehlo.dot_general %890, %arg96, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %892 = stablehlo.add %846, %891 : tensor<8x32x64xf32>
    %cst_211 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %893 = stablehlo.reduce(%892 init: %cst_211) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %894 = stablehlo.broadcast_in_dim %893, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_212 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %895 = stablehlo.broadcast_in_dim %cst_212, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %896 = stablehlo.divide %894, %895 : tensor<8x32x1xf32>
    %897 = stablehlo.broadcast_in_dim %896, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %898 = stablehlo.subtract %892, %897 : tensor<8x32x64xf32>
    %899 = stablehlo.multiply %898, %898 : tensor<8x32x64xf32>
    %cst_213 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %900 = stablehlo.reduce(%899 init: %cst_213) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %901 = stablehlo.broadcast_in_dim %900, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_214 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %902 = stablehlo.broadcast_in_dim %cst_214, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %903 = stablehlo.divide %901, %902 : tensor<8x32x1xf32>
    %cst_215 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %904 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %905 = stablehlo.add %903, %904 : tensor<8x32x1xf32>
    %906 = stablehlo.sqrt %905 : tensor<8x32x1xf32>
    %907 = stablehlo.broadcast_in_dim %906, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %908 = stablehlo.divide %898, %907 : tensor<8x32x64xf32>
    %909 = stablehlo.broadcast_in_dim %arg95, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %910 = stablehlo.broadcast_in_dim %909, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %911 = stablehlo.multiply %908, %910 : tensor<8x32x64xf32>
    %912 = stablehlo.dot_general %911, %arg98, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %913 = stablehlo.broadcast_in_dim %arg91, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %914 = stablehlo.broadcast_in_dim %913, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %915 = stablehlo.add %912, %914 : tensor<8x32x256xf32>
    %916 = stablehlo.multiply %915, %915 : tensor<8x32x256xf32>
    %917 = stablehlo.multiply %916, %915 : tensor<8x32x256xf32>
    %cst_216 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %918 = stablehlo.broadcast_in_dim %cst_216, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %919 = stablehlo.multiply %918, %917 : tensor<8x32x256xf32>
    %920 = stablehlo.add %915, %919 : tensor<8x32x256xf32>
    %cst_217 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %921 = stablehlo.broadcast_in_dim %cst_217, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %922 = stablehlo.multiply %921, %920 : tensor<8x32x256xf32>
    %923 = stablehlo.tanh %922 : tensor<8x32x256xf32>
    %cst_218 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %924 = stablehlo.broadcast_in_dim %cst_218, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %925 = stablehlo.add %924, %923 : tensor<8x32x256xf32>
    %cst_219 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %926 = stablehlo.broadcast_in_dim %cst_219, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %927 = stablehlo.multiply %926, %925 : tensor<8x32x256xf32>
    %928 = stablehlo.multiply %915, %927 : tensor<8x32x256xf32>
    %929 = stablehlo.dot_general %928, %arg92, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %930 = stablehlo.add %892, %929 : tensor<8x32x64xf32>
    %cst_220 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %931 = stablehlo.reduce(%930 init: %cst_220) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %932 = stablehlo.broadcast_in_dim %931, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_221 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %933 = stablehlo.broadcast_in_dim %cst_221, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %934 = stablehlo.divide %932, %933 : tensor<8x32x1xf32>
    %935 = stablehlo.broadcast_in_dim %934, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %936 = stablehlo.subtract %930, %935 : tensor<8x32x64xf32>
    %937 = stablehlo.multiply %936, %936 : tensor<8x32x64xf32>
    %cst_222 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %938 = stablehlo.reduce(%937 init: %cst_222) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %939 = stablehlo.broadcast_in_dim %938, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_223 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %940 = stablehlo.broadcast_in_dim %cst_223, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %941 = stablehlo.divide %939, %940 : tensor<8x32x1xf32>
    %cst_224 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %942 = stablehlo.broadcast_in_dim %cst_224, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %943 = stablehlo.add %941, %942 : tensor<8x32x1xf32>
    %944 = stablehlo.sqrt %943 : tensor<8x32x1xf32>
    %945 = stablehlo.broadcast_in_dim %944, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %946 = stablehlo.divide %936, %945 : tensor<8x32x64xf32>
    %947 = stablehlo.broadcast_in_dim %arg103, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %948 = stablehlo.broadcast_in_dim %947, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %949 = stablehlo.multiply %946, %948 : tensor<8x32x64xf32>
    %950 = stablehlo.dot_general %arg106, %949, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %951 = stablehlo.transpose %950, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %952 = stablehlo.dot_general %arg102, %949, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %953 = stablehlo.transpose %952, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %954 = stablehlo.dot_general %arg108, %949, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %955 = stablehlo.transpose %954, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %956 = stablehlo.dot_general %951, %953, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_225 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %957 = stablehlo.broadcast_in_dim %cst_225, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %958 = stablehlo.divide %956, %957 : tensor<8x8x32x32xf32>
    %c_226 = stablehlo.constant dense<true> : tensor<i1>
    %959 = stablehlo.broadcast_in_dim %c_226, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %960 = call @tril(%959) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_227 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %961 = call @_where(%960, %958, %cst_227) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32x32xf32>
    %cst_228 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %962 = stablehlo.reduce(%961 init: %cst_228) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_229 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %963 = stablehlo.broadcast_in_dim %cst_229, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %964 = stablehlo.maximum %963, %962 : tensor<8x8x32xf32>
    %965 = stablehlo.broadcast_in_dim %964, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %966 = stablehlo.broadcast_in_dim %965, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %967 = stablehlo.subtract %961, %966 : tensor<8x8x32x32xf32>
    %968 = stablehlo.exponential %967 : tensor<8x8x32x32xf32>
    %cst_230 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %969 = stablehlo.reduce(%968 init: %cst_230) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %970 = stablehlo.broadcast_in_dim %969, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %971 = stablehlo.broadcast_in_dim %970, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %972 = stablehlo.divide %968, %971 : tensor<8x8x32x32xf32>
    %973 = stablehlo.dot_general %955, %972, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %974 = stablehlo.transpose %973, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %975 = stablehlo.dot_general %974, %arg105, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %976 = stablehlo.add %930, %975 : tensor<8x32x64xf32>
    %cst_231 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %977 = stablehlo.reduce(%976 init: %cst_231) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %978 = stablehlo.broadcast_in_dim %977, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_232 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %979 = stablehlo.broadcast_in_dim %cst_232, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %980 = stablehlo.divide %978, %979 : tensor<8x32x1xf32>
    %981 = stablehlo.broadcast_in_dim %980, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %982 = stablehlo.subtract %976, %981 : tensor<8x32x64xf32>
    %983 = stablehlo.multiply %982, %982 : tensor<8x32x64xf32>
    %cst_233 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %984 = stablehlo.reduce(%983 init: %cst_233) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %985 = stablehlo.broadcast_in_dim %984, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_234 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %986 = stablehlo.broadcast_in_dim %cst_234, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %987 = stablehlo.divide %985, %986 : tensor<8x32x1xf32>
    %cst_235 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %988 = stablehlo.broadcast_in_dim %cst_235, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %989 = stablehlo.add %987, %988 : tensor<8x32x1xf32>
    %990 = stablehlo.sqrt %989 : tensor<8x32x1xf32>
    %991 = stablehlo.broadcast_in_dim %990, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %992 = stablehlo.divide %982, %991 : tensor<8x32x64xf32>
    %993 = stablehlo.broadcast_in_dim %arg104, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %994 = stablehlo.broadcast_in_dim %993, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %995 = stablehlo.multiply %992, %994 : tensor<8x32x64xf32>
    %996 = stablehlo.dot_general %995, %arg107, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %997 = stablehlo.broadcast_in_dim %arg100, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %998 = stablehlo.broadcast_in_dim %997, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %999 = stablehlo.add %996, %998 : tensor<8x32x256xf32>
    %1000 = stablehlo.multiply %999, %999 : tensor<8x32x256xf32>
    %1001 = stablehlo.multiply %1000, %999 : tensor<8x32x256xf32>
    %cst_236 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1002 = stablehlo.broadcast_in_dim %cst_236, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1003 = stablehlo.multiply %1002, %1001 : tensor<8x32x256xf32>
    %1004 = stablehlo.add %999, %1003 : tensor<8x32x256xf32>
    %cst_237 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1005 = stablehlo.broadcast_in_dim %cst_237, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1006 = stablehlo.multiply %1005, %1004 : tensor<8x32x256xf32>
    %1007 = stablehlo.tanh %1006 : tensor<8x32x256xf32>
    %cst_238 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1008 = stablehlo.broadcast_in_dim %cst_238, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1009 = stablehlo.add %1008, %1007 : tensor<8x32x256xf32>
    %cst_239 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1010 = stablehlo.broadcast_in_dim %cst_239, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1011 = stablehlo.multiply %1010, %1009 : tensor<8x32x256xf32>
    %1012 = stablehlo.multiply %999, %1011 : tensor<8x32x256xf32>
    %1013 = stablehlo.dot_general %1012, %arg101, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %1014 = stablehlo.add %976, %1013 : tensor<8x32x64xf32>
    %1015 = stablehlo.dot_general %1014, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<128x64xf32>) -> tensor<8x32x128xf32>
    return %1015 : tensor<8x32x128xf32>
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
  func.func private @_where(%arg0: tensor<32x32xi1>, %arg1: tensor<8x8x32x32xf32>, %arg2: tensor<f32>) -> tensor<8x8x32x32xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<32x32xi1>) -> tensor<8x8x32x32xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>
    return %3 : tensor<8x8x32x32xf32>
  }
}
