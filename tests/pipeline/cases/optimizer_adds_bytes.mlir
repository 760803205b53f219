sdy.mesh @mesh = <["b"=2, "m"=4]>
func.func public @main(%j: tensor<2x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}, %t: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>},
    %v: tensor<32x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"m"}]>}, %w: tensor<48x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"m"}, {"b"}]>}) -> tensor<2x16x32xf32> {
  %i = stablehlo.broadcast_in_dim %j, dims = [0, 1] : (tensor<2x16xi32>) -> tensor<2x16x1xi32>
  %x = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x16x1xi32>) -> tensor<2x16x32xf32>
  %q = stablehlo.dot_general %x, %v, contracting_dims = [2] x [0] : (tensor<2x16x32xf32>, tensor<32x48xf32>) -> tensor<2x16x48xf32>
  %0 = stablehlo.dot_general %q, %w, contracting_dims = [2] x [0] : (tensor<2x16x48xf32>, tensor<48x32xf32>) -> tensor<2x16x32xf32>
  %1 = stablehlo.add %x, %0 : tensor<2x16x32xf32>
  return %1 : tensor<2x16x32xf32>
}
