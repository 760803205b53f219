// RUN: xdsl-opt %s -p sdy-pad-for-divisibility --split-input-file --verify-diagnostics | filecheck %s

sdy.mesh @mesh = <["x"=4]>

// CHECK: argument #0 has a non-divisible sharding. Shardy expects function IO to be divisible.
func.func @border(%x: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<7xf32> {
  %0 = sdy.all_gather [{"x"}] %x out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// CHECK: cannot pad 'stablehlo.reverse': dimension 0 of an operand would let the surplus into the result
func.func @reverse(%x: tensor<7xf32>) -> tensor<7xf32> {
  %0 = sdy.all_slice [{"x"}] %x out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
  %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<7xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<7xf32>
  return %2 : tensor<7xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// CHECK: cannot pad 'stablehlo.reshape': dimension 0 of an operand
func.func @scalar(%x: tensor<1xf32>) -> tensor<f32> {
  %0 = sdy.all_slice [{"x"}] %x out_sharding=<@mesh, [{"x"}]> : tensor<1xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<1xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
