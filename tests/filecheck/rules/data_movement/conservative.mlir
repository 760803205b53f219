// RUN: xdsl-opt %s -p 'sdy-populate-op-sharding-rules{conservative-propagation=true}' | filecheck %s

// The ops of this family with another rule in conservative mode.

// CHECK-LABEL: func.func @concatenate_4_8_0(
// CHECK: #sdy.op_sharding_rule<([j, i])->([k, i]) {i=8, j=1, k=1}>
func.func @concatenate_4_8_0(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.concatenate %arg0, dim = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_4_8_4_3_1(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}>
func.func @concatenate_4_8_4_3_1(%arg0: tensor<4x8xf32>, %arg1: tensor<4x3xf32>) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_4_8_2_8_1_8_0(
// CHECK: #sdy.op_sharding_rule<([j, i], [k, i], [l, i])->([m, i]) {i=8, j=1, k=1, l=1, m=1}>
func.func @concatenate_4_8_2_8_1_8_0(%arg0: tensor<4x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<1x8xf32>) {
  %0 = stablehlo.concatenate %arg0, %arg1, %arg2, dim = 0 : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<7x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_0_8_2_8_0(
// CHECK: #sdy.op_sharding_rule<([j, i], [k, i])->([l, i]) {i=8, j=1, k=1, l=1}>
func.func @concatenate_0_8_2_8_0(%arg0: tensor<0x8xf32>, %arg1: tensor<2x8xf32>) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<0x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_roll_same(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}>
func.func @concatenate_roll_same(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg0 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_roll_other(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}>
func.func @concatenate_roll_other(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg1 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_wrap_same(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k], [i, l])->([i, m]) {i=4, j=1, k=1, l=1, m=1}>
func.func @concatenate_wrap_same(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg0 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %arg0, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_wrap_other(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k], [i, l])->([i, m]) {i=4, j=1, k=1, l=1, m=1}>
func.func @concatenate_wrap_other(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg1 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %arg0, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_mixed_same(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}>
func.func @concatenate_mixed_same(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg0 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %arg1, dim = 1 : (tensor<4x5xf32>, tensor<4x8xf32>) -> tensor<4x13xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_mixed_other(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}>
func.func @concatenate_mixed_other(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg1 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %arg1, dim = 1 : (tensor<4x5xf32>, tensor<4x8xf32>) -> tensor<4x13xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_twice_same(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}>
func.func @concatenate_twice_same(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg0 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_twice_other(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}>
func.func @concatenate_twice_other(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg1 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @pad_4_8_1_0_2_0_0_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=8} permutation={i} blocked_propagation={i}>
func.func @pad_4_8_1_0_2_0_0_0(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x8xf32>
  return
}

// CHECK-LABEL: func.func @pad_4_8_0_0_0_7_1_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=8} permutation={i, j} blocked_propagation={i, j}>
func.func @pad_4_8_0_0_0_7_1_0(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 0], high = [0, -7], interior = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x1xf32>
  return
}

// CHECK-LABEL: func.func @pad_1_1_3_0_0_0_0_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=1, j=1} permutation={i} blocked_propagation={i}>
func.func @pad_1_1_3_0_0_0_0_0(%arg0: tensor<1x1xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [3, 0], high = [0, 0], interior = [0, 0] : (tensor<1x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  return
}

// CHECK-LABEL: func.func @slice_4_8_1_0_3_8_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={i} blocked_propagation={i}>
func.func @slice_4_8_1_0_3_8_1_1(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [1:3, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @slice_4_8_0_0_4_8_1_2(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j} blocked_propagation={j}>
func.func @slice_4_8_0_0_4_8_1_2(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:8:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// CHECK-LABEL: func.func @slice_4_8_2_2_2_3_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={i, j} blocked_propagation={i, j}>
func.func @slice_4_8_2_2_2_3_1_1(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [2:2, 2:3] : (tensor<4x8xf32>) -> tensor<0x1xf32>
  return
}
