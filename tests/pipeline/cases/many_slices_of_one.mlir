sdy.mesh @mesh = <["m"=4]>
func.func public @main(%m: tensor<2x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"m"}]>}) -> (tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.slice %m [0:2, 0:8] : (tensor<2x32xf32>) -> tensor<2x8xf32>
  %1 = stablehlo.slice %m [0:2, 8:16] : (tensor<2x32xf32>) -> tensor<2x8xf32>
  %2 = stablehlo.slice %m [0:2, 16:24] : (tensor<2x32xf32>) -> tensor<2x8xf32>
  %3 = stablehlo.slice %m [0:2, 24:32] : (tensor<2x32xf32>) -> tensor<2x8xf32>
  return %0, %1, %2, %3 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
}
