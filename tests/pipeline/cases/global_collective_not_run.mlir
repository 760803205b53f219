sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%t: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x6xf32> {
  %0 = "stablehlo.all_gather"(%t) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<8x6xf32>) -> tensor<16x6xf32>
  return %0 : tensor<16x6xf32>
}
