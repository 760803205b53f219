// RUN: xdsl-opt %s -p tt-stablehlo-pipeline | filecheck %s
// RUN: xdsl-opt %s -p "tt-stablehlo-pipeline{without=combine-collectives}" | filecheck %s --check-prefix=APART

// Two sums that do not wait for each other are one op; who uses the first moves behind it.

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(
    %a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
) -> (tensor<16x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8x16xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %1 = stablehlo.tanh %0 : tensor<16x4xf32>
  %2 = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<16x4xf32>, tensor<4x4xf32>
}

// CHECK:      %{{.*}}, %{{.*}} = "stablehlo.all_reduce"(%{{.*}}, %{{.*}})
// CHECK:      }) : (tensor<16x4xf32>, tensor<4x4xf32>) -> (tensor<16x4xf32>, tensor<4x4xf32>)
// CHECK-NEXT: stablehlo.tanh
// CHECK-NOT:  "stablehlo.all_reduce"

// APART: "stablehlo.all_reduce"(%{{.*}}) <
// APART: stablehlo.tanh
// APART: "stablehlo.all_reduce"(%{{.*}}) <

// What is gathered along the minor axis and then along the major one is gathered at once,
// in groups of groups.

func.func @two_axes(
    %a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}
) -> (tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.negate %a : tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// CHECK-LABEL: func.func @two_axes
// CHECK:      "stablehlo.all_gather"
// CHECK-SAME: dense<{{\[\[}}0, 2, 4, 6, 1, 3, 5, 7]]> : tensor<1x8xi64>
// CHECK-SAME: (tensor<2x4xf32>) -> tensor<16x4xf32>
// CHECK-NOT:  "stablehlo.all_gather"

// APART-LABEL: func.func @two_axes
// APART: (tensor<2x4xf32>) -> tensor<8x4xf32>
// APART: (tensor<8x4xf32>) -> tensor<16x4xf32>
