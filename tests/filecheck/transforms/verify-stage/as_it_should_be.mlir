// RUN: xdsl-opt %s -p 'verify-stage{stage=1}' | filecheck %s --check-prefix INPUT
// RUN: xdsl-opt %s -p 'tt-stablehlo-pipeline{last-stage=9},verify-stage{stage=9}' | filecheck %s --check-prefix WRAPPED
// RUN: xdsl-opt %s -p 'tt-stablehlo-pipeline,verify-stage' | filecheck %s

// The pass changes nothing where all is as it should be; without a stage it is the last.

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// INPUT: func.func @main(%a: tensor<8x4xf32> {sdy.sharding
// INPUT-NEXT: stablehlo.constant
// WRAPPED: sdy.manual_computation(%a)
// WRAPPED: sdy.all_reduce
// CHECK: sdy.manual_computation(%a) {{.*}} (%{{.*}}: tensor<4x4xf32>)
// CHECK: stablehlo.all_reduce
// CHECK-NOT: sdy.sharding
