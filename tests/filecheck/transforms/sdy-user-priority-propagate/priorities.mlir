// RUN: xdsl-opt %s -p sdy-user-priority-propagate --split-input-file | filecheck %s

// The first argument would win, but has lower priority.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @lower_number_first(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p1]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}p0]>}, %arg2: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg2 : tensor<8xf32>
  %1 = stablehlo.add %0, %arg1 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// CHECK-LABEL: @lower_number_first
// CHECK-SAME:    %arg0: {{.*}}[{"a"}]>}
// CHECK-SAME:    %arg1: {{.*}}[{"b"}]>}
// CHECK-SAME:    %arg2: {{.*}}[{"b", ?}]>}
// CHECK:         %0 = stablehlo.add {{.*}}[{"b", ?}]

// -----

// While a dimension waits for its turn, nothing else takes its axes.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @axes_are_held_back(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p1, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", "b"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// CHECK-LABEL: @axes_are_held_back
// CHECK-SAME:    %arg0: {{.*}}[{"a"}, {?}]>}
// CHECK:         stablehlo.add {{.*}}[{?}, {"a", "b", ?}]
