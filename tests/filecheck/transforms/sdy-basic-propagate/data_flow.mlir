// RUN: xdsl-opt %s -p sdy-basic-propagate --split-input-file | filecheck %s

// The edge of a loop's value links operand, block arguments, returned value and result.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @while(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {?}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}, %arg2: tensor<i32>) -> tensor<8x8xf32> {
  %0:2 = stablehlo.while(%i = %arg2, %x = %arg0) : tensor<i32>, tensor<8x8xf32>
   cond {
    %3 = stablehlo.compare LT, %i, %arg2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %3 = stablehlo.add %x, %arg1 : tensor<8x8xf32>
    stablehlo.return %i, %3 : tensor<i32>, tensor<8x8xf32>
  }
  %1 = sdy.data_flow_edge %0#0 : tensor<i32>
  %2 = sdy.data_flow_edge %0#1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
// CHECK-LABEL: @while
// CHECK-SAME:    %arg0: {{.*}}[{"a"}, {"b", ?}]
// CHECK-SAME:    %arg1: {{.*}}[{"a", ?}, {"b"}]
// CHECK:         stablehlo.add %x, %arg1 {{.*}}[{"a", ?}, {"b", ?}]
// CHECK:         sdy.data_flow_edge {{.*}} sharding=<@mesh, [{"a", ?}, {"b", ?}]>

// -----

// An edge into a manual computation adds and removes the manual axes.

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @manual(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b"}]>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", ?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    %2 = sdy.data_flow_edge %arg1 sharding=<@mesh, [{?}, {?}]> : tensor<4x8xf32>
    %3 = stablehlo.negate %2 : tensor<4x8xf32>
    sdy.return %3 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a", ?}, {?}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: @manual
// CHECK-SAME:    %arg0: {{.*}}[{"a", ?}, {"b"}]
// CHECK:         sdy.data_flow_edge %arg1 sharding=<@mesh, [{?}, {"b", ?}]>
// CHECK:         stablehlo.negate {{.*}}[{?}, {"b", ?}]
// CHECK:         sdy.data_flow_edge %0 sharding=<@mesh, [{"a", ?}, {"b", ?}]>
