sdy.mesh @mesh = <["m"=8]>
func.func public @main(%q: tensor<4x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<4x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m":(1)2}, {}]>}) {
  %0 = stablehlo.reshape %q : (tensor<4x48xf32>) -> tensor<4x6x8xf32>
  %1 = stablehlo.negate %0 : tensor<4x6x8xf32>
  return %1 : tensor<4x6x8xf32>
}
