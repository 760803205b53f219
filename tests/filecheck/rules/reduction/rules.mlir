// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Reductions and sorts.

// CHECK-LABEL: func.func @reduce_4_8_1_f32(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i]) {i=4, j=8} reduction={j}>
func.func @reduce_4_8_1_f32(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @reduce_4_8_1_f32_i32(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i], [i]) {i=4, j=8} reduction={j}>
func.func @reduce_4_8_1_f32_i32(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
  %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
    %1 = stablehlo.maximum %arg4, %arg6 : tensor<f32>
    %2 = stablehlo.maximum %arg5, %arg7 : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @reduce_4_8_0_f32(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([j]) {i=4, j=8} reduction={i}>
func.func @reduce_4_8_0_f32(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @reduce_4_8_0_f32_i32(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([j], [j]) {i=4, j=8} reduction={i}>
func.func @reduce_4_8_0_f32_i32(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
  %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [0] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
   reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
    %1 = stablehlo.maximum %arg4, %arg6 : tensor<f32>
    %2 = stablehlo.maximum %arg5, %arg7 : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @reduce_4_8_f32(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=4, j=8}>
func.func @reduce_4_8_f32(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @reduce_4_8_f32_i32(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, j], [i, j]) {i=4, j=8}>
func.func @reduce_4_8_f32_i32(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
  %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
   reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
    %1 = stablehlo.maximum %arg4, %arg6 : tensor<f32>
    %2 = stablehlo.maximum %arg5, %arg7 : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @reduce_4_8_0_1_f32(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([]) {i=4, j=8} reduction={i, j}>
func.func @reduce_4_8_0_1_f32(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>) {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @reduce_4_8_0_1_f32_i32(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([], []) {i=4, j=8} reduction={i, j}>
func.func @reduce_4_8_0_1_f32_i32(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
  %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
    %1 = stablehlo.maximum %arg4, %arg6 : tensor<f32>
    %2 = stablehlo.maximum %arg5, %arg7 : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @sort_8_0_1(
// CHECK: #sdy.op_sharding_rule<([i])->([i]) {i=8} need_replication={i} blocked_propagation={i}>
func.func @sort_8_0_1(%arg0: tensor<8xf32>) {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.compare LT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @sort_8_0_2(
// CHECK: #sdy.op_sharding_rule<([i], [i])->([i], [i]) {i=8} need_replication={i} blocked_propagation={i}>
func.func @sort_8_0_2(%arg0: tensor<8xf32>, %arg1: tensor<8xi32>) {
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
    %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  return
}

// CHECK-LABEL: func.func @sort_4_8_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}>
func.func @sort_4_8_1_1(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.compare LT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @sort_4_8_1_2(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j], [i, j]) {i=4, j=8} need_replication={j}>
func.func @sort_4_8_1_2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>) {
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
    %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
  return
}

// CHECK-LABEL: func.func @sort_4_8_0_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={i}>
func.func @sort_4_8_0_1(%arg0: tensor<4x8xf32>) {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.compare LT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @sort_4_8_0_2(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j], [i, j]) {i=4, j=8} need_replication={i}>
func.func @sort_4_8_0_2(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>) {
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
    %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x8xf32>, tensor<4x8xi32>) -> (tensor<4x8xf32>, tensor<4x8xi32>)
  return
}

// CHECK-LABEL: func.func @sort_1_8_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=1, j=8} need_replication={j} blocked_propagation={j}>
func.func @sort_1_8_1_1(%arg0: tensor<1x8xf32>) {
  %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.compare LT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return
}

// CHECK-LABEL: func.func @sort_1_8_1_2(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j], [i, j]) {i=1, j=8} need_replication={j} blocked_propagation={j}>
func.func @sort_1_8_1_2(%arg0: tensor<1x8xf32>, %arg1: tensor<1x8xi32>) {
  %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>, %arg4: tensor<i32>, %arg5: tensor<i32>):
    %1 = stablehlo.compare LT, %arg2, %arg3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<1x8xf32>, tensor<1x8xi32>) -> (tensor<1x8xf32>, tensor<1x8xi32>)
  return
}
