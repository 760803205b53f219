sdy.mesh @mesh = <["m"=4]>
func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {}]>}, %b: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<64x32xf32> {
  %0 = stablehlo.custom_call @tt.tt_lang_op(%a, %b) {mhlo.frontend_attributes = {xla.sdy.custom_sharding_rule = "#sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=64, j=32}>"}} : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}
