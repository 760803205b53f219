// RUN: xdsl-opt %s -p sdy-aggressive-propagate --split-input-file | filecheck %s
// RUN: xdsl-opt %s -p 'sdy-aggressive-propagate{propagation-strategy=basic}' --split-input-file | filecheck %s --check-prefix BASIC

// "a" shards two dimensions of the result: the larger operand's factor gets it, the
// basic strategy gives it to nobody.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @larger_source(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", "b"}]>}) -> tensor<8x64xf32> {
  %0 = stablehlo.dot %arg0, %arg1 : (tensor<8x4xf32>, tensor<4x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
// CHECK-LABEL: @larger_source
// CHECK:         stablehlo.dot {{.*}}[{?}, {"a", "b", ?}]
// BASIC-LABEL: @larger_source
// BASIC:         stablehlo.dot %arg0, %arg1 : (

// -----

// Two operands want different axes along the same dimension: nobody can decide.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @same_factor(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @same_factor
// CHECK:         stablehlo.add %arg0, %arg1 : tensor<8xf32>
// BASIC-LABEL: @same_factor
// BASIC:         stablehlo.add %arg0, %arg1 : tensor<8xf32>

// -----

// The result is closed and replicated: an elementwise op then shards no operand more.

sdy.mesh @mesh = <["a"=2]>
func.func @sideways(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @sideways
// CHECK-SAME:    %arg1: tensor<8xf32>) -> tensor<8xf32>
// BASIC-LABEL: @sideways
// BASIC-SAME:    %arg1: tensor<8xf32>) -> tensor<8xf32>

// -----

// Basic first gives both dimensions what nobody objects to.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @other_axis(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", "a"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// CHECK-LABEL: @other_axis
// CHECK:         stablehlo.add {{.*}}[{?}, {"b", "a", ?}]
// BASIC-LABEL: @other_axis
// BASIC-SAME:    %arg0: {{.*}}[{"a"}, {"b", ?}]
// BASIC:         stablehlo.add {{.*}}[{?}, {"b", ?}]
