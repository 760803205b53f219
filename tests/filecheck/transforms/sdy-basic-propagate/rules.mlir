// RUN: xdsl-opt %s -p 'sdy-basic-propagate{keep-sharding-rules=true}' --split-input-file | filecheck %s --check-prefix KEEP
// RUN: xdsl-opt %s -p 'sdy-basic-propagate{conservative-propagation=true}' --split-input-file | filecheck %s --check-prefix CONSERVATIVE
// RUN: xdsl-opt %s -p sdy-basic-propagate --split-input-file | filecheck %s

// Rules are found on the way, and taken away again: but for those that a user wrote.

sdy.mesh @mesh = <["x"=4]>
func.func @rules(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @scale(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8, j=8}>} : tensor<8xf32>
  %2 = stablehlo.abs %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
// KEEP-LABEL:  @rules
// KEEP:          custom_call {{.*}}[{"x", ?}]{{.*}}sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>
// KEEP:          negate %0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([j]) {i=8, j=8}>}
// KEEP:          abs %1 {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>}
// CHECK-LABEL: @rules
// CHECK:         custom_call {{.*}}[{"x", ?}]{{.*}}sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>
// CHECK:         negate %0 : tensor<8xf32>
// CHECK:         abs %1 : tensor<8xf32>

// -----

// Conservative propagation makes no sub-axes.

sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @conservative(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>}) -> tensor<4x2xf32> {
  %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
// CONSERVATIVE-LABEL: @conservative
// CONSERVATIVE:         stablehlo.reshape {{.*}}[{"y", ?}, {?}]
// CHECK-LABEL:        @conservative
// CHECK:                stablehlo.reshape {{.*}}[{"y", "x":(1)2, ?}, {"x":(2)2, ?}]
