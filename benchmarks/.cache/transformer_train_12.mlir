module @jit_train attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<128x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg1: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg2: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg3: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg4: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg5: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg6: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg7: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg8: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg9: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg10: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg11: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg12: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg13: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg14: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg15: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg16: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg17: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg18: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg19: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg20: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg21: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg22: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg23: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg24: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg25: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg26: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg27: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg28: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg29: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg30: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg31: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg32: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg33: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg34: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg35: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg36: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg37: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg38: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg39: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg40: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg41: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg42: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg43: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg44: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg45: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg46: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg47: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg48: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg49: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg50: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg51: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg52: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg53: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg54: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg55: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg56: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg57: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg58: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg59: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg60: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg61: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg62: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg63: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg64: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg65: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg66: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg67: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg68: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg69: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg70: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg71: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg72: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg73: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg74: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg75: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg76: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg77: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg78: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg79: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg80: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg81: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg82: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg83: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg84: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg85: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg86: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg87: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg88: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg89: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg90: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg91: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg92: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg93: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg94: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg95: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg96: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg97: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg98: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg99: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg100: tensor<256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %arg101: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg102: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg103: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg104: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg105: tensor<8x8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg106: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg107: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg108: tensor<64x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>}, %arg109: tensor<8x32xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg110: tensor<8x32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}) -> (tensor<128x64xf32> {jax.result_info = "result[0]['embedding']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][0]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][0]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][0]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][0]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][0]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][0]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][0]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][0]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][0]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][1]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][1]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][1]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][1]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][1]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][1]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][1]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][1]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][1]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][2]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][2]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][2]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][2]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][2]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][2]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][2]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][2]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][2]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][3]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][3]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][3]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][3]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][3]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][3]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][3]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][3]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][3]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][4]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][4]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][4]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][4]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][4]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][4]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][4]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][4]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][4]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][5]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][5]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][5]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][5]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][5]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][5]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][5]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][5]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][5]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][6]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][6]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][6]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][6]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][6]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][6]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][6]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][6]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][6]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][7]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][7]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][7]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][7]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][7]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][7]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][7]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][7]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][7]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][8]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][8]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][8]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][8]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][8]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][8]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][8]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][8]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][8]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][9]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][9]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][9]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][9]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][9]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][9]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][9]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][9]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][9]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][10]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][10]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][10]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][10]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][10]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][10]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][10]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][10]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][10]['v']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][11]['bias']"}, tensor<256x64xf32> {jax.result_info = "result[0]['layers'][11]['down']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][11]['k']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][11]['norm1']"}, tensor<64xf32> {jax.result_info = "result[0]['layers'][11]['norm2']"}, tensor<8x8x64xf32> {jax.result_info = "result[0]['layers'][11]['o']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][11]['q']"}, tensor<64x256xf32> {jax.result_info = "result[0]['layers'][11]['up']"}, tensor<64x8x8xf32> {jax.result_info = "result[0]['layers'][11]['v']"}, tensor<f32> {jax.result_info = "result[1]"}) {
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
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %113 = stablehlo.reduce(%112 init: %cst_29) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_30 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %116 = stablehlo.divide %114, %115 : tensor<8x32x1xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %118 = stablehlo.subtract %112, %117 : tensor<8x32x64xf32>
    %119 = stablehlo.multiply %118, %118 : tensor<8x32x64xf32>
    %cst_31 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %121 = stablehlo.multiply %120, %118 : tensor<8x32x64xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %122 = stablehlo.reduce(%119 init: %cst_32) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_33 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %125 = stablehlo.divide %123, %124 : tensor<8x32x1xf32>
    %cst_34 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %127 = stablehlo.add %125, %126 : tensor<8x32x1xf32>
    %128 = stablehlo.sqrt %127 : tensor<8x32x1xf32>
    %cst_35 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %129 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %130 = stablehlo.divide %129, %128 : tensor<8x32x1xf32>
    %131 = stablehlo.broadcast_in_dim %128, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %132 = stablehlo.divide %118, %131 : tensor<8x32x64xf32>
    %133 = stablehlo.multiply %128, %128 : tensor<8x32x1xf32>
    %cst_36 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %135 = stablehlo.divide %134, %133 : tensor<8x32x1xf32>
    %136 = stablehlo.broadcast_in_dim %arg13, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %137 = stablehlo.broadcast_in_dim %136, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %138 = stablehlo.multiply %132, %137 : tensor<8x32x64xf32>
    %139 = stablehlo.dot_general %arg16, %138, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %140 = stablehlo.transpose %139, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %141 = stablehlo.dot_general %arg12, %138, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %142 = stablehlo.transpose %141, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %143 = stablehlo.dot_general %arg18, %138, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %144 = stablehlo.transpose %143, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %145 = stablehlo.dot_general %140, %142, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_37 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %146 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %147 = stablehlo.divide %145, %146 : tensor<8x8x32x32xf32>
    %c_38 = stablehlo.constant dense<true> : tensor<i1>
    %148 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %149 = call @tril(%148) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_39 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %150:2 = call @_where(%149, %147, %cst_39) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_40 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %151 = stablehlo.reduce(%150#0 init: %cst_40) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_41 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %153 = stablehlo.maximum %152, %151 : tensor<8x8x32xf32>
    %154 = stablehlo.broadcast_in_dim %153, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %155 = stablehlo.broadcast_in_dim %154, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %156 = stablehlo.subtract %150#0, %155 : tensor<8x8x32x32xf32>
    %157 = stablehlo.exponential %156 : tensor<8x8x32x32xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.reduce(%157 init: %cst_42) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %160 = stablehlo.broadcast_in_dim %159, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %161 = stablehlo.divide %157, %160 : tensor<8x8x32x32xf32>
    %162 = stablehlo.multiply %159, %159 : tensor<8x8x32x1xf32>
    %cst_43 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %164 = stablehlo.divide %163, %162 : tensor<8x8x32x1xf32>
    %165 = stablehlo.dot_general %144, %161, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %166 = stablehlo.transpose %165, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %167 = stablehlo.dot_general %166, %arg15, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %168 = stablehlo.add %112, %167 : tensor<8x32x64xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %169 = stablehlo.reduce(%168 init: %cst_44) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %170 = stablehlo.broadcast_in_dim %169, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_45 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %172 = stablehlo.divide %170, %171 : tensor<8x32x1xf32>
    %173 = stablehlo.broadcast_in_dim %172, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %174 = stablehlo.subtract %168, %173 : tensor<8x32x64xf32>
    %175 = stablehlo.multiply %174, %174 : tensor<8x32x64xf32>
    %cst_46 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %176 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %177 = stablehlo.multiply %176, %174 : tensor<8x32x64xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.reduce(%175 init: %cst_47) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %179 = stablehlo.broadcast_in_dim %178, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_48 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %181 = stablehlo.divide %179, %180 : tensor<8x32x1xf32>
    %cst_49 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %183 = stablehlo.add %181, %182 : tensor<8x32x1xf32>
    %184 = stablehlo.sqrt %183 : tensor<8x32x1xf32>
    %cst_50 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %186 = stablehlo.divide %185, %184 : tensor<8x32x1xf32>
    %187 = stablehlo.broadcast_in_dim %184, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %188 = stablehlo.divide %174, %187 : tensor<8x32x64xf32>
    %189 = stablehlo.multiply %184, %184 : tensor<8x32x1xf32>
    %cst_51 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %191 = stablehlo.divide %190, %189 : tensor<8x32x1xf32>
    %192 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %193 = stablehlo.broadcast_in_dim %192, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %194 = stablehlo.multiply %188, %193 : tensor<8x32x64xf32>
    %195 = stablehlo.dot_general %194, %arg17, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %196 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %197 = stablehlo.broadcast_in_dim %196, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %198 = stablehlo.add %195, %197 : tensor<8x32x256xf32>
    %199 = stablehlo.multiply %198, %198 : tensor<8x32x256xf32>
    %200 = stablehlo.multiply %199, %198 : tensor<8x32x256xf32>
    %201 = stablehlo.multiply %198, %198 : tensor<8x32x256xf32>
    %cst_52 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %203 = stablehlo.multiply %202, %201 : tensor<8x32x256xf32>
    %cst_53 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %205 = stablehlo.multiply %204, %200 : tensor<8x32x256xf32>
    %206 = stablehlo.add %198, %205 : tensor<8x32x256xf32>
    %cst_54 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %208 = stablehlo.multiply %207, %206 : tensor<8x32x256xf32>
    %209 = stablehlo.tanh %208 : tensor<8x32x256xf32>
    %cst_55 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %210 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %211 = stablehlo.subtract %210, %209 : tensor<8x32x256xf32>
    %cst_56 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %213 = stablehlo.add %212, %209 : tensor<8x32x256xf32>
    %cst_57 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %214 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %215 = stablehlo.multiply %214, %213 : tensor<8x32x256xf32>
    %216 = stablehlo.multiply %198, %215 : tensor<8x32x256xf32>
    %217 = stablehlo.dot_general %216, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %218 = stablehlo.add %168, %217 : tensor<8x32x64xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %219 = stablehlo.reduce(%218 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %220 = stablehlo.broadcast_in_dim %219, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_59 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %221 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %222 = stablehlo.divide %220, %221 : tensor<8x32x1xf32>
    %223 = stablehlo.broadcast_in_dim %222, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %224 = stablehlo.subtract %218, %223 : tensor<8x32x64xf32>
    %225 = stablehlo.multiply %224, %224 : tensor<8x32x64xf32>
    %cst_60 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %226 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %227 = stablehlo.multiply %226, %224 : tensor<8x32x64xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %228 = stablehlo.reduce(%225 init: %cst_61) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %229 = stablehlo.broadcast_in_dim %228, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_62 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %231 = stablehlo.divide %229, %230 : tensor<8x32x1xf32>
    %cst_63 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %233 = stablehlo.add %231, %232 : tensor<8x32x1xf32>
    %234 = stablehlo.sqrt %233 : tensor<8x32x1xf32>
    %cst_64 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %235 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %236 = stablehlo.divide %235, %234 : tensor<8x32x1xf32>
    %237 = stablehlo.broadcast_in_dim %234, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %238 = stablehlo.divide %224, %237 : tensor<8x32x64xf32>
    %239 = stablehlo.multiply %234, %234 : tensor<8x32x1xf32>
    %cst_65 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %241 = stablehlo.divide %240, %239 : tensor<8x32x1xf32>
    %242 = stablehlo.broadcast_in_dim %arg22, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %243 = stablehlo.broadcast_in_dim %242, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %244 = stablehlo.multiply %238, %243 : tensor<8x32x64xf32>
    %245 = stablehlo.dot_general %arg25, %244, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %246 = stablehlo.transpose %245, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %247 = stablehlo.dot_general %arg21, %244, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %248 = stablehlo.transpose %247, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %249 = stablehlo.dot_general %arg27, %244, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %250 = stablehlo.transpose %249, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %251 = stablehlo.dot_general %246, %248, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_66 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %253 = stablehlo.divide %251, %252 : tensor<8x8x32x32xf32>
    %c_67 = stablehlo.constant dense<true> : tensor<i1>
    %254 = stablehlo.broadcast_in_dim %c_67, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %255 = call @tril(%254) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_68 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %256:2 = call @_where(%255, %253, %cst_68) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_69 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %257 = stablehlo.reduce(%256#0 init: %cst_69) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_70 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %258 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %259 = stablehlo.maximum %258, %257 : tensor<8x8x32xf32>
    %260 = stablehlo.broadcast_in_dim %259, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %261 = stablehlo.broadcast_in_dim %260, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %262 = stablehlo.subtract %256#0, %261 : tensor<8x8x32x32xf32>
    %263 = stablehlo.exponential %262 : tensor<8x8x32x32xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %264 = stablehlo.reduce(%263 init: %cst_71) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %265 = stablehlo.broadcast_in_dim %264, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %266 = stablehlo.broadcast_in_dim %265, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %267 = stablehlo.divide %263, %266 : tensor<8x8x32x32xf32>
    %268 = stablehlo.multiply %265, %265 : tensor<8x8x32x1xf32>
    %cst_72 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %269 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %270 = stablehlo.divide %269, %268 : tensor<8x8x32x1xf32>
    %271 = stablehlo.dot_general %250, %267, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %272 = stablehlo.transpose %271, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %273 = stablehlo.dot_general %272, %arg24, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %274 = stablehlo.add %218, %273 : tensor<8x32x64xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %275 = stablehlo.reduce(%274 init: %cst_73) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %276 = stablehlo.broadcast_in_dim %275, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_74 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %277 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %278 = stablehlo.divide %276, %277 : tensor<8x32x1xf32>
    %279 = stablehlo.broadcast_in_dim %278, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %280 = stablehlo.subtract %274, %279 : tensor<8x32x64xf32>
    %281 = stablehlo.multiply %280, %280 : tensor<8x32x64xf32>
    %cst_75 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %282 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %283 = stablehlo.multiply %282, %280 : tensor<8x32x64xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %284 = stablehlo.reduce(%281 init: %cst_76) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %285 = stablehlo.broadcast_in_dim %284, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_77 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %286 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %287 = stablehlo.divide %285, %286 : tensor<8x32x1xf32>
    %cst_78 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %288 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %289 = stablehlo.add %287, %288 : tensor<8x32x1xf32>
    %290 = stablehlo.sqrt %289 : tensor<8x32x1xf32>
    %cst_79 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %291 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %292 = stablehlo.divide %291, %290 : tensor<8x32x1xf32>
    %293 = stablehlo.broadcast_in_dim %290, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %294 = stablehlo.divide %280, %293 : tensor<8x32x64xf32>
    %295 = stablehlo.multiply %290, %290 : tensor<8x32x1xf32>
    %cst_80 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %296 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %297 = stablehlo.divide %296, %295 : tensor<8x32x1xf32>
    %298 = stablehlo.broadcast_in_dim %arg23, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %299 = stablehlo.broadcast_in_dim %298, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %300 = stablehlo.multiply %294, %299 : tensor<8x32x64xf32>
    %301 = stablehlo.dot_general %300, %arg26, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %302 = stablehlo.broadcast_in_dim %arg19, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %303 = stablehlo.broadcast_in_dim %302, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %304 = stablehlo.add %301, %303 : tensor<8x32x256xf32>
    %305 = stablehlo.multiply %304, %304 : tensor<8x32x256xf32>
    %306 = stablehlo.multiply %305, %304 : tensor<8x32x256xf32>
    %307 = stablehlo.multiply %304, %304 : tensor<8x32x256xf32>
    %cst_81 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %308 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %309 = stablehlo.multiply %308, %307 : tensor<8x32x256xf32>
    %cst_82 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %310 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %311 = stablehlo.multiply %310, %306 : tensor<8x32x256xf32>
    %312 = stablehlo.add %304, %311 : tensor<8x32x256xf32>
    %cst_83 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %313 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %314 = stablehlo.multiply %313, %312 : tensor<8x32x256xf32>
    %315 = stablehlo.tanh %314 : tensor<8x32x256xf32>
    %cst_84 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %316 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %317 = stablehlo.subtract %316, %315 : tensor<8x32x256xf32>
    %cst_85 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %318 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %319 = stablehlo.add %318, %315 : tensor<8x32x256xf32>
    %cst_86 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %320 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %321 = stablehlo.multiply %320, %319 : tensor<8x32x256xf32>
    %322 = stablehlo.multiply %304, %321 : tensor<8x32x256xf32>
    %323 = stablehlo.dot_general %322, %arg20, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %324 = stablehlo.add %274, %323 : tensor<8x32x64xf32>
    %cst_87 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %325 = stablehlo.reduce(%324 init: %cst_87) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %326 = stablehlo.broadcast_in_dim %325, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_88 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %327 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %328 = stablehlo.divide %326, %327 : tensor<8x32x1xf32>
    %329 = stablehlo.broadcast_in_dim %328, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %330 = stablehlo.subtract %324, %329 : tensor<8x32x64xf32>
    %331 = stablehlo.multiply %330, %330 : tensor<8x32x64xf32>
    %cst_89 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %333 = stablehlo.multiply %332, %330 : tensor<8x32x64xf32>
    %cst_90 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %334 = stablehlo.reduce(%331 init: %cst_90) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %335 = stablehlo.broadcast_in_dim %334, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_91 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %336 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %337 = stablehlo.divide %335, %336 : tensor<8x32x1xf32>
    %cst_92 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %339 = stablehlo.add %337, %338 : tensor<8x32x1xf32>
    %340 = stablehlo.sqrt %339 : tensor<8x32x1xf32>
    %cst_93 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %341 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %342 = stablehlo.divide %341, %340 : tensor<8x32x1xf32>
    %343 = stablehlo.broadcast_in_dim %340, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %344 = stablehlo.divide %330, %343 : tensor<8x32x64xf32>
    %345 = stablehlo.multiply %340, %340 : tensor<8x32x1xf32>
    %cst_94 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %346 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %347 = stablehlo.divide %346, %345 : tensor<8x32x1xf32>
    %348 = stablehlo.broadcast_in_dim %arg31, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %349 = stablehlo.broadcast_in_dim %348, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %350 = stablehlo.multiply %344, %349 : tensor<8x32x64xf32>
    %351 = stablehlo.dot_general %arg34, %350, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %352 = stablehlo.transpose %351, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %353 = stablehlo.dot_general %arg30, %350, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %354 = stablehlo.transpose %353, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %355 = stablehlo.dot_general %arg36, %350, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %356 = stablehlo.transpose %355, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %357 = stablehlo.dot_general %352, %354, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_95 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %358 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %359 = stablehlo.divide %357, %358 : tensor<8x8x32x32xf32>
    %c_96 = stablehlo.constant dense<true> : tensor<i1>
    %360 = stablehlo.broadcast_in_dim %c_96, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %361 = call @tril(%360) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_97 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %362:2 = call @_where(%361, %359, %cst_97) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_98 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %363 = stablehlo.reduce(%362#0 init: %cst_98) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_99 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %364 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %365 = stablehlo.maximum %364, %363 : tensor<8x8x32xf32>
    %366 = stablehlo.broadcast_in_dim %365, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %367 = stablehlo.broadcast_in_dim %366, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %368 = stablehlo.subtract %362#0, %367 : tensor<8x8x32x32xf32>
    %369 = stablehlo.exponential %368 : tensor<8x8x32x32xf32>
    %cst_100 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %370 = stablehlo.reduce(%369 init: %cst_100) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %371 = stablehlo.broadcast_in_dim %370, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %372 = stablehlo.broadcast_in_dim %371, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %373 = stablehlo.divide %369, %372 : tensor<8x8x32x32xf32>
    %374 = stablehlo.multiply %371, %371 : tensor<8x8x32x1xf32>
    %cst_101 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %376 = stablehlo.divide %375, %374 : tensor<8x8x32x1xf32>
    %377 = stablehlo.dot_general %356, %373, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %378 = stablehlo.transpose %377, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %379 = stablehlo.dot_general %378, %arg33, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %380 = stablehlo.add %324, %379 : tensor<8x32x64xf32>
    %cst_102 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %381 = stablehlo.reduce(%380 init: %cst_102) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %382 = stablehlo.broadcast_in_dim %381, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_103 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %383 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %384 = stablehlo.divide %382, %383 : tensor<8x32x1xf32>
    %385 = stablehlo.broadcast_in_dim %384, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %386 = stablehlo.subtract %380, %385 : tensor<8x32x64xf32>
    %387 = stablehlo.multiply %386, %386 : tensor<8x32x64xf32>
    %cst_104 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %388 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %389 = stablehlo.multiply %388, %386 : tensor<8x32x64xf32>
    %cst_105 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %390 = stablehlo.reduce(%387 init: %cst_105) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %391 = stablehlo.broadcast_in_dim %390, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_106 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %392 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %393 = stablehlo.divide %391, %392 : tensor<8x32x1xf32>
    %cst_107 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %394 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %395 = stablehlo.add %393, %394 : tensor<8x32x1xf32>
    %396 = stablehlo.sqrt %395 : tensor<8x32x1xf32>
    %cst_108 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %398 = stablehlo.divide %397, %396 : tensor<8x32x1xf32>
    %399 = stablehlo.broadcast_in_dim %396, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %400 = stablehlo.divide %386, %399 : tensor<8x32x64xf32>
    %401 = stablehlo.multiply %396, %396 : tensor<8x32x1xf32>
    %cst_109 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %402 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %403 = stablehlo.divide %402, %401 : tensor<8x32x1xf32>
    %404 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %405 = stablehlo.broadcast_in_dim %404, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %406 = stablehlo.multiply %400, %405 : tensor<8x32x64xf32>
    %407 = stablehlo.dot_general %406, %arg35, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %408 = stablehlo.broadcast_in_dim %arg28, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %409 = stablehlo.broadcast_in_dim %408, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %410 = stablehlo.add %407, %409 : tensor<8x32x256xf32>
    %411 = stablehlo.multiply %410, %410 : tensor<8x32x256xf32>
    %412 = stablehlo.multiply %411, %410 : tensor<8x32x256xf32>
    %413 = stablehlo.multiply %410, %410 : tensor<8x32x256xf32>
    %cst_110 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %414 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %415 = stablehlo.multiply %414, %413 : tensor<8x32x256xf32>
    %cst_111 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %416 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %417 = stablehlo.multiply %416, %412 : tensor<8x32x256xf32>
    %418 = stablehlo.add %410, %417 : tensor<8x32x256xf32>
    %cst_112 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %419 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %420 = stablehlo.multiply %419, %418 : tensor<8x32x256xf32>
    %421 = stablehlo.tanh %420 : tensor<8x32x256xf32>
    %cst_113 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %422 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %423 = stablehlo.subtract %422, %421 : tensor<8x32x256xf32>
    %cst_114 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %424 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %425 = stablehlo.add %424, %421 : tensor<8x32x256xf32>
    %cst_115 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %426 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %427 = stablehlo.multiply %426, %425 : tensor<8x32x256xf32>
    %428 = stablehlo.multiply %410, %427 : tensor<8x32x256xf32>
    %429 = stablehlo.dot_general %428, %arg29, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %430 = stablehlo.add %380, %429 : tensor<8x32x64xf32>
    %cst_116 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %431 = stablehlo.reduce(%430 init: %cst_116) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %432 = stablehlo.broadcast_in_dim %431, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_117 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %433 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %434 = stablehlo.divide %432, %433 : tensor<8x32x1xf32>
    %435 = stablehlo.broadcast_in_dim %434, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %436 = stablehlo.subtract %430, %435 : tensor<8x32x64xf32>
    %437 = stablehlo.multiply %436, %436 : tensor<8x32x64xf32>
    %cst_118 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %438 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %439 = stablehlo.multiply %438, %436 : tensor<8x32x64xf32>
    %cst_119 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %440 = stablehlo.reduce(%437 init: %cst_119) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %441 = stablehlo.broadcast_in_dim %440, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_120 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %442 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %443 = stablehlo.divide %441, %442 : tensor<8x32x1xf32>
    %cst_121 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %444 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %445 = stablehlo.add %443, %444 : tensor<8x32x1xf32>
    %446 = stablehlo.sqrt %445 : tensor<8x32x1xf32>
    %cst_122 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %447 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %448 = stablehlo.divide %447, %446 : tensor<8x32x1xf32>
    %449 = stablehlo.broadcast_in_dim %446, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %450 = stablehlo.divide %436, %449 : tensor<8x32x64xf32>
    %451 = stablehlo.multiply %446, %446 : tensor<8x32x1xf32>
    %cst_123 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %452 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %453 = stablehlo.divide %452, %451 : tensor<8x32x1xf32>
    %454 = stablehlo.broadcast_in_dim %arg40, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %455 = stablehlo.broadcast_in_dim %454, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %456 = stablehlo.multiply %450, %455 : tensor<8x32x64xf32>
    %457 = stablehlo.dot_general %arg43, %456, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %458 = stablehlo.transpose %457, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %459 = stablehlo.dot_general %arg39, %456, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %460 = stablehlo.transpose %459, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %461 = stablehlo.dot_general %arg45, %456, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %462 = stablehlo.transpose %461, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %463 = stablehlo.dot_general %458, %460, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_124 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %464 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %465 = stablehlo.divide %463, %464 : tensor<8x8x32x32xf32>
    %c_125 = stablehlo.constant dense<true> : tensor<i1>
    %466 = stablehlo.broadcast_in_dim %c_125, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %467 = call @tril(%466) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_126 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %468:2 = call @_where(%467, %465, %cst_126) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_127 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %469 = stablehlo.reduce(%468#0 init: %cst_127) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_128 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %470 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %471 = stablehlo.maximum %470, %469 : tensor<8x8x32xf32>
    %472 = stablehlo.broadcast_in_dim %471, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %473 = stablehlo.broadcast_in_dim %472, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %474 = stablehlo.subtract %468#0, %473 : tensor<8x8x32x32xf32>
    %475 = stablehlo.exponential %474 : tensor<8x8x32x32xf32>
    %cst_129 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %476 = stablehlo.reduce(%475 init: %cst_129) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %477 = stablehlo.broadcast_in_dim %476, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %478 = stablehlo.broadcast_in_dim %477, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %479 = stablehlo.divide %475, %478 : tensor<8x8x32x32xf32>
    %480 = stablehlo.multiply %477, %477 : tensor<8x8x32x1xf32>
    %cst_130 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %481 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %482 = stablehlo.divide %481, %480 : tensor<8x8x32x1xf32>
    %483 = stablehlo.dot_general %462, %479, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %484 = stablehlo.transpose %483, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %485 = stablehlo.dot_general %484, %arg42, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %486 = stablehlo.add %430, %485 : tensor<8x32x64xf32>
    %cst_131 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %487 = stablehlo.reduce(%486 init: %cst_131) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %488 = stablehlo.broadcast_in_dim %487, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_132 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %489 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %490 = stablehlo.divide %488, %489 : tensor<8x32x1xf32>
    %491 = stablehlo.broadcast_in_dim %490, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %492 = stablehlo.subtract %486, %491 : tensor<8x32x64xf32>
    %493 = stablehlo.multiply %492, %492 : tensor<8x32x64xf32>
    %cst_133 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %494 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %495 = stablehlo.multiply %494, %492 : tensor<8x32x64xf32>
    %cst_134 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %496 = stablehlo.reduce(%493 init: %cst_134) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %497 = stablehlo.broadcast_in_dim %496, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_135 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %498 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %499 = stablehlo.divide %497, %498 : tensor<8x32x1xf32>
    %cst_136 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %500 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %501 = stablehlo.add %499, %500 : tensor<8x32x1xf32>
    %502 = stablehlo.sqrt %501 : tensor<8x32x1xf32>
    %cst_137 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %503 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %504 = stablehlo.divide %503, %502 : tensor<8x32x1xf32>
    %505 = stablehlo.broadcast_in_dim %502, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %506 = stablehlo.divide %492, %505 : tensor<8x32x64xf32>
    %507 = stablehlo.multiply %502, %502 : tensor<8x32x1xf32>
    %cst_138 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %508 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %509 = stablehlo.divide %508, %507 : tensor<8x32x1xf32>
    %510 = stablehlo.broadcast_in_dim %arg41, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %511 = stablehlo.broadcast_in_dim %510, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %512 = stablehlo.multiply %506, %511 : tensor<8x32x64xf32>
    %513 = stablehlo.dot_general %512, %arg44, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %514 = stablehlo.broadcast_in_dim %arg37, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %515 = stablehlo.broadcast_in_dim %514, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %516 = stablehlo.add %513, %515 : tensor<8x32x256xf32>
    %517 = stablehlo.multiply %516, %516 : tensor<8x32x256xf32>
    %518 = stablehlo.multiply %517, %516 : tensor<8x32x256xf32>
    %519 = stablehlo.multiply %516, %516 : tensor<8x32x256xf32>
    %cst_139 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %520 = stablehlo.broadcast_in_dim %cst_139, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %521 = stablehlo.multiply %520, %519 : tensor<8x32x256xf32>
    %cst_140 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %522 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %523 = stablehlo.multiply %522, %518 : tensor<8x32x256xf32>
    %524 = stablehlo.add %516, %523 : tensor<8x32x256xf32>
    %cst_141 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %525 = stablehlo.broadcast_in_dim %cst_141, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %526 = stablehlo.multiply %525, %524 : tensor<8x32x256xf32>
    %527 = stablehlo.tanh %526 : tensor<8x32x256xf32>
    %cst_142 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %528 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %529 = stablehlo.subtract %528, %527 : tensor<8x32x256xf32>
    %cst_143 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %530 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %531 = stablehlo.add %530, %527 : tensor<8x32x256xf32>
    %cst_144 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %532 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %533 = stablehlo.multiply %532, %531 : tensor<8x32x256xf32>
    %534 = stablehlo.multiply %516, %533 : tensor<8x32x256xf32>
    %535 = stablehlo.dot_general %534, %arg38, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %536 = stablehlo.add %486, %535 : tensor<8x32x64xf32>
    %cst_145 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %537 = stablehlo.reduce(%536 init: %cst_145) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %538 = stablehlo.broadcast_in_dim %537, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_146 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %539 = stablehlo.broadcast_in_dim %cst_146, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %540 = stablehlo.divide %538, %539 : tensor<8x32x1xf32>
    %541 = stablehlo.broadcast_in_dim %540, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %542 = stablehlo.subtract %536, %541 : tensor<8x32x64xf32>
    %543 = stablehlo.multiply %542, %542 : tensor<8x32x64xf32>
    %cst_147 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %544 = stablehlo.broadcast_in_dim %cst_147, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %545 = stablehlo.multiply %544, %542 : tensor<8x32x64xf32>
    %cst_148 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %546 = stablehlo.reduce(%543 init: %cst_148) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %547 = stablehlo.broadcast_in_dim %546, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_149 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %548 = stablehlo.broadcast_in_dim %cst_149, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %549 = stablehlo.divide %547, %548 : tensor<8x32x1xf32>
    %cst_150 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %550 = stablehlo.broadcast_in_dim %cst_150, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %551 = stablehlo.add %549, %550 : tensor<8x32x1xf32>
    %552 = stablehlo.sqrt %551 : tensor<8x32x1xf32>
    %cst_151 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %553 = stablehlo.broadcast_in_dim %cst_151, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %554 = stablehlo.divide %553, %552 : tensor<8x32x1xf32>
    %555 = stablehlo.broadcast_in_dim %552, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %556 = stablehlo.divide %542, %555 : tensor<8x32x64xf32>
    %557 = stablehlo.multiply %552, %552 : tensor<8x32x1xf32>
    %cst_152 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %558 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %559 = stablehlo.divide %558, %557 : tensor<8x32x1xf32>
    %560 = stablehlo.broadcast_in_dim %arg49, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %561 = stablehlo.broadcast_in_dim %560, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %562 = stablehlo.multiply %556, %561 : tensor<8x32x64xf32>
    %563 = stablehlo.dot_general %arg52, %562, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %564 = stablehlo.transpose %563, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %565 = stablehlo.dot_general %arg48, %562, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %566 = stablehlo.transpose %565, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %567 = stablehlo.dot_general %arg54, %562, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %568 = stablehlo.transpose %567, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %569 = stablehlo.dot_general %564, %566, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_153 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %570 = stablehlo.broadcast_in_dim %cst_153, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %571 = stablehlo.divide %569, %570 : tensor<8x8x32x32xf32>
    %c_154 = stablehlo.constant dense<true> : tensor<i1>
    %572 = stablehlo.broadcast_in_dim %c_154, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %573 = call @tril(%572) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_155 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %574:2 = call @_where(%573, %571, %cst_155) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_156 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %575 = stablehlo.reduce(%574#0 init: %cst_156) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_157 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %576 = stablehlo.broadcast_in_dim %cst_157, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %577 = stablehlo.maximum %576, %575 : tensor<8x8x32xf32>
    %578 = stablehlo.broadcast_in_dim %577, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %579 = stablehlo.broadcast_in_dim %578, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %580 = stablehlo.subtract %574#0, %579 : tensor<8x8x32x32xf32>
    %581 = stablehlo.exponential %580 : tensor<8x8x32x32xf32>
    %cst_158 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %582 = stablehlo.reduce(%581 init: %cst_158) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %583 = stablehlo.broadcast_in_dim %582, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %584 = stablehlo.broadcast_in_dim %583, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %585 = stablehlo.divide %581, %584 : tensor<8x8x32x32xf32>
    %586 = stablehlo.multiply %583, %583 : tensor<8x8x32x1xf32>
    %cst_159 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %587 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %588 = stablehlo.divide %587, %586 : tensor<8x8x32x1xf32>
    %589 = stablehlo.dot_general %568, %585, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %590 = stablehlo.transpose %589, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %591 = stablehlo.dot_general %590, %arg51, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %592 = stablehlo.add %536, %591 : tensor<8x32x64xf32>
    %cst_160 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %593 = stablehlo.reduce(%592 init: %cst_160) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %594 = stablehlo.broadcast_in_dim %593, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_161 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %595 = stablehlo.broadcast_in_dim %cst_161, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %596 = stablehlo.divide %594, %595 : tensor<8x32x1xf32>
    %597 = stablehlo.broadcast_in_dim %596, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %598 = stablehlo.subtract %592, %597 : tensor<8x32x64xf32>
    %599 = stablehlo.multiply %598, %598 : tensor<8x32x64xf32>
    %cst_162 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %600 = stablehlo.broadcast_in_dim %cst_162, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %601 = stablehlo.multiply %600, %598 : tensor<8x32x64xf32>
    %cst_163 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %602 = stablehlo.reduce(%599 init: %cst_163) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %603 = stablehlo.broadcast_in_dim %602, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_164 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %604 = stablehlo.broadcast_in_dim %cst_164, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %605 = stablehlo.divide %603, %604 : tensor<8x32x1xf32>
    %cst_165 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %606 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %607 = stablehlo.add %605, %606 : tensor<8x32x1xf32>
    %608 = stablehlo.sqrt %607 : tensor<8x32x1xf32>
    %cst_166 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %609 = stablehlo.broadcast_in_dim %cst_166, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %610 = stablehlo.divide %609, %608 : tensor<8x32x1xf32>
    %611 = stablehlo.broadcast_in_dim %608, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %612 = stablehlo.divide %598, %611 : tensor<8x32x64xf32>
    %613 = stablehlo.multiply %608, %608 : tensor<8x32x1xf32>
    %cst_167 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %614 = stablehlo.broadcast_in_dim %cst_167, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %615 = stablehlo.divide %614, %613 : tensor<8x32x1xf32>
    %616 = stablehlo.broadcast_in_dim %arg50, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %617 = stablehlo.broadcast_in_dim %616, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %618 = stablehlo.multiply %612, %617 : tensor<8x32x64xf32>
    %619 = stablehlo.dot_general %618, %arg53, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %620 = stablehlo.broadcast_in_dim %arg46, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %621 = stablehlo.broadcast_in_dim %620, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %622 = stablehlo.add %619, %621 : tensor<8x32x256xf32>
    %623 = stablehlo.multiply %622, %622 : tensor<8x32x256xf32>
    %624 = stablehlo.multiply %623, %622 : tensor<8x32x256xf32>
    %625 = stablehlo.multiply %622, %622 : tensor<8x32x256xf32>
    %cst_168 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %626 = stablehlo.broadcast_in_dim %cst_168, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %627 = stablehlo.multiply %626, %625 : tensor<8x32x256xf32>
    %cst_169 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %628 = stablehlo.broadcast_in_dim %cst_169, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %629 = stablehlo.multiply %628, %624 : tensor<8x32x256xf32>
    %630 = stablehlo.add %622, %629 : tensor<8x32x256xf32>
    %cst_170 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %631 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %632 = stablehlo.multiply %631, %630 : tensor<8x32x256xf32>
    %633 = stablehlo.tanh %632 : tensor<8x32x256xf32>
    %cst_171 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %634 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %635 = stablehlo.subtract %634, %633 : tensor<8x32x256xf32>
    %cst_172 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %636 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %637 = stablehlo.add %636, %633 : tensor<8x32x256xf32>
    %cst_173 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %638 = stablehlo.broadcast_in_dim %cst_173, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %639 = stablehlo.multiply %638, %637 : tensor<8x32x256xf32>
    %640 = stablehlo.multiply %622, %639 : tensor<8x32x256xf32>
    %641 = stablehlo.dot_general %640, %arg47, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %642 = stablehlo.add %592, %641 : tensor<8x32x64xf32>
    %cst_174 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %643 = stablehlo.reduce(%642 init: %cst_174) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %644 = stablehlo.broadcast_in_dim %643, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_175 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %645 = stablehlo.broadcast_in_dim %cst_175, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %646 = stablehlo.divide %644, %645 : tensor<8x32x1xf32>
    %647 = stablehlo.broadcast_in_dim %646, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %648 = stablehlo.subtract %642, %647 : tensor<8x32x64xf32>
    %649 = stablehlo.multiply %648, %648 : tensor<8x32x64xf32>
    %cst_176 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %650 = stablehlo.broadcast_in_dim %cst_176, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %651 = stablehlo.multiply %650, %648 : tensor<8x32x64xf32>
    %cst_177 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %652 = stablehlo.reduce(%649 init: %cst_177) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %653 = stablehlo.broadcast_in_dim %652, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_178 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %654 = stablehlo.broadcast_in_dim %cst_178, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %655 = stablehlo.divide %653, %654 : tensor<8x32x1xf32>
    %cst_179 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %656 = stablehlo.broadcast_in_dim %cst_179, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %657 = stablehlo.add %655, %656 : tensor<8x32x1xf32>
    %658 = stablehlo.sqrt %657 : tensor<8x32x1xf32>
    %cst_180 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %659 = stablehlo.broadcast_in_dim %cst_180, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %660 = stablehlo.divide %659, %658 : tensor<8x32x1xf32>
    %661 = stablehlo.broadcast_in_dim %658, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %662 = stablehlo.divide %648, %661 : tensor<8x32x64xf32>
    %663 = stablehlo.multiply %658, %658 : tensor<8x32x1xf32>
    %cst_181 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %664 = stablehlo.broadcast_in_dim %cst_181, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %665 = stablehlo.divide %664, %663 : tensor<8x32x1xf32>
    %666 = stablehlo.broadcast_in_dim %arg58, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %667 = stablehlo.broadcast_in_dim %666, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %668 = stablehlo.multiply %662, %667 : tensor<8x32x64xf32>
    %669 = stablehlo.dot_general %arg61, %668, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %670 = stablehlo.transpose %669, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %671 = stablehlo.dot_general %arg57, %668, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %672 = stablehlo.transpose %671, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %673 = stablehlo.dot_general %arg63, %668, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %674 = stablehlo.transpose %673, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %675 = stablehlo.dot_general %670, %672, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_182 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %676 = stablehlo.broadcast_in_dim %cst_182, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %677 = stablehlo.divide %675, %676 : tensor<8x8x32x32xf32>
    %c_183 = stablehlo.constant dense<true> : tensor<i1>
    %678 = stablehlo.broadcast_in_dim %c_183, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %679 = call @tril(%678) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_184 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %680:2 = call @_where(%679, %677, %cst_184) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_185 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %681 = stablehlo.reduce(%680#0 init: %cst_185) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_186 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %682 = stablehlo.broadcast_in_dim %cst_186, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %683 = stablehlo.maximum %682, %681 : tensor<8x8x32xf32>
    %684 = stablehlo.broadcast_in_dim %683, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %685 = stablehlo.broadcast_in_dim %684, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %686 = stablehlo.subtract %680#0, %685 : tensor<8x8x32x32xf32>
    %687 = stablehlo.exponential %686 : tensor<8x8x32x32xf32>
    %cst_187 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %688 = stablehlo.reduce(%687 init: %cst_187) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %689 = stablehlo.broadcast_in_dim %688, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %690 = stablehlo.broadcast_in_dim %689, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %691 = stablehlo.divide %687, %690 : tensor<8x8x32x32xf32>
    %692 = stablehlo.multiply %689, %689 : tensor<8x8x32x1xf32>
    %cst_188 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %693 = stablehlo.broadcast_in_dim %cst_188, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %694 = stablehlo.divide %693, %692 : tensor<8x8x32x1xf32>
    %695 = stablehlo.dot_general %674, %691, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %696 = stablehlo.transpose %695, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %697 = stablehlo.dot_general %696, %arg60, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %698 = stablehlo.add %642, %697 : tensor<8x32x64xf32>
    %cst_189 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %699 = stablehlo.reduce(%698 init: %cst_189) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %700 = stablehlo.broadcast_in_dim %699, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_190 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %701 = stablehlo.broadcast_in_dim %cst_190, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %702 = stablehlo.divide %700, %701 : tensor<8x32x1xf32>
    %703 = stablehlo.broadcast_in_dim %702, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %704 = stablehlo.subtract %698, %703 : tensor<8x32x64xf32>
    %705 = stablehlo.multiply %704, %704 : tensor<8x32x64xf32>
    %cst_191 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %706 = stablehlo.broadcast_in_dim %cst_191, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %707 = stablehlo.multiply %706, %704 : tensor<8x32x64xf32>
    %cst_192 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %708 = stablehlo.reduce(%705 init: %cst_192) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %709 = stablehlo.broadcast_in_dim %708, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_193 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %710 = stablehlo.broadcast_in_dim %cst_193, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %711 = stablehlo.divide %709, %710 : tensor<8x32x1xf32>
    %cst_194 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %712 = stablehlo.broadcast_in_dim %cst_194, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %713 = stablehlo.add %711, %712 : tensor<8x32x1xf32>
    %714 = stablehlo.sqrt %713 : tensor<8x32x1xf32>
    %cst_195 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %715 = stablehlo.broadcast_in_dim %cst_195, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %716 = stablehlo.divide %715, %714 : tensor<8x32x1xf32>
    %717 = stablehlo.broadcast_in_dim %714, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %718 = stablehlo.divide %704, %717 : tensor<8x32x64xf32>
    %719 = stablehlo.multiply %714, %714 : tensor<8x32x1xf32>
    %cst_196 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %720 = stablehlo.broadcast_in_dim %cst_196, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %721 = stablehlo.divide %720, %719 : tensor<8x32x1xf32>
    %722 = stablehlo.broadcast_in_dim %arg59, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %723 = stablehlo.broadcast_in_dim %722, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %724 = stablehlo.multiply %718, %723 : tensor<8x32x64xf32>
    %725 = stablehlo.dot_general %724, %arg62, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %726 = stablehlo.broadcast_in_dim %arg55, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %727 = stablehlo.broadcast_in_dim %726, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %728 = stablehlo.add %725, %727 : tensor<8x32x256xf32>
    %729 = stablehlo.multiply %728, %728 : tensor<8x32x256xf32>
    %730 = stablehlo.multiply %729, %728 : tensor<8x32x256xf32>
    %731 = stablehlo.multiply %728, %728 : tensor<8x32x256xf32>
    %cst_197 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %732 = stablehlo.broadcast_in_dim %cst_197, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %733 = stablehlo.multiply %732, %731 : tensor<8x32x256xf32>
    %cst_198 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %734 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %735 = stablehlo.multiply %734, %730 : tensor<8x32x256xf32>
    %736 = stablehlo.add %728, %735 : tensor<8x32x256xf32>
    %cst_199 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %737 = stablehlo.broadcast_in_dim %cst_199, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %738 = stablehlo.multiply %737, %736 : tensor<8x32x256xf32>
    %739 = stablehlo.tanh %738 : tensor<8x32x256xf32>
    %cst_200 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %740 = stablehlo.broadcast_in_dim %cst_200, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %741 = stablehlo.subtract %740, %739 : tensor<8x32x256xf32>
    %cst_201 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %742 = stablehlo.broadcast_in_dim %cst_201, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %743 = stablehlo.add %742, %739 : tensor<8x32x256xf32>
    %cst_202 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %744 = stablehlo.broadcast_in_dim %cst_202, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %745 = stablehlo.multiply %744, %743 : tensor<8x32x256xf32>
    %746 = stablehlo.multiply %728, %745 : tensor<8x32x256xf32>
    %747 = stablehlo.dot_general %746, %arg56, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %748 = stablehlo.add %698, %747 : tensor<8x32x64xf32>
    %cst_203 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %749 = stablehlo.reduce(%748 init: %cst_203) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %750 = stablehlo.broadcast_in_dim %749, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_204 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %751 = stablehlo.broadcast_in_dim %cst_204, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %752 = stablehlo.divide %750, %751 : tensor<8x32x1xf32>
    %753 = stablehlo.broadcast_in_dim %752, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %754 = stablehlo.subtract %748, %753 : tensor<8x32x64xf32>
    %755 = stablehlo.multiply %754, %754 : tensor<8x32x64xf32>
    %cst_205 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %756 = stablehlo.broadcast_in_dim %cst_205, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %757 = stablehlo.multiply %756, %754 : tensor<8x32x64xf32>
    %cst_206 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %758 = stablehlo.reduce(%755 init: %cst_206) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %759 = stablehlo.broadcast_in_dim %758, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_207 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %760 = stablehlo.broadcast_in_dim %cst_207, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %761 = stablehlo.divide %759, %760 : tensor<8x32x1xf32>
    %cst_208 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %762 = stablehlo.broadcast_in_dim %cst_208, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %763 = stablehlo.add %761, %762 : tensor<8x32x1xf32>
    %764 = stablehlo.sqrt %763 : tensor<8x32x1xf32>
    %cst_209 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %765 = stablehlo.broadcast_in_dim %cst_209, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %766 = stablehlo.divide %765, %764 : tensor<8x32x1xf32>
    %767 = stablehlo.broadcast_in_dim %764, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %768 = stablehlo.divide %754, %767 : tensor<8x32x64xf32>
    %769 = stablehlo.multiply %764, %764 : tensor<8x32x1xf32>
    %cst_210 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %770 = stablehlo.broadcast_in_dim %cst_210, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %771 = stablehlo.divide %770, %769 : tensor<8x32x1xf32>
    %772 = stablehlo.broadcast_in_dim %arg67, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %773 = stablehlo.broadcast_in_dim %772, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %774 = stablehlo.multiply %768, %773 : tensor<8x32x64xf32>
    %775 = stablehlo.dot_general %arg70, %774, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %776 = stablehlo.transpose %775, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %777 = stablehlo.dot_general %arg66, %774, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %778 = stablehlo.transpose %777, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %779 = stablehlo.dot_general %arg72, %774, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %780 = stablehlo.transpose %779, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %781 = stablehlo.dot_general %776, %778, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_211 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %782 = stablehlo.broadcast_in_dim %cst_211, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %783 = stablehlo.divide %781, %782 : tensor<8x8x32x32xf32>
    %c_212 = stablehlo.constant dense<true> : tensor<i1>
    %784 = stablehlo.broadcast_in_dim %c_212, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %785 = call @tril(%784) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_213 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %786:2 = call @_where(%785, %783, %cst_213) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_214 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %787 = stablehlo.reduce(%786#0 init: %cst_214) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_215 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %788 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %789 = stablehlo.maximum %788, %787 : tensor<8x8x32xf32>
    %790 = stablehlo.broadcast_in_dim %789, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %791 = stablehlo.broadcast_in_dim %790, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %792 = stablehlo.subtract %786#0, %791 : tensor<8x8x32x32xf32>
    %793 = stablehlo.exponential %792 : tensor<8x8x32x32xf32>
    %cst_216 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %794 = stablehlo.reduce(%793 init: %cst_216) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %795 = stablehlo.broadcast_in_dim %794, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %796 = stablehlo.broadcast_in_dim %795, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %797 = stablehlo.divide %793, %796 : tensor<8x8x32x32xf32>
    %798 = stablehlo.multiply %795, %795 : tensor<8x8x32x1xf32>
    %cst_217 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %799 = stablehlo.broadcast_in_dim %cst_217, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %800 = stablehlo.divide %799, %798 : tensor<8x8x32x1xf32>
    %801 = stablehlo.dot_general %780, %797, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %802 = stablehlo.transpose %801, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %803 = stablehlo.dot_general %802, %arg69, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %804 = stablehlo.add %748, %803 : tensor<8x32x64xf32>
    %cst_218 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %805 = stablehlo.reduce(%804 init: %cst_218) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %806 = stablehlo.broadcast_in_dim %805, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_219 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %807 = stablehlo.broadcast_in_dim %cst_219, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %808 = stablehlo.divide %806, %807 : tensor<8x32x1xf32>
    %809 = stablehlo.broadcast_in_dim %808, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %810 = stablehlo.subtract %804, %809 : tensor<8x32x64xf32>
    %811 = stablehlo.multiply %810, %810 : tensor<8x32x64xf32>
    %cst_220 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %812 = stablehlo.broadcast_in_dim %cst_220, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %813 = stablehlo.multiply %812, %810 : tensor<8x32x64xf32>
    %cst_221 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %814 = stablehlo.reduce(%811 init: %cst_221) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %815 = stablehlo.broadcast_in_dim %814, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_222 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %816 = stablehlo.broadcast_in_dim %cst_222, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %817 = stablehlo.divide %815, %816 : tensor<8x32x1xf32>
    %cst_223 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %818 = stablehlo.broadcast_in_dim %cst_223, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %819 = stablehlo.add %817, %818 : tensor<8x32x1xf32>
    %820 = stablehlo.sqrt %819 : tensor<8x32x1xf32>
    %cst_224 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %821 = stablehlo.broadcast_in_dim %cst_224, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %822 = stablehlo.divide %821, %820 : tensor<8x32x1xf32>
    %823 = stablehlo.broadcast_in_dim %820, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %824 = stablehlo.divide %810, %823 : tensor<8x32x64xf32>
    %825 = stablehlo.multiply %820, %820 : tensor<8x32x1xf32>
    %cst_225 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %826 = stablehlo.broadcast_in_dim %cst_225, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %827 = stablehlo.divide %826, %825 : tensor<8x32x1xf32>
    %828 = stablehlo.broadcast_in_dim %arg68, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %829 = stablehlo.broadcast_in_dim %828, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %830 = stablehlo.multiply %824, %829 : tensor<8x32x64xf32>
    %831 = stablehlo.dot_general %830, %arg71, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %832 = stablehlo.broadcast_in_dim %arg64, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %833 = stablehlo.broadcast_in_dim %832, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %834 = stablehlo.add %831, %833 : tensor<8x32x256xf32>
    %835 = stablehlo.multiply %834, %834 : tensor<8x32x256xf32>
    %836 = stablehlo.multiply %835, %834 : tensor<8x32x256xf32>
    %837 = stablehlo.multiply %834, %834 : tensor<8x32x256xf32>
    %cst_226 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %838 = stablehlo.broadcast_in_dim %cst_226, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %839 = stablehlo.multiply %838, %837 : tensor<8x32x256xf32>
    %cst_227 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %840 = stablehlo.broadcast_in_dim %cst_227, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %841 = stablehlo.multiply %840, %836 : tensor<8x32x256xf32>
    %842 = stablehlo.add %834, %841 : tensor<8x32x256xf32>
    %cst_228 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %843 = stablehlo.broadcast_in_dim %cst_228, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %844 = stablehlo.multiply %843, %842 : tensor<8x32x256xf32>
    %845 = stablehlo.tanh %844 : tensor<8x32x256xf32>
    %cst_229 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %846 = stablehlo.broadcast_in_dim %cst_229, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %847 = stablehlo.subtract %846, %845 : tensor<8x32x256xf32>
    %cst_230 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %848 = stablehlo.broadcast_in_dim %cst_230, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %849 = stablehlo.add %848, %845 : tensor<8x32x256xf32>
    %cst_231 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %850 = stablehlo.broadcast_in_dim %cst_231, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %851 = stablehlo.multiply %850, %849 : tensor<8x32x256xf32>
    %852 = stablehlo.multiply %834, %851 : tensor<8x32x256xf32>
    %853 = stablehlo.dot_general %852, %arg65, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %854 = stablehlo.add %804, %853 : tensor<8x32x64xf32>
    %cst_232 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %855 = stablehlo.reduce(%854 init: %cst_232) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %856 = stablehlo.broadcast_in_dim %855, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_233 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %857 = stablehlo.broadcast_in_dim %cst_233, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %858 = stablehlo.divide %856, %857 : tensor<8x32x1xf32>
    %859 = stablehlo.broadcast_in_dim %858, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %860 = stablehlo.subtract %854, %859 : tensor<8x32x64xf32>
    %861 = stablehlo.multiply %860, %860 : tensor<8x32x64xf32>
    %cst_234 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %862 = stablehlo.broadcast_in_dim %cst_234, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %863 = stablehlo.multiply %862, %860 : tensor<8x32x64xf32>
    %cst_235 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %864 = stablehlo.reduce(%861 init: %cst_235) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %865 = stablehlo.broadcast_in_dim %864, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_236 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %866 = stablehlo.broadcast_in_dim %cst_236, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %867 = stablehlo.divide %865, %866 : tensor<8x32x1xf32>
    %cst_237 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %868 = stablehlo.broadcast_in_dim %cst_237, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %869 = stablehlo.add %867, %868 : tensor<8x32x1xf32>
    %870 = stablehlo.sqrt %869 : tensor<8x32x1xf32>
    %cst_238 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %871 = stablehlo.broadcast_in_dim %cst_238, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %872 = stablehlo.divide %871, %870 : tensor<8x32x1xf32>
    %873 = stablehlo.broadcast_in_dim %870, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %874 = stablehlo.divide %860, %873 : tensor<8x32x64xf32>
    %875 = stablehlo.multiply %870, %870 : tensor<8x32x1xf32>
    %cst_239 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %876 = stablehlo.broadcast_in_dim %cst_239, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %877 = stablehlo.divide %876, %875 : tensor<8x32x1xf32>
    %878 = stablehlo.broadcast_in_dim %arg76, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %879 = stablehlo.broadcast_in_dim %878, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %880 = stablehlo.multiply %874, %879 : tensor<8x32x64xf32>
    %881 = stablehlo.dot_general %arg79, %880, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %882 = stablehlo.transpose %881, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %883 = stablehlo.dot_general %arg75, %880, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %884 = stablehlo.transpose %883, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %885 = stablehlo.dot_general %arg81, %880, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %886 = stablehlo.transpose %885, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %887 = stablehlo.dot_general %882, %884, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_240 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %888 = stablehlo.broadcast_in_dim %cst_240, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %889 = stablehlo.divide %887, %888 : tensor<8x8x32x32xf32>
    %c_241 = stablehlo.constant dense<true> : tensor<i1>
    %890 = stablehlo.broadcast_in_dim %c_241, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %891 = call @tril(%890) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_242 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %892:2 = call @_where(%891, %889, %cst_242) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_243 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %893 = stablehlo.reduce(%892#0 init: %cst_243) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_244 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %894 = stablehlo.broadcast_in_dim %cst_244, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %895 = stablehlo.maximum %894, %893 : tensor<8x8x32xf32>
    %896 = stablehlo.broadcast_in_dim %895, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %897 = stablehlo.broadcast_in_dim %896, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %898 = stablehlo.subtract %892#0, %897 : tensor<8x8x32x32xf32>
    %899 = stablehlo.exponential %898 : tensor<8x8x32x32xf32>
    %cst_245 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %900 = stablehlo.reduce(%899 init: %cst_245) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %901 = stablehlo.broadcast_in_dim %900, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %902 = stablehlo.broadcast_in_dim %901, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %903 = stablehlo.divide %899, %902 : tensor<8x8x32x32xf32>
    %904 = stablehlo.multiply %901, %901 : tensor<8x8x32x1xf32>
    %cst_246 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %905 = stablehlo.broadcast_in_dim %cst_246, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %906 = stablehlo.divide %905, %904 : tensor<8x8x32x1xf32>
    %907 = stablehlo.dot_general %886, %903, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %908 = stablehlo.transpose %907, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %909 = stablehlo.dot_general %908, %arg78, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %910 = stablehlo.add %854, %909 : tensor<8x32x64xf32>
    %cst_247 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %911 = stablehlo.reduce(%910 init: %cst_247) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %912 = stablehlo.broadcast_in_dim %911, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_248 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %913 = stablehlo.broadcast_in_dim %cst_248, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %914 = stablehlo.divide %912, %913 : tensor<8x32x1xf32>
    %915 = stablehlo.broadcast_in_dim %914, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %916 = stablehlo.subtract %910, %915 : tensor<8x32x64xf32>
    %917 = stablehlo.multiply %916, %916 : tensor<8x32x64xf32>
    %cst_249 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %918 = stablehlo.broadcast_in_dim %cst_249, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %919 = stablehlo.multiply %918, %916 : tensor<8x32x64xf32>
    %cst_250 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %920 = stablehlo.reduce(%917 init: %cst_250) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %921 = stablehlo.broadcast_in_dim %920, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_251 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %922 = stablehlo.broadcast_in_dim %cst_251, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %923 = stablehlo.divide %921, %922 : tensor<8x32x1xf32>
    %cst_252 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %924 = stablehlo.broadcast_in_dim %cst_252, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %925 = stablehlo.add %923, %924 : tensor<8x32x1xf32>
    %926 = stablehlo.sqrt %925 : tensor<8x32x1xf32>
    %cst_253 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %927 = stablehlo.broadcast_in_dim %cst_253, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %928 = stablehlo.divide %927, %926 : tensor<8x32x1xf32>
    %929 = stablehlo.broadcast_in_dim %926, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %930 = stablehlo.divide %916, %929 : tensor<8x32x64xf32>
    %931 = stablehlo.multiply %926, %926 : tensor<8x32x1xf32>
    %cst_254 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %932 = stablehlo.broadcast_in_dim %cst_254, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %933 = stablehlo.divide %932, %931 : tensor<8x32x1xf32>
    %934 = stablehlo.broadcast_in_dim %arg77, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %935 = stablehlo.broadcast_in_dim %934, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %936 = stablehlo.multiply %930, %935 : tensor<8x32x64xf32>
    %937 = stablehlo.dot_general %936, %arg80, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %938 = stablehlo.broadcast_in_dim %arg73, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %939 = stablehlo.broadcast_in_dim %938, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %940 = stablehlo.add %937, %939 : tensor<8x32x256xf32>
    %941 = stablehlo.multiply %940, %940 : tensor<8x32x256xf32>
    %942 = stablehlo.multiply %941, %940 : tensor<8x32x256xf32>
    %943 = stablehlo.multiply %940, %940 : tensor<8x32x256xf32>
    %cst_255 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %944 = stablehlo.broadcast_in_dim %cst_255, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %945 = stablehlo.multiply %944, %943 : tensor<8x32x256xf32>
    %cst_256 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %946 = stablehlo.broadcast_in_dim %cst_256, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %947 = stablehlo.multiply %946, %942 : tensor<8x32x256xf32>
    %948 = stablehlo.add %940, %947 : tensor<8x32x256xf32>
    %cst_257 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %949 = stablehlo.broadcast_in_dim %cst_257, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %950 = stablehlo.multiply %949, %948 : tensor<8x32x256xf32>
    %951 = stablehlo.tanh %950 : tensor<8x32x256xf32>
    %cst_258 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %952 = stablehlo.broadcast_in_dim %cst_258, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %953 = stablehlo.subtract %952, %951 : tensor<8x32x256xf32>
    %cst_259 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %954 = stablehlo.broadcast_in_dim %cst_259, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %955 = stablehlo.add %954, %951 : tensor<8x32x256xf32>
    %cst_260 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %956 = stablehlo.broadcast_in_dim %cst_260, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %957 = stablehlo.multiply %956, %955 : tensor<8x32x256xf32>
    %958 = stablehlo.multiply %940, %957 : tensor<8x32x256xf32>
    %959 = stablehlo.dot_general %958, %arg74, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %960 = stablehlo.add %910, %959 : tensor<8x32x64xf32>
    %cst_261 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %961 = stablehlo.reduce(%960 init: %cst_261) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %962 = stablehlo.broadcast_in_dim %961, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_262 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %963 = stablehlo.broadcast_in_dim %cst_262, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %964 = stablehlo.divide %962, %963 : tensor<8x32x1xf32>
    %965 = stablehlo.broadcast_in_dim %964, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %966 = stablehlo.subtract %960, %965 : tensor<8x32x64xf32>
    %967 = stablehlo.multiply %966, %966 : tensor<8x32x64xf32>
    %cst_263 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %968 = stablehlo.broadcast_in_dim %cst_263, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %969 = stablehlo.multiply %968, %966 : tensor<8x32x64xf32>
    %cst_264 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %970 = stablehlo.reduce(%967 init: %cst_264) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %971 = stablehlo.broadcast_in_dim %970, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_265 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %972 = stablehlo.broadcast_in_dim %cst_265, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %973 = stablehlo.divide %971, %972 : tensor<8x32x1xf32>
    %cst_266 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %974 = stablehlo.broadcast_in_dim %cst_266, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %975 = stablehlo.add %973, %974 : tensor<8x32x1xf32>
    %976 = stablehlo.sqrt %975 : tensor<8x32x1xf32>
    %cst_267 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %977 = stablehlo.broadcast_in_dim %cst_267, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %978 = stablehlo.divide %977, %976 : tensor<8x32x1xf32>
    %979 = stablehlo.broadcast_in_dim %976, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %980 = stablehlo.divide %966, %979 : tensor<8x32x64xf32>
    %981 = stablehlo.multiply %976, %976 : tensor<8x32x1xf32>
    %cst_268 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %982 = stablehlo.broadcast_in_dim %cst_268, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %983 = stablehlo.divide %982, %981 : tensor<8x32x1xf32>
    %984 = stablehlo.broadcast_in_dim %arg85, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %985 = stablehlo.broadcast_in_dim %984, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %986 = stablehlo.multiply %980, %985 : tensor<8x32x64xf32>
    %987 = stablehlo.dot_general %arg88, %986, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %988 = stablehlo.transpose %987, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %989 = stablehlo.dot_general %arg84, %986, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %990 = stablehlo.transpose %989, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %991 = stablehlo.dot_general %arg90, %986, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %992 = stablehlo.transpose %991, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %993 = stablehlo.dot_general %988, %990, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_269 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %994 = stablehlo.broadcast_in_dim %cst_269, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %995 = stablehlo.divide %993, %994 : tensor<8x8x32x32xf32>
    %c_270 = stablehlo.constant dense<true> : tensor<i1>
    %996 = stablehlo.broadcast_in_dim %c_270, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %997 = call @tril(%996) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_271 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %998:2 = call @_where(%997, %995, %cst_271) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_272 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %999 = stablehlo.reduce(%998#0 init: %cst_272) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_273 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1000 = stablehlo.broadcast_in_dim %cst_273, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %1001 = stablehlo.maximum %1000, %999 : tensor<8x8x32xf32>
    %1002 = stablehlo.broadcast_in_dim %1001, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1003 = stablehlo.broadcast_in_dim %1002, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1004 = stablehlo.subtract %998#0, %1003 : tensor<8x8x32x32xf32>
    %1005 = stablehlo.exponential %1004 : tensor<8x8x32x32xf32>
    %cst_274 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1006 = stablehlo.reduce(%1005 init: %cst_274) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1007 = stablehlo.broadcast_in_dim %1006, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1008 = stablehlo.broadcast_in_dim %1007, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1009 = stablehlo.divide %1005, %1008 : tensor<8x8x32x32xf32>
    %1010 = stablehlo.multiply %1007, %1007 : tensor<8x8x32x1xf32>
    %cst_275 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1011 = stablehlo.broadcast_in_dim %cst_275, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %1012 = stablehlo.divide %1011, %1010 : tensor<8x8x32x1xf32>
    %1013 = stablehlo.dot_general %992, %1009, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1014 = stablehlo.transpose %1013, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %1015 = stablehlo.dot_general %1014, %arg87, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %1016 = stablehlo.add %960, %1015 : tensor<8x32x64xf32>
    %cst_276 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1017 = stablehlo.reduce(%1016 init: %cst_276) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1018 = stablehlo.broadcast_in_dim %1017, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_277 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1019 = stablehlo.broadcast_in_dim %cst_277, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1020 = stablehlo.divide %1018, %1019 : tensor<8x32x1xf32>
    %1021 = stablehlo.broadcast_in_dim %1020, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1022 = stablehlo.subtract %1016, %1021 : tensor<8x32x64xf32>
    %1023 = stablehlo.multiply %1022, %1022 : tensor<8x32x64xf32>
    %cst_278 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1024 = stablehlo.broadcast_in_dim %cst_278, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %1025 = stablehlo.multiply %1024, %1022 : tensor<8x32x64xf32>
    %cst_279 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1026 = stablehlo.reduce(%1023 init: %cst_279) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1027 = stablehlo.broadcast_in_dim %1026, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_280 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1028 = stablehlo.broadcast_in_dim %cst_280, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1029 = stablehlo.divide %1027, %1028 : tensor<8x32x1xf32>
    %cst_281 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1030 = stablehlo.broadcast_in_dim %cst_281, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1031 = stablehlo.add %1029, %1030 : tensor<8x32x1xf32>
    %1032 = stablehlo.sqrt %1031 : tensor<8x32x1xf32>
    %cst_282 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1033 = stablehlo.broadcast_in_dim %cst_282, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1034 = stablehlo.divide %1033, %1032 : tensor<8x32x1xf32>
    %1035 = stablehlo.broadcast_in_dim %1032, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1036 = stablehlo.divide %1022, %1035 : tensor<8x32x64xf32>
    %1037 = stablehlo.multiply %1032, %1032 : tensor<8x32x1xf32>
    %cst_283 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1038 = stablehlo.broadcast_in_dim %cst_283, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1039 = stablehlo.divide %1038, %1037 : tensor<8x32x1xf32>
    %1040 = stablehlo.broadcast_in_dim %arg86, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1041 = stablehlo.broadcast_in_dim %1040, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1042 = stablehlo.multiply %1036, %1041 : tensor<8x32x64xf32>
    %1043 = stablehlo.dot_general %1042, %arg89, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %1044 = stablehlo.broadcast_in_dim %arg82, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %1045 = stablehlo.broadcast_in_dim %1044, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %1046 = stablehlo.add %1043, %1045 : tensor<8x32x256xf32>
    %1047 = stablehlo.multiply %1046, %1046 : tensor<8x32x256xf32>
    %1048 = stablehlo.multiply %1047, %1046 : tensor<8x32x256xf32>
    %1049 = stablehlo.multiply %1046, %1046 : tensor<8x32x256xf32>
    %cst_284 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %1050 = stablehlo.broadcast_in_dim %cst_284, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1051 = stablehlo.multiply %1050, %1049 : tensor<8x32x256xf32>
    %cst_285 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1052 = stablehlo.broadcast_in_dim %cst_285, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1053 = stablehlo.multiply %1052, %1048 : tensor<8x32x256xf32>
    %1054 = stablehlo.add %1046, %1053 : tensor<8x32x256xf32>
    %cst_286 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1055 = stablehlo.broadcast_in_dim %cst_286, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1056 = stablehlo.multiply %1055, %1054 : tensor<8x32x256xf32>
    %1057 = stablehlo.tanh %1056 : tensor<8x32x256xf32>
    %cst_287 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1058 = stablehlo.broadcast_in_dim %cst_287, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1059 = stablehlo.subtract %1058, %1057 : tensor<8x32x256xf32>
    %cst_288 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1060 = stablehlo.broadcast_in_dim %cst_288, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1061 = stablehlo.add %1060, %1057 : tensor<8x32x256xf32>
    %cst_289 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1062 = stablehlo.broadcast_in_dim %cst_289, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1063 = stablehlo.multiply %1062, %1061 : tensor<8x32x256xf32>
    %1064 = stablehlo.multiply %1046, %1063 : tensor<8x32x256xf32>
    %1065 = stablehlo.dot_general %1064, %arg83, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %1066 = stablehlo.add %1016, %1065 : tensor<8x32x64xf32>
    %cst_290 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1067 = stablehlo.reduce(%1066 init: %cst_290) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1068 = stablehlo.broadcast_in_dim %1067, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_291 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1069 = stablehlo.broadcast_in_dim %cst_291, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1070 = stablehlo.divide %1068, %1069 : tensor<8x32x1xf32>
    %1071 = stablehlo.broadcast_in_dim %1070, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1072 = stablehlo.subtract %1066, %1071 : tensor<8x32x64xf32>
    %1073 = stablehlo.multiply %1072, %1072 : tensor<8x32x64xf32>
    %cst_292 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1074 = stablehlo.broadcast_in_dim %cst_292, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %1075 = stablehlo.multiply %1074, %1072 : tensor<8x32x64xf32>
    %cst_293 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1076 = stablehlo.reduce(%1073 init: %cst_293) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1077 = stablehlo.broadcast_in_dim %1076, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_294 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1078 = stablehlo.broadcast_in_dim %cst_294, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1079 = stablehlo.divide %1077, %1078 : tensor<8x32x1xf32>
    %cst_295 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1080 = stablehlo.broadcast_in_dim %cst_295, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1081 = stablehlo.add %1079, %1080 : tensor<8x32x1xf32>
    %1082 = stablehlo.sqrt %1081 : tensor<8x32x1xf32>
    %cst_296 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1083 = stablehlo.broadcast_in_dim %cst_296, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1084 = stablehlo.divide %1083, %1082 : tensor<8x32x1xf32>
    %1085 = stablehlo.broadcast_in_dim %1082, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1086 = stablehlo.divide %1072, %1085 : tensor<8x32x64xf32>
    %1087 = stablehlo.multiply %1082, %1082 : tensor<8x32x1xf32>
    %cst_297 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1088 = stablehlo.broadcast_in_dim %cst_297, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1089 = stablehlo.divide %1088, %1087 : tensor<8x32x1xf32>
    %1090 = stablehlo.broadcast_in_dim %arg94, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1091 = stablehlo.broadcast_in_dim %1090, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1092 = stablehlo.multiply %1086, %1091 : tensor<8x32x64xf32>
    %1093 = stablehlo.dot_general %arg97, %1092, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %1094 = stablehlo.transpose %1093, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1095 = stablehlo.dot_general %arg93, %1092, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %1096 = stablehlo.transpose %1095, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1097 = stablehlo.dot_general %arg99, %1092, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %1098 = stablehlo.transpose %1097, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1099 = stablehlo.dot_general %1094, %1096, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_298 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1100 = stablehlo.broadcast_in_dim %cst_298, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1101 = stablehlo.divide %1099, %1100 : tensor<8x8x32x32xf32>
    %c_299 = stablehlo.constant dense<true> : tensor<i1>
    %1102 = stablehlo.broadcast_in_dim %c_299, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %1103 = call @tril(%1102) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_300 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1104:2 = call @_where(%1103, %1101, %cst_300) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_301 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1105 = stablehlo.reduce(%1104#0 init: %cst_301) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_302 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1106 = stablehlo.broadcast_in_dim %cst_302, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %1107 = stablehlo.maximum %1106, %1105 : tensor<8x8x32xf32>
    %1108 = stablehlo.broadcast_in_dim %1107, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1109 = stablehlo.broadcast_in_dim %1108, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1110 = stablehlo.subtract %1104#0, %1109 : tensor<8x8x32x32xf32>
    %1111 = stablehlo.exponential %1110 : tensor<8x8x32x32xf32>
    %cst_303 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1112 = stablehlo.reduce(%1111 init: %cst_303) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1113 = stablehlo.broadcast_in_dim %1112, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1114 = stablehlo.broadcast_in_dim %1113, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1115 = stablehlo.divide %1111, %1114 : tensor<8x8x32x32xf32>
    %1116 = stablehlo.multiply %1113, %1113 : tensor<8x8x32x1xf32>
    %cst_304 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1117 = stablehlo.broadcast_in_dim %cst_304, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %1118 = stablehlo.divide %1117, %1116 : tensor<8x8x32x1xf32>
    %1119 = stablehlo.dot_general %1098, %1115, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1120 = stablehlo.transpose %1119, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %1121 = stablehlo.dot_general %1120, %arg96, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %1122 = stablehlo.add %1066, %1121 : tensor<8x32x64xf32>
    %cst_305 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1123 = stablehlo.reduce(%1122 init: %cst_305) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1124 = stablehlo.broadcast_in_dim %1123, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_306 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1125 = stablehlo.broadcast_in_dim %cst_306, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1126 = stablehlo.divide %1124, %1125 : tensor<8x32x1xf32>
    %1127 = stablehlo.broadcast_in_dim %1126, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1128 = stablehlo.subtract %1122, %1127 : tensor<8x32x64xf32>
    %1129 = stablehlo.multiply %1128, %1128 : tensor<8x32x64xf32>
    %cst_307 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1130 = stablehlo.broadcast_in_dim %cst_307, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %1131 = stablehlo.multiply %1130, %1128 : tensor<8x32x64xf32>
    %cst_308 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1132 = stablehlo.reduce(%1129 init: %cst_308) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1133 = stablehlo.broadcast_in_dim %1132, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_309 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1134 = stablehlo.broadcast_in_dim %cst_309, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1135 = stablehlo.divide %1133, %1134 : tensor<8x32x1xf32>
    %cst_310 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1136 = stablehlo.broadcast_in_dim %cst_310, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1137 = stablehlo.add %1135, %1136 : tensor<8x32x1xf32>
    %1138 = stablehlo.sqrt %1137 : tensor<8x32x1xf32>
    %cst_311 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1139 = stablehlo.broadcast_in_dim %cst_311, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1140 = stablehlo.divide %1139, %1138 : tensor<8x32x1xf32>
    %1141 = stablehlo.broadcast_in_dim %1138, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1142 = stablehlo.divide %1128, %1141 : tensor<8x32x64xf32>
    %1143 = stablehlo.multiply %1138, %1138 : tensor<8x32x1xf32>
    %cst_312 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1144 = stablehlo.broadcast_in_dim %cst_312, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1145 = stablehlo.divide %1144, %1143 : tensor<8x32x1xf32>
    %1146 = stablehlo.broadcast_in_dim %arg95, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1147 = stablehlo.broadcast_in_dim %1146, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1148 = stablehlo.multiply %1142, %1147 : tensor<8x32x64xf32>
    %1149 = stablehlo.dot_general %1148, %arg98, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %1150 = stablehlo.broadcast_in_dim %arg91, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %1151 = stablehlo.broadcast_in_dim %1150, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %1152 = stablehlo.add %1149, %1151 : tensor<8x32x256xf32>
    %1153 = stablehlo.multiply %1152, %1152 : tensor<8x32x256xf32>
    %1154 = stablehlo.multiply %1153, %1152 : tensor<8x32x256xf32>
    %1155 = stablehlo.multiply %1152, %1152 : tensor<8x32x256xf32>
    %cst_313 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %1156 = stablehlo.broadcast_in_dim %cst_313, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1157 = stablehlo.multiply %1156, %1155 : tensor<8x32x256xf32>
    %cst_314 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1158 = stablehlo.broadcast_in_dim %cst_314, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1159 = stablehlo.multiply %1158, %1154 : tensor<8x32x256xf32>
    %1160 = stablehlo.add %1152, %1159 : tensor<8x32x256xf32>
    %cst_315 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1161 = stablehlo.broadcast_in_dim %cst_315, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1162 = stablehlo.multiply %1161, %1160 : tensor<8x32x256xf32>
    %1163 = stablehlo.tanh %1162 : tensor<8x32x256xf32>
    %cst_316 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1164 = stablehlo.broadcast_in_dim %cst_316, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1165 = stablehlo.subtract %1164, %1163 : tensor<8x32x256xf32>
    %cst_317 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1166 = stablehlo.broadcast_in_dim %cst_317, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1167 = stablehlo.add %1166, %1163 : tensor<8x32x256xf32>
    %cst_318 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1168 = stablehlo.broadcast_in_dim %cst_318, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1169 = stablehlo.multiply %1168, %1167 : tensor<8x32x256xf32>
    %1170 = stablehlo.multiply %1152, %1169 : tensor<8x32x256xf32>
    %1171 = stablehlo.dot_general %1170, %arg92, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %1172 = stablehlo.add %1122, %1171 : tensor<8x32x64xf32>
    %cst_319 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1173 = stablehlo.reduce(%1172 init: %cst_319) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1174 = stablehlo.broadcast_in_dim %1173, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_320 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1175 = stablehlo.broadcast_in_dim %cst_320, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1176 = stablehlo.divide %1174, %1175 : tensor<8x32x1xf32>
    %1177 = stablehlo.broadcast_in_dim %1176, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1178 = stablehlo.subtract %1172, %1177 : tensor<8x32x64xf32>
    %1179 = stablehlo.multiply %1178, %1178 : tensor<8x32x64xf32>
    %cst_321 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1180 = stablehlo.broadcast_in_dim %cst_321, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %1181 = stablehlo.multiply %1180, %1178 : tensor<8x32x64xf32>
    %cst_322 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1182 = stablehlo.reduce(%1179 init: %cst_322) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1183 = stablehlo.broadcast_in_dim %1182, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_323 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1184 = stablehlo.broadcast_in_dim %cst_323, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1185 = stablehlo.divide %1183, %1184 : tensor<8x32x1xf32>
    %cst_324 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1186 = stablehlo.broadcast_in_dim %cst_324, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1187 = stablehlo.add %1185, %1186 : tensor<8x32x1xf32>
    %1188 = stablehlo.sqrt %1187 : tensor<8x32x1xf32>
    %cst_325 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1189 = stablehlo.broadcast_in_dim %cst_325, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1190 = stablehlo.divide %1189, %1188 : tensor<8x32x1xf32>
    %1191 = stablehlo.broadcast_in_dim %1188, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1192 = stablehlo.divide %1178, %1191 : tensor<8x32x64xf32>
    %1193 = stablehlo.multiply %1188, %1188 : tensor<8x32x1xf32>
    %cst_326 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1194 = stablehlo.broadcast_in_dim %cst_326, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1195 = stablehlo.divide %1194, %1193 : tensor<8x32x1xf32>
    %1196 = stablehlo.broadcast_in_dim %arg103, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1197 = stablehlo.broadcast_in_dim %1196, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1198 = stablehlo.multiply %1192, %1197 : tensor<8x32x64xf32>
    %1199 = stablehlo.dot_general %arg106, %1198, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %1200 = stablehlo.transpose %1199, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1201 = stablehlo.dot_general %arg102, %1198, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %1202 = stablehlo.transpose %1201, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1203 = stablehlo.dot_general %arg108, %1198, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<64x8x8xf32>, tensor<8x32x64xf32>) -> tensor<8x8x8x32xf32>
    %1204 = stablehlo.transpose %1203, dims = [2, 0, 3, 1] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1205 = stablehlo.dot_general %1200, %1202, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %cst_327 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1206 = stablehlo.broadcast_in_dim %cst_327, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1207 = stablehlo.divide %1205, %1206 : tensor<8x8x32x32xf32>
    %c_328 = stablehlo.constant dense<true> : tensor<i1>
    %1208 = stablehlo.broadcast_in_dim %c_328, dims = [] : (tensor<i1>) -> tensor<32x32xi1>
    %1209 = call @tril(%1208) : (tensor<32x32xi1>) -> tensor<32x32xi1>
    %cst_329 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1210:2 = call @_where(%1209, %1207, %cst_329) : (tensor<32x32xi1>, tensor<8x8x32x32xf32>, tensor<f32>) -> (tensor<8x8x32x32xf32>, tensor<8x8x32x32xi1>)
    %cst_330 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1211 = stablehlo.reduce(%1210#0 init: %cst_330) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %cst_331 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1212 = stablehlo.broadcast_in_dim %cst_331, dims = [] : (tensor<f32>) -> tensor<8x8x32xf32>
    %1213 = stablehlo.maximum %1212, %1211 : tensor<8x8x32xf32>
    %1214 = stablehlo.broadcast_in_dim %1213, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1215 = stablehlo.broadcast_in_dim %1214, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1216 = stablehlo.subtract %1210#0, %1215 : tensor<8x8x32x32xf32>
    %1217 = stablehlo.exponential %1216 : tensor<8x8x32x32xf32>
    %cst_332 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1218 = stablehlo.reduce(%1217 init: %cst_332) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1219 = stablehlo.broadcast_in_dim %1218, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1220 = stablehlo.broadcast_in_dim %1219, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1221 = stablehlo.divide %1217, %1220 : tensor<8x8x32x32xf32>
    %1222 = stablehlo.multiply %1219, %1219 : tensor<8x8x32x1xf32>
    %cst_333 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1223 = stablehlo.broadcast_in_dim %cst_333, dims = [] : (tensor<f32>) -> tensor<8x8x32x1xf32>
    %1224 = stablehlo.divide %1223, %1222 : tensor<8x8x32x1xf32>
    %1225 = stablehlo.dot_general %1204, %1221, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x8xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1226 = stablehlo.transpose %1225, dims = [0, 3, 1, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x32x8x8xf32>
    %1227 = stablehlo.dot_general %1226, %arg105, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x8x8xf32>, tensor<8x8x64xf32>) -> tensor<8x32x64xf32>
    %1228 = stablehlo.add %1172, %1227 : tensor<8x32x64xf32>
    %cst_334 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1229 = stablehlo.reduce(%1228 init: %cst_334) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1230 = stablehlo.broadcast_in_dim %1229, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_335 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1231 = stablehlo.broadcast_in_dim %cst_335, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1232 = stablehlo.divide %1230, %1231 : tensor<8x32x1xf32>
    %1233 = stablehlo.broadcast_in_dim %1232, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1234 = stablehlo.subtract %1228, %1233 : tensor<8x32x64xf32>
    %1235 = stablehlo.multiply %1234, %1234 : tensor<8x32x64xf32>
    %cst_336 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1236 = stablehlo.broadcast_in_dim %cst_336, dims = [] : (tensor<f32>) -> tensor<8x32x64xf32>
    %1237 = stablehlo.multiply %1236, %1234 : tensor<8x32x64xf32>
    %cst_337 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1238 = stablehlo.reduce(%1235 init: %cst_337) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1239 = stablehlo.broadcast_in_dim %1238, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %cst_338 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1240 = stablehlo.broadcast_in_dim %cst_338, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1241 = stablehlo.divide %1239, %1240 : tensor<8x32x1xf32>
    %cst_339 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %1242 = stablehlo.broadcast_in_dim %cst_339, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1243 = stablehlo.add %1241, %1242 : tensor<8x32x1xf32>
    %1244 = stablehlo.sqrt %1243 : tensor<8x32x1xf32>
    %cst_340 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1245 = stablehlo.broadcast_in_dim %cst_340, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1246 = stablehlo.divide %1245, %1244 : tensor<8x32x1xf32>
    %1247 = stablehlo.broadcast_in_dim %1244, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1248 = stablehlo.divide %1234, %1247 : tensor<8x32x64xf32>
    %1249 = stablehlo.multiply %1244, %1244 : tensor<8x32x1xf32>
    %cst_341 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1250 = stablehlo.broadcast_in_dim %cst_341, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1251 = stablehlo.divide %1250, %1249 : tensor<8x32x1xf32>
    %1252 = stablehlo.broadcast_in_dim %arg104, dims = [2] : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1253 = stablehlo.broadcast_in_dim %1252, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1254 = stablehlo.multiply %1248, %1253 : tensor<8x32x64xf32>
    %1255 = stablehlo.dot_general %1254, %arg107, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<64x256xf32>) -> tensor<8x32x256xf32>
    %1256 = stablehlo.broadcast_in_dim %arg100, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %1257 = stablehlo.broadcast_in_dim %1256, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x32x256xf32>
    %1258 = stablehlo.add %1255, %1257 : tensor<8x32x256xf32>
    %1259 = stablehlo.multiply %1258, %1258 : tensor<8x32x256xf32>
    %1260 = stablehlo.multiply %1259, %1258 : tensor<8x32x256xf32>
    %1261 = stablehlo.multiply %1258, %1258 : tensor<8x32x256xf32>
    %cst_342 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %1262 = stablehlo.broadcast_in_dim %cst_342, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1263 = stablehlo.multiply %1262, %1261 : tensor<8x32x256xf32>
    %cst_343 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1264 = stablehlo.broadcast_in_dim %cst_343, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1265 = stablehlo.multiply %1264, %1260 : tensor<8x32x256xf32>
    %1266 = stablehlo.add %1258, %1265 : tensor<8x32x256xf32>
    %cst_344 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1267 = stablehlo.broadcast_in_dim %cst_344, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1268 = stablehlo.multiply %1267, %1266 : tensor<8x32x256xf32>
    %1269 = stablehlo.tanh %1268 : tensor<8x32x256xf32>
    %cst_345 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1270 = stablehlo.broadcast_in_dim %cst_345, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1271 = stablehlo.subtract %1270, %1269 : tensor<8x32x256xf32>
    %cst_346 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1272 = stablehlo.broadcast_in_dim %cst_346, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1273 = stablehlo.add %1272, %1269 : tensor<8x32x256xf32>
    %cst_347 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1274 = stablehlo.broadcast_in_dim %cst_347, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1275 = stablehlo.multiply %1274, %1273 : tensor<8x32x256xf32>
    %1276 = stablehlo.multiply %1258, %1275 : tensor<8x32x256xf32>
    %1277 = stablehlo.dot_general %1276, %arg101, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<256x64xf32>) -> tensor<8x32x64xf32>
    %1278 = stablehlo.add %1228, %1277 : tensor<8x32x64xf32>
    %1279 = stablehlo.dot_general %1278, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<128x64xf32>) -> tensor<8x32x128xf32>
    %1280:3 = call @log_softmax(%1279) : (tensor<8x32x128xf32>) -> (tensor<8x32x128xf32>, tensor<8x32x128xf32>, tensor<8x32x1xf32>)
    %1281 = stablehlo.multiply %1280#0, %arg110 : tensor<8x32x128xf32>
    %cst_348 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1282 = stablehlo.reduce(%1281 init: %cst_348) applies stablehlo.add across dimensions = [2] : (tensor<8x32x128xf32>, tensor<f32>) -> tensor<8x32xf32>
    %cst_349 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1283 = stablehlo.reduce(%1282 init: %cst_349) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<f32>
    %cst_350 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %1284 = stablehlo.divide %1283, %cst_350 : tensor<f32>
    %1285 = stablehlo.negate %1284 : tensor<f32>
    %cst_351 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1286 = stablehlo.negate %cst_351 : tensor<f32>
    %cst_352 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %1287 = stablehlo.divide %1286, %cst_352 : tensor<f32>
    %1288 = stablehlo.broadcast_in_dim %1287, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
    %1289 = stablehlo.broadcast_in_dim %1288, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x128xf32>
    %1290 = stablehlo.multiply %1289, %arg110 : tensor<8x32x128xf32>
    %1291 = call @log_softmax_0(%1280#1, %1280#2, %1290) : (tensor<8x32x128xf32>, tensor<8x32x1xf32>, tensor<8x32x128xf32>) -> tensor<8x32x128xf32>
    %1292 = stablehlo.dot_general %1291, %1278, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %1293 = stablehlo.dot_general %1291, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x32x128xf32>, tensor<128x64xf32>) -> tensor<8x32x64xf32>
    %1294 = stablehlo.dot_general %1293, %1276, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %1295 = stablehlo.transpose %1294, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %1296 = stablehlo.dot_general %1293, %arg101, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %1297 = stablehlo.multiply %1258, %1296 : tensor<8x32x256xf32>
    %1298 = stablehlo.multiply %1296, %1275 : tensor<8x32x256xf32>
    %cst_353 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1299 = stablehlo.broadcast_in_dim %cst_353, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1300 = stablehlo.multiply %1299, %1297 : tensor<8x32x256xf32>
    %1301 = stablehlo.multiply %1300, %1271 : tensor<8x32x256xf32>
    %1302 = stablehlo.multiply %1301, %1269 : tensor<8x32x256xf32>
    %1303 = stablehlo.add %1301, %1302 : tensor<8x32x256xf32>
    %cst_354 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1304 = stablehlo.broadcast_in_dim %cst_354, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1305 = stablehlo.multiply %1304, %1303 : tensor<8x32x256xf32>
    %1306 = stablehlo.add %1298, %1305 : tensor<8x32x256xf32>
    %cst_355 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1307 = stablehlo.broadcast_in_dim %cst_355, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1308 = stablehlo.multiply %1307, %1305 : tensor<8x32x256xf32>
    %1309 = stablehlo.multiply %1308, %1263 : tensor<8x32x256xf32>
    %1310 = stablehlo.add %1306, %1309 : tensor<8x32x256xf32>
    %cst_356 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1311 = stablehlo.reduce(%1310 init: %cst_356) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1312 = stablehlo.reshape %1311 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_357 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1313 = stablehlo.reduce(%1312 init: %cst_357) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1314 = stablehlo.dot_general %1310, %1254, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %1315 = stablehlo.transpose %1314, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %1316 = stablehlo.dot_general %1310, %arg107, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %1317 = stablehlo.multiply %1248, %1316 : tensor<8x32x64xf32>
    %cst_358 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1318 = stablehlo.reduce(%1317 init: %cst_358) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1319 = stablehlo.reshape %1318 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1320 = stablehlo.broadcast_in_dim %1252, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1321 = stablehlo.multiply %1316, %1320 : tensor<8x32x64xf32>
    %cst_359 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1322 = stablehlo.reduce(%1319 init: %cst_359) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1323 = stablehlo.broadcast_in_dim %1251, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1324 = stablehlo.multiply %1321, %1323 : tensor<8x32x64xf32>
    %1325 = stablehlo.multiply %1324, %1234 : tensor<8x32x64xf32>
    %cst_360 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1326 = stablehlo.reduce(%1325 init: %cst_360) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1327 = stablehlo.reshape %1326 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1328 = stablehlo.negate %1327 : tensor<8x32x1xf32>
    %1329 = stablehlo.broadcast_in_dim %1244, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1330 = stablehlo.divide %1321, %1329 : tensor<8x32x64xf32>
    %1331 = stablehlo.multiply %1328, %1246 : tensor<8x32x1xf32>
    %cst_361 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1332 = stablehlo.broadcast_in_dim %cst_361, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1333 = stablehlo.divide %1331, %1332 : tensor<8x32x1xf32>
    %cst_362 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1334 = stablehlo.reduce(%1333 init: %cst_362) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1335 = stablehlo.broadcast_in_dim %1334, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1336 = stablehlo.multiply %1335, %1237 : tensor<8x32x64xf32>
    %1337 = stablehlo.add %1330, %1336 : tensor<8x32x64xf32>
    %1338 = stablehlo.negate %1337 : tensor<8x32x64xf32>
    %cst_363 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1339 = stablehlo.reduce(%1338 init: %cst_363) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1340 = stablehlo.reshape %1339 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1341 = stablehlo.add %1293, %1337 : tensor<8x32x64xf32>
    %cst_364 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1342 = stablehlo.broadcast_in_dim %cst_364, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1343 = stablehlo.divide %1340, %1342 : tensor<8x32x1xf32>
    %cst_365 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1344 = stablehlo.reduce(%1343 init: %cst_365) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1345 = stablehlo.broadcast_in_dim %1344, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1346 = stablehlo.add %1341, %1345 : tensor<8x32x64xf32>
    %1347 = stablehlo.dot_general %1346, %1226, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %1348 = stablehlo.transpose %1347, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %1349 = stablehlo.dot_general %1346, %arg105, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %1350 = stablehlo.transpose %1349, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %1351 = stablehlo.dot_general %1350, %1204, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %1352 = stablehlo.dot_general %1350, %1221, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1353 = stablehlo.transpose %1352, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1354 = stablehlo.broadcast_in_dim %1224, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1355 = stablehlo.multiply %1351, %1354 : tensor<8x8x32x32xf32>
    %1356 = stablehlo.multiply %1355, %1217 : tensor<8x8x32x32xf32>
    %cst_366 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1357 = stablehlo.reduce(%1356 init: %cst_366) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1358 = stablehlo.reshape %1357 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1359 = stablehlo.negate %1358 : tensor<8x8x32x1xf32>
    %1360 = stablehlo.broadcast_in_dim %1219, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1361 = stablehlo.divide %1351, %1360 : tensor<8x8x32x32xf32>
    %cst_367 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1362 = stablehlo.reduce(%1359 init: %cst_367) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1363 = stablehlo.broadcast_in_dim %1362, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %1364 = stablehlo.add %1361, %1363 : tensor<8x8x32x32xf32>
    %1365 = stablehlo.multiply %1364, %1217 : tensor<8x8x32x32xf32>
    %1366 = call @_where_1(%1210#1, %1365) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_368 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1367 = stablehlo.broadcast_in_dim %cst_368, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1368 = stablehlo.divide %1366, %1367 : tensor<8x8x32x32xf32>
    %1369 = stablehlo.dot_general %1368, %1200, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1370 = stablehlo.dot_general %1368, %1202, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1371 = stablehlo.transpose %1353, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1372 = stablehlo.dot_general %1371, %arg108, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1373 = stablehlo.dot_general %1371, %1198, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1374 = stablehlo.transpose %1373, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1375 = stablehlo.transpose %1369, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1376 = stablehlo.dot_general %1375, %arg102, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1377 = stablehlo.add %1372, %1376 : tensor<8x32x64xf32>
    %1378 = stablehlo.dot_general %1375, %1198, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1379 = stablehlo.transpose %1378, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1380 = stablehlo.transpose %1370, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1381 = stablehlo.dot_general %1380, %arg106, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1382 = stablehlo.add %1377, %1381 : tensor<8x32x64xf32>
    %1383 = stablehlo.dot_general %1380, %1198, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1384 = stablehlo.transpose %1383, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1385 = stablehlo.multiply %1192, %1382 : tensor<8x32x64xf32>
    %cst_369 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1386 = stablehlo.reduce(%1385 init: %cst_369) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1387 = stablehlo.reshape %1386 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1388 = stablehlo.broadcast_in_dim %1196, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1389 = stablehlo.multiply %1382, %1388 : tensor<8x32x64xf32>
    %cst_370 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1390 = stablehlo.reduce(%1387 init: %cst_370) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1391 = stablehlo.broadcast_in_dim %1195, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1392 = stablehlo.multiply %1389, %1391 : tensor<8x32x64xf32>
    %1393 = stablehlo.multiply %1392, %1178 : tensor<8x32x64xf32>
    %cst_371 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1394 = stablehlo.reduce(%1393 init: %cst_371) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1395 = stablehlo.reshape %1394 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1396 = stablehlo.negate %1395 : tensor<8x32x1xf32>
    %1397 = stablehlo.broadcast_in_dim %1188, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1398 = stablehlo.divide %1389, %1397 : tensor<8x32x64xf32>
    %1399 = stablehlo.multiply %1396, %1190 : tensor<8x32x1xf32>
    %cst_372 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1400 = stablehlo.broadcast_in_dim %cst_372, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1401 = stablehlo.divide %1399, %1400 : tensor<8x32x1xf32>
    %cst_373 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1402 = stablehlo.reduce(%1401 init: %cst_373) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1403 = stablehlo.broadcast_in_dim %1402, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1404 = stablehlo.multiply %1403, %1181 : tensor<8x32x64xf32>
    %1405 = stablehlo.add %1398, %1404 : tensor<8x32x64xf32>
    %1406 = stablehlo.negate %1405 : tensor<8x32x64xf32>
    %cst_374 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1407 = stablehlo.reduce(%1406 init: %cst_374) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1408 = stablehlo.reshape %1407 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1409 = stablehlo.add %1346, %1405 : tensor<8x32x64xf32>
    %cst_375 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1410 = stablehlo.broadcast_in_dim %cst_375, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1411 = stablehlo.divide %1408, %1410 : tensor<8x32x1xf32>
    %cst_376 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1412 = stablehlo.reduce(%1411 init: %cst_376) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1413 = stablehlo.broadcast_in_dim %1412, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1414 = stablehlo.add %1409, %1413 : tensor<8x32x64xf32>
    %1415 = stablehlo.dot_general %1414, %1170, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %1416 = stablehlo.transpose %1415, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %1417 = stablehlo.dot_general %1414, %arg92, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %1418 = stablehlo.multiply %1152, %1417 : tensor<8x32x256xf32>
    %1419 = stablehlo.multiply %1417, %1169 : tensor<8x32x256xf32>
    %cst_377 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1420 = stablehlo.broadcast_in_dim %cst_377, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1421 = stablehlo.multiply %1420, %1418 : tensor<8x32x256xf32>
    %1422 = stablehlo.multiply %1421, %1165 : tensor<8x32x256xf32>
    %1423 = stablehlo.multiply %1422, %1163 : tensor<8x32x256xf32>
    %1424 = stablehlo.add %1422, %1423 : tensor<8x32x256xf32>
    %cst_378 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1425 = stablehlo.broadcast_in_dim %cst_378, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1426 = stablehlo.multiply %1425, %1424 : tensor<8x32x256xf32>
    %1427 = stablehlo.add %1419, %1426 : tensor<8x32x256xf32>
    %cst_379 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1428 = stablehlo.broadcast_in_dim %cst_379, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1429 = stablehlo.multiply %1428, %1426 : tensor<8x32x256xf32>
    %1430 = stablehlo.multiply %1429, %1157 : tensor<8x32x256xf32>
    %1431 = stablehlo.add %1427, %1430 : tensor<8x32x256xf32>
    %cst_380 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1432 = stablehlo.reduce(%1431 init: %cst_380) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1433 = stablehlo.reshape %1432 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_381 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1434 = stablehlo.reduce(%1433 init: %cst_381) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1435 = stablehlo.dot_general %1431, %1148, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %1436 = stablehlo.transpose %1435, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %1437 = stablehlo.dot_general %1431, %arg98, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %1438 = stablehlo.multiply %1142, %1437 : tensor<8x32x64xf32>
    %cst_382 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1439 = stablehlo.reduce(%1438 init: %cst_382) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1440 = stablehlo.reshape %1439 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1441 = stablehlo.broadcast_in_dim %1146, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1442 = stablehlo.multiply %1437, %1441 : tensor<8x32x64xf32>
    %cst_383 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1443 = stablehlo.reduce(%1440 init: %cst_383) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1444 = stablehlo.broadcast_in_dim %1145, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1445 = stablehlo.multiply %1442, %1444 : tensor<8x32x64xf32>
    %1446 = stablehlo.multiply %1445, %1128 : tensor<8x32x64xf32>
    %cst_384 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1447 = stablehlo.reduce(%1446 init: %cst_384) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1448 = stablehlo.reshape %1447 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1449 = stablehlo.negate %1448 : tensor<8x32x1xf32>
    %1450 = stablehlo.broadcast_in_dim %1138, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1451 = stablehlo.divide %1442, %1450 : tensor<8x32x64xf32>
    %1452 = stablehlo.multiply %1449, %1140 : tensor<8x32x1xf32>
    %cst_385 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1453 = stablehlo.broadcast_in_dim %cst_385, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1454 = stablehlo.divide %1452, %1453 : tensor<8x32x1xf32>
    %cst_386 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1455 = stablehlo.reduce(%1454 init: %cst_386) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1456 = stablehlo.broadcast_in_dim %1455, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1457 = stablehlo.multiply %1456, %1131 : tensor<8x32x64xf32>
    %1458 = stablehlo.add %1451, %1457 : tensor<8x32x64xf32>
    %1459 = stablehlo.negate %1458 : tensor<8x32x64xf32>
    %cst_387 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1460 = stablehlo.reduce(%1459 init: %cst_387) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1461 = stablehlo.reshape %1460 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1462 = stablehlo.add %1414, %1458 : tensor<8x32x64xf32>
    %cst_388 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1463 = stablehlo.broadcast_in_dim %cst_388, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1464 = stablehlo.divide %1461, %1463 : tensor<8x32x1xf32>
    %cst_389 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1465 = stablehlo.reduce(%1464 init: %cst_389) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1466 = stablehlo.broadcast_in_dim %1465, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1467 = stablehlo.add %1462, %1466 : tensor<8x32x64xf32>
    %1468 = stablehlo.dot_general %1467, %1120, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %1469 = stablehlo.transpose %1468, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %1470 = stablehlo.dot_general %1467, %arg96, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %1471 = stablehlo.transpose %1470, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %1472 = stablehlo.dot_general %1471, %1098, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %1473 = stablehlo.dot_general %1471, %1115, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1474 = stablehlo.transpose %1473, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1475 = stablehlo.broadcast_in_dim %1118, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1476 = stablehlo.multiply %1472, %1475 : tensor<8x8x32x32xf32>
    %1477 = stablehlo.multiply %1476, %1111 : tensor<8x8x32x32xf32>
    %cst_390 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1478 = stablehlo.reduce(%1477 init: %cst_390) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1479 = stablehlo.reshape %1478 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1480 = stablehlo.negate %1479 : tensor<8x8x32x1xf32>
    %1481 = stablehlo.broadcast_in_dim %1113, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1482 = stablehlo.divide %1472, %1481 : tensor<8x8x32x32xf32>
    %cst_391 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1483 = stablehlo.reduce(%1480 init: %cst_391) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1484 = stablehlo.broadcast_in_dim %1483, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %1485 = stablehlo.add %1482, %1484 : tensor<8x8x32x32xf32>
    %1486 = stablehlo.multiply %1485, %1111 : tensor<8x8x32x32xf32>
    %1487 = call @_where_1(%1104#1, %1486) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_392 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1488 = stablehlo.broadcast_in_dim %cst_392, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1489 = stablehlo.divide %1487, %1488 : tensor<8x8x32x32xf32>
    %1490 = stablehlo.dot_general %1489, %1094, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1491 = stablehlo.dot_general %1489, %1096, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1492 = stablehlo.transpose %1474, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1493 = stablehlo.dot_general %1492, %arg99, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1494 = stablehlo.dot_general %1492, %1092, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1495 = stablehlo.transpose %1494, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1496 = stablehlo.transpose %1490, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1497 = stablehlo.dot_general %1496, %arg93, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1498 = stablehlo.add %1493, %1497 : tensor<8x32x64xf32>
    %1499 = stablehlo.dot_general %1496, %1092, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1500 = stablehlo.transpose %1499, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1501 = stablehlo.transpose %1491, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1502 = stablehlo.dot_general %1501, %arg97, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1503 = stablehlo.add %1498, %1502 : tensor<8x32x64xf32>
    %1504 = stablehlo.dot_general %1501, %1092, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1505 = stablehlo.transpose %1504, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1506 = stablehlo.multiply %1086, %1503 : tensor<8x32x64xf32>
    %cst_393 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1507 = stablehlo.reduce(%1506 init: %cst_393) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1508 = stablehlo.reshape %1507 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1509 = stablehlo.broadcast_in_dim %1090, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1510 = stablehlo.multiply %1503, %1509 : tensor<8x32x64xf32>
    %cst_394 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1511 = stablehlo.reduce(%1508 init: %cst_394) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1512 = stablehlo.broadcast_in_dim %1089, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1513 = stablehlo.multiply %1510, %1512 : tensor<8x32x64xf32>
    %1514 = stablehlo.multiply %1513, %1072 : tensor<8x32x64xf32>
    %cst_395 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1515 = stablehlo.reduce(%1514 init: %cst_395) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1516 = stablehlo.reshape %1515 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1517 = stablehlo.negate %1516 : tensor<8x32x1xf32>
    %1518 = stablehlo.broadcast_in_dim %1082, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1519 = stablehlo.divide %1510, %1518 : tensor<8x32x64xf32>
    %1520 = stablehlo.multiply %1517, %1084 : tensor<8x32x1xf32>
    %cst_396 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1521 = stablehlo.broadcast_in_dim %cst_396, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1522 = stablehlo.divide %1520, %1521 : tensor<8x32x1xf32>
    %cst_397 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1523 = stablehlo.reduce(%1522 init: %cst_397) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1524 = stablehlo.broadcast_in_dim %1523, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1525 = stablehlo.multiply %1524, %1075 : tensor<8x32x64xf32>
    %1526 = stablehlo.add %1519, %1525 : tensor<8x32x64xf32>
    %1527 = stablehlo.negate %1526 : tensor<8x32x64xf32>
    %cst_398 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1528 = stablehlo.reduce(%1527 init: %cst_398) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1529 = stablehlo.reshape %1528 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1530 = stablehlo.add %1467, %1526 : tensor<8x32x64xf32>
    %cst_399 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1531 = stablehlo.broadcast_in_dim %cst_399, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1532 = stablehlo.divide %1529, %1531 : tensor<8x32x1xf32>
    %cst_400 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1533 = stablehlo.reduce(%1532 init: %cst_400) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1534 = stablehlo.broadcast_in_dim %1533, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1535 = stablehlo.add %1530, %1534 : tensor<8x32x64xf32>
    %1536 = stablehlo.dot_general %1535, %1064, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %1537 = stablehlo.transpose %1536, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %1538 = stablehlo.dot_general %1535, %arg83, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %1539 = stablehlo.multiply %1046, %1538 : tensor<8x32x256xf32>
    %1540 = stablehlo.multiply %1538, %1063 : tensor<8x32x256xf32>
    %cst_401 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1541 = stablehlo.broadcast_in_dim %cst_401, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1542 = stablehlo.multiply %1541, %1539 : tensor<8x32x256xf32>
    %1543 = stablehlo.multiply %1542, %1059 : tensor<8x32x256xf32>
    %1544 = stablehlo.multiply %1543, %1057 : tensor<8x32x256xf32>
    %1545 = stablehlo.add %1543, %1544 : tensor<8x32x256xf32>
    %cst_402 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1546 = stablehlo.broadcast_in_dim %cst_402, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1547 = stablehlo.multiply %1546, %1545 : tensor<8x32x256xf32>
    %1548 = stablehlo.add %1540, %1547 : tensor<8x32x256xf32>
    %cst_403 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1549 = stablehlo.broadcast_in_dim %cst_403, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1550 = stablehlo.multiply %1549, %1547 : tensor<8x32x256xf32>
    %1551 = stablehlo.multiply %1550, %1051 : tensor<8x32x256xf32>
    %1552 = stablehlo.add %1548, %1551 : tensor<8x32x256xf32>
    %cst_404 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1553 = stablehlo.reduce(%1552 init: %cst_404) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1554 = stablehlo.reshape %1553 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_405 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1555 = stablehlo.reduce(%1554 init: %cst_405) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1556 = stablehlo.dot_general %1552, %1042, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %1557 = stablehlo.transpose %1556, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %1558 = stablehlo.dot_general %1552, %arg89, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %1559 = stablehlo.multiply %1036, %1558 : tensor<8x32x64xf32>
    %cst_406 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1560 = stablehlo.reduce(%1559 init: %cst_406) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1561 = stablehlo.reshape %1560 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1562 = stablehlo.broadcast_in_dim %1040, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1563 = stablehlo.multiply %1558, %1562 : tensor<8x32x64xf32>
    %cst_407 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1564 = stablehlo.reduce(%1561 init: %cst_407) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1565 = stablehlo.broadcast_in_dim %1039, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1566 = stablehlo.multiply %1563, %1565 : tensor<8x32x64xf32>
    %1567 = stablehlo.multiply %1566, %1022 : tensor<8x32x64xf32>
    %cst_408 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1568 = stablehlo.reduce(%1567 init: %cst_408) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1569 = stablehlo.reshape %1568 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1570 = stablehlo.negate %1569 : tensor<8x32x1xf32>
    %1571 = stablehlo.broadcast_in_dim %1032, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1572 = stablehlo.divide %1563, %1571 : tensor<8x32x64xf32>
    %1573 = stablehlo.multiply %1570, %1034 : tensor<8x32x1xf32>
    %cst_409 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1574 = stablehlo.broadcast_in_dim %cst_409, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1575 = stablehlo.divide %1573, %1574 : tensor<8x32x1xf32>
    %cst_410 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1576 = stablehlo.reduce(%1575 init: %cst_410) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1577 = stablehlo.broadcast_in_dim %1576, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1578 = stablehlo.multiply %1577, %1025 : tensor<8x32x64xf32>
    %1579 = stablehlo.add %1572, %1578 : tensor<8x32x64xf32>
    %1580 = stablehlo.negate %1579 : tensor<8x32x64xf32>
    %cst_411 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1581 = stablehlo.reduce(%1580 init: %cst_411) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1582 = stablehlo.reshape %1581 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1583 = stablehlo.add %1535, %1579 : tensor<8x32x64xf32>
    %cst_412 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1584 = stablehlo.broadcast_in_dim %cst_412, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1585 = stablehlo.divide %1582, %1584 : tensor<8x32x1xf32>
    %cst_413 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1586 = stablehlo.reduce(%1585 init: %cst_413) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1587 = stablehlo.broadcast_in_dim %1586, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1588 = stablehlo.add %1583, %1587 : tensor<8x32x64xf32>
    %1589 = stablehlo.dot_general %1588, %1014, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %1590 = stablehlo.transpose %1589, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %1591 = stablehlo.dot_general %1588, %arg87, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %1592 = stablehlo.transpose %1591, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %1593 = stablehlo.dot_general %1592, %992, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %1594 = stablehlo.dot_general %1592, %1009, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1595 = stablehlo.transpose %1594, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1596 = stablehlo.broadcast_in_dim %1012, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1597 = stablehlo.multiply %1593, %1596 : tensor<8x8x32x32xf32>
    %1598 = stablehlo.multiply %1597, %1005 : tensor<8x8x32x32xf32>
    %cst_414 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1599 = stablehlo.reduce(%1598 init: %cst_414) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1600 = stablehlo.reshape %1599 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1601 = stablehlo.negate %1600 : tensor<8x8x32x1xf32>
    %1602 = stablehlo.broadcast_in_dim %1007, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1603 = stablehlo.divide %1593, %1602 : tensor<8x8x32x32xf32>
    %cst_415 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1604 = stablehlo.reduce(%1601 init: %cst_415) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1605 = stablehlo.broadcast_in_dim %1604, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %1606 = stablehlo.add %1603, %1605 : tensor<8x8x32x32xf32>
    %1607 = stablehlo.multiply %1606, %1005 : tensor<8x8x32x32xf32>
    %1608 = call @_where_1(%998#1, %1607) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_416 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1609 = stablehlo.broadcast_in_dim %cst_416, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1610 = stablehlo.divide %1608, %1609 : tensor<8x8x32x32xf32>
    %1611 = stablehlo.dot_general %1610, %988, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1612 = stablehlo.dot_general %1610, %990, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1613 = stablehlo.transpose %1595, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1614 = stablehlo.dot_general %1613, %arg90, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1615 = stablehlo.dot_general %1613, %986, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1616 = stablehlo.transpose %1615, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1617 = stablehlo.transpose %1611, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1618 = stablehlo.dot_general %1617, %arg84, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1619 = stablehlo.add %1614, %1618 : tensor<8x32x64xf32>
    %1620 = stablehlo.dot_general %1617, %986, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1621 = stablehlo.transpose %1620, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1622 = stablehlo.transpose %1612, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1623 = stablehlo.dot_general %1622, %arg88, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1624 = stablehlo.add %1619, %1623 : tensor<8x32x64xf32>
    %1625 = stablehlo.dot_general %1622, %986, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1626 = stablehlo.transpose %1625, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1627 = stablehlo.multiply %980, %1624 : tensor<8x32x64xf32>
    %cst_417 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1628 = stablehlo.reduce(%1627 init: %cst_417) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1629 = stablehlo.reshape %1628 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1630 = stablehlo.broadcast_in_dim %984, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1631 = stablehlo.multiply %1624, %1630 : tensor<8x32x64xf32>
    %cst_418 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1632 = stablehlo.reduce(%1629 init: %cst_418) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1633 = stablehlo.broadcast_in_dim %983, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1634 = stablehlo.multiply %1631, %1633 : tensor<8x32x64xf32>
    %1635 = stablehlo.multiply %1634, %966 : tensor<8x32x64xf32>
    %cst_419 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1636 = stablehlo.reduce(%1635 init: %cst_419) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1637 = stablehlo.reshape %1636 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1638 = stablehlo.negate %1637 : tensor<8x32x1xf32>
    %1639 = stablehlo.broadcast_in_dim %976, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1640 = stablehlo.divide %1631, %1639 : tensor<8x32x64xf32>
    %1641 = stablehlo.multiply %1638, %978 : tensor<8x32x1xf32>
    %cst_420 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1642 = stablehlo.broadcast_in_dim %cst_420, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1643 = stablehlo.divide %1641, %1642 : tensor<8x32x1xf32>
    %cst_421 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1644 = stablehlo.reduce(%1643 init: %cst_421) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1645 = stablehlo.broadcast_in_dim %1644, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1646 = stablehlo.multiply %1645, %969 : tensor<8x32x64xf32>
    %1647 = stablehlo.add %1640, %1646 : tensor<8x32x64xf32>
    %1648 = stablehlo.negate %1647 : tensor<8x32x64xf32>
    %cst_422 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1649 = stablehlo.reduce(%1648 init: %cst_422) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1650 = stablehlo.reshape %1649 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1651 = stablehlo.add %1588, %1647 : tensor<8x32x64xf32>
    %cst_423 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1652 = stablehlo.broadcast_in_dim %cst_423, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1653 = stablehlo.divide %1650, %1652 : tensor<8x32x1xf32>
    %cst_424 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1654 = stablehlo.reduce(%1653 init: %cst_424) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1655 = stablehlo.broadcast_in_dim %1654, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1656 = stablehlo.add %1651, %1655 : tensor<8x32x64xf32>
    %1657 = stablehlo.dot_general %1656, %958, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %1658 = stablehlo.transpose %1657, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %1659 = stablehlo.dot_general %1656, %arg74, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %1660 = stablehlo.multiply %940, %1659 : tensor<8x32x256xf32>
    %1661 = stablehlo.multiply %1659, %957 : tensor<8x32x256xf32>
    %cst_425 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1662 = stablehlo.broadcast_in_dim %cst_425, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1663 = stablehlo.multiply %1662, %1660 : tensor<8x32x256xf32>
    %1664 = stablehlo.multiply %1663, %953 : tensor<8x32x256xf32>
    %1665 = stablehlo.multiply %1664, %951 : tensor<8x32x256xf32>
    %1666 = stablehlo.add %1664, %1665 : tensor<8x32x256xf32>
    %cst_426 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1667 = stablehlo.broadcast_in_dim %cst_426, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1668 = stablehlo.multiply %1667, %1666 : tensor<8x32x256xf32>
    %1669 = stablehlo.add %1661, %1668 : tensor<8x32x256xf32>
    %cst_427 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1670 = stablehlo.broadcast_in_dim %cst_427, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1671 = stablehlo.multiply %1670, %1668 : tensor<8x32x256xf32>
    %1672 = stablehlo.multiply %1671, %945 : tensor<8x32x256xf32>
    %1673 = stablehlo.add %1669, %1672 : tensor<8x32x256xf32>
    %cst_428 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1674 = stablehlo.reduce(%1673 init: %cst_428) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1675 = stablehlo.reshape %1674 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_429 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1676 = stablehlo.reduce(%1675 init: %cst_429) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1677 = stablehlo.dot_general %1673, %936, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %1678 = stablehlo.transpose %1677, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %1679 = stablehlo.dot_general %1673, %arg80, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %1680 = stablehlo.multiply %930, %1679 : tensor<8x32x64xf32>
    %cst_430 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1681 = stablehlo.reduce(%1680 init: %cst_430) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1682 = stablehlo.reshape %1681 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1683 = stablehlo.broadcast_in_dim %934, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1684 = stablehlo.multiply %1679, %1683 : tensor<8x32x64xf32>
    %cst_431 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1685 = stablehlo.reduce(%1682 init: %cst_431) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1686 = stablehlo.broadcast_in_dim %933, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1687 = stablehlo.multiply %1684, %1686 : tensor<8x32x64xf32>
    %1688 = stablehlo.multiply %1687, %916 : tensor<8x32x64xf32>
    %cst_432 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1689 = stablehlo.reduce(%1688 init: %cst_432) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1690 = stablehlo.reshape %1689 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1691 = stablehlo.negate %1690 : tensor<8x32x1xf32>
    %1692 = stablehlo.broadcast_in_dim %926, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1693 = stablehlo.divide %1684, %1692 : tensor<8x32x64xf32>
    %1694 = stablehlo.multiply %1691, %928 : tensor<8x32x1xf32>
    %cst_433 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1695 = stablehlo.broadcast_in_dim %cst_433, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1696 = stablehlo.divide %1694, %1695 : tensor<8x32x1xf32>
    %cst_434 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1697 = stablehlo.reduce(%1696 init: %cst_434) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1698 = stablehlo.broadcast_in_dim %1697, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1699 = stablehlo.multiply %1698, %919 : tensor<8x32x64xf32>
    %1700 = stablehlo.add %1693, %1699 : tensor<8x32x64xf32>
    %1701 = stablehlo.negate %1700 : tensor<8x32x64xf32>
    %cst_435 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1702 = stablehlo.reduce(%1701 init: %cst_435) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1703 = stablehlo.reshape %1702 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1704 = stablehlo.add %1656, %1700 : tensor<8x32x64xf32>
    %cst_436 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1705 = stablehlo.broadcast_in_dim %cst_436, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1706 = stablehlo.divide %1703, %1705 : tensor<8x32x1xf32>
    %cst_437 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1707 = stablehlo.reduce(%1706 init: %cst_437) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1708 = stablehlo.broadcast_in_dim %1707, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1709 = stablehlo.add %1704, %1708 : tensor<8x32x64xf32>
    %1710 = stablehlo.dot_general %1709, %908, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %1711 = stablehlo.transpose %1710, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %1712 = stablehlo.dot_general %1709, %arg78, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %1713 = stablehlo.transpose %1712, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %1714 = stablehlo.dot_general %1713, %886, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %1715 = stablehlo.dot_general %1713, %903, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1716 = stablehlo.transpose %1715, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1717 = stablehlo.broadcast_in_dim %906, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1718 = stablehlo.multiply %1714, %1717 : tensor<8x8x32x32xf32>
    %1719 = stablehlo.multiply %1718, %899 : tensor<8x8x32x32xf32>
    %cst_438 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1720 = stablehlo.reduce(%1719 init: %cst_438) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1721 = stablehlo.reshape %1720 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1722 = stablehlo.negate %1721 : tensor<8x8x32x1xf32>
    %1723 = stablehlo.broadcast_in_dim %901, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1724 = stablehlo.divide %1714, %1723 : tensor<8x8x32x32xf32>
    %cst_439 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1725 = stablehlo.reduce(%1722 init: %cst_439) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1726 = stablehlo.broadcast_in_dim %1725, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %1727 = stablehlo.add %1724, %1726 : tensor<8x8x32x32xf32>
    %1728 = stablehlo.multiply %1727, %899 : tensor<8x8x32x32xf32>
    %1729 = call @_where_1(%892#1, %1728) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_440 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1730 = stablehlo.broadcast_in_dim %cst_440, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1731 = stablehlo.divide %1729, %1730 : tensor<8x8x32x32xf32>
    %1732 = stablehlo.dot_general %1731, %882, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1733 = stablehlo.dot_general %1731, %884, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1734 = stablehlo.transpose %1716, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1735 = stablehlo.dot_general %1734, %arg81, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1736 = stablehlo.dot_general %1734, %880, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1737 = stablehlo.transpose %1736, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1738 = stablehlo.transpose %1732, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1739 = stablehlo.dot_general %1738, %arg75, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1740 = stablehlo.add %1735, %1739 : tensor<8x32x64xf32>
    %1741 = stablehlo.dot_general %1738, %880, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1742 = stablehlo.transpose %1741, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1743 = stablehlo.transpose %1733, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1744 = stablehlo.dot_general %1743, %arg79, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1745 = stablehlo.add %1740, %1744 : tensor<8x32x64xf32>
    %1746 = stablehlo.dot_general %1743, %880, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1747 = stablehlo.transpose %1746, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1748 = stablehlo.multiply %874, %1745 : tensor<8x32x64xf32>
    %cst_441 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1749 = stablehlo.reduce(%1748 init: %cst_441) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1750 = stablehlo.reshape %1749 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1751 = stablehlo.broadcast_in_dim %878, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1752 = stablehlo.multiply %1745, %1751 : tensor<8x32x64xf32>
    %cst_442 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1753 = stablehlo.reduce(%1750 init: %cst_442) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1754 = stablehlo.broadcast_in_dim %877, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1755 = stablehlo.multiply %1752, %1754 : tensor<8x32x64xf32>
    %1756 = stablehlo.multiply %1755, %860 : tensor<8x32x64xf32>
    %cst_443 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1757 = stablehlo.reduce(%1756 init: %cst_443) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1758 = stablehlo.reshape %1757 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1759 = stablehlo.negate %1758 : tensor<8x32x1xf32>
    %1760 = stablehlo.broadcast_in_dim %870, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1761 = stablehlo.divide %1752, %1760 : tensor<8x32x64xf32>
    %1762 = stablehlo.multiply %1759, %872 : tensor<8x32x1xf32>
    %cst_444 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1763 = stablehlo.broadcast_in_dim %cst_444, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1764 = stablehlo.divide %1762, %1763 : tensor<8x32x1xf32>
    %cst_445 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1765 = stablehlo.reduce(%1764 init: %cst_445) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1766 = stablehlo.broadcast_in_dim %1765, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1767 = stablehlo.multiply %1766, %863 : tensor<8x32x64xf32>
    %1768 = stablehlo.add %1761, %1767 : tensor<8x32x64xf32>
    %1769 = stablehlo.negate %1768 : tensor<8x32x64xf32>
    %cst_446 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1770 = stablehlo.reduce(%1769 init: %cst_446) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1771 = stablehlo.reshape %1770 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1772 = stablehlo.add %1709, %1768 : tensor<8x32x64xf32>
    %cst_447 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1773 = stablehlo.broadcast_in_dim %cst_447, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1774 = stablehlo.divide %1771, %1773 : tensor<8x32x1xf32>
    %cst_448 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1775 = stablehlo.reduce(%1774 init: %cst_448) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1776 = stablehlo.broadcast_in_dim %1775, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1777 = stablehlo.add %1772, %1776 : tensor<8x32x64xf32>
    %1778 = stablehlo.dot_general %1777, %852, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %1779 = stablehlo.transpose %1778, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %1780 = stablehlo.dot_general %1777, %arg65, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %1781 = stablehlo.multiply %834, %1780 : tensor<8x32x256xf32>
    %1782 = stablehlo.multiply %1780, %851 : tensor<8x32x256xf32>
    %cst_449 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1783 = stablehlo.broadcast_in_dim %cst_449, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1784 = stablehlo.multiply %1783, %1781 : tensor<8x32x256xf32>
    %1785 = stablehlo.multiply %1784, %847 : tensor<8x32x256xf32>
    %1786 = stablehlo.multiply %1785, %845 : tensor<8x32x256xf32>
    %1787 = stablehlo.add %1785, %1786 : tensor<8x32x256xf32>
    %cst_450 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1788 = stablehlo.broadcast_in_dim %cst_450, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1789 = stablehlo.multiply %1788, %1787 : tensor<8x32x256xf32>
    %1790 = stablehlo.add %1782, %1789 : tensor<8x32x256xf32>
    %cst_451 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1791 = stablehlo.broadcast_in_dim %cst_451, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1792 = stablehlo.multiply %1791, %1789 : tensor<8x32x256xf32>
    %1793 = stablehlo.multiply %1792, %839 : tensor<8x32x256xf32>
    %1794 = stablehlo.add %1790, %1793 : tensor<8x32x256xf32>
    %cst_452 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1795 = stablehlo.reduce(%1794 init: %cst_452) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1796 = stablehlo.reshape %1795 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_453 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1797 = stablehlo.reduce(%1796 init: %cst_453) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1798 = stablehlo.dot_general %1794, %830, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %1799 = stablehlo.transpose %1798, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %1800 = stablehlo.dot_general %1794, %arg71, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %1801 = stablehlo.multiply %824, %1800 : tensor<8x32x64xf32>
    %cst_454 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1802 = stablehlo.reduce(%1801 init: %cst_454) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1803 = stablehlo.reshape %1802 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1804 = stablehlo.broadcast_in_dim %828, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1805 = stablehlo.multiply %1800, %1804 : tensor<8x32x64xf32>
    %cst_455 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1806 = stablehlo.reduce(%1803 init: %cst_455) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1807 = stablehlo.broadcast_in_dim %827, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1808 = stablehlo.multiply %1805, %1807 : tensor<8x32x64xf32>
    %1809 = stablehlo.multiply %1808, %810 : tensor<8x32x64xf32>
    %cst_456 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1810 = stablehlo.reduce(%1809 init: %cst_456) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1811 = stablehlo.reshape %1810 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1812 = stablehlo.negate %1811 : tensor<8x32x1xf32>
    %1813 = stablehlo.broadcast_in_dim %820, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1814 = stablehlo.divide %1805, %1813 : tensor<8x32x64xf32>
    %1815 = stablehlo.multiply %1812, %822 : tensor<8x32x1xf32>
    %cst_457 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1816 = stablehlo.broadcast_in_dim %cst_457, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1817 = stablehlo.divide %1815, %1816 : tensor<8x32x1xf32>
    %cst_458 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1818 = stablehlo.reduce(%1817 init: %cst_458) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1819 = stablehlo.broadcast_in_dim %1818, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1820 = stablehlo.multiply %1819, %813 : tensor<8x32x64xf32>
    %1821 = stablehlo.add %1814, %1820 : tensor<8x32x64xf32>
    %1822 = stablehlo.negate %1821 : tensor<8x32x64xf32>
    %cst_459 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1823 = stablehlo.reduce(%1822 init: %cst_459) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1824 = stablehlo.reshape %1823 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1825 = stablehlo.add %1777, %1821 : tensor<8x32x64xf32>
    %cst_460 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1826 = stablehlo.broadcast_in_dim %cst_460, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1827 = stablehlo.divide %1824, %1826 : tensor<8x32x1xf32>
    %cst_461 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1828 = stablehlo.reduce(%1827 init: %cst_461) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1829 = stablehlo.broadcast_in_dim %1828, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1830 = stablehlo.add %1825, %1829 : tensor<8x32x64xf32>
    %1831 = stablehlo.dot_general %1830, %802, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %1832 = stablehlo.transpose %1831, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %1833 = stablehlo.dot_general %1830, %arg69, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %1834 = stablehlo.transpose %1833, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %1835 = stablehlo.dot_general %1834, %780, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %1836 = stablehlo.dot_general %1834, %797, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1837 = stablehlo.transpose %1836, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1838 = stablehlo.broadcast_in_dim %800, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1839 = stablehlo.multiply %1835, %1838 : tensor<8x8x32x32xf32>
    %1840 = stablehlo.multiply %1839, %793 : tensor<8x8x32x32xf32>
    %cst_462 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1841 = stablehlo.reduce(%1840 init: %cst_462) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1842 = stablehlo.reshape %1841 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1843 = stablehlo.negate %1842 : tensor<8x8x32x1xf32>
    %1844 = stablehlo.broadcast_in_dim %795, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1845 = stablehlo.divide %1835, %1844 : tensor<8x8x32x32xf32>
    %cst_463 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1846 = stablehlo.reduce(%1843 init: %cst_463) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1847 = stablehlo.broadcast_in_dim %1846, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %1848 = stablehlo.add %1845, %1847 : tensor<8x8x32x32xf32>
    %1849 = stablehlo.multiply %1848, %793 : tensor<8x8x32x32xf32>
    %1850 = call @_where_1(%786#1, %1849) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_464 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1851 = stablehlo.broadcast_in_dim %cst_464, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1852 = stablehlo.divide %1850, %1851 : tensor<8x8x32x32xf32>
    %1853 = stablehlo.dot_general %1852, %776, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1854 = stablehlo.dot_general %1852, %778, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1855 = stablehlo.transpose %1837, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1856 = stablehlo.dot_general %1855, %arg72, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1857 = stablehlo.dot_general %1855, %774, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1858 = stablehlo.transpose %1857, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1859 = stablehlo.transpose %1853, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1860 = stablehlo.dot_general %1859, %arg66, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1861 = stablehlo.add %1856, %1860 : tensor<8x32x64xf32>
    %1862 = stablehlo.dot_general %1859, %774, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1863 = stablehlo.transpose %1862, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1864 = stablehlo.transpose %1854, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1865 = stablehlo.dot_general %1864, %arg70, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1866 = stablehlo.add %1861, %1865 : tensor<8x32x64xf32>
    %1867 = stablehlo.dot_general %1864, %774, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1868 = stablehlo.transpose %1867, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1869 = stablehlo.multiply %768, %1866 : tensor<8x32x64xf32>
    %cst_465 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1870 = stablehlo.reduce(%1869 init: %cst_465) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1871 = stablehlo.reshape %1870 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1872 = stablehlo.broadcast_in_dim %772, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1873 = stablehlo.multiply %1866, %1872 : tensor<8x32x64xf32>
    %cst_466 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1874 = stablehlo.reduce(%1871 init: %cst_466) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1875 = stablehlo.broadcast_in_dim %771, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1876 = stablehlo.multiply %1873, %1875 : tensor<8x32x64xf32>
    %1877 = stablehlo.multiply %1876, %754 : tensor<8x32x64xf32>
    %cst_467 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1878 = stablehlo.reduce(%1877 init: %cst_467) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1879 = stablehlo.reshape %1878 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1880 = stablehlo.negate %1879 : tensor<8x32x1xf32>
    %1881 = stablehlo.broadcast_in_dim %764, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1882 = stablehlo.divide %1873, %1881 : tensor<8x32x64xf32>
    %1883 = stablehlo.multiply %1880, %766 : tensor<8x32x1xf32>
    %cst_468 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1884 = stablehlo.broadcast_in_dim %cst_468, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1885 = stablehlo.divide %1883, %1884 : tensor<8x32x1xf32>
    %cst_469 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1886 = stablehlo.reduce(%1885 init: %cst_469) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1887 = stablehlo.broadcast_in_dim %1886, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1888 = stablehlo.multiply %1887, %757 : tensor<8x32x64xf32>
    %1889 = stablehlo.add %1882, %1888 : tensor<8x32x64xf32>
    %1890 = stablehlo.negate %1889 : tensor<8x32x64xf32>
    %cst_470 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1891 = stablehlo.reduce(%1890 init: %cst_470) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1892 = stablehlo.reshape %1891 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1893 = stablehlo.add %1830, %1889 : tensor<8x32x64xf32>
    %cst_471 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1894 = stablehlo.broadcast_in_dim %cst_471, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1895 = stablehlo.divide %1892, %1894 : tensor<8x32x1xf32>
    %cst_472 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1896 = stablehlo.reduce(%1895 init: %cst_472) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1897 = stablehlo.broadcast_in_dim %1896, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1898 = stablehlo.add %1893, %1897 : tensor<8x32x64xf32>
    %1899 = stablehlo.dot_general %1898, %746, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %1900 = stablehlo.transpose %1899, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %1901 = stablehlo.dot_general %1898, %arg56, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %1902 = stablehlo.multiply %728, %1901 : tensor<8x32x256xf32>
    %1903 = stablehlo.multiply %1901, %745 : tensor<8x32x256xf32>
    %cst_473 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1904 = stablehlo.broadcast_in_dim %cst_473, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1905 = stablehlo.multiply %1904, %1902 : tensor<8x32x256xf32>
    %1906 = stablehlo.multiply %1905, %741 : tensor<8x32x256xf32>
    %1907 = stablehlo.multiply %1906, %739 : tensor<8x32x256xf32>
    %1908 = stablehlo.add %1906, %1907 : tensor<8x32x256xf32>
    %cst_474 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %1909 = stablehlo.broadcast_in_dim %cst_474, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1910 = stablehlo.multiply %1909, %1908 : tensor<8x32x256xf32>
    %1911 = stablehlo.add %1903, %1910 : tensor<8x32x256xf32>
    %cst_475 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %1912 = stablehlo.broadcast_in_dim %cst_475, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %1913 = stablehlo.multiply %1912, %1910 : tensor<8x32x256xf32>
    %1914 = stablehlo.multiply %1913, %733 : tensor<8x32x256xf32>
    %1915 = stablehlo.add %1911, %1914 : tensor<8x32x256xf32>
    %cst_476 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1916 = stablehlo.reduce(%1915 init: %cst_476) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1917 = stablehlo.reshape %1916 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_477 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1918 = stablehlo.reduce(%1917 init: %cst_477) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1919 = stablehlo.dot_general %1915, %724, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %1920 = stablehlo.transpose %1919, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %1921 = stablehlo.dot_general %1915, %arg62, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %1922 = stablehlo.multiply %718, %1921 : tensor<8x32x64xf32>
    %cst_478 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1923 = stablehlo.reduce(%1922 init: %cst_478) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1924 = stablehlo.reshape %1923 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1925 = stablehlo.broadcast_in_dim %722, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1926 = stablehlo.multiply %1921, %1925 : tensor<8x32x64xf32>
    %cst_479 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1927 = stablehlo.reduce(%1924 init: %cst_479) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1928 = stablehlo.broadcast_in_dim %721, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1929 = stablehlo.multiply %1926, %1928 : tensor<8x32x64xf32>
    %1930 = stablehlo.multiply %1929, %704 : tensor<8x32x64xf32>
    %cst_480 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1931 = stablehlo.reduce(%1930 init: %cst_480) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1932 = stablehlo.reshape %1931 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1933 = stablehlo.negate %1932 : tensor<8x32x1xf32>
    %1934 = stablehlo.broadcast_in_dim %714, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1935 = stablehlo.divide %1926, %1934 : tensor<8x32x64xf32>
    %1936 = stablehlo.multiply %1933, %716 : tensor<8x32x1xf32>
    %cst_481 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1937 = stablehlo.broadcast_in_dim %cst_481, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1938 = stablehlo.divide %1936, %1937 : tensor<8x32x1xf32>
    %cst_482 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1939 = stablehlo.reduce(%1938 init: %cst_482) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1940 = stablehlo.broadcast_in_dim %1939, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1941 = stablehlo.multiply %1940, %707 : tensor<8x32x64xf32>
    %1942 = stablehlo.add %1935, %1941 : tensor<8x32x64xf32>
    %1943 = stablehlo.negate %1942 : tensor<8x32x64xf32>
    %cst_483 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1944 = stablehlo.reduce(%1943 init: %cst_483) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1945 = stablehlo.reshape %1944 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %1946 = stablehlo.add %1898, %1942 : tensor<8x32x64xf32>
    %cst_484 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %1947 = stablehlo.broadcast_in_dim %cst_484, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %1948 = stablehlo.divide %1945, %1947 : tensor<8x32x1xf32>
    %cst_485 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1949 = stablehlo.reduce(%1948 init: %cst_485) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %1950 = stablehlo.broadcast_in_dim %1949, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %1951 = stablehlo.add %1946, %1950 : tensor<8x32x64xf32>
    %1952 = stablehlo.dot_general %1951, %696, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %1953 = stablehlo.transpose %1952, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %1954 = stablehlo.dot_general %1951, %arg60, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %1955 = stablehlo.transpose %1954, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %1956 = stablehlo.dot_general %1955, %674, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %1957 = stablehlo.dot_general %1955, %691, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %1958 = stablehlo.transpose %1957, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %1959 = stablehlo.broadcast_in_dim %694, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1960 = stablehlo.multiply %1956, %1959 : tensor<8x8x32x32xf32>
    %1961 = stablehlo.multiply %1960, %687 : tensor<8x8x32x32xf32>
    %cst_486 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1962 = stablehlo.reduce(%1961 init: %cst_486) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1963 = stablehlo.reshape %1962 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %1964 = stablehlo.negate %1963 : tensor<8x8x32x1xf32>
    %1965 = stablehlo.broadcast_in_dim %689, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %1966 = stablehlo.divide %1956, %1965 : tensor<8x8x32x32xf32>
    %cst_487 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1967 = stablehlo.reduce(%1964 init: %cst_487) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %1968 = stablehlo.broadcast_in_dim %1967, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %1969 = stablehlo.add %1966, %1968 : tensor<8x8x32x32xf32>
    %1970 = stablehlo.multiply %1969, %687 : tensor<8x8x32x32xf32>
    %1971 = call @_where_1(%680#1, %1970) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_488 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %1972 = stablehlo.broadcast_in_dim %cst_488, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %1973 = stablehlo.divide %1971, %1972 : tensor<8x8x32x32xf32>
    %1974 = stablehlo.dot_general %1973, %670, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1975 = stablehlo.dot_general %1973, %672, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %1976 = stablehlo.transpose %1958, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1977 = stablehlo.dot_general %1976, %arg63, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1978 = stablehlo.dot_general %1976, %668, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1979 = stablehlo.transpose %1978, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1980 = stablehlo.transpose %1974, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1981 = stablehlo.dot_general %1980, %arg57, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1982 = stablehlo.add %1977, %1981 : tensor<8x32x64xf32>
    %1983 = stablehlo.dot_general %1980, %668, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1984 = stablehlo.transpose %1983, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1985 = stablehlo.transpose %1975, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %1986 = stablehlo.dot_general %1985, %arg61, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %1987 = stablehlo.add %1982, %1986 : tensor<8x32x64xf32>
    %1988 = stablehlo.dot_general %1985, %668, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %1989 = stablehlo.transpose %1988, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %1990 = stablehlo.multiply %662, %1987 : tensor<8x32x64xf32>
    %cst_489 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1991 = stablehlo.reduce(%1990 init: %cst_489) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1992 = stablehlo.reshape %1991 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %1993 = stablehlo.broadcast_in_dim %666, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %1994 = stablehlo.multiply %1987, %1993 : tensor<8x32x64xf32>
    %cst_490 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1995 = stablehlo.reduce(%1992 init: %cst_490) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %1996 = stablehlo.broadcast_in_dim %665, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %1997 = stablehlo.multiply %1994, %1996 : tensor<8x32x64xf32>
    %1998 = stablehlo.multiply %1997, %648 : tensor<8x32x64xf32>
    %cst_491 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1999 = stablehlo.reduce(%1998 init: %cst_491) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2000 = stablehlo.reshape %1999 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2001 = stablehlo.negate %2000 : tensor<8x32x1xf32>
    %2002 = stablehlo.broadcast_in_dim %658, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2003 = stablehlo.divide %1994, %2002 : tensor<8x32x64xf32>
    %2004 = stablehlo.multiply %2001, %660 : tensor<8x32x1xf32>
    %cst_492 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2005 = stablehlo.broadcast_in_dim %cst_492, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2006 = stablehlo.divide %2004, %2005 : tensor<8x32x1xf32>
    %cst_493 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2007 = stablehlo.reduce(%2006 init: %cst_493) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2008 = stablehlo.broadcast_in_dim %2007, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2009 = stablehlo.multiply %2008, %651 : tensor<8x32x64xf32>
    %2010 = stablehlo.add %2003, %2009 : tensor<8x32x64xf32>
    %2011 = stablehlo.negate %2010 : tensor<8x32x64xf32>
    %cst_494 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2012 = stablehlo.reduce(%2011 init: %cst_494) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2013 = stablehlo.reshape %2012 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2014 = stablehlo.add %1951, %2010 : tensor<8x32x64xf32>
    %cst_495 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2015 = stablehlo.broadcast_in_dim %cst_495, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2016 = stablehlo.divide %2013, %2015 : tensor<8x32x1xf32>
    %cst_496 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2017 = stablehlo.reduce(%2016 init: %cst_496) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2018 = stablehlo.broadcast_in_dim %2017, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2019 = stablehlo.add %2014, %2018 : tensor<8x32x64xf32>
    %2020 = stablehlo.dot_general %2019, %640, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %2021 = stablehlo.transpose %2020, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %2022 = stablehlo.dot_general %2019, %arg47, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %2023 = stablehlo.multiply %622, %2022 : tensor<8x32x256xf32>
    %2024 = stablehlo.multiply %2022, %639 : tensor<8x32x256xf32>
    %cst_497 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2025 = stablehlo.broadcast_in_dim %cst_497, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2026 = stablehlo.multiply %2025, %2023 : tensor<8x32x256xf32>
    %2027 = stablehlo.multiply %2026, %635 : tensor<8x32x256xf32>
    %2028 = stablehlo.multiply %2027, %633 : tensor<8x32x256xf32>
    %2029 = stablehlo.add %2027, %2028 : tensor<8x32x256xf32>
    %cst_498 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %2030 = stablehlo.broadcast_in_dim %cst_498, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2031 = stablehlo.multiply %2030, %2029 : tensor<8x32x256xf32>
    %2032 = stablehlo.add %2024, %2031 : tensor<8x32x256xf32>
    %cst_499 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2033 = stablehlo.broadcast_in_dim %cst_499, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2034 = stablehlo.multiply %2033, %2031 : tensor<8x32x256xf32>
    %2035 = stablehlo.multiply %2034, %627 : tensor<8x32x256xf32>
    %2036 = stablehlo.add %2032, %2035 : tensor<8x32x256xf32>
    %cst_500 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2037 = stablehlo.reduce(%2036 init: %cst_500) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2038 = stablehlo.reshape %2037 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_501 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2039 = stablehlo.reduce(%2038 init: %cst_501) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2040 = stablehlo.dot_general %2036, %618, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %2041 = stablehlo.transpose %2040, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %2042 = stablehlo.dot_general %2036, %arg53, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %2043 = stablehlo.multiply %612, %2042 : tensor<8x32x64xf32>
    %cst_502 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2044 = stablehlo.reduce(%2043 init: %cst_502) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2045 = stablehlo.reshape %2044 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2046 = stablehlo.broadcast_in_dim %616, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2047 = stablehlo.multiply %2042, %2046 : tensor<8x32x64xf32>
    %cst_503 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2048 = stablehlo.reduce(%2045 init: %cst_503) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2049 = stablehlo.broadcast_in_dim %615, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2050 = stablehlo.multiply %2047, %2049 : tensor<8x32x64xf32>
    %2051 = stablehlo.multiply %2050, %598 : tensor<8x32x64xf32>
    %cst_504 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2052 = stablehlo.reduce(%2051 init: %cst_504) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2053 = stablehlo.reshape %2052 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2054 = stablehlo.negate %2053 : tensor<8x32x1xf32>
    %2055 = stablehlo.broadcast_in_dim %608, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2056 = stablehlo.divide %2047, %2055 : tensor<8x32x64xf32>
    %2057 = stablehlo.multiply %2054, %610 : tensor<8x32x1xf32>
    %cst_505 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2058 = stablehlo.broadcast_in_dim %cst_505, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2059 = stablehlo.divide %2057, %2058 : tensor<8x32x1xf32>
    %cst_506 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2060 = stablehlo.reduce(%2059 init: %cst_506) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2061 = stablehlo.broadcast_in_dim %2060, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2062 = stablehlo.multiply %2061, %601 : tensor<8x32x64xf32>
    %2063 = stablehlo.add %2056, %2062 : tensor<8x32x64xf32>
    %2064 = stablehlo.negate %2063 : tensor<8x32x64xf32>
    %cst_507 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2065 = stablehlo.reduce(%2064 init: %cst_507) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2066 = stablehlo.reshape %2065 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2067 = stablehlo.add %2019, %2063 : tensor<8x32x64xf32>
    %cst_508 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2068 = stablehlo.broadcast_in_dim %cst_508, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2069 = stablehlo.divide %2066, %2068 : tensor<8x32x1xf32>
    %cst_509 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2070 = stablehlo.reduce(%2069 init: %cst_509) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2071 = stablehlo.broadcast_in_dim %2070, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2072 = stablehlo.add %2067, %2071 : tensor<8x32x64xf32>
    %2073 = stablehlo.dot_general %2072, %590, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %2074 = stablehlo.transpose %2073, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %2075 = stablehlo.dot_general %2072, %arg51, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %2076 = stablehlo.transpose %2075, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %2077 = stablehlo.dot_general %2076, %568, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %2078 = stablehlo.dot_general %2076, %585, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %2079 = stablehlo.transpose %2078, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %2080 = stablehlo.broadcast_in_dim %588, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2081 = stablehlo.multiply %2077, %2080 : tensor<8x8x32x32xf32>
    %2082 = stablehlo.multiply %2081, %581 : tensor<8x8x32x32xf32>
    %cst_510 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2083 = stablehlo.reduce(%2082 init: %cst_510) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2084 = stablehlo.reshape %2083 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %2085 = stablehlo.negate %2084 : tensor<8x8x32x1xf32>
    %2086 = stablehlo.broadcast_in_dim %583, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2087 = stablehlo.divide %2077, %2086 : tensor<8x8x32x32xf32>
    %cst_511 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2088 = stablehlo.reduce(%2085 init: %cst_511) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2089 = stablehlo.broadcast_in_dim %2088, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %2090 = stablehlo.add %2087, %2089 : tensor<8x8x32x32xf32>
    %2091 = stablehlo.multiply %2090, %581 : tensor<8x8x32x32xf32>
    %2092 = call @_where_1(%574#1, %2091) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_512 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %2093 = stablehlo.broadcast_in_dim %cst_512, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %2094 = stablehlo.divide %2092, %2093 : tensor<8x8x32x32xf32>
    %2095 = stablehlo.dot_general %2094, %564, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2096 = stablehlo.dot_general %2094, %566, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2097 = stablehlo.transpose %2079, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2098 = stablehlo.dot_general %2097, %arg54, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2099 = stablehlo.dot_general %2097, %562, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2100 = stablehlo.transpose %2099, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2101 = stablehlo.transpose %2095, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2102 = stablehlo.dot_general %2101, %arg48, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2103 = stablehlo.add %2098, %2102 : tensor<8x32x64xf32>
    %2104 = stablehlo.dot_general %2101, %562, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2105 = stablehlo.transpose %2104, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2106 = stablehlo.transpose %2096, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2107 = stablehlo.dot_general %2106, %arg52, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2108 = stablehlo.add %2103, %2107 : tensor<8x32x64xf32>
    %2109 = stablehlo.dot_general %2106, %562, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2110 = stablehlo.transpose %2109, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2111 = stablehlo.multiply %556, %2108 : tensor<8x32x64xf32>
    %cst_513 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2112 = stablehlo.reduce(%2111 init: %cst_513) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2113 = stablehlo.reshape %2112 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2114 = stablehlo.broadcast_in_dim %560, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2115 = stablehlo.multiply %2108, %2114 : tensor<8x32x64xf32>
    %cst_514 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2116 = stablehlo.reduce(%2113 init: %cst_514) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2117 = stablehlo.broadcast_in_dim %559, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2118 = stablehlo.multiply %2115, %2117 : tensor<8x32x64xf32>
    %2119 = stablehlo.multiply %2118, %542 : tensor<8x32x64xf32>
    %cst_515 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2120 = stablehlo.reduce(%2119 init: %cst_515) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2121 = stablehlo.reshape %2120 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2122 = stablehlo.negate %2121 : tensor<8x32x1xf32>
    %2123 = stablehlo.broadcast_in_dim %552, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2124 = stablehlo.divide %2115, %2123 : tensor<8x32x64xf32>
    %2125 = stablehlo.multiply %2122, %554 : tensor<8x32x1xf32>
    %cst_516 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2126 = stablehlo.broadcast_in_dim %cst_516, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2127 = stablehlo.divide %2125, %2126 : tensor<8x32x1xf32>
    %cst_517 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2128 = stablehlo.reduce(%2127 init: %cst_517) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2129 = stablehlo.broadcast_in_dim %2128, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2130 = stablehlo.multiply %2129, %545 : tensor<8x32x64xf32>
    %2131 = stablehlo.add %2124, %2130 : tensor<8x32x64xf32>
    %2132 = stablehlo.negate %2131 : tensor<8x32x64xf32>
    %cst_518 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2133 = stablehlo.reduce(%2132 init: %cst_518) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2134 = stablehlo.reshape %2133 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2135 = stablehlo.add %2072, %2131 : tensor<8x32x64xf32>
    %cst_519 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2136 = stablehlo.broadcast_in_dim %cst_519, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2137 = stablehlo.divide %2134, %2136 : tensor<8x32x1xf32>
    %cst_520 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2138 = stablehlo.reduce(%2137 init: %cst_520) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2139 = stablehlo.broadcast_in_dim %2138, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2140 = stablehlo.add %2135, %2139 : tensor<8x32x64xf32>
    %2141 = stablehlo.dot_general %2140, %534, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %2142 = stablehlo.transpose %2141, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %2143 = stablehlo.dot_general %2140, %arg38, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %2144 = stablehlo.multiply %516, %2143 : tensor<8x32x256xf32>
    %2145 = stablehlo.multiply %2143, %533 : tensor<8x32x256xf32>
    %cst_521 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2146 = stablehlo.broadcast_in_dim %cst_521, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2147 = stablehlo.multiply %2146, %2144 : tensor<8x32x256xf32>
    %2148 = stablehlo.multiply %2147, %529 : tensor<8x32x256xf32>
    %2149 = stablehlo.multiply %2148, %527 : tensor<8x32x256xf32>
    %2150 = stablehlo.add %2148, %2149 : tensor<8x32x256xf32>
    %cst_522 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %2151 = stablehlo.broadcast_in_dim %cst_522, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2152 = stablehlo.multiply %2151, %2150 : tensor<8x32x256xf32>
    %2153 = stablehlo.add %2145, %2152 : tensor<8x32x256xf32>
    %cst_523 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2154 = stablehlo.broadcast_in_dim %cst_523, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2155 = stablehlo.multiply %2154, %2152 : tensor<8x32x256xf32>
    %2156 = stablehlo.multiply %2155, %521 : tensor<8x32x256xf32>
    %2157 = stablehlo.add %2153, %2156 : tensor<8x32x256xf32>
    %cst_524 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2158 = stablehlo.reduce(%2157 init: %cst_524) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2159 = stablehlo.reshape %2158 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_525 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2160 = stablehlo.reduce(%2159 init: %cst_525) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2161 = stablehlo.dot_general %2157, %512, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %2162 = stablehlo.transpose %2161, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %2163 = stablehlo.dot_general %2157, %arg44, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %2164 = stablehlo.multiply %506, %2163 : tensor<8x32x64xf32>
    %cst_526 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2165 = stablehlo.reduce(%2164 init: %cst_526) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2166 = stablehlo.reshape %2165 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2167 = stablehlo.broadcast_in_dim %510, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2168 = stablehlo.multiply %2163, %2167 : tensor<8x32x64xf32>
    %cst_527 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2169 = stablehlo.reduce(%2166 init: %cst_527) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2170 = stablehlo.broadcast_in_dim %509, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2171 = stablehlo.multiply %2168, %2170 : tensor<8x32x64xf32>
    %2172 = stablehlo.multiply %2171, %492 : tensor<8x32x64xf32>
    %cst_528 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2173 = stablehlo.reduce(%2172 init: %cst_528) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2174 = stablehlo.reshape %2173 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2175 = stablehlo.negate %2174 : tensor<8x32x1xf32>
    %2176 = stablehlo.broadcast_in_dim %502, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2177 = stablehlo.divide %2168, %2176 : tensor<8x32x64xf32>
    %2178 = stablehlo.multiply %2175, %504 : tensor<8x32x1xf32>
    %cst_529 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2179 = stablehlo.broadcast_in_dim %cst_529, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2180 = stablehlo.divide %2178, %2179 : tensor<8x32x1xf32>
    %cst_530 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2181 = stablehlo.reduce(%2180 init: %cst_530) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2182 = stablehlo.broadcast_in_dim %2181, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2183 = stablehlo.multiply %2182, %495 : tensor<8x32x64xf32>
    %2184 = stablehlo.add %2177, %2183 : tensor<8x32x64xf32>
    %2185 = stablehlo.negate %2184 : tensor<8x32x64xf32>
    %cst_531 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2186 = stablehlo.reduce(%2185 init: %cst_531) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2187 = stablehlo.reshape %2186 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2188 = stablehlo.add %2140, %2184 : tensor<8x32x64xf32>
    %cst_532 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2189 = stablehlo.broadcast_in_dim %cst_532, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2190 = stablehlo.divide %2187, %2189 : tensor<8x32x1xf32>
    %cst_533 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2191 = stablehlo.reduce(%2190 init: %cst_533) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2192 = stablehlo.broadcast_in_dim %2191, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2193 = stablehlo.add %2188, %2192 : tensor<8x32x64xf32>
    %2194 = stablehlo.dot_general %2193, %484, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %2195 = stablehlo.transpose %2194, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %2196 = stablehlo.dot_general %2193, %arg42, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %2197 = stablehlo.transpose %2196, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %2198 = stablehlo.dot_general %2197, %462, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %2199 = stablehlo.dot_general %2197, %479, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %2200 = stablehlo.transpose %2199, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %2201 = stablehlo.broadcast_in_dim %482, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2202 = stablehlo.multiply %2198, %2201 : tensor<8x8x32x32xf32>
    %2203 = stablehlo.multiply %2202, %475 : tensor<8x8x32x32xf32>
    %cst_534 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2204 = stablehlo.reduce(%2203 init: %cst_534) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2205 = stablehlo.reshape %2204 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %2206 = stablehlo.negate %2205 : tensor<8x8x32x1xf32>
    %2207 = stablehlo.broadcast_in_dim %477, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2208 = stablehlo.divide %2198, %2207 : tensor<8x8x32x32xf32>
    %cst_535 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2209 = stablehlo.reduce(%2206 init: %cst_535) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2210 = stablehlo.broadcast_in_dim %2209, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %2211 = stablehlo.add %2208, %2210 : tensor<8x8x32x32xf32>
    %2212 = stablehlo.multiply %2211, %475 : tensor<8x8x32x32xf32>
    %2213 = call @_where_1(%468#1, %2212) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_536 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %2214 = stablehlo.broadcast_in_dim %cst_536, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %2215 = stablehlo.divide %2213, %2214 : tensor<8x8x32x32xf32>
    %2216 = stablehlo.dot_general %2215, %458, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2217 = stablehlo.dot_general %2215, %460, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2218 = stablehlo.transpose %2200, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2219 = stablehlo.dot_general %2218, %arg45, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2220 = stablehlo.dot_general %2218, %456, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2221 = stablehlo.transpose %2220, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2222 = stablehlo.transpose %2216, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2223 = stablehlo.dot_general %2222, %arg39, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2224 = stablehlo.add %2219, %2223 : tensor<8x32x64xf32>
    %2225 = stablehlo.dot_general %2222, %456, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2226 = stablehlo.transpose %2225, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2227 = stablehlo.transpose %2217, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2228 = stablehlo.dot_general %2227, %arg43, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2229 = stablehlo.add %2224, %2228 : tensor<8x32x64xf32>
    %2230 = stablehlo.dot_general %2227, %456, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2231 = stablehlo.transpose %2230, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2232 = stablehlo.multiply %450, %2229 : tensor<8x32x64xf32>
    %cst_537 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2233 = stablehlo.reduce(%2232 init: %cst_537) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2234 = stablehlo.reshape %2233 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2235 = stablehlo.broadcast_in_dim %454, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2236 = stablehlo.multiply %2229, %2235 : tensor<8x32x64xf32>
    %cst_538 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2237 = stablehlo.reduce(%2234 init: %cst_538) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2238 = stablehlo.broadcast_in_dim %453, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2239 = stablehlo.multiply %2236, %2238 : tensor<8x32x64xf32>
    %2240 = stablehlo.multiply %2239, %436 : tensor<8x32x64xf32>
    %cst_539 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2241 = stablehlo.reduce(%2240 init: %cst_539) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2242 = stablehlo.reshape %2241 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2243 = stablehlo.negate %2242 : tensor<8x32x1xf32>
    %2244 = stablehlo.broadcast_in_dim %446, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2245 = stablehlo.divide %2236, %2244 : tensor<8x32x64xf32>
    %2246 = stablehlo.multiply %2243, %448 : tensor<8x32x1xf32>
    %cst_540 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2247 = stablehlo.broadcast_in_dim %cst_540, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2248 = stablehlo.divide %2246, %2247 : tensor<8x32x1xf32>
    %cst_541 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2249 = stablehlo.reduce(%2248 init: %cst_541) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2250 = stablehlo.broadcast_in_dim %2249, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2251 = stablehlo.multiply %2250, %439 : tensor<8x32x64xf32>
    %2252 = stablehlo.add %2245, %2251 : tensor<8x32x64xf32>
    %2253 = stablehlo.negate %2252 : tensor<8x32x64xf32>
    %cst_542 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2254 = stablehlo.reduce(%2253 init: %cst_542) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2255 = stablehlo.reshape %2254 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2256 = stablehlo.add %2193, %2252 : tensor<8x32x64xf32>
    %cst_543 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2257 = stablehlo.broadcast_in_dim %cst_543, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2258 = stablehlo.divide %2255, %2257 : tensor<8x32x1xf32>
    %cst_544 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2259 = stablehlo.reduce(%2258 init: %cst_544) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2260 = stablehlo.broadcast_in_dim %2259, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2261 = stablehlo.add %2256, %2260 : tensor<8x32x64xf32>
    %2262 = stablehlo.dot_general %2261, %428, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %2263 = stablehlo.transpose %2262, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %2264 = stablehlo.dot_general %2261, %arg29, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %2265 = stablehlo.multiply %410, %2264 : tensor<8x32x256xf32>
    %2266 = stablehlo.multiply %2264, %427 : tensor<8x32x256xf32>
    %cst_545 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2267 = stablehlo.broadcast_in_dim %cst_545, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2268 = stablehlo.multiply %2267, %2265 : tensor<8x32x256xf32>
    %2269 = stablehlo.multiply %2268, %423 : tensor<8x32x256xf32>
    %2270 = stablehlo.multiply %2269, %421 : tensor<8x32x256xf32>
    %2271 = stablehlo.add %2269, %2270 : tensor<8x32x256xf32>
    %cst_546 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %2272 = stablehlo.broadcast_in_dim %cst_546, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2273 = stablehlo.multiply %2272, %2271 : tensor<8x32x256xf32>
    %2274 = stablehlo.add %2266, %2273 : tensor<8x32x256xf32>
    %cst_547 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2275 = stablehlo.broadcast_in_dim %cst_547, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2276 = stablehlo.multiply %2275, %2273 : tensor<8x32x256xf32>
    %2277 = stablehlo.multiply %2276, %415 : tensor<8x32x256xf32>
    %2278 = stablehlo.add %2274, %2277 : tensor<8x32x256xf32>
    %cst_548 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2279 = stablehlo.reduce(%2278 init: %cst_548) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2280 = stablehlo.reshape %2279 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_549 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2281 = stablehlo.reduce(%2280 init: %cst_549) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2282 = stablehlo.dot_general %2278, %406, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %2283 = stablehlo.transpose %2282, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %2284 = stablehlo.dot_general %2278, %arg35, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %2285 = stablehlo.multiply %400, %2284 : tensor<8x32x64xf32>
    %cst_550 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2286 = stablehlo.reduce(%2285 init: %cst_550) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2287 = stablehlo.reshape %2286 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2288 = stablehlo.broadcast_in_dim %404, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2289 = stablehlo.multiply %2284, %2288 : tensor<8x32x64xf32>
    %cst_551 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2290 = stablehlo.reduce(%2287 init: %cst_551) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2291 = stablehlo.broadcast_in_dim %403, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2292 = stablehlo.multiply %2289, %2291 : tensor<8x32x64xf32>
    %2293 = stablehlo.multiply %2292, %386 : tensor<8x32x64xf32>
    %cst_552 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2294 = stablehlo.reduce(%2293 init: %cst_552) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2295 = stablehlo.reshape %2294 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2296 = stablehlo.negate %2295 : tensor<8x32x1xf32>
    %2297 = stablehlo.broadcast_in_dim %396, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2298 = stablehlo.divide %2289, %2297 : tensor<8x32x64xf32>
    %2299 = stablehlo.multiply %2296, %398 : tensor<8x32x1xf32>
    %cst_553 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2300 = stablehlo.broadcast_in_dim %cst_553, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2301 = stablehlo.divide %2299, %2300 : tensor<8x32x1xf32>
    %cst_554 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2302 = stablehlo.reduce(%2301 init: %cst_554) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2303 = stablehlo.broadcast_in_dim %2302, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2304 = stablehlo.multiply %2303, %389 : tensor<8x32x64xf32>
    %2305 = stablehlo.add %2298, %2304 : tensor<8x32x64xf32>
    %2306 = stablehlo.negate %2305 : tensor<8x32x64xf32>
    %cst_555 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2307 = stablehlo.reduce(%2306 init: %cst_555) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2308 = stablehlo.reshape %2307 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2309 = stablehlo.add %2261, %2305 : tensor<8x32x64xf32>
    %cst_556 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2310 = stablehlo.broadcast_in_dim %cst_556, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2311 = stablehlo.divide %2308, %2310 : tensor<8x32x1xf32>
    %cst_557 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2312 = stablehlo.reduce(%2311 init: %cst_557) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2313 = stablehlo.broadcast_in_dim %2312, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2314 = stablehlo.add %2309, %2313 : tensor<8x32x64xf32>
    %2315 = stablehlo.dot_general %2314, %378, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %2316 = stablehlo.transpose %2315, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %2317 = stablehlo.dot_general %2314, %arg33, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %2318 = stablehlo.transpose %2317, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %2319 = stablehlo.dot_general %2318, %356, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %2320 = stablehlo.dot_general %2318, %373, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %2321 = stablehlo.transpose %2320, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %2322 = stablehlo.broadcast_in_dim %376, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2323 = stablehlo.multiply %2319, %2322 : tensor<8x8x32x32xf32>
    %2324 = stablehlo.multiply %2323, %369 : tensor<8x8x32x32xf32>
    %cst_558 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2325 = stablehlo.reduce(%2324 init: %cst_558) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2326 = stablehlo.reshape %2325 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %2327 = stablehlo.negate %2326 : tensor<8x8x32x1xf32>
    %2328 = stablehlo.broadcast_in_dim %371, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2329 = stablehlo.divide %2319, %2328 : tensor<8x8x32x32xf32>
    %cst_559 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2330 = stablehlo.reduce(%2327 init: %cst_559) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2331 = stablehlo.broadcast_in_dim %2330, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %2332 = stablehlo.add %2329, %2331 : tensor<8x8x32x32xf32>
    %2333 = stablehlo.multiply %2332, %369 : tensor<8x8x32x32xf32>
    %2334 = call @_where_1(%362#1, %2333) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_560 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %2335 = stablehlo.broadcast_in_dim %cst_560, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %2336 = stablehlo.divide %2334, %2335 : tensor<8x8x32x32xf32>
    %2337 = stablehlo.dot_general %2336, %352, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2338 = stablehlo.dot_general %2336, %354, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2339 = stablehlo.transpose %2321, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2340 = stablehlo.dot_general %2339, %arg36, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2341 = stablehlo.dot_general %2339, %350, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2342 = stablehlo.transpose %2341, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2343 = stablehlo.transpose %2337, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2344 = stablehlo.dot_general %2343, %arg30, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2345 = stablehlo.add %2340, %2344 : tensor<8x32x64xf32>
    %2346 = stablehlo.dot_general %2343, %350, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2347 = stablehlo.transpose %2346, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2348 = stablehlo.transpose %2338, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2349 = stablehlo.dot_general %2348, %arg34, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2350 = stablehlo.add %2345, %2349 : tensor<8x32x64xf32>
    %2351 = stablehlo.dot_general %2348, %350, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2352 = stablehlo.transpose %2351, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2353 = stablehlo.multiply %344, %2350 : tensor<8x32x64xf32>
    %cst_561 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2354 = stablehlo.reduce(%2353 init: %cst_561) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2355 = stablehlo.reshape %2354 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2356 = stablehlo.broadcast_in_dim %348, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2357 = stablehlo.multiply %2350, %2356 : tensor<8x32x64xf32>
    %cst_562 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2358 = stablehlo.reduce(%2355 init: %cst_562) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2359 = stablehlo.broadcast_in_dim %347, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2360 = stablehlo.multiply %2357, %2359 : tensor<8x32x64xf32>
    %2361 = stablehlo.multiply %2360, %330 : tensor<8x32x64xf32>
    %cst_563 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2362 = stablehlo.reduce(%2361 init: %cst_563) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2363 = stablehlo.reshape %2362 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2364 = stablehlo.negate %2363 : tensor<8x32x1xf32>
    %2365 = stablehlo.broadcast_in_dim %340, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2366 = stablehlo.divide %2357, %2365 : tensor<8x32x64xf32>
    %2367 = stablehlo.multiply %2364, %342 : tensor<8x32x1xf32>
    %cst_564 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2368 = stablehlo.broadcast_in_dim %cst_564, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2369 = stablehlo.divide %2367, %2368 : tensor<8x32x1xf32>
    %cst_565 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2370 = stablehlo.reduce(%2369 init: %cst_565) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2371 = stablehlo.broadcast_in_dim %2370, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2372 = stablehlo.multiply %2371, %333 : tensor<8x32x64xf32>
    %2373 = stablehlo.add %2366, %2372 : tensor<8x32x64xf32>
    %2374 = stablehlo.negate %2373 : tensor<8x32x64xf32>
    %cst_566 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2375 = stablehlo.reduce(%2374 init: %cst_566) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2376 = stablehlo.reshape %2375 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2377 = stablehlo.add %2314, %2373 : tensor<8x32x64xf32>
    %cst_567 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2378 = stablehlo.broadcast_in_dim %cst_567, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2379 = stablehlo.divide %2376, %2378 : tensor<8x32x1xf32>
    %cst_568 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2380 = stablehlo.reduce(%2379 init: %cst_568) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2381 = stablehlo.broadcast_in_dim %2380, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2382 = stablehlo.add %2377, %2381 : tensor<8x32x64xf32>
    %2383 = stablehlo.dot_general %2382, %322, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %2384 = stablehlo.transpose %2383, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %2385 = stablehlo.dot_general %2382, %arg20, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %2386 = stablehlo.multiply %304, %2385 : tensor<8x32x256xf32>
    %2387 = stablehlo.multiply %2385, %321 : tensor<8x32x256xf32>
    %cst_569 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2388 = stablehlo.broadcast_in_dim %cst_569, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2389 = stablehlo.multiply %2388, %2386 : tensor<8x32x256xf32>
    %2390 = stablehlo.multiply %2389, %317 : tensor<8x32x256xf32>
    %2391 = stablehlo.multiply %2390, %315 : tensor<8x32x256xf32>
    %2392 = stablehlo.add %2390, %2391 : tensor<8x32x256xf32>
    %cst_570 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %2393 = stablehlo.broadcast_in_dim %cst_570, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2394 = stablehlo.multiply %2393, %2392 : tensor<8x32x256xf32>
    %2395 = stablehlo.add %2387, %2394 : tensor<8x32x256xf32>
    %cst_571 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2396 = stablehlo.broadcast_in_dim %cst_571, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2397 = stablehlo.multiply %2396, %2394 : tensor<8x32x256xf32>
    %2398 = stablehlo.multiply %2397, %309 : tensor<8x32x256xf32>
    %2399 = stablehlo.add %2395, %2398 : tensor<8x32x256xf32>
    %cst_572 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2400 = stablehlo.reduce(%2399 init: %cst_572) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2401 = stablehlo.reshape %2400 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_573 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2402 = stablehlo.reduce(%2401 init: %cst_573) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2403 = stablehlo.dot_general %2399, %300, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %2404 = stablehlo.transpose %2403, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %2405 = stablehlo.dot_general %2399, %arg26, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %2406 = stablehlo.multiply %294, %2405 : tensor<8x32x64xf32>
    %cst_574 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2407 = stablehlo.reduce(%2406 init: %cst_574) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2408 = stablehlo.reshape %2407 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2409 = stablehlo.broadcast_in_dim %298, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2410 = stablehlo.multiply %2405, %2409 : tensor<8x32x64xf32>
    %cst_575 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2411 = stablehlo.reduce(%2408 init: %cst_575) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2412 = stablehlo.broadcast_in_dim %297, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2413 = stablehlo.multiply %2410, %2412 : tensor<8x32x64xf32>
    %2414 = stablehlo.multiply %2413, %280 : tensor<8x32x64xf32>
    %cst_576 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2415 = stablehlo.reduce(%2414 init: %cst_576) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2416 = stablehlo.reshape %2415 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2417 = stablehlo.negate %2416 : tensor<8x32x1xf32>
    %2418 = stablehlo.broadcast_in_dim %290, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2419 = stablehlo.divide %2410, %2418 : tensor<8x32x64xf32>
    %2420 = stablehlo.multiply %2417, %292 : tensor<8x32x1xf32>
    %cst_577 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2421 = stablehlo.broadcast_in_dim %cst_577, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2422 = stablehlo.divide %2420, %2421 : tensor<8x32x1xf32>
    %cst_578 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2423 = stablehlo.reduce(%2422 init: %cst_578) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2424 = stablehlo.broadcast_in_dim %2423, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2425 = stablehlo.multiply %2424, %283 : tensor<8x32x64xf32>
    %2426 = stablehlo.add %2419, %2425 : tensor<8x32x64xf32>
    %2427 = stablehlo.negate %2426 : tensor<8x32x64xf32>
    %cst_579 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2428 = stablehlo.reduce(%2427 init: %cst_579) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2429 = stablehlo.reshape %2428 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2430 = stablehlo.add %2382, %2426 : tensor<8x32x64xf32>
    %cst_580 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2431 = stablehlo.broadcast_in_dim %cst_580, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2432 = stablehlo.divide %2429, %2431 : tensor<8x32x1xf32>
    %cst_581 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2433 = stablehlo.reduce(%2432 init: %cst_581) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2434 = stablehlo.broadcast_in_dim %2433, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2435 = stablehlo.add %2430, %2434 : tensor<8x32x64xf32>
    %2436 = stablehlo.dot_general %2435, %272, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %2437 = stablehlo.transpose %2436, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %2438 = stablehlo.dot_general %2435, %arg24, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %2439 = stablehlo.transpose %2438, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %2440 = stablehlo.dot_general %2439, %250, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %2441 = stablehlo.dot_general %2439, %267, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %2442 = stablehlo.transpose %2441, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %2443 = stablehlo.broadcast_in_dim %270, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2444 = stablehlo.multiply %2440, %2443 : tensor<8x8x32x32xf32>
    %2445 = stablehlo.multiply %2444, %263 : tensor<8x8x32x32xf32>
    %cst_582 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2446 = stablehlo.reduce(%2445 init: %cst_582) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2447 = stablehlo.reshape %2446 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %2448 = stablehlo.negate %2447 : tensor<8x8x32x1xf32>
    %2449 = stablehlo.broadcast_in_dim %265, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2450 = stablehlo.divide %2440, %2449 : tensor<8x8x32x32xf32>
    %cst_583 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2451 = stablehlo.reduce(%2448 init: %cst_583) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2452 = stablehlo.broadcast_in_dim %2451, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %2453 = stablehlo.add %2450, %2452 : tensor<8x8x32x32xf32>
    %2454 = stablehlo.multiply %2453, %263 : tensor<8x8x32x32xf32>
    %2455 = call @_where_1(%256#1, %2454) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_584 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %2456 = stablehlo.broadcast_in_dim %cst_584, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %2457 = stablehlo.divide %2455, %2456 : tensor<8x8x32x32xf32>
    %2458 = stablehlo.dot_general %2457, %246, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2459 = stablehlo.dot_general %2457, %248, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2460 = stablehlo.transpose %2442, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2461 = stablehlo.dot_general %2460, %arg27, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2462 = stablehlo.dot_general %2460, %244, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2463 = stablehlo.transpose %2462, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2464 = stablehlo.transpose %2458, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2465 = stablehlo.dot_general %2464, %arg21, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2466 = stablehlo.add %2461, %2465 : tensor<8x32x64xf32>
    %2467 = stablehlo.dot_general %2464, %244, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2468 = stablehlo.transpose %2467, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2469 = stablehlo.transpose %2459, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2470 = stablehlo.dot_general %2469, %arg25, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2471 = stablehlo.add %2466, %2470 : tensor<8x32x64xf32>
    %2472 = stablehlo.dot_general %2469, %244, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2473 = stablehlo.transpose %2472, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2474 = stablehlo.multiply %238, %2471 : tensor<8x32x64xf32>
    %cst_585 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2475 = stablehlo.reduce(%2474 init: %cst_585) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2476 = stablehlo.reshape %2475 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2477 = stablehlo.broadcast_in_dim %242, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2478 = stablehlo.multiply %2471, %2477 : tensor<8x32x64xf32>
    %cst_586 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2479 = stablehlo.reduce(%2476 init: %cst_586) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2480 = stablehlo.broadcast_in_dim %241, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2481 = stablehlo.multiply %2478, %2480 : tensor<8x32x64xf32>
    %2482 = stablehlo.multiply %2481, %224 : tensor<8x32x64xf32>
    %cst_587 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2483 = stablehlo.reduce(%2482 init: %cst_587) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2484 = stablehlo.reshape %2483 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2485 = stablehlo.negate %2484 : tensor<8x32x1xf32>
    %2486 = stablehlo.broadcast_in_dim %234, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2487 = stablehlo.divide %2478, %2486 : tensor<8x32x64xf32>
    %2488 = stablehlo.multiply %2485, %236 : tensor<8x32x1xf32>
    %cst_588 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2489 = stablehlo.broadcast_in_dim %cst_588, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2490 = stablehlo.divide %2488, %2489 : tensor<8x32x1xf32>
    %cst_589 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2491 = stablehlo.reduce(%2490 init: %cst_589) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2492 = stablehlo.broadcast_in_dim %2491, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2493 = stablehlo.multiply %2492, %227 : tensor<8x32x64xf32>
    %2494 = stablehlo.add %2487, %2493 : tensor<8x32x64xf32>
    %2495 = stablehlo.negate %2494 : tensor<8x32x64xf32>
    %cst_590 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2496 = stablehlo.reduce(%2495 init: %cst_590) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2497 = stablehlo.reshape %2496 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2498 = stablehlo.add %2435, %2494 : tensor<8x32x64xf32>
    %cst_591 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2499 = stablehlo.broadcast_in_dim %cst_591, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2500 = stablehlo.divide %2497, %2499 : tensor<8x32x1xf32>
    %cst_592 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2501 = stablehlo.reduce(%2500 init: %cst_592) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2502 = stablehlo.broadcast_in_dim %2501, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2503 = stablehlo.add %2498, %2502 : tensor<8x32x64xf32>
    %2504 = stablehlo.dot_general %2503, %216, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %2505 = stablehlo.transpose %2504, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %2506 = stablehlo.dot_general %2503, %arg11, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %2507 = stablehlo.multiply %198, %2506 : tensor<8x32x256xf32>
    %2508 = stablehlo.multiply %2506, %215 : tensor<8x32x256xf32>
    %cst_593 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2509 = stablehlo.broadcast_in_dim %cst_593, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2510 = stablehlo.multiply %2509, %2507 : tensor<8x32x256xf32>
    %2511 = stablehlo.multiply %2510, %211 : tensor<8x32x256xf32>
    %2512 = stablehlo.multiply %2511, %209 : tensor<8x32x256xf32>
    %2513 = stablehlo.add %2511, %2512 : tensor<8x32x256xf32>
    %cst_594 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %2514 = stablehlo.broadcast_in_dim %cst_594, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2515 = stablehlo.multiply %2514, %2513 : tensor<8x32x256xf32>
    %2516 = stablehlo.add %2508, %2515 : tensor<8x32x256xf32>
    %cst_595 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2517 = stablehlo.broadcast_in_dim %cst_595, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2518 = stablehlo.multiply %2517, %2515 : tensor<8x32x256xf32>
    %2519 = stablehlo.multiply %2518, %203 : tensor<8x32x256xf32>
    %2520 = stablehlo.add %2516, %2519 : tensor<8x32x256xf32>
    %cst_596 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2521 = stablehlo.reduce(%2520 init: %cst_596) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2522 = stablehlo.reshape %2521 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_597 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2523 = stablehlo.reduce(%2522 init: %cst_597) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2524 = stablehlo.dot_general %2520, %194, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %2525 = stablehlo.transpose %2524, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %2526 = stablehlo.dot_general %2520, %arg17, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %2527 = stablehlo.multiply %188, %2526 : tensor<8x32x64xf32>
    %cst_598 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2528 = stablehlo.reduce(%2527 init: %cst_598) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2529 = stablehlo.reshape %2528 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2530 = stablehlo.broadcast_in_dim %192, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2531 = stablehlo.multiply %2526, %2530 : tensor<8x32x64xf32>
    %cst_599 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2532 = stablehlo.reduce(%2529 init: %cst_599) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2533 = stablehlo.broadcast_in_dim %191, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2534 = stablehlo.multiply %2531, %2533 : tensor<8x32x64xf32>
    %2535 = stablehlo.multiply %2534, %174 : tensor<8x32x64xf32>
    %cst_600 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2536 = stablehlo.reduce(%2535 init: %cst_600) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2537 = stablehlo.reshape %2536 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2538 = stablehlo.negate %2537 : tensor<8x32x1xf32>
    %2539 = stablehlo.broadcast_in_dim %184, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2540 = stablehlo.divide %2531, %2539 : tensor<8x32x64xf32>
    %2541 = stablehlo.multiply %2538, %186 : tensor<8x32x1xf32>
    %cst_601 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2542 = stablehlo.broadcast_in_dim %cst_601, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2543 = stablehlo.divide %2541, %2542 : tensor<8x32x1xf32>
    %cst_602 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2544 = stablehlo.reduce(%2543 init: %cst_602) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2545 = stablehlo.broadcast_in_dim %2544, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2546 = stablehlo.multiply %2545, %177 : tensor<8x32x64xf32>
    %2547 = stablehlo.add %2540, %2546 : tensor<8x32x64xf32>
    %2548 = stablehlo.negate %2547 : tensor<8x32x64xf32>
    %cst_603 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2549 = stablehlo.reduce(%2548 init: %cst_603) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2550 = stablehlo.reshape %2549 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2551 = stablehlo.add %2503, %2547 : tensor<8x32x64xf32>
    %cst_604 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2552 = stablehlo.broadcast_in_dim %cst_604, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2553 = stablehlo.divide %2550, %2552 : tensor<8x32x1xf32>
    %cst_605 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2554 = stablehlo.reduce(%2553 init: %cst_605) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2555 = stablehlo.broadcast_in_dim %2554, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2556 = stablehlo.add %2551, %2555 : tensor<8x32x64xf32>
    %2557 = stablehlo.dot_general %2556, %166, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %2558 = stablehlo.transpose %2557, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %2559 = stablehlo.dot_general %2556, %arg15, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %2560 = stablehlo.transpose %2559, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %2561 = stablehlo.dot_general %2560, %144, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %2562 = stablehlo.dot_general %2560, %161, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %2563 = stablehlo.transpose %2562, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %2564 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2565 = stablehlo.multiply %2561, %2564 : tensor<8x8x32x32xf32>
    %2566 = stablehlo.multiply %2565, %157 : tensor<8x8x32x32xf32>
    %cst_606 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2567 = stablehlo.reduce(%2566 init: %cst_606) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2568 = stablehlo.reshape %2567 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %2569 = stablehlo.negate %2568 : tensor<8x8x32x1xf32>
    %2570 = stablehlo.broadcast_in_dim %159, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2571 = stablehlo.divide %2561, %2570 : tensor<8x8x32x32xf32>
    %cst_607 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2572 = stablehlo.reduce(%2569 init: %cst_607) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2573 = stablehlo.broadcast_in_dim %2572, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %2574 = stablehlo.add %2571, %2573 : tensor<8x8x32x32xf32>
    %2575 = stablehlo.multiply %2574, %157 : tensor<8x8x32x32xf32>
    %2576 = call @_where_1(%150#1, %2575) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_608 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %2577 = stablehlo.broadcast_in_dim %cst_608, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %2578 = stablehlo.divide %2576, %2577 : tensor<8x8x32x32xf32>
    %2579 = stablehlo.dot_general %2578, %140, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2580 = stablehlo.dot_general %2578, %142, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2581 = stablehlo.transpose %2563, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2582 = stablehlo.dot_general %2581, %arg18, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2583 = stablehlo.dot_general %2581, %138, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2584 = stablehlo.transpose %2583, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2585 = stablehlo.transpose %2579, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2586 = stablehlo.dot_general %2585, %arg12, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2587 = stablehlo.add %2582, %2586 : tensor<8x32x64xf32>
    %2588 = stablehlo.dot_general %2585, %138, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2589 = stablehlo.transpose %2588, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2590 = stablehlo.transpose %2580, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2591 = stablehlo.dot_general %2590, %arg16, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2592 = stablehlo.add %2587, %2591 : tensor<8x32x64xf32>
    %2593 = stablehlo.dot_general %2590, %138, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2594 = stablehlo.transpose %2593, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2595 = stablehlo.multiply %132, %2592 : tensor<8x32x64xf32>
    %cst_609 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2596 = stablehlo.reduce(%2595 init: %cst_609) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2597 = stablehlo.reshape %2596 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2598 = stablehlo.broadcast_in_dim %136, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2599 = stablehlo.multiply %2592, %2598 : tensor<8x32x64xf32>
    %cst_610 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2600 = stablehlo.reduce(%2597 init: %cst_610) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2601 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2602 = stablehlo.multiply %2599, %2601 : tensor<8x32x64xf32>
    %2603 = stablehlo.multiply %2602, %118 : tensor<8x32x64xf32>
    %cst_611 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2604 = stablehlo.reduce(%2603 init: %cst_611) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2605 = stablehlo.reshape %2604 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2606 = stablehlo.negate %2605 : tensor<8x32x1xf32>
    %2607 = stablehlo.broadcast_in_dim %128, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2608 = stablehlo.divide %2599, %2607 : tensor<8x32x64xf32>
    %2609 = stablehlo.multiply %2606, %130 : tensor<8x32x1xf32>
    %cst_612 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2610 = stablehlo.broadcast_in_dim %cst_612, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2611 = stablehlo.divide %2609, %2610 : tensor<8x32x1xf32>
    %cst_613 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2612 = stablehlo.reduce(%2611 init: %cst_613) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2613 = stablehlo.broadcast_in_dim %2612, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2614 = stablehlo.multiply %2613, %121 : tensor<8x32x64xf32>
    %2615 = stablehlo.add %2608, %2614 : tensor<8x32x64xf32>
    %2616 = stablehlo.negate %2615 : tensor<8x32x64xf32>
    %cst_614 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2617 = stablehlo.reduce(%2616 init: %cst_614) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2618 = stablehlo.reshape %2617 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2619 = stablehlo.add %2556, %2615 : tensor<8x32x64xf32>
    %cst_615 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2620 = stablehlo.broadcast_in_dim %cst_615, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2621 = stablehlo.divide %2618, %2620 : tensor<8x32x1xf32>
    %cst_616 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2622 = stablehlo.reduce(%2621 init: %cst_616) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2623 = stablehlo.broadcast_in_dim %2622, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2624 = stablehlo.add %2619, %2623 : tensor<8x32x64xf32>
    %2625 = stablehlo.dot_general %2624, %110, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x256xf32>) -> tensor<64x256xf32>
    %2626 = stablehlo.transpose %2625, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
    %2627 = stablehlo.dot_general %2624, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<256x64xf32>) -> tensor<8x32x256xf32>
    %2628 = stablehlo.multiply %92, %2627 : tensor<8x32x256xf32>
    %2629 = stablehlo.multiply %2627, %109 : tensor<8x32x256xf32>
    %cst_617 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %2630 = stablehlo.broadcast_in_dim %cst_617, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2631 = stablehlo.multiply %2630, %2628 : tensor<8x32x256xf32>
    %2632 = stablehlo.multiply %2631, %105 : tensor<8x32x256xf32>
    %2633 = stablehlo.multiply %2632, %103 : tensor<8x32x256xf32>
    %2634 = stablehlo.add %2632, %2633 : tensor<8x32x256xf32>
    %cst_618 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %2635 = stablehlo.broadcast_in_dim %cst_618, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2636 = stablehlo.multiply %2635, %2634 : tensor<8x32x256xf32>
    %2637 = stablehlo.add %2629, %2636 : tensor<8x32x256xf32>
    %cst_619 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2638 = stablehlo.broadcast_in_dim %cst_619, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %2639 = stablehlo.multiply %2638, %2636 : tensor<8x32x256xf32>
    %2640 = stablehlo.multiply %2639, %97 : tensor<8x32x256xf32>
    %2641 = stablehlo.add %2637, %2640 : tensor<8x32x256xf32>
    %cst_620 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2642 = stablehlo.reduce(%2641 init: %cst_620) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2643 = stablehlo.reshape %2642 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_621 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2644 = stablehlo.reduce(%2643 init: %cst_621) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2645 = stablehlo.dot_general %2641, %88, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<8x32x64xf32>) -> tensor<256x64xf32>
    %2646 = stablehlo.transpose %2645, dims = [1, 0] : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %2647 = stablehlo.dot_general %2641, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x256xf32>, tensor<64x256xf32>) -> tensor<8x32x64xf32>
    %2648 = stablehlo.multiply %82, %2647 : tensor<8x32x64xf32>
    %cst_622 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2649 = stablehlo.reduce(%2648 init: %cst_622) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2650 = stablehlo.reshape %2649 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2651 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2652 = stablehlo.multiply %2647, %2651 : tensor<8x32x64xf32>
    %cst_623 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2653 = stablehlo.reduce(%2650 init: %cst_623) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2654 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2655 = stablehlo.multiply %2652, %2654 : tensor<8x32x64xf32>
    %2656 = stablehlo.multiply %2655, %68 : tensor<8x32x64xf32>
    %cst_624 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2657 = stablehlo.reduce(%2656 init: %cst_624) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2658 = stablehlo.reshape %2657 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2659 = stablehlo.negate %2658 : tensor<8x32x1xf32>
    %2660 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2661 = stablehlo.divide %2652, %2660 : tensor<8x32x64xf32>
    %2662 = stablehlo.multiply %2659, %80 : tensor<8x32x1xf32>
    %cst_625 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2663 = stablehlo.broadcast_in_dim %cst_625, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2664 = stablehlo.divide %2662, %2663 : tensor<8x32x1xf32>
    %cst_626 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2665 = stablehlo.reduce(%2664 init: %cst_626) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2666 = stablehlo.broadcast_in_dim %2665, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2667 = stablehlo.multiply %2666, %71 : tensor<8x32x64xf32>
    %2668 = stablehlo.add %2661, %2667 : tensor<8x32x64xf32>
    %2669 = stablehlo.negate %2668 : tensor<8x32x64xf32>
    %cst_627 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2670 = stablehlo.reduce(%2669 init: %cst_627) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2671 = stablehlo.reshape %2670 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2672 = stablehlo.add %2624, %2668 : tensor<8x32x64xf32>
    %cst_628 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2673 = stablehlo.broadcast_in_dim %cst_628, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2674 = stablehlo.divide %2671, %2673 : tensor<8x32x1xf32>
    %cst_629 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2675 = stablehlo.reduce(%2674 init: %cst_629) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2676 = stablehlo.broadcast_in_dim %2675, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2677 = stablehlo.add %2672, %2676 : tensor<8x32x64xf32>
    %2678 = stablehlo.dot_general %2677, %60, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x32x8x8xf32>) -> tensor<64x8x8xf32>
    %2679 = stablehlo.transpose %2678, dims = [1, 2, 0] : (tensor<64x8x8xf32>) -> tensor<8x8x64xf32>
    %2680 = stablehlo.dot_general %2677, %arg6, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x32x64xf32>, tensor<8x8x64xf32>) -> tensor<8x32x8x8xf32>
    %2681 = stablehlo.transpose %2680, dims = [0, 2, 3, 1] : (tensor<8x32x8x8xf32>) -> tensor<8x8x8x32xf32>
    %2682 = stablehlo.dot_general %2681, %38, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x32xf32>
    %2683 = stablehlo.dot_general %2681, %55, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x8x32x32xf32>) -> tensor<8x8x8x32xf32>
    %2684 = stablehlo.transpose %2683, dims = [0, 1, 3, 2] : (tensor<8x8x8x32xf32>) -> tensor<8x8x32x8xf32>
    %2685 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2686 = stablehlo.multiply %2682, %2685 : tensor<8x8x32x32xf32>
    %2687 = stablehlo.multiply %2686, %51 : tensor<8x8x32x32xf32>
    %cst_630 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2688 = stablehlo.reduce(%2687 init: %cst_630) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x32xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2689 = stablehlo.reshape %2688 : (tensor<8x8x32xf32>) -> tensor<8x8x32x1xf32>
    %2690 = stablehlo.negate %2689 : tensor<8x8x32x1xf32>
    %2691 = stablehlo.broadcast_in_dim %53, dims = [0, 1, 2, 3] : (tensor<8x8x32x1xf32>) -> tensor<8x8x32x32xf32>
    %2692 = stablehlo.divide %2682, %2691 : tensor<8x8x32x32xf32>
    %cst_631 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2693 = stablehlo.reduce(%2690 init: %cst_631) applies stablehlo.add across dimensions = [3] : (tensor<8x8x32x1xf32>, tensor<f32>) -> tensor<8x8x32xf32>
    %2694 = stablehlo.broadcast_in_dim %2693, dims = [0, 1, 2] : (tensor<8x8x32xf32>) -> tensor<8x8x32x32xf32>
    %2695 = stablehlo.add %2692, %2694 : tensor<8x8x32x32xf32>
    %2696 = stablehlo.multiply %2695, %51 : tensor<8x8x32x32xf32>
    %2697 = call @_where_1(%44#1, %2696) : (tensor<8x8x32x32xi1>, tensor<8x8x32x32xf32>) -> tensor<8x8x32x32xf32>
    %cst_632 = stablehlo.constant dense<2.82842708> : tensor<f32>
    %2698 = stablehlo.broadcast_in_dim %cst_632, dims = [] : (tensor<f32>) -> tensor<8x8x32x32xf32>
    %2699 = stablehlo.divide %2697, %2698 : tensor<8x8x32x32xf32>
    %2700 = stablehlo.dot_general %2699, %34, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2701 = stablehlo.dot_general %2699, %36, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x32x32xf32>, tensor<8x8x32x8xf32>) -> tensor<8x8x32x8xf32>
    %2702 = stablehlo.transpose %2684, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2703 = stablehlo.dot_general %2702, %arg9, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2704 = stablehlo.dot_general %2702, %32, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2705 = stablehlo.transpose %2704, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2706 = stablehlo.transpose %2700, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2707 = stablehlo.dot_general %2706, %arg3, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2708 = stablehlo.add %2703, %2707 : tensor<8x32x64xf32>
    %2709 = stablehlo.dot_general %2706, %32, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2710 = stablehlo.transpose %2709, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2711 = stablehlo.transpose %2701, dims = [1, 3, 0, 2] : (tensor<8x8x32x8xf32>) -> tensor<8x8x8x32xf32>
    %2712 = stablehlo.dot_general %2711, %arg7, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<64x8x8xf32>) -> tensor<8x32x64xf32>
    %2713 = stablehlo.add %2708, %2712 : tensor<8x32x64xf32>
    %2714 = stablehlo.dot_general %2711, %32, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x8x8x32xf32>, tensor<8x32x64xf32>) -> tensor<8x8x64xf32>
    %2715 = stablehlo.transpose %2714, dims = [2, 0, 1] : (tensor<8x8x64xf32>) -> tensor<64x8x8xf32>
    %2716 = stablehlo.multiply %26, %2713 : tensor<8x32x64xf32>
    %cst_633 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2717 = stablehlo.reduce(%2716 init: %cst_633) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2718 = stablehlo.reshape %2717 : (tensor<64xf32>) -> tensor<1x1x64xf32>
    %2719 = stablehlo.broadcast_in_dim %30, dims = [0, 1, 2] : (tensor<1x1x64xf32>) -> tensor<8x32x64xf32>
    %2720 = stablehlo.multiply %2713, %2719 : tensor<8x32x64xf32>
    %cst_634 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2721 = stablehlo.reduce(%2718 init: %cst_634) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2722 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2723 = stablehlo.multiply %2720, %2722 : tensor<8x32x64xf32>
    %2724 = stablehlo.multiply %2723, %12 : tensor<8x32x64xf32>
    %cst_635 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2725 = stablehlo.reduce(%2724 init: %cst_635) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2726 = stablehlo.reshape %2725 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2727 = stablehlo.negate %2726 : tensor<8x32x1xf32>
    %2728 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<8x32x1xf32>) -> tensor<8x32x64xf32>
    %2729 = stablehlo.divide %2720, %2728 : tensor<8x32x64xf32>
    %2730 = stablehlo.multiply %2727, %24 : tensor<8x32x1xf32>
    %cst_636 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2731 = stablehlo.broadcast_in_dim %cst_636, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2732 = stablehlo.divide %2730, %2731 : tensor<8x32x1xf32>
    %cst_637 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2733 = stablehlo.reduce(%2732 init: %cst_637) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2734 = stablehlo.broadcast_in_dim %2733, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2735 = stablehlo.multiply %2734, %15 : tensor<8x32x64xf32>
    %2736 = stablehlo.add %2729, %2735 : tensor<8x32x64xf32>
    %2737 = stablehlo.negate %2736 : tensor<8x32x64xf32>
    %cst_638 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2738 = stablehlo.reduce(%2737 init: %cst_638) applies stablehlo.add across dimensions = [2] : (tensor<8x32x64xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2739 = stablehlo.reshape %2738 : (tensor<8x32xf32>) -> tensor<8x32x1xf32>
    %2740 = stablehlo.add %2677, %2736 : tensor<8x32x64xf32>
    %cst_639 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %2741 = stablehlo.broadcast_in_dim %cst_639, dims = [] : (tensor<f32>) -> tensor<8x32x1xf32>
    %2742 = stablehlo.divide %2739, %2741 : tensor<8x32x1xf32>
    %cst_640 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2743 = stablehlo.reduce(%2742 init: %cst_640) applies stablehlo.add across dimensions = [2] : (tensor<8x32x1xf32>, tensor<f32>) -> tensor<8x32xf32>
    %2744 = stablehlo.broadcast_in_dim %2743, dims = [0, 1] : (tensor<8x32xf32>) -> tensor<8x32x64xf32>
    %2745 = stablehlo.add %2740, %2744 : tensor<8x32x64xf32>
    %cst_641 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2746 = stablehlo.broadcast_in_dim %cst_641, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %2747 = "stablehlo.scatter"(%2746, %5, %2745) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg111: tensor<f32>, %arg112: tensor<f32>):
      %3076 = stablehlo.add %arg111, %arg112 : tensor<f32>
      stablehlo.return %3076 : tensor<f32>
    }) : (tensor<128x64xf32>, tensor<8x32x1xi32>, tensor<8x32x64xf32>) -> tensor<128x64xf32>
    %2748 = stablehlo.add %1292, %2747 : tensor<128x64xf32>
    %cst_642 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2749 = stablehlo.broadcast_in_dim %cst_642, dims = [] : (tensor<f32>) -> tensor<128x64xf32>
    %2750 = stablehlo.multiply %2749, %2748 : tensor<128x64xf32>
    %2751 = stablehlo.subtract %arg0, %2750 : tensor<128x64xf32>
    %cst_643 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2752 = stablehlo.broadcast_in_dim %cst_643, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2753 = stablehlo.multiply %2752, %2644 : tensor<256xf32>
    %2754 = stablehlo.subtract %arg1, %2753 : tensor<256xf32>
    %cst_644 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2755 = stablehlo.broadcast_in_dim %cst_644, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2756 = stablehlo.multiply %2755, %2626 : tensor<256x64xf32>
    %2757 = stablehlo.subtract %arg2, %2756 : tensor<256x64xf32>
    %cst_645 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2758 = stablehlo.broadcast_in_dim %cst_645, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2759 = stablehlo.multiply %2758, %2710 : tensor<64x8x8xf32>
    %2760 = stablehlo.subtract %arg3, %2759 : tensor<64x8x8xf32>
    %cst_646 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2761 = stablehlo.broadcast_in_dim %cst_646, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2762 = stablehlo.multiply %2761, %2721 : tensor<64xf32>
    %2763 = stablehlo.subtract %arg4, %2762 : tensor<64xf32>
    %cst_647 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2764 = stablehlo.broadcast_in_dim %cst_647, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2765 = stablehlo.multiply %2764, %2653 : tensor<64xf32>
    %2766 = stablehlo.subtract %arg5, %2765 : tensor<64xf32>
    %cst_648 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2767 = stablehlo.broadcast_in_dim %cst_648, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2768 = stablehlo.multiply %2767, %2679 : tensor<8x8x64xf32>
    %2769 = stablehlo.subtract %arg6, %2768 : tensor<8x8x64xf32>
    %cst_649 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2770 = stablehlo.broadcast_in_dim %cst_649, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2771 = stablehlo.multiply %2770, %2715 : tensor<64x8x8xf32>
    %2772 = stablehlo.subtract %arg7, %2771 : tensor<64x8x8xf32>
    %cst_650 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2773 = stablehlo.broadcast_in_dim %cst_650, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2774 = stablehlo.multiply %2773, %2646 : tensor<64x256xf32>
    %2775 = stablehlo.subtract %arg8, %2774 : tensor<64x256xf32>
    %cst_651 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2776 = stablehlo.broadcast_in_dim %cst_651, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2777 = stablehlo.multiply %2776, %2705 : tensor<64x8x8xf32>
    %2778 = stablehlo.subtract %arg9, %2777 : tensor<64x8x8xf32>
    %cst_652 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2779 = stablehlo.broadcast_in_dim %cst_652, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2780 = stablehlo.multiply %2779, %2523 : tensor<256xf32>
    %2781 = stablehlo.subtract %arg10, %2780 : tensor<256xf32>
    %cst_653 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2782 = stablehlo.broadcast_in_dim %cst_653, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2783 = stablehlo.multiply %2782, %2505 : tensor<256x64xf32>
    %2784 = stablehlo.subtract %arg11, %2783 : tensor<256x64xf32>
    %cst_654 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2785 = stablehlo.broadcast_in_dim %cst_654, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2786 = stablehlo.multiply %2785, %2589 : tensor<64x8x8xf32>
    %2787 = stablehlo.subtract %arg12, %2786 : tensor<64x8x8xf32>
    %cst_655 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2788 = stablehlo.broadcast_in_dim %cst_655, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2789 = stablehlo.multiply %2788, %2600 : tensor<64xf32>
    %2790 = stablehlo.subtract %arg13, %2789 : tensor<64xf32>
    %cst_656 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2791 = stablehlo.broadcast_in_dim %cst_656, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2792 = stablehlo.multiply %2791, %2532 : tensor<64xf32>
    %2793 = stablehlo.subtract %arg14, %2792 : tensor<64xf32>
    %cst_657 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2794 = stablehlo.broadcast_in_dim %cst_657, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2795 = stablehlo.multiply %2794, %2558 : tensor<8x8x64xf32>
    %2796 = stablehlo.subtract %arg15, %2795 : tensor<8x8x64xf32>
    %cst_658 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2797 = stablehlo.broadcast_in_dim %cst_658, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2798 = stablehlo.multiply %2797, %2594 : tensor<64x8x8xf32>
    %2799 = stablehlo.subtract %arg16, %2798 : tensor<64x8x8xf32>
    %cst_659 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2800 = stablehlo.broadcast_in_dim %cst_659, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2801 = stablehlo.multiply %2800, %2525 : tensor<64x256xf32>
    %2802 = stablehlo.subtract %arg17, %2801 : tensor<64x256xf32>
    %cst_660 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2803 = stablehlo.broadcast_in_dim %cst_660, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2804 = stablehlo.multiply %2803, %2584 : tensor<64x8x8xf32>
    %2805 = stablehlo.subtract %arg18, %2804 : tensor<64x8x8xf32>
    %cst_661 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2806 = stablehlo.broadcast_in_dim %cst_661, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2807 = stablehlo.multiply %2806, %2402 : tensor<256xf32>
    %2808 = stablehlo.subtract %arg19, %2807 : tensor<256xf32>
    %cst_662 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2809 = stablehlo.broadcast_in_dim %cst_662, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2810 = stablehlo.multiply %2809, %2384 : tensor<256x64xf32>
    %2811 = stablehlo.subtract %arg20, %2810 : tensor<256x64xf32>
    %cst_663 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2812 = stablehlo.broadcast_in_dim %cst_663, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2813 = stablehlo.multiply %2812, %2468 : tensor<64x8x8xf32>
    %2814 = stablehlo.subtract %arg21, %2813 : tensor<64x8x8xf32>
    %cst_664 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2815 = stablehlo.broadcast_in_dim %cst_664, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2816 = stablehlo.multiply %2815, %2479 : tensor<64xf32>
    %2817 = stablehlo.subtract %arg22, %2816 : tensor<64xf32>
    %cst_665 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2818 = stablehlo.broadcast_in_dim %cst_665, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2819 = stablehlo.multiply %2818, %2411 : tensor<64xf32>
    %2820 = stablehlo.subtract %arg23, %2819 : tensor<64xf32>
    %cst_666 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2821 = stablehlo.broadcast_in_dim %cst_666, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2822 = stablehlo.multiply %2821, %2437 : tensor<8x8x64xf32>
    %2823 = stablehlo.subtract %arg24, %2822 : tensor<8x8x64xf32>
    %cst_667 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2824 = stablehlo.broadcast_in_dim %cst_667, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2825 = stablehlo.multiply %2824, %2473 : tensor<64x8x8xf32>
    %2826 = stablehlo.subtract %arg25, %2825 : tensor<64x8x8xf32>
    %cst_668 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2827 = stablehlo.broadcast_in_dim %cst_668, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2828 = stablehlo.multiply %2827, %2404 : tensor<64x256xf32>
    %2829 = stablehlo.subtract %arg26, %2828 : tensor<64x256xf32>
    %cst_669 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2830 = stablehlo.broadcast_in_dim %cst_669, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2831 = stablehlo.multiply %2830, %2463 : tensor<64x8x8xf32>
    %2832 = stablehlo.subtract %arg27, %2831 : tensor<64x8x8xf32>
    %cst_670 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2833 = stablehlo.broadcast_in_dim %cst_670, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2834 = stablehlo.multiply %2833, %2281 : tensor<256xf32>
    %2835 = stablehlo.subtract %arg28, %2834 : tensor<256xf32>
    %cst_671 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2836 = stablehlo.broadcast_in_dim %cst_671, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2837 = stablehlo.multiply %2836, %2263 : tensor<256x64xf32>
    %2838 = stablehlo.subtract %arg29, %2837 : tensor<256x64xf32>
    %cst_672 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2839 = stablehlo.broadcast_in_dim %cst_672, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2840 = stablehlo.multiply %2839, %2347 : tensor<64x8x8xf32>
    %2841 = stablehlo.subtract %arg30, %2840 : tensor<64x8x8xf32>
    %cst_673 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2842 = stablehlo.broadcast_in_dim %cst_673, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2843 = stablehlo.multiply %2842, %2358 : tensor<64xf32>
    %2844 = stablehlo.subtract %arg31, %2843 : tensor<64xf32>
    %cst_674 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2845 = stablehlo.broadcast_in_dim %cst_674, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2846 = stablehlo.multiply %2845, %2290 : tensor<64xf32>
    %2847 = stablehlo.subtract %arg32, %2846 : tensor<64xf32>
    %cst_675 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2848 = stablehlo.broadcast_in_dim %cst_675, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2849 = stablehlo.multiply %2848, %2316 : tensor<8x8x64xf32>
    %2850 = stablehlo.subtract %arg33, %2849 : tensor<8x8x64xf32>
    %cst_676 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2851 = stablehlo.broadcast_in_dim %cst_676, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2852 = stablehlo.multiply %2851, %2352 : tensor<64x8x8xf32>
    %2853 = stablehlo.subtract %arg34, %2852 : tensor<64x8x8xf32>
    %cst_677 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2854 = stablehlo.broadcast_in_dim %cst_677, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2855 = stablehlo.multiply %2854, %2283 : tensor<64x256xf32>
    %2856 = stablehlo.subtract %arg35, %2855 : tensor<64x256xf32>
    %cst_678 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2857 = stablehlo.broadcast_in_dim %cst_678, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2858 = stablehlo.multiply %2857, %2342 : tensor<64x8x8xf32>
    %2859 = stablehlo.subtract %arg36, %2858 : tensor<64x8x8xf32>
    %cst_679 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2860 = stablehlo.broadcast_in_dim %cst_679, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2861 = stablehlo.multiply %2860, %2160 : tensor<256xf32>
    %2862 = stablehlo.subtract %arg37, %2861 : tensor<256xf32>
    %cst_680 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2863 = stablehlo.broadcast_in_dim %cst_680, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2864 = stablehlo.multiply %2863, %2142 : tensor<256x64xf32>
    %2865 = stablehlo.subtract %arg38, %2864 : tensor<256x64xf32>
    %cst_681 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2866 = stablehlo.broadcast_in_dim %cst_681, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2867 = stablehlo.multiply %2866, %2226 : tensor<64x8x8xf32>
    %2868 = stablehlo.subtract %arg39, %2867 : tensor<64x8x8xf32>
    %cst_682 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2869 = stablehlo.broadcast_in_dim %cst_682, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2870 = stablehlo.multiply %2869, %2237 : tensor<64xf32>
    %2871 = stablehlo.subtract %arg40, %2870 : tensor<64xf32>
    %cst_683 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2872 = stablehlo.broadcast_in_dim %cst_683, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2873 = stablehlo.multiply %2872, %2169 : tensor<64xf32>
    %2874 = stablehlo.subtract %arg41, %2873 : tensor<64xf32>
    %cst_684 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2875 = stablehlo.broadcast_in_dim %cst_684, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2876 = stablehlo.multiply %2875, %2195 : tensor<8x8x64xf32>
    %2877 = stablehlo.subtract %arg42, %2876 : tensor<8x8x64xf32>
    %cst_685 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2878 = stablehlo.broadcast_in_dim %cst_685, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2879 = stablehlo.multiply %2878, %2231 : tensor<64x8x8xf32>
    %2880 = stablehlo.subtract %arg43, %2879 : tensor<64x8x8xf32>
    %cst_686 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2881 = stablehlo.broadcast_in_dim %cst_686, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2882 = stablehlo.multiply %2881, %2162 : tensor<64x256xf32>
    %2883 = stablehlo.subtract %arg44, %2882 : tensor<64x256xf32>
    %cst_687 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2884 = stablehlo.broadcast_in_dim %cst_687, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2885 = stablehlo.multiply %2884, %2221 : tensor<64x8x8xf32>
    %2886 = stablehlo.subtract %arg45, %2885 : tensor<64x8x8xf32>
    %cst_688 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2887 = stablehlo.broadcast_in_dim %cst_688, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2888 = stablehlo.multiply %2887, %2039 : tensor<256xf32>
    %2889 = stablehlo.subtract %arg46, %2888 : tensor<256xf32>
    %cst_689 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2890 = stablehlo.broadcast_in_dim %cst_689, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2891 = stablehlo.multiply %2890, %2021 : tensor<256x64xf32>
    %2892 = stablehlo.subtract %arg47, %2891 : tensor<256x64xf32>
    %cst_690 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2893 = stablehlo.broadcast_in_dim %cst_690, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2894 = stablehlo.multiply %2893, %2105 : tensor<64x8x8xf32>
    %2895 = stablehlo.subtract %arg48, %2894 : tensor<64x8x8xf32>
    %cst_691 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2896 = stablehlo.broadcast_in_dim %cst_691, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2897 = stablehlo.multiply %2896, %2116 : tensor<64xf32>
    %2898 = stablehlo.subtract %arg49, %2897 : tensor<64xf32>
    %cst_692 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2899 = stablehlo.broadcast_in_dim %cst_692, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2900 = stablehlo.multiply %2899, %2048 : tensor<64xf32>
    %2901 = stablehlo.subtract %arg50, %2900 : tensor<64xf32>
    %cst_693 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2902 = stablehlo.broadcast_in_dim %cst_693, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2903 = stablehlo.multiply %2902, %2074 : tensor<8x8x64xf32>
    %2904 = stablehlo.subtract %arg51, %2903 : tensor<8x8x64xf32>
    %cst_694 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2905 = stablehlo.broadcast_in_dim %cst_694, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2906 = stablehlo.multiply %2905, %2110 : tensor<64x8x8xf32>
    %2907 = stablehlo.subtract %arg52, %2906 : tensor<64x8x8xf32>
    %cst_695 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2908 = stablehlo.broadcast_in_dim %cst_695, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2909 = stablehlo.multiply %2908, %2041 : tensor<64x256xf32>
    %2910 = stablehlo.subtract %arg53, %2909 : tensor<64x256xf32>
    %cst_696 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2911 = stablehlo.broadcast_in_dim %cst_696, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2912 = stablehlo.multiply %2911, %2100 : tensor<64x8x8xf32>
    %2913 = stablehlo.subtract %arg54, %2912 : tensor<64x8x8xf32>
    %cst_697 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2914 = stablehlo.broadcast_in_dim %cst_697, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2915 = stablehlo.multiply %2914, %1918 : tensor<256xf32>
    %2916 = stablehlo.subtract %arg55, %2915 : tensor<256xf32>
    %cst_698 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2917 = stablehlo.broadcast_in_dim %cst_698, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2918 = stablehlo.multiply %2917, %1900 : tensor<256x64xf32>
    %2919 = stablehlo.subtract %arg56, %2918 : tensor<256x64xf32>
    %cst_699 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2920 = stablehlo.broadcast_in_dim %cst_699, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2921 = stablehlo.multiply %2920, %1984 : tensor<64x8x8xf32>
    %2922 = stablehlo.subtract %arg57, %2921 : tensor<64x8x8xf32>
    %cst_700 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2923 = stablehlo.broadcast_in_dim %cst_700, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2924 = stablehlo.multiply %2923, %1995 : tensor<64xf32>
    %2925 = stablehlo.subtract %arg58, %2924 : tensor<64xf32>
    %cst_701 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2926 = stablehlo.broadcast_in_dim %cst_701, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2927 = stablehlo.multiply %2926, %1927 : tensor<64xf32>
    %2928 = stablehlo.subtract %arg59, %2927 : tensor<64xf32>
    %cst_702 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2929 = stablehlo.broadcast_in_dim %cst_702, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2930 = stablehlo.multiply %2929, %1953 : tensor<8x8x64xf32>
    %2931 = stablehlo.subtract %arg60, %2930 : tensor<8x8x64xf32>
    %cst_703 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2932 = stablehlo.broadcast_in_dim %cst_703, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2933 = stablehlo.multiply %2932, %1989 : tensor<64x8x8xf32>
    %2934 = stablehlo.subtract %arg61, %2933 : tensor<64x8x8xf32>
    %cst_704 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2935 = stablehlo.broadcast_in_dim %cst_704, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2936 = stablehlo.multiply %2935, %1920 : tensor<64x256xf32>
    %2937 = stablehlo.subtract %arg62, %2936 : tensor<64x256xf32>
    %cst_705 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2938 = stablehlo.broadcast_in_dim %cst_705, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2939 = stablehlo.multiply %2938, %1979 : tensor<64x8x8xf32>
    %2940 = stablehlo.subtract %arg63, %2939 : tensor<64x8x8xf32>
    %cst_706 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2941 = stablehlo.broadcast_in_dim %cst_706, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2942 = stablehlo.multiply %2941, %1797 : tensor<256xf32>
    %2943 = stablehlo.subtract %arg64, %2942 : tensor<256xf32>
    %cst_707 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2944 = stablehlo.broadcast_in_dim %cst_707, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2945 = stablehlo.multiply %2944, %1779 : tensor<256x64xf32>
    %2946 = stablehlo.subtract %arg65, %2945 : tensor<256x64xf32>
    %cst_708 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2947 = stablehlo.broadcast_in_dim %cst_708, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2948 = stablehlo.multiply %2947, %1863 : tensor<64x8x8xf32>
    %2949 = stablehlo.subtract %arg66, %2948 : tensor<64x8x8xf32>
    %cst_709 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2950 = stablehlo.broadcast_in_dim %cst_709, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2951 = stablehlo.multiply %2950, %1874 : tensor<64xf32>
    %2952 = stablehlo.subtract %arg67, %2951 : tensor<64xf32>
    %cst_710 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2953 = stablehlo.broadcast_in_dim %cst_710, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2954 = stablehlo.multiply %2953, %1806 : tensor<64xf32>
    %2955 = stablehlo.subtract %arg68, %2954 : tensor<64xf32>
    %cst_711 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2956 = stablehlo.broadcast_in_dim %cst_711, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2957 = stablehlo.multiply %2956, %1832 : tensor<8x8x64xf32>
    %2958 = stablehlo.subtract %arg69, %2957 : tensor<8x8x64xf32>
    %cst_712 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2959 = stablehlo.broadcast_in_dim %cst_712, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2960 = stablehlo.multiply %2959, %1868 : tensor<64x8x8xf32>
    %2961 = stablehlo.subtract %arg70, %2960 : tensor<64x8x8xf32>
    %cst_713 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2962 = stablehlo.broadcast_in_dim %cst_713, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2963 = stablehlo.multiply %2962, %1799 : tensor<64x256xf32>
    %2964 = stablehlo.subtract %arg71, %2963 : tensor<64x256xf32>
    %cst_714 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2965 = stablehlo.broadcast_in_dim %cst_714, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2966 = stablehlo.multiply %2965, %1858 : tensor<64x8x8xf32>
    %2967 = stablehlo.subtract %arg72, %2966 : tensor<64x8x8xf32>
    %cst_715 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2968 = stablehlo.broadcast_in_dim %cst_715, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2969 = stablehlo.multiply %2968, %1676 : tensor<256xf32>
    %2970 = stablehlo.subtract %arg73, %2969 : tensor<256xf32>
    %cst_716 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2971 = stablehlo.broadcast_in_dim %cst_716, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2972 = stablehlo.multiply %2971, %1658 : tensor<256x64xf32>
    %2973 = stablehlo.subtract %arg74, %2972 : tensor<256x64xf32>
    %cst_717 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2974 = stablehlo.broadcast_in_dim %cst_717, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2975 = stablehlo.multiply %2974, %1742 : tensor<64x8x8xf32>
    %2976 = stablehlo.subtract %arg75, %2975 : tensor<64x8x8xf32>
    %cst_718 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2977 = stablehlo.broadcast_in_dim %cst_718, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2978 = stablehlo.multiply %2977, %1753 : tensor<64xf32>
    %2979 = stablehlo.subtract %arg76, %2978 : tensor<64xf32>
    %cst_719 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2980 = stablehlo.broadcast_in_dim %cst_719, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %2981 = stablehlo.multiply %2980, %1685 : tensor<64xf32>
    %2982 = stablehlo.subtract %arg77, %2981 : tensor<64xf32>
    %cst_720 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2983 = stablehlo.broadcast_in_dim %cst_720, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %2984 = stablehlo.multiply %2983, %1711 : tensor<8x8x64xf32>
    %2985 = stablehlo.subtract %arg78, %2984 : tensor<8x8x64xf32>
    %cst_721 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2986 = stablehlo.broadcast_in_dim %cst_721, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2987 = stablehlo.multiply %2986, %1747 : tensor<64x8x8xf32>
    %2988 = stablehlo.subtract %arg79, %2987 : tensor<64x8x8xf32>
    %cst_722 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2989 = stablehlo.broadcast_in_dim %cst_722, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %2990 = stablehlo.multiply %2989, %1678 : tensor<64x256xf32>
    %2991 = stablehlo.subtract %arg80, %2990 : tensor<64x256xf32>
    %cst_723 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2992 = stablehlo.broadcast_in_dim %cst_723, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %2993 = stablehlo.multiply %2992, %1737 : tensor<64x8x8xf32>
    %2994 = stablehlo.subtract %arg81, %2993 : tensor<64x8x8xf32>
    %cst_724 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2995 = stablehlo.broadcast_in_dim %cst_724, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2996 = stablehlo.multiply %2995, %1555 : tensor<256xf32>
    %2997 = stablehlo.subtract %arg82, %2996 : tensor<256xf32>
    %cst_725 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2998 = stablehlo.broadcast_in_dim %cst_725, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %2999 = stablehlo.multiply %2998, %1537 : tensor<256x64xf32>
    %3000 = stablehlo.subtract %arg83, %2999 : tensor<256x64xf32>
    %cst_726 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3001 = stablehlo.broadcast_in_dim %cst_726, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3002 = stablehlo.multiply %3001, %1621 : tensor<64x8x8xf32>
    %3003 = stablehlo.subtract %arg84, %3002 : tensor<64x8x8xf32>
    %cst_727 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3004 = stablehlo.broadcast_in_dim %cst_727, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3005 = stablehlo.multiply %3004, %1632 : tensor<64xf32>
    %3006 = stablehlo.subtract %arg85, %3005 : tensor<64xf32>
    %cst_728 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3007 = stablehlo.broadcast_in_dim %cst_728, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3008 = stablehlo.multiply %3007, %1564 : tensor<64xf32>
    %3009 = stablehlo.subtract %arg86, %3008 : tensor<64xf32>
    %cst_729 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3010 = stablehlo.broadcast_in_dim %cst_729, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %3011 = stablehlo.multiply %3010, %1590 : tensor<8x8x64xf32>
    %3012 = stablehlo.subtract %arg87, %3011 : tensor<8x8x64xf32>
    %cst_730 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3013 = stablehlo.broadcast_in_dim %cst_730, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3014 = stablehlo.multiply %3013, %1626 : tensor<64x8x8xf32>
    %3015 = stablehlo.subtract %arg88, %3014 : tensor<64x8x8xf32>
    %cst_731 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3016 = stablehlo.broadcast_in_dim %cst_731, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %3017 = stablehlo.multiply %3016, %1557 : tensor<64x256xf32>
    %3018 = stablehlo.subtract %arg89, %3017 : tensor<64x256xf32>
    %cst_732 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3019 = stablehlo.broadcast_in_dim %cst_732, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3020 = stablehlo.multiply %3019, %1616 : tensor<64x8x8xf32>
    %3021 = stablehlo.subtract %arg90, %3020 : tensor<64x8x8xf32>
    %cst_733 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3022 = stablehlo.broadcast_in_dim %cst_733, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %3023 = stablehlo.multiply %3022, %1434 : tensor<256xf32>
    %3024 = stablehlo.subtract %arg91, %3023 : tensor<256xf32>
    %cst_734 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3025 = stablehlo.broadcast_in_dim %cst_734, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %3026 = stablehlo.multiply %3025, %1416 : tensor<256x64xf32>
    %3027 = stablehlo.subtract %arg92, %3026 : tensor<256x64xf32>
    %cst_735 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3028 = stablehlo.broadcast_in_dim %cst_735, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3029 = stablehlo.multiply %3028, %1500 : tensor<64x8x8xf32>
    %3030 = stablehlo.subtract %arg93, %3029 : tensor<64x8x8xf32>
    %cst_736 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3031 = stablehlo.broadcast_in_dim %cst_736, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3032 = stablehlo.multiply %3031, %1511 : tensor<64xf32>
    %3033 = stablehlo.subtract %arg94, %3032 : tensor<64xf32>
    %cst_737 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3034 = stablehlo.broadcast_in_dim %cst_737, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3035 = stablehlo.multiply %3034, %1443 : tensor<64xf32>
    %3036 = stablehlo.subtract %arg95, %3035 : tensor<64xf32>
    %cst_738 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3037 = stablehlo.broadcast_in_dim %cst_738, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %3038 = stablehlo.multiply %3037, %1469 : tensor<8x8x64xf32>
    %3039 = stablehlo.subtract %arg96, %3038 : tensor<8x8x64xf32>
    %cst_739 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3040 = stablehlo.broadcast_in_dim %cst_739, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3041 = stablehlo.multiply %3040, %1505 : tensor<64x8x8xf32>
    %3042 = stablehlo.subtract %arg97, %3041 : tensor<64x8x8xf32>
    %cst_740 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3043 = stablehlo.broadcast_in_dim %cst_740, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %3044 = stablehlo.multiply %3043, %1436 : tensor<64x256xf32>
    %3045 = stablehlo.subtract %arg98, %3044 : tensor<64x256xf32>
    %cst_741 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3046 = stablehlo.broadcast_in_dim %cst_741, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3047 = stablehlo.multiply %3046, %1495 : tensor<64x8x8xf32>
    %3048 = stablehlo.subtract %arg99, %3047 : tensor<64x8x8xf32>
    %cst_742 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3049 = stablehlo.broadcast_in_dim %cst_742, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %3050 = stablehlo.multiply %3049, %1313 : tensor<256xf32>
    %3051 = stablehlo.subtract %arg100, %3050 : tensor<256xf32>
    %cst_743 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3052 = stablehlo.broadcast_in_dim %cst_743, dims = [] : (tensor<f32>) -> tensor<256x64xf32>
    %3053 = stablehlo.multiply %3052, %1295 : tensor<256x64xf32>
    %3054 = stablehlo.subtract %arg101, %3053 : tensor<256x64xf32>
    %cst_744 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3055 = stablehlo.broadcast_in_dim %cst_744, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3056 = stablehlo.multiply %3055, %1379 : tensor<64x8x8xf32>
    %3057 = stablehlo.subtract %arg102, %3056 : tensor<64x8x8xf32>
    %cst_745 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3058 = stablehlo.broadcast_in_dim %cst_745, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3059 = stablehlo.multiply %3058, %1390 : tensor<64xf32>
    %3060 = stablehlo.subtract %arg103, %3059 : tensor<64xf32>
    %cst_746 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3061 = stablehlo.broadcast_in_dim %cst_746, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3062 = stablehlo.multiply %3061, %1322 : tensor<64xf32>
    %3063 = stablehlo.subtract %arg104, %3062 : tensor<64xf32>
    %cst_747 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3064 = stablehlo.broadcast_in_dim %cst_747, dims = [] : (tensor<f32>) -> tensor<8x8x64xf32>
    %3065 = stablehlo.multiply %3064, %1348 : tensor<8x8x64xf32>
    %3066 = stablehlo.subtract %arg105, %3065 : tensor<8x8x64xf32>
    %cst_748 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3067 = stablehlo.broadcast_in_dim %cst_748, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3068 = stablehlo.multiply %3067, %1384 : tensor<64x8x8xf32>
    %3069 = stablehlo.subtract %arg106, %3068 : tensor<64x8x8xf32>
    %cst_749 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3070 = stablehlo.broadcast_in_dim %cst_749, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %3071 = stablehlo.multiply %3070, %1315 : tensor<64x256xf32>
    %3072 = stablehlo.subtract %arg107, %3071 : tensor<64x256xf32>
    %cst_750 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %3073 = stablehlo.broadcast_in_dim %cst_750, dims = [] : (tensor<f32>) -> tensor<64x8x8xf32>
    %3074 = stablehlo.multiply %3073, %1374 : tensor<64x8x8xf32>
    %3075 = stablehlo.subtract %arg108, %3074 : tensor<64x8x8xf32>
    return %2751, %2754, %2757, %2760, %2763, %2766, %2769, %2772, %2775, %2778, %2781, %2784, %2787, %2790, %2793, %2796, %2799, %2802, %2805, %2808, %2811, %2814, %2817, %2820, %2823, %2826, %2829, %2832, %2835, %2838, %2841, %2844, %2847, %2850, %2853, %2856, %2859, %2862, %2865, %2868, %2871, %2874, %2877, %2880, %2883, %2886, %2889, %2892, %2895, %2898, %2901, %2904, %2907, %2910, %2913, %2916, %2919, %2922, %2925, %2928, %2931, %2934, %2937, %2940, %2943, %2946, %2949, %2952, %2955, %2958, %2961, %2964, %2967, %2970, %2973, %2976, %2979, %2982, %2985, %2988, %2991, %2994, %2997, %3000, %3003, %3006, %3009, %3012, %3015, %3018, %3021, %3024, %3027, %3030, %3033, %3036, %3039, %3042, %3045, %3048, %3051, %3054, %3057, %3060, %3063, %3066, %3069, %3072, %3075, %1285 : tensor<128x64xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<256xf32>, tensor<256x64xf32>, tensor<64x8x8xf32>, tensor<64xf32>, tensor<64xf32>, tensor<8x8x64xf32>, tensor<64x8x8xf32>, tensor<64x256xf32>, tensor<64x8x8xf32>, tensor<f32>
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
