// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every op of the family contraction, in both forms.

// CHECK-LABEL: @irfft(
// CHECK:      %{{.*}} = stablehlo.fft %{{.*}}, type = IRFFT, length = [6] : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
func.func @irfft(%0: tensor<4x4xcomplex<f32>>) {
  %1 = stablehlo.fft %0, type = IRFFT, length = [6] : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @rfft(
// CHECK:      %{{.*}} = stablehlo.fft %{{.*}}, type = RFFT, length = [6] : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
func.func @rfft(%0: tensor<4x6xf32>) {
  %1 = stablehlo.fft %0, type = RFFT, length = [6] : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
  func.return
}

// CHECK-LABEL: @cholesky(
// CHECK:      %{{.*}} = stablehlo.cholesky %{{.*}}, lower = true : tensor<3x3xf32>
func.func @cholesky(%0: tensor<3x3xf32>) {
  %1 = stablehlo.cholesky %0, lower = true : tensor<3x3xf32>
  func.return
}

// CHECK-LABEL: @dot(
// CHECK:      %{{.*}} = stablehlo.dot %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
func.func @dot(%0: tensor<4x6xf32>, %1: tensor<6x3xf32>) {
  %2 = stablehlo.dot %0, %1 : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  func.return
}

// CHECK-LABEL: @dot_general(
// CHECK:      %{{.*}} = stablehlo.dot_general %{{.*}}, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGH] : (tensor<2x4x6xf32>, tensor<2x6x3xf32>) -> tensor<2x4x3xf32>
func.func @dot_general(%0: tensor<2x4x6xf32>, %1: tensor<2x6x3xf32>) {
  %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGH] : (tensor<2x4x6xf32>, tensor<2x6x3xf32>) -> tensor<2x4x3xf32>
  func.return
}

// CHECK-LABEL: @einsum(
// CHECK:      %{{.*}} = stablehlo.einsum %{{.*}}, %{{.*}}, config = "ab,bc->ac" : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
func.func @einsum(%0: tensor<4x6xf32>, %1: tensor<6x3xf32>) {
  %2 = stablehlo.einsum %0, %1, config = "ab,bc->ac" : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  func.return
}

// CHECK-LABEL: @fft(
// CHECK:      %{{.*}} = stablehlo.fft %{{.*}}, type = FFT, length = [6] : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
func.func @fft(%0: tensor<4x6xcomplex<f32>>) {
  %1 = stablehlo.fft %0, type = FFT, length = [6] : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  func.return
}

// CHECK-LABEL: @triangular_solve(
// CHECK:      %{{.*}} = "stablehlo.triangular_solve"(%{{.*}}, %{{.*}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
func.func @triangular_solve(%0: tensor<3x3xf32>, %1: tensor<3x2xf32>) {
  %2 = "stablehlo.triangular_solve"(%0, %1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return
}

// CHECK-LABEL: @unary_einsum(
// CHECK:      %{{.*}} = stablehlo.unary_einsum %{{.*}}, config = "ab->a" : (tensor<4x6xf32>) -> tensor<4xf32>
func.func @unary_einsum(%0: tensor<4x6xf32>) {
  %1 = stablehlo.unary_einsum %0, config = "ab->a" : (tensor<4x6xf32>) -> tensor<4xf32>
  func.return
}
