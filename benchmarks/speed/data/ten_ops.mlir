sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<64xf32>, %v: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<16x16xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<16x64xf32>
  %2 = stablehlo.add %0, %1 : tensor<16x64xf32>
  %3 = stablehlo.tanh %2 : tensor<16x64xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<16x64xf32>
  %5 = stablehlo.exponential %4 : tensor<16x64xf32>
  %6 = stablehlo.dot_general %5, %v, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  %7 = stablehlo.negate %6 : tensor<16x16xf32>
  %8 = stablehlo.add %7, %6 : tensor<16x16xf32>
  return %8 : tensor<16x16xf32>
}
