sdy.mesh @mesh = <["batch"=4, "model"=2]>

func.func @predict(
    %samples: tensor<16x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>},
    %param1: tensor<128x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %param2: tensor<256x10xf32>) -> tensor<16x10xf32> {
  %hidden = stablehlo.dot %samples, %param1 : (tensor<16x128xf32>, tensor<128x256xf32>) -> tensor<16x256xf32>
  %out = stablehlo.dot %hidden, %param2 : (tensor<16x256xf32>, tensor<256x10xf32>) -> tensor<16x10xf32>
  return %out : tensor<16x10xf32>
}
