// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Ops that have none.

// CHECK-LABEL: func.func @after_all(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @after_all(%arg0: !stablehlo.token) {
  %0 = stablehlo.after_all %arg0 : !stablehlo.token
  return
}

// CHECK-LABEL: func.func @broadcast(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @broadcast(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.broadcast %arg0, sizes = [2] : (tensor<4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_acos(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_acos(%arg0: tensor<4x8xf32>) {
  %0 = chlo.acos %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_acosh(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_acosh(%arg0: tensor<4x8xf32>) {
  %0 = chlo.acosh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_asin(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_asin(%arg0: tensor<4x8xf32>) {
  %0 = chlo.asin %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_asinh(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_asinh(%arg0: tensor<4x8xf32>) {
  %0 = chlo.asinh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_atan(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_atan(%arg0: tensor<4x8xf32>) {
  %0 = chlo.atan %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_cosh(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_cosh(%arg0: tensor<4x8xf32>) {
  %0 = chlo.cosh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_digamma(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_digamma(%arg0: tensor<4x8xf32>) {
  %0 = chlo.digamma %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_erf(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_erf(%arg0: tensor<4x8xf32>) {
  %0 = chlo.erf %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_lgamma(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_lgamma(%arg0: tensor<4x8xf32>) {
  %0 = chlo.lgamma %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_next_after(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_next_after(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = chlo.next_after %arg0, %arg1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_sinh(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_sinh(%arg0: tensor<4x8xf32>) {
  %0 = chlo.sinh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_square(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_square(%arg0: tensor<4x8xf32>) {
  %0 = chlo.square %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @chlo_top_k(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @chlo_top_k(%arg0: tensor<4x8xf32>) {
  %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return
}

// CHECK-LABEL: func.func @constant(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @constant() {
  %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @create_token(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @create_token() {
  %0 = stablehlo.create_token : !stablehlo.token
  return
}

// CHECK-LABEL: func.func @get_dimension_size(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @get_dimension_size(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<4x8xf32>) -> tensor<i32>
  return
}

// CHECK-LABEL: func.func @iota(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @iota() {
  %0 = stablehlo.iota dim = 0 : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @map(
func.func @map(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = "stablehlo.map"(%arg0, %arg1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @optimization_barrier(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @optimization_barrier(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.optimization_barrier %arg0 : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @partition_id(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @partition_id() {
  %0 = stablehlo.partition_id : tensor<ui32>
  return
}

// CHECK-LABEL: func.func @replica_id(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @replica_id() {
  %0 = stablehlo.replica_id : tensor<ui32>
  return
}

// CHECK-LABEL: func.func @while(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8}>
func.func @while(%arg0: tensor<i32>, %arg1: tensor<4x8xf32>) {
  %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<4x8xf32>
  cond {
    %1 = stablehlo.compare LT, %iterArg, %iterArg : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %iterArg_0, %iterArg_0 : tensor<4x8xf32>
    stablehlo.return %iterArg, %1 : tensor<i32>, tensor<4x8xf32>
  }
  return
}
