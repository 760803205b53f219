sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func public @main(
    %x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}
) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.negate %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
