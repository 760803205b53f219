sdy.mesh @mesh = <["i"=2]>
func.func public @main(%a: tensor<8x8xf32>) -> tensor<8x4xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {"i"}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"i"} (%b: tensor<8x4xf32>) {
    %1 = stablehlo.negate %b : tensor<8x4xf32>
    sdy.return %1 : tensor<8x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
