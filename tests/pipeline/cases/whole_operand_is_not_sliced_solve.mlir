sdy.mesh @mesh = <["m"=4]>
func.func @main(%a: tensor<8x6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}, {}]>}, %b: tensor<8x6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>}) -> tensor<8x6x3xf32> {
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"},
    operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=8, j=6, k=6, l=6, m=3, n=6, o=3}, custom>} : (tensor<8x6x6xf32>, tensor<8x6x3xf32>) -> tensor<8x6x3xf32>
  return %0 : tensor<8x6x3xf32>
}
