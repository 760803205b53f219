// RUN: xdsl-opt %s -p wrap-under-manual-computation,update-global-to-local-shapes --split-input-file --verify-diagnostics | filecheck %s

sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func.func @argument
// CHECK: "stablehlo.all_reduce"
// CHECK: stablehlo.maximum
func.func @argument(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @sum(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = sdy.all_reduce max {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// CHECK: error: 'sdy.all_reduce' op: it combines by max what 'stablehlo.add' combines
