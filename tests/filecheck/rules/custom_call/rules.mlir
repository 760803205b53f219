// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Custom calls whose targets are known, and those that are not.

// CHECK-LABEL: func.func @add_own_rule(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=8, k=8, l=8}>
func.func @add_own_rule(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.add %arg0, %arg0 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, k])->([i, l]) {i=4, j=8, k=8, l=8}>} : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_ApproxTopK(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, k], [i, k]) {i=4, j=8, k=3} need_replication={k} blocked_propagation={k}>
func.func @custom_call_ApproxTopK(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%arg0, %arg1, %arg2, %arg3) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return
}

// CHECK-LABEL: func.func @custom_call_Cholesky(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_Cholesky(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @Cholesky(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_CompactWyHelper(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_CompactWyHelper(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @CompactWyHelper(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_Eigh(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k], [i, k]) {i=2, j=5, k=5}>
func.func @custom_call_Eigh(%arg0: tensor<2x5x5xf32>) {
  %0:2 = stablehlo.custom_call @Eigh(%arg0) : (tensor<2x5x5xf32>) -> (tensor<2x5x5xf32>, tensor<2x5xf32>)
  return
}

// CHECK-LABEL: func.func @custom_call_InspectSharding(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_InspectSharding(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @InspectSharding(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_InvertDiagBlocksLowerTriangular(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_InvertDiagBlocksLowerTriangular(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @InvertDiagBlocksLowerTriangular(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_InvertDiagBlocksUpperTriangular(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_InvertDiagBlocksUpperTriangular(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @InvertDiagBlocksUpperTriangular(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_LayoutConstraint(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_LayoutConstraint(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @LayoutConstraint(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_MoveToDevice(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_MoveToDevice(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @MoveToDevice(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_MoveToHost(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_MoveToHost(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @MoveToHost(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_PartialReduce(
// CHECK: #sdy.op_sharding_rule<([i, k], [i, k], [], [])->([j, k], [j, k]) {i=4, j=2, k=8} need_replication={j} blocked_propagation={j}>
func.func @custom_call_PartialReduce(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<f32>, %arg3: tensor<f32>) {
  %0:2 = stablehlo.custom_call @PartialReduce(%arg0, %arg1, %arg2, %arg3) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<2x8xf32>, tensor<2x8xf32>)
  return
}

// CHECK-LABEL: func.func @custom_call_ProductOfElementaryHouseholderReflectors(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, l])->([i, j, k]) {i=2, j=6, k=4, l=4} need_replication={j, k, l}>
func.func @custom_call_ProductOfElementaryHouseholderReflectors(%arg0: tensor<2x6x4xf32>, %arg1: tensor<2x4xf32>) {
  %0 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%arg0, %arg1) : (tensor<2x6x4xf32>, tensor<2x4xf32>) -> tensor<2x6x4xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_Qr(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k], [i, l]) {i=2, j=6, k=4, l=4} need_replication={j, k, l}>
func.func @custom_call_Qr(%arg0: tensor<2x6x4xf32>) {
  %0:2 = stablehlo.custom_call @Qr(%arg0) : (tensor<2x6x4xf32>) -> (tensor<2x6x4xf32>, tensor<2x4xf32>)
  return
}

// CHECK-LABEL: func.func @custom_call_QrDecompositionBlock(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j], [k]) {i=6, j=4, k=4} need_replication={i, j, k}>
func.func @custom_call_QrDecompositionBlock(%arg0: tensor<6x4xf32>) {
  %0:2 = stablehlo.custom_call @QrDecompositionBlock(%arg0) : (tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>)
  return
}

// CHECK-LABEL: func.func @custom_call_X64Combine(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_X64Combine(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @X64Combine(%arg0, %arg1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_X64SplitHigh(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_X64SplitHigh(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @X64SplitHigh(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_X64SplitLow(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_X64SplitLow(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @X64SplitLow(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call__SPMDInternalOp_MultiPad(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call__SPMDInternalOp_MultiPad(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @_SPMDInternalOp_MultiPad(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call__SPMDInternalOp_MultiRotate(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=4, j=8}>
func.func @custom_call__SPMDInternalOp_MultiRotate(%arg0: tensor<4x8xf32>) {
  %0:2 = stablehlo.custom_call @_SPMDInternalOp_MultiRotate(%arg0) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return
}

// CHECK-LABEL: func.func @custom_call__SPMDInternalOp_MultiSlice(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call__SPMDInternalOp_MultiSlice(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @_SPMDInternalOp_MultiSlice(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call__SPMDInternalOp_RotateRight(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call__SPMDInternalOp_RotateRight(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @_SPMDInternalOp_RotateRight(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call__SPMDInternalOp_Wrap(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call__SPMDInternalOp_Wrap(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @_SPMDInternalOp_Wrap(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_annotate_device_placement(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_annotate_device_placement(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @annotate_device_placement(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_mhlo_erf(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_mhlo_erf(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @mhlo.erf(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_mhlo_topk(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j], [i, j]) {i=4, j=8} need_replication={j} blocked_propagation={j}>
func.func @custom_call_mhlo_topk(%arg0: tensor<4x8xf32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%arg0) : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return
}

// CHECK-LABEL: func.func @custom_call_sdy_testonly(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @custom_call_sdy_testonly(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @sdy_testonly(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_tpu_custom_call(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @custom_call_tpu_custom_call(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @tpu_custom_call(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_unknown(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @custom_call_unknown(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @unknown(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_xla_debug_Log(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @custom_call_xla_debug_Log(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @xla.debug.Log(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_xla_megascale_provide_metadata(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8}>
func.func @custom_call_xla_megascale_provide_metadata(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @xla.megascale.provide_metadata(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_xla_ffi_python_cpu_callback(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @custom_call_xla_ffi_python_cpu_callback(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_xla_ffi_python_gpu_callback(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @custom_call_xla_ffi_python_gpu_callback(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @xla_ffi_python_gpu_callback(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_xla_python_cpu_callback(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @custom_call_xla_python_cpu_callback(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @xla_python_cpu_callback(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_xla_python_gpu_callback(
// CHECK-NOT: #sdy.op_sharding_rule
func.func @custom_call_xla_python_gpu_callback(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @xla_python_gpu_callback(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @custom_call_X64Combine_rng(
// CHECK: #sdy.op_sharding_rule<([i], [i])->([i]) {i=2} need_replication={i} blocked_propagation={i}>
// CHECK: #sdy.op_sharding_rule<([i])->([i], [j, k]) {i=2, j=4, k=6} need_replication={i} blocked_propagation={i}>
func.func @custom_call_X64Combine_rng(%arg0: tensor<2xui32>, %arg1: tensor<2xui32>) {
  %0 = stablehlo.custom_call @X64Combine(%arg0, %arg1) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui64>
  %output_state, %output = stablehlo.rng_bit_generator %0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui32>)
  return
}

// CHECK-LABEL: func.func @custom_call_own_rule(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>
func.func @custom_call_own_rule(%arg0: tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @foo(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=8} need_replication={j}, custom>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
