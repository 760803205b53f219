// RUN: xdsl-opt %s -p sdy-verify-unreduced-axes --split-input-file --verify-diagnostics | filecheck %s

// The words are those of jaxlib 0.12.0.1.

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @dropped(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = stablehlo.negate %a : tensor<8xf32>
  return
}
// CHECK: 'stablehlo.negate' op: dropped unreduced axis 'x' without a blessed operation (e.g., sdy.reshard).

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @dot(%a: tensor<8x8xf32>) {
  %0 = stablehlo.dot %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced=max{"x"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}
// CHECK: 'stablehlo.dot' op: cannot introduce 'max' unreduced axes. Expected 'sum'.

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @reduce(%a: tensor<8x8xf32>, %z: tensor<f32>) {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}
// CHECK: 'stablehlo.reduce' op: cannot introduce 'sum' unreduced axes. Expected 'max'.

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @call(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  %0 = call @callee(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @callee(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
// CHECK: 'func.call' op: has unreduced axes mismatch for 'x' at call argument 0.

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @returned(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) {
  return %a : tensor<8xf32>
}
// CHECK: 'func.return' op: has unreduced axes mismatch for 'x, y' at return value 0 without a blessed operation

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @not_sharded(%a: tensor<8xf32>) {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return
}
// CHECK: 'sdy.all_reduce' op: operand must be sharded.

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @fine(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced=max{"x"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced=max{"x"}>]>} : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK: func.func @fine
