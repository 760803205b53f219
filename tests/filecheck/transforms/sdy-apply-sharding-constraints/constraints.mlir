// RUN: xdsl-opt %s -p sdy-apply-sharding-constraints | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=4]>

// The constraint's sharding becomes that of its input, an argument or an op's result.

// CHECK:      func.func @applies(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
// CHECK:        stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
func.func @applies(%a: tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.abs %a : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  return
}

// Not if it is open, if the input is sharded already, or if constraints disagree.

// CHECK:      func.func @open(%a: tensor<8x8xf32>) {
func.func @open(%a: tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x", ?}, {}]> : tensor<8x8xf32>
  return
}

// CHECK:      func.func @sharded(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) {
func.func @sharded(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"y"}]>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}

// CHECK:      func.func @disagree(%a: tensor<8x8xf32>) {
func.func @disagree(%a: tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %a <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  return
}

// CHECK:      func.func @disagrees_with_manual(%a: tensor<8x8xf32>) {
func.func @disagrees_with_manual(%a: tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={} (%b: tensor<8x8xf32>) {
    sdy.return %b : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// A manual computation constrains its operands.

// CHECK:      func.func @manual(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
func.func @manual(%a: tensor<8x8xf32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    sdy.return %b : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// Uses after a chain of constraints use its end, but a return.

// CHECK-LABEL: func.func @chain
// CHECK:         %[[HEAD:.*]] = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]>
// CHECK-NEXT:    %[[END:.*]] = sdy.sharding_constraint %[[HEAD]] <@mesh, [{"y"}, {}]>
// CHECK-NEXT:    stablehlo.negate %[[END]]
// CHECK-NEXT:    func.return %a
func.func @chain(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %before = stablehlo.abs %a : tensor<8x8xf32>
  %head = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %end = sdy.sharding_constraint %head <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %after = stablehlo.negate %a : tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}

// On a data flow edge the constraint moves behind its input and takes over its uses.

// CHECK-LABEL: func.func @edge
// CHECK:         %[[EDGE:.*]] = sdy.data_flow_edge
// CHECK-NEXT:    %[[CONSTRAINT:.*]] = sdy.sharding_constraint %[[EDGE]] <@mesh, [{"x"}, {}]>
// CHECK-NEXT:    stablehlo.abs %[[CONSTRAINT]]
func.func @edge(%a: tensor<8x8xf32>) {
  %0 = stablehlo.optimization_barrier %a : tensor<8x8xf32>
  %1 = sdy.data_flow_edge %0 : tensor<8x8xf32>
  %2 = stablehlo.abs %1 : tensor<8x8xf32>
  %3 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return
}
