// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Sliding windows and Fourier transforms.

// CHECK-LABEL: func.func @convolution_2_8_8_3_3_3_3_16_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j, k, l], [n, o, l, m])->([i, j, k, m]) {i=2, j=6, k=6, l=3, m=16, n=1, o=1} reduction={l} permutation={j, k}>
func.func @convolution_2_8_8_3_3_3_3_16_1_1(%arg0: tensor<2x8x8x3xf32>, %arg1: tensor<3x3x3x16xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x6x6x16xf32>
  return
}

// CHECK-LABEL: func.func @convolution_2_3_8_8_16_3_3_3_1_1(
// CHECK: #sdy.op_sharding_rule<([i, l, j, k], [m, l, n, o])->([i, m, j, k]) {i=2, j=6, k=6, l=3, m=16, n=1, o=1} reduction={l} permutation={j, k}>
func.func @convolution_2_3_8_8_16_3_3_3_1_1(%arg0: tensor<2x3x8x8xf32>, %arg1: tensor<16x3x3x3xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<2x16x6x6xf32>
  return
}

// CHECK-LABEL: func.func @convolution_2_8_8_3_1_1_3_16_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j, k, l], [n, o, l, m])->([i, j, k, m]) {i=2, j=8, k=8, l=3, m=16, n=1, o=1} reduction={l} permutation={j, k}>
func.func @convolution_2_8_8_3_1_1_3_16_1_1(%arg0: tensor<2x8x8x3xf32>, %arg1: tensor<1x1x3x16xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<1x1x3x16xf32>) -> tensor<2x8x8x16xf32>
  return
}

// CHECK-LABEL: func.func @convolution_2_8_8_3_8_7_3_16_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j, k, l], [j, k, l, m])->([i, n, o, m]) {i=2, j=8, k=7, l=3, m=16, n=1, o=1} reduction={j, k, l}>
func.func @convolution_2_8_8_3_8_7_3_16_1_1(%arg0: tensor<2x8x8x3xf32>, %arg1: tensor<8x7x3x16xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<8x7x3x16xf32>) -> tensor<2x1x2x16xf32>
  return
}

// CHECK-LABEL: func.func @convolution_2_9_4_4_4_6_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [m, k, l])->([i, j, l]) {i=2, j=6, k=4, l=6, m=1} reduction={k} permutation={j}>
func.func @convolution_2_9_4_4_4_6_1_1(%arg0: tensor<2x9x4xf32>, %arg1: tensor<4x4x6xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x4xf32>, tensor<4x4x6xf32>) -> tensor<2x6x6xf32>
  return
}

// CHECK-LABEL: func.func @convolution_4_8_6_3_6_8_2_1(
// CHECK: #sdy.op_sharding_rule<([ij, k, l], [n, l, im])->([j, k, im]) {i=2, j=2, k=6, l=6, m=4, n=1} reduction={l} permutation={k}>
func.func @convolution_4_8_6_3_6_8_2_1(%arg0: tensor<4x8x6xf32>, %arg1: tensor<3x6x8xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x8x6xf32>, tensor<3x6x8xf32>) -> tensor<2x6x8xf32>
  return
}

// CHECK-LABEL: func.func @convolution_4_8_6_3_6_4_4_1(
// CHECK: #sdy.op_sharding_rule<([i, k, l], [m, l, i])->([j, k, i]) {i=4, j=1, k=6, l=6, m=1} reduction={l} permutation={k}>
func.func @convolution_4_8_6_3_6_4_4_1(%arg0: tensor<4x8x6xf32>, %arg1: tensor<3x6x4xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<4x8x6xf32>, tensor<3x6x4xf32>) -> tensor<1x6x4xf32>
  return
}

// CHECK-LABEL: func.func @convolution_2_8_6_3_2_12_1_3(
// CHECK: #sdy.op_sharding_rule<([i, j, kl], [n, l, km])->([i, j, km]) {i=2, j=6, k=3, l=2, m=4, n=1} reduction={l} permutation={j}>
func.func @convolution_2_8_6_3_2_12_1_3(%arg0: tensor<2x8x6xf32>, %arg1: tensor<3x2x12xf32>) {
  %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<2x8x6xf32>, tensor<3x2x12xf32>) -> tensor<2x6x12xf32>
  return
}

// CHECK-LABEL: func.func @fft_FFT_2_8_8(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=8} need_replication={j}>
func.func @fft_FFT_2_8_8(%arg0: tensor<2x8xcomplex<f32>>) {
  %0 = stablehlo.fft %arg0, type = FFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @fft_IFFT_3_4_8_4_8(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=3, j=4, k=8} need_replication={j, k}>
func.func @fft_IFFT_3_4_8_4_8(%arg0: tensor<3x4x8xcomplex<f32>>) {
  %0 = stablehlo.fft %arg0, type = IFFT, length = [4, 8] : (tensor<3x4x8xcomplex<f32>>) -> tensor<3x4x8xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @fft_RFFT_2_8_8(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=8} need_replication={j} blocked_propagation={j}>
func.func @fft_RFFT_2_8_8(%arg0: tensor<2x8xf32>) {
  %0 = stablehlo.fft %arg0, type = RFFT, length = [8] : (tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @fft_IRFFT_2_4_5_4_8(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=2, j=4, k=5} need_replication={j, k} blocked_propagation={k}>
func.func @fft_IRFFT_2_4_5_4_8(%arg0: tensor<2x4x5xcomplex<f32>>) {
  %0 = stablehlo.fft %arg0, type = IRFFT, length = [4, 8] : (tensor<2x4x5xcomplex<f32>>) -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func.func @fft_RFFT_2_1_1(
// CHECK: #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=1} need_replication={j}>
func.func @fft_RFFT_2_1_1(%arg0: tensor<2x1xf32>) {
  %0 = stablehlo.fft %arg0, type = RFFT, length = [1] : (tensor<2x1xf32>) -> tensor<2x1xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @reduce_window_2_8_1_2_None_None_f32(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=2, j=7} permutation={j}>
func.func @reduce_window_2_8_1_2_None_None_f32(%arg0: tensor<2x8xf32>, %arg1: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x7xf32>
  return
}

// CHECK-LABEL: func.func @reduce_window_2_8_1_2_None_None_f32_i32(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, j], [i, j]) {i=2, j=7} permutation={j}>
func.func @reduce_window_2_8_1_2_None_None_f32_i32(%arg0: tensor<2x8xf32>, %arg1: tensor<2x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
  %0:2 = "stablehlo.reduce_window"(%arg0, %arg1, %arg2, %arg3) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<f32>, %arg7: tensor<i32>):
    %1 = stablehlo.add %arg4, %arg6 : tensor<f32>
    %2 = stablehlo.add %arg5, %arg7 : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }) : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x7xf32>, tensor<2x7xi32>)
  return
}

// CHECK-LABEL: func.func @reduce_window_2_8_1_2_1_2_None_f32(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=2, j=4} permutation={j}>
func.func @reduce_window_2_8_1_2_1_2_None_f32(%arg0: tensor<2x8xf32>, %arg1: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @reduce_window_2_8_1_2_1_2_None_f32_i32(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, j], [i, j]) {i=2, j=4} permutation={j}>
func.func @reduce_window_2_8_1_2_1_2_None_f32_i32(%arg0: tensor<2x8xf32>, %arg1: tensor<2x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
  %0:2 = "stablehlo.reduce_window"(%arg0, %arg1, %arg2, %arg3) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<f32>, %arg7: tensor<i32>):
    %1 = stablehlo.add %arg4, %arg6 : tensor<f32>
    %2 = stablehlo.add %arg5, %arg7 : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }) : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return
}

// CHECK-LABEL: func.func @reduce_window_2_8_1_1_1_1_None_f32(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=2, j=8}>
func.func @reduce_window_2_8_1_1_1_1_None_f32(%arg0: tensor<2x8xf32>, %arg1: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @reduce_window_2_8_1_1_1_1_None_f32_i32(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, j], [i, j]) {i=2, j=8}>
func.func @reduce_window_2_8_1_1_1_1_None_f32_i32(%arg0: tensor<2x8xf32>, %arg1: tensor<2x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
  %0:2 = "stablehlo.reduce_window"(%arg0, %arg1, %arg2, %arg3) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<f32>, %arg7: tensor<i32>):
    %1 = stablehlo.add %arg4, %arg6 : tensor<f32>
    %2 = stablehlo.add %arg5, %arg7 : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }) : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x8xf32>, tensor<2x8xi32>)
  return
}

// CHECK-LABEL: func.func @reduce_window_2_8_1_3_None_0_0_1_1_f32(
// CHECK: #sdy.op_sharding_rule<([i, j], [])->([i, j]) {i=2, j=8} permutation={j}>
func.func @reduce_window_2_8_1_3_None_0_0_1_1_f32(%arg0: tensor<2x8xf32>, %arg1: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%arg0, %arg1) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @reduce_window_2_8_1_3_None_0_0_1_1_f32_i32(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [], [])->([i, j], [i, j]) {i=2, j=8} permutation={j}>
func.func @reduce_window_2_8_1_3_None_0_0_1_1_f32_i32(%arg0: tensor<2x8xf32>, %arg1: tensor<2x8xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
  %0:2 = "stablehlo.reduce_window"(%arg0, %arg1, %arg2, %arg3) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>}> ({
  ^bb0(%arg4: tensor<f32>, %arg5: tensor<i32>, %arg6: tensor<f32>, %arg7: tensor<i32>):
    %1 = stablehlo.add %arg4, %arg6 : tensor<f32>
    %2 = stablehlo.add %arg5, %arg7 : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }) : (tensor<2x8xf32>, tensor<2x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x8xf32>, tensor<2x8xi32>)
  return
}

// CHECK-LABEL: func.func @select_and_scatter_2_8_1_2_1_2_None(
// CHECK: #sdy.op_sharding_rule<([i, k], [i, j], [])->([i, k]) {i=2, j=4, k=8} need_replication={j} permutation={k}>
func.func @select_and_scatter_2_8_1_2_1_2_None(%arg0: tensor<2x8xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @select_and_scatter_2_8_1_1_1_1_None(
// CHECK: #sdy.op_sharding_rule<([i, j], [i, j], [])->([i, j]) {i=2, j=8}>
func.func @select_and_scatter_2_8_1_1_1_1_None(%arg0: tensor<2x8xf32>, %arg1: tensor<2x8xf32>, %arg2: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return
}

// CHECK-LABEL: func.func @select_and_scatter_2_8_1_3_1_3_0_0_0_1(
// CHECK: #sdy.op_sharding_rule<([i, k], [i, j], [])->([i, k]) {i=2, j=3, k=8} need_replication={j} permutation={k}>
func.func @select_and_scatter_2_8_1_3_1_3_0_0_0_1(%arg0: tensor<2x8xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{padding = dense<[[0, 0], [0, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 3>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.compare GE, %arg3, %arg4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %1 = stablehlo.add %arg3, %arg4 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x8xf32>
  return
}
