sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func public @main(
    %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = stablehlo.iota dim = 0 : tensor<8x8xf32>
  %first = stablehlo.add %x, %c : tensor<8x8xf32>
  %second = stablehlo.add %y, %c : tensor<8x8xf32>
  return %first, %second : tensor<8x8xf32>, tensor<8x8xf32>
}
