// RUN: xdsl-opt %s -p sdy-resolve-single-device-sharding | filecheck %s

// The answer is that of jaxlib 0.12.0.1.

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @one = <[], device_ids=[3]>

// CHECK-LABEL: func.func @main(
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %[[ID:.*]] = stablehlo.partition_id : tensor<ui32>
  // CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<3> : tensor<ui32>
  // CHECK-NEXT: %[[IS:.*]] = stablehlo.compare EQ, %[[ID]], %[[ONE]] : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  // CHECK-NEXT: %[[IF:.*]] = "stablehlo.if"(%[[IS]]) ({
  // CHECK-NEXT:   %[[ADD:.*]] = stablehlo.add %a, %b {test.kept} : tensor<8xf32>
  // CHECK-NEXT:   stablehlo.return %[[ADD]] : tensor<8xf32>
  // CHECK-NEXT: }, {
  // CHECK-NEXT:   %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
  // CHECK-NEXT:   stablehlo.return %[[ZERO]] : tensor<8xf32>
  // CHECK-NEXT: }) : (tensor<i1>) -> tensor<8xf32>
  // CHECK-NEXT: %[[SUM:.*]] = sdy.all_reduce {"x", "y"} %[[IF]] out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %0 = sdy.reshard %a <@one, []> : tensor<8xf32>
  %1 = stablehlo.add %0, %b {test.kept, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : tensor<8xf32>
  // CHECK-NEXT: %[[SPLIT:.*]] = sdy.reshard %[[SUM]] <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<8xf32>
  %3 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<8xf32>
  // CHECK-NEXT: stablehlo.add %[[SUM]], %[[SPLIT]] : tensor<8xf32>
  %4 = stablehlo.add %2, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}
