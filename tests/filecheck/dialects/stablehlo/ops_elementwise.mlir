// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every op of the family elementwise, in both forms.

// CHECK-LABEL: @abs(
// CHECK:      %{{.*}} = stablehlo.abs %{{.*}} : tensor<4x6xf32>
func.func @abs(%0: tensor<4x6xf32>) {
  %1 = stablehlo.abs %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @add(
// CHECK:      %{{.*}} = stablehlo.add %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @add(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.add %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @and(
// CHECK:      %{{.*}} = stablehlo.and %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @and(%0: tensor<4xi32>, %1: tensor<4xi32>) {
  %2 = stablehlo.and %0, %1 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @atan2(
// CHECK:      %{{.*}} = stablehlo.atan2 %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @atan2(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.atan2 %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @cbrt(
// CHECK:      %{{.*}} = stablehlo.cbrt %{{.*}} : tensor<4x6xf32>
func.func @cbrt(%0: tensor<4x6xf32>) {
  %1 = stablehlo.cbrt %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @ceil(
// CHECK:      %{{.*}} = stablehlo.ceil %{{.*}} : tensor<4x6xf32>
func.func @ceil(%0: tensor<4x6xf32>) {
  %1 = stablehlo.ceil %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @clamp(
// CHECK:      %{{.*}} = stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @clamp(%0: tensor<f32>, %1: tensor<4xf32>, %2: tensor<4xf32>) {
  %3 = stablehlo.clamp %0, %1, %2 : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @compare(
// CHECK:      %{{.*}} = stablehlo.compare EQ, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
func.func @compare(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = stablehlo.compare EQ, %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @complex(
// CHECK:      %{{.*}} = stablehlo.complex %{{.*}}, %{{.*}} : tensor<4xcomplex<f32>>
func.func @complex(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = stablehlo.complex %0, %1 : tensor<4xcomplex<f32>>
  func.return
}

// CHECK-LABEL: @convert(
// CHECK:      %{{.*}} = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xi32>
func.func @convert(%0: tensor<4xf32>) {
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xi32>
  func.return
}

// CHECK-LABEL: @cosine(
// CHECK:      %{{.*}} = stablehlo.cosine %{{.*}} : tensor<4x6xf32>
func.func @cosine(%0: tensor<4x6xf32>) {
  %1 = stablehlo.cosine %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @count_leading_zeros(
// CHECK:      %{{.*}} = stablehlo.count_leading_zeros %{{.*}} : tensor<4xi32>
func.func @count_leading_zeros(%0: tensor<4xi32>) {
  %1 = stablehlo.count_leading_zeros %0 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @divide(
// CHECK:      %{{.*}} = stablehlo.divide %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @divide(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.divide %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @exponential(
// CHECK:      %{{.*}} = stablehlo.exponential %{{.*}} : tensor<4x6xf32>
func.func @exponential(%0: tensor<4x6xf32>) {
  %1 = stablehlo.exponential %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @exponential_minus_one(
// CHECK:      %{{.*}} = stablehlo.exponential_minus_one %{{.*}} : tensor<4x6xf32>
func.func @exponential_minus_one(%0: tensor<4x6xf32>) {
  %1 = stablehlo.exponential_minus_one %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @floor(
// CHECK:      %{{.*}} = stablehlo.floor %{{.*}} : tensor<4x6xf32>
func.func @floor(%0: tensor<4x6xf32>) {
  %1 = stablehlo.floor %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @imag(
// CHECK:      %{{.*}} = stablehlo.imag %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
func.func @imag(%0: tensor<4xcomplex<f32>>) {
  %1 = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @is_finite(
// CHECK:      %{{.*}} = stablehlo.is_finite %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
func.func @is_finite(%0: tensor<4xf32>) {
  %1 = stablehlo.is_finite %0 : (tensor<4xf32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @log(
// CHECK:      %{{.*}} = stablehlo.log %{{.*}} : tensor<4x6xf32>
func.func @log(%0: tensor<4x6xf32>) {
  %1 = stablehlo.log %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @log_plus_one(
// CHECK:      %{{.*}} = stablehlo.log_plus_one %{{.*}} : tensor<4x6xf32>
func.func @log_plus_one(%0: tensor<4x6xf32>) {
  %1 = stablehlo.log_plus_one %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @logistic(
// CHECK:      %{{.*}} = stablehlo.logistic %{{.*}} : tensor<4x6xf32>
func.func @logistic(%0: tensor<4x6xf32>) {
  %1 = stablehlo.logistic %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @maximum(
// CHECK:      %{{.*}} = stablehlo.maximum %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @maximum(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.maximum %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @minimum(
// CHECK:      %{{.*}} = stablehlo.minimum %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @minimum(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.minimum %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @multiply(
// CHECK:      %{{.*}} = stablehlo.multiply %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @multiply(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.multiply %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @negate(
// CHECK:      %{{.*}} = stablehlo.negate %{{.*}} : tensor<4x6xf32>
func.func @negate(%0: tensor<4x6xf32>) {
  %1 = stablehlo.negate %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @not(
// CHECK:      %{{.*}} = stablehlo.not %{{.*}} : tensor<4xi32>
func.func @not(%0: tensor<4xi32>) {
  %1 = stablehlo.not %0 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @or(
// CHECK:      %{{.*}} = stablehlo.or %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @or(%0: tensor<4xi32>, %1: tensor<4xi32>) {
  %2 = stablehlo.or %0, %1 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @popcnt(
// CHECK:      %{{.*}} = stablehlo.popcnt %{{.*}} : tensor<4xi32>
func.func @popcnt(%0: tensor<4xi32>) {
  %1 = stablehlo.popcnt %0 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @power(
// CHECK:      %{{.*}} = stablehlo.power %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @power(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.power %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @real(
// CHECK:      %{{.*}} = stablehlo.real %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
func.func @real(%0: tensor<4xcomplex<f32>>) {
  %1 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @reduce_precision(
// CHECK:      %{{.*}} = stablehlo.reduce_precision %{{.*}}, format = e5m2 : tensor<4xf32>
func.func @reduce_precision(%0: tensor<4xf32>) {
  %1 = stablehlo.reduce_precision %0, format = e5m2 : tensor<4xf32>
  func.return
}

// CHECK-LABEL: @remainder(
// CHECK:      %{{.*}} = stablehlo.remainder %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @remainder(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.remainder %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @round_nearest_afz(
// CHECK:      %{{.*}} = stablehlo.round_nearest_afz %{{.*}} : tensor<4x6xf32>
func.func @round_nearest_afz(%0: tensor<4x6xf32>) {
  %1 = stablehlo.round_nearest_afz %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @round_nearest_even(
// CHECK:      %{{.*}} = stablehlo.round_nearest_even %{{.*}} : tensor<4x6xf32>
func.func @round_nearest_even(%0: tensor<4x6xf32>) {
  %1 = stablehlo.round_nearest_even %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @rsqrt(
// CHECK:      %{{.*}} = stablehlo.rsqrt %{{.*}} : tensor<4x6xf32>
func.func @rsqrt(%0: tensor<4x6xf32>) {
  %1 = stablehlo.rsqrt %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @select(
// CHECK:      %{{.*}} = stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
func.func @select(%0: tensor<4xi1>, %1: tensor<4xf32>, %2: tensor<4xf32>) {
  %3 = stablehlo.select %0, %1, %2 : tensor<4xi1>, tensor<4xf32>
  func.return
}

// CHECK-LABEL: @shift_left(
// CHECK:      %{{.*}} = stablehlo.shift_left %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @shift_left(%0: tensor<4xi32>, %1: tensor<4xi32>) {
  %2 = stablehlo.shift_left %0, %1 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @shift_right_arithmetic(
// CHECK:      %{{.*}} = stablehlo.shift_right_arithmetic %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @shift_right_arithmetic(%0: tensor<4xi32>, %1: tensor<4xi32>) {
  %2 = stablehlo.shift_right_arithmetic %0, %1 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @shift_right_logical(
// CHECK:      %{{.*}} = stablehlo.shift_right_logical %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @shift_right_logical(%0: tensor<4xi32>, %1: tensor<4xi32>) {
  %2 = stablehlo.shift_right_logical %0, %1 : tensor<4xi32>
  func.return
}

// CHECK-LABEL: @sign(
// CHECK:      %{{.*}} = stablehlo.sign %{{.*}} : tensor<4x6xf32>
func.func @sign(%0: tensor<4x6xf32>) {
  %1 = stablehlo.sign %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @sine(
// CHECK:      %{{.*}} = stablehlo.sine %{{.*}} : tensor<4x6xf32>
func.func @sine(%0: tensor<4x6xf32>) {
  %1 = stablehlo.sine %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @sqrt(
// CHECK:      %{{.*}} = stablehlo.sqrt %{{.*}} : tensor<4x6xf32>
func.func @sqrt(%0: tensor<4x6xf32>) {
  %1 = stablehlo.sqrt %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @subtract(
// CHECK:      %{{.*}} = stablehlo.subtract %{{.*}}, %{{.*}} : tensor<4x6xf32>
func.func @subtract(%0: tensor<4x6xf32>, %1: tensor<4x6xf32>) {
  %2 = stablehlo.subtract %0, %1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @tan(
// CHECK:      %{{.*}} = stablehlo.tan %{{.*}} : tensor<4x6xf32>
func.func @tan(%0: tensor<4x6xf32>) {
  %1 = stablehlo.tan %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @tanh(
// CHECK:      %{{.*}} = stablehlo.tanh %{{.*}} : tensor<4x6xf32>
func.func @tanh(%0: tensor<4x6xf32>) {
  %1 = stablehlo.tanh %0 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @uniform_dequantize(
// CHECK:      %{{.*}} = stablehlo.uniform_dequantize %{{.*}} : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>
func.func @uniform_dequantize(%0: tensor<4x!quant.uniform<i8:f32, 0.5:3>>) {
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @uniform_quantize(
// CHECK:      %{{.*}} = stablehlo.uniform_quantize %{{.*}} : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
func.func @uniform_quantize(%0: tensor<4xf32>) {
  %1 = stablehlo.uniform_quantize %0 : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  func.return
}

// CHECK-LABEL: @xor(
// CHECK:      %{{.*}} = stablehlo.xor %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @xor(%0: tensor<4xi32>, %1: tensor<4xi32>) {
  %2 = stablehlo.xor %0, %1 : tensor<4xi32>
  func.return
}
