// RUN: xdsl-opt %s --split-input-file -p 'apply-shardy-argument-annotations{mesh-shape=1,4}' | filecheck %s
// RUN: xdsl-opt %s --split-input-file -p 'apply-shardy-argument-annotations{mesh-shape=4 automatic-arg-analysis=false}' | filecheck %s --check-prefix OFF
// RUN: xdsl-opt %s --split-input-file -p apply-shardy-argument-annotations | filecheck %s --check-prefix ONE

// Two layers: the batch is found, not guessed from the rank; weights stay whole. The
// hidden layer would split as much work, but its reduction would not be free.

func.func public @mlp(%w1: tensor<8x16xf32>, %x: tensor<12x8xf32>, %w2: tensor<16x4xf32>) -> tensor<12x4xf32> {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<12x8xf32>, tensor<8x16xf32>) -> tensor<12x16xf32>
  %1 = stablehlo.tanh %0 : tensor<12x16xf32>
  %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<12x16xf32>, tensor<16x4xf32>) -> tensor<12x4xf32>
  return %2 : tensor<12x4xf32>
}

// CHECK: sdy.mesh @mesh = <["model"=1, "batch"=4]>
// CHECK: @mlp(%w1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
// CHECK-SAME: %x: tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>},
// CHECK-SAME: %w2: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
// OFF: sdy.mesh @mesh = <["model"=1, "batch"=4]>
// OFF: %x: tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
// ONE: sdy.mesh @mesh = <["model"=1, "batch"=1]>
// ONE: @mlp(%w1: tensor<8x16xf32>, %x: tensor<12x8xf32>, %w2: tensor<16x4xf32>)

// -----

// The batch need not be dimension 0.

func.func public @feature_major(%w: tensor<16x8xf32>, %x: tensor<8x12xf32>) -> tensor<16x12xf32> {
  %0 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x12xf32>) -> tensor<16x12xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<16x12xf32>, tensor<f32>) -> tensor<12xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<12xf32>) -> tensor<16x12xf32>
  %3 = stablehlo.divide %0, %2 : tensor<16x12xf32>
  return %3 : tensor<16x12xf32>
}

// CHECK: %x: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"batch"}]>}

// -----

// A gradient: summing over the batch at the very end is what data parallelism does.

func.func public @gradient(%w: tensor<8x6xf32>, %x: tensor<12x8xf32>) -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<12x8xf32>, tensor<8x6xf32>) -> tensor<12x6xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (tensor<12x8xf32>, tensor<12x6xf32>) -> tensor<8x6xf32>
  %2 = stablehlo.subtract %w, %1 : tensor<8x6xf32>
  return %2 : tensor<8x6xf32>
}

// CHECK: %w: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}
// CHECK-SAME: %x: tensor<12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>}

// -----

// Declared inputs are split along dimension 0, if four devices can share it.

func.func public @declared(%a: tensor<8x4xf32> {ttcore.argument_type = #ttcore.argument_type<input>}, %b: tensor<8x4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %c: tensor<6x4xf32> {ttcore.argument_type = #ttcore.argument_type<input>}) -> tensor<8x4xf32> {
  return %a : tensor<8x4xf32>
}

// CHECK: %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"batch"}, {}]>,
// CHECK-SAME: %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>,
// CHECK-SAME: %c: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>,

// -----

// A square that meets its own transpose cannot be split along both dimensions.

func.func public @nothing_fits(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.add %a, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK: @nothing_fits(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
