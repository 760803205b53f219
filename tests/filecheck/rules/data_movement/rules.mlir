// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Ops that move elements and compute nothing.

// CHECK-LABEL: func.func @bitcast_convert_4_8_4_8(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @bitcast_convert_4_8_4_8(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @bitcast_convert_4_8_2_4_8(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j]) {i=4, j=8, k=2} need_replication={k}>
func.func @bitcast_convert_4_8_2_4_8(%arg0: tensor<4x8x2xf32>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x8x2xf32>) -> tensor<4x8xf64>
  return
}

// CHECK-LABEL: func.func @bitcast_convert_4_8_4_8_2(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j, k]) {i=4, j=8, k=2} need_replication={k}>
func.func @bitcast_convert_4_8_4_8_2(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8x2xf16>
  return
}

// CHECK-LABEL: func.func @bitcast_convert_2(
// CHECK: #sdy.op_sharding_rule<([i])->([]) {i=2} need_replication={i}>
func.func @bitcast_convert_2(%arg0: tensor<2xf32>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<2xf32>) -> tensor<f64>
  return
}

// CHECK-LABEL: func.func @bitcast_convert_2__2(
// CHECK: #sdy.op_sharding_rule<([])->([i]) {i=2} need_replication={i}>
func.func @bitcast_convert_2__2(%arg0: tensor<f32>) {
  %0 = stablehlo.bitcast_convert %arg0 : (tensor<f32>) -> tensor<2xf16>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim(
// CHECK: #sdy.op_sharding_rule<([])->([])>
func.func @broadcast_in_dim(%arg0: tensor<f32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim_4_8(
// CHECK: #sdy.op_sharding_rule<([])->([i, j]) {i=4, j=8}>
func.func @broadcast_in_dim_4_8(%arg0: tensor<f32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim_8_4_8_1(
// CHECK: #sdy.op_sharding_rule<([j])->([i, j]) {i=4, j=8}>
func.func @broadcast_in_dim_8_4_8_1(%arg0: tensor<8xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim_8_8_4_0(
// CHECK: #sdy.op_sharding_rule<([i])->([i, j]) {i=8, j=4}>
func.func @broadcast_in_dim_8_8_4_0(%arg0: tensor<8xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim_1_8_4_8_0_1(
// CHECK: #sdy.op_sharding_rule<([i, k])->([j, k]) {i=1, j=4, k=8}>
func.func @broadcast_in_dim_1_8_4_8_0_1(%arg0: tensor<1x8xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim_1_1_1_8_0_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, k]) {i=1, j=1, k=8}>
func.func @broadcast_in_dim_1_1_1_8_0_1(%arg0: tensor<1x1xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x8xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim_4_8_8_2_4_2_0(
// CHECK: #sdy.op_sharding_rule<([k, i])->([i, j, k]) {i=8, j=2, k=4}>
func.func @broadcast_in_dim_4_8_8_2_4_2_0(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 0] : (tensor<4x8xf32>) -> tensor<8x2x4xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim_1_4_6_4_5_2_1(
// CHECK: #sdy.op_sharding_rule<([k, j])->([i, j, l]) {i=6, j=4, k=1, l=5}>
func.func @broadcast_in_dim_1_4_6_4_5_2_1(%arg0: tensor<1x4xf32>) {
  %0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 1] : (tensor<1x4xf32>) -> tensor<6x4x5xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_4_8_0(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={i}>
func.func @concatenate_4_8_0(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.concatenate %arg0, dim = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_4_8_4_3_1(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=11} need_replication={j}>
func.func @concatenate_4_8_4_3_1(%arg0: tensor<4x8xf32>, %arg1: tensor<4x3xf32>) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 1 : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_4_8_2_8_1_8_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [i, j])->([i, j]) {i=7, j=8} need_replication={i}>
func.func @concatenate_4_8_2_8_1_8_0(%arg0: tensor<4x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<1x8xf32>) {
  %0 = stablehlo.concatenate %arg0, %arg1, %arg2, dim = 0 : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<7x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_0_8_2_8_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=2, j=8} need_replication={i}>
func.func @concatenate_0_8_2_8_0(%arg0: tensor<0x8xf32>, %arg1: tensor<2x8xf32>) {
  %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<0x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_roll_same(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8} permutation={j}>
func.func @concatenate_roll_same(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg0 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_roll_other(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8} permutation={j}>
func.func @concatenate_roll_other(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg1 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_wrap_same(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [i, j])->([i, j]) {i=4, j=16} permutation={j}>
func.func @concatenate_wrap_same(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg0 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %arg0, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_wrap_other(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [i, j])->([i, j]) {i=4, j=16} need_replication={j}>
func.func @concatenate_wrap_other(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg1 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %arg0, %0, dim = 1 : (tensor<4x5xf32>, tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_mixed_same(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=13} need_replication={j}>
func.func @concatenate_mixed_same(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg0 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %arg1, dim = 1 : (tensor<4x5xf32>, tensor<4x8xf32>) -> tensor<4x13xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_mixed_other(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=13} permutation={j}>
func.func @concatenate_mixed_other(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg1 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %1, %arg1, dim = 1 : (tensor<4x5xf32>, tensor<4x8xf32>) -> tensor<4x13xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_twice_same(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=16} need_replication={j}>
func.func @concatenate_twice_same(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg0 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @concatenate_twice_other(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=16} need_replication={j}>
func.func @concatenate_twice_other(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:3] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.slice %arg1 [0:4, 3:8] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_slice_4_8_4_8(
// CHECK: #sdy.op_sharding_rule<([i, j], [], [])->([i, j]) {i=4, j=8}>
func.func @dynamic_slice_4_8_4_8(%arg0: tensor<4x8xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg2, sizes = [4, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_slice_4_8_2_8(
// CHECK: #sdy.op_sharding_rule<([i, j], [], [])->([i, j]) {i=4, j=8} need_replication={i} blocked_propagation={i}>
func.func @dynamic_slice_4_8_2_8(%arg0: tensor<4x8xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg2, sizes = [2, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_slice_4_8_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j], [], [])->([i, j]) {i=4, j=8} need_replication={i, j} blocked_propagation={i, j}>
func.func @dynamic_slice_4_8_1_1(%arg0: tensor<4x8xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg2, sizes = [1, 1] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_slice_1_8_1_3(
// CHECK: #sdy.op_sharding_rule<([i, j], [], [])->([i, j]) {i=1, j=8} need_replication={j} blocked_propagation={j}>
func.func @dynamic_slice_1_8_1_3(%arg0: tensor<1x8xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %arg0, %arg1, %arg2, sizes = [1, 3] : (tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice_4_8_4_8(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, j]) {i=4, j=8}>
func.func @dynamic_update_slice_4_8_4_8(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg3 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice_4_8_2_8(
// CHECK: #sdy.op_sharding_rule<([i, k], [j, k], [], [])->([i, k]) {i=4, j=2, k=8} need_replication={j}>
func.func @dynamic_update_slice_4_8_2_8(%arg0: tensor<4x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg3 : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice_4_8_1_1(
// CHECK: #sdy.op_sharding_rule<([i, k], [j, l], [], [])->([i, k]) {i=4, j=1, k=8, l=1} need_replication={j, l}>
func.func @dynamic_update_slice_4_8_1_1(%arg0: tensor<4x8xf32>, %arg1: tensor<1x1xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg3 : (tensor<4x8xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice_1_8_1_3(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k], [], [])->([i, j]) {i=1, j=8, k=3} need_replication={k}>
func.func @dynamic_update_slice_1_8_1_3(%arg0: tensor<1x8xf32>, %arg1: tensor<1x3xf32>, %arg2: tensor<i32>, %arg3: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg3 : (tensor<1x8xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice_constant(
// CHECK: #sdy.op_sharding_rule<([i, k], [j, k], [], [])->([i, k]) {i=4, j=2, k=8}>
func.func @dynamic_update_slice_constant(%arg0: tensor<4x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<i64>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %c_0 = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %c_0, %c : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice_sdy_constant(
// CHECK: #sdy.op_sharding_rule<([i, k], [j, k], [], [])->([i, k]) {i=4, j=2, k=8}>
func.func @dynamic_update_slice_sdy_constant(%arg0: tensor<4x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<i64>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = sdy.constant dense<1> : tensor<i32>
  %1 = stablehlo.dynamic_update_slice %arg0, %arg1, %0, %c : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice_arith_constant(
// CHECK: #sdy.op_sharding_rule<([i, k], [j, k], [], [])->([i, k]) {i=4, j=2, k=8}>
func.func @dynamic_update_slice_arith_constant(%arg0: tensor<4x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<i64>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %cst = arith.constant dense<1> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %arg0, %arg1, %cst, %c : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_update_slice_iota(
// CHECK: #sdy.op_sharding_rule<([])->([])>
// CHECK: #sdy.op_sharding_rule<([i, k], [j, k], [], [])->([i, k]) {i=4, j=2, k=8} need_replication={j}>
func.func @dynamic_update_slice_iota(%arg0: tensor<4x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<i64>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.convert %arg2 : (tensor<i64>) -> tensor<i32>
  %1 = stablehlo.dynamic_update_slice %arg0, %arg1, %0, %c : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @pad_4_8_0_0_0_0_0_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=8}>
func.func @pad_4_8_0_0_0_0_0_0(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @pad_4_8_1_0_2_0_0_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=8} permutation={i}>
func.func @pad_4_8_1_0_2_0_0_0(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x8xf32>
  return
}

// CHECK-LABEL: func.func @pad_4_8_0_2_0_2_0_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=8}>
func.func @pad_4_8_0_2_0_2_0_0(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [0, -2], high = [0, 2], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @pad_4_8_0_0_0_7_1_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=8} permutation={i, j}>
func.func @pad_4_8_0_0_0_7_1_0(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [0, 0], high = [0, -7], interior = [1, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<7x1xf32>
  return
}

// CHECK-LABEL: func.func @pad_1_1_3_0_0_0_0_0(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=1, j=1} permutation={i}>
func.func @pad_1_1_3_0_0_0_0_0(%arg0: tensor<1x1xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.pad %arg0, %arg1, low = [3, 0], high = [0, 0], interior = [0, 0] : (tensor<1x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  return
}

// CHECK-LABEL: func.func @reshape(
// CHECK: #sdy.op_sharding_rule<([])->([])>
func.func @reshape(%arg0: tensor<f32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @reshape_1_1(
// CHECK: #sdy.op_sharding_rule<([])->([i, j]) {i=1, j=1}>
func.func @reshape_1_1(%arg0: tensor<f32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<f32>) -> tensor<1x1xf32>
  return
}

// CHECK-LABEL: func.func @reshape_1(
// CHECK: #sdy.op_sharding_rule<([i])->([]) {i=1}>
func.func @reshape_1(%arg0: tensor<1xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<1xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @reshape_8_8(
// CHECK: #sdy.op_sharding_rule<([i])->([i]) {i=8}>
func.func @reshape_8_8(%arg0: tensor<8xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @reshape_8_2_4(
// CHECK: #sdy.op_sharding_rule<([ij])->([i, j]) {i=2, j=4}>
func.func @reshape_8_2_4(%arg0: tensor<8xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @reshape_8_2_2_2(
// CHECK: #sdy.op_sharding_rule<([ijk])->([i, j, k]) {i=2, j=2, k=2}>
func.func @reshape_8_2_2_2(%arg0: tensor<8xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<2x2x2xf32>
  return
}

// CHECK-LABEL: func.func @reshape_2_4_8(
// CHECK: #sdy.op_sharding_rule<([i, j])->([ij]) {i=2, j=4}>
func.func @reshape_2_4_8(%arg0: tensor<2x4xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<2x4xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @reshape_8_4_2_16(
// CHECK: #sdy.op_sharding_rule<([ij, k])->([i, jk]) {i=2, j=4, k=4}>
func.func @reshape_8_4_2_16(%arg0: tensor<8x4xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<8x4xf32>) -> tensor<2x16xf32>
  return
}

// CHECK-LABEL: func.func @reshape_2_4_8_8_8(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([ij, k]) {i=2, j=4, k=8}>
func.func @reshape_2_4_8_8_8(%arg0: tensor<2x4x8xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @reshape_6_4_4_6(
// CHECK: #sdy.op_sharding_rule<([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}>
func.func @reshape_6_4_4_6(%arg0: tensor<6x4xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @reshape_1_8_1_8(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([j]) {i=1, j=8, k=1}>
func.func @reshape_1_8_1_8(%arg0: tensor<1x8x1xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<1x8x1xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @reshape_8_1_1_8_1(
// CHECK: #sdy.op_sharding_rule<([k])->([i, j, k, l]) {i=1, j=1, k=8, l=1}>
func.func @reshape_8_1_1_8_1(%arg0: tensor<8xf32>) {
  %0 = stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<1x1x8x1xf32>
  return
}

// CHECK-LABEL: func.func @reverse_4_8_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
func.func @reverse_4_8_1(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.reverse %arg0, dims = [1] : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @reverse_4_8(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @reverse_4_8(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.reverse %arg0, dims = [] : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @reverse_2_3_4_2_0(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=2, j=3, k=4} permutation={i, k}>
func.func @reverse_2_3_4_2_0(%arg0: tensor<2x3x4xf32>) {
  %0 = stablehlo.reverse %arg0, dims = [2, 0] : tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @slice_4_8_0_0_4_8_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @slice_4_8_0_0_4_8_1_1(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @slice_4_8_1_0_3_8_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={i}>
func.func @slice_4_8_1_0_3_8_1_1(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [1:3, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @slice_4_8_0_0_4_8_1_2(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={j}>
func.func @slice_4_8_0_0_4_8_1_2(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [0:4, 0:8:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// CHECK-LABEL: func.func @slice_4_8_2_2_2_3_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} permutation={i, j}>
func.func @slice_4_8_2_2_2_3_1_1(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.slice %arg0 [2:2, 2:3] : (tensor<4x8xf32>) -> tensor<0x1xf32>
  return
}

// CHECK-LABEL: func.func @transpose(
// CHECK: #sdy.op_sharding_rule<([])->([])>
func.func @transpose(%arg0: tensor<f32>) {
  %0 = stablehlo.transpose %arg0, dims = [] : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @transpose_4_8_1_0(
// CHECK: #sdy.op_sharding_rule<([j, i])->([i, j]) {i=8, j=4}>
func.func @transpose_4_8_1_0(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @transpose_2_3_4_2_0_1(
// CHECK: #sdy.op_sharding_rule<([j, k, i])->([i, j, k]) {i=4, j=2, k=3}>
func.func @transpose_2_3_4_2_0_1(%arg0: tensor<2x3x4xf32>) {
  %0 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return
}

// CHECK-LABEL: func.func @transpose_2_1_4_0_2_1(
// CHECK: #sdy.op_sharding_rule<([i, k, j])->([i, j, k]) {i=2, j=4, k=1}>
func.func @transpose_2_1_4_0_2_1(%arg0: tensor<2x1x4xf32>) {
  %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<2x1x4xf32>) -> tensor<2x4x1xf32>
  return
}
