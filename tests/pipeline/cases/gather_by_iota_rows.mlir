sdy.mesh @mesh = <["batch"=2]>
func.func @main(%t: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>},
    %i: tensor<8x5x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}, {}]>}) -> (tensor<8x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}) {
  %r = stablehlo.iota dim = 0 : tensor<8x5x1xi32>
  %k = stablehlo.concatenate %r, %i, dim = 2 : (tensor<8x5x1xi32>, tensor<8x5x1xi32>) -> tensor<8x5x2xi32>
  %0 = "stablehlo.gather"(%t, %k) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x16xf32>, tensor<8x5x2xi32>) -> tensor<8x5xf32>
  return %0 : tensor<8x5xf32>
}
