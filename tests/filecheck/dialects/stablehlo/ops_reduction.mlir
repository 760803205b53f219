// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every op of the family reduction, in both forms.

// CHECK-LABEL: @map(
// CHECK:      %{{.*}} = "stablehlo.map"(%{{.*}}, %{{.*}}) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %{{.*}} = stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<f32>
// CHECK-NEXT: }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @map(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = "stablehlo.map"(%0, %1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @reduce(
// CHECK:      %{{.*}} = stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
func.func @reduce(%0: tensor<4x6xf32>, %1: tensor<f32>) {
  %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @sort(
// CHECK:      %{{.*}} = "stablehlo.sort"(%{{.*}}) <{dimension = 1 : i64, is_stable = true}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK-NEXT: %{{.*}} = stablehlo.compare GT, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<i1>
// CHECK-NEXT: }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
func.func @sort(%0: tensor<4x6xf32>) {
  %1 = "stablehlo.sort"(%0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}
