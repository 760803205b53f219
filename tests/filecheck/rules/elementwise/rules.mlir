// RUN: xdsl-opt %s -p sdy-populate-op-sharding-rules | filecheck %s

// Elementwise ops.

// CHECK-LABEL: func.func @abs(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @abs(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.abs %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @add(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @add(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @and(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @and(%arg0: tensor<4x8x3xi32>, %arg1: tensor<4x8x3xi32>) {
  %0 = stablehlo.and %arg0, %arg1 : tensor<4x8x3xi32>
  return
}

// CHECK-LABEL: func.func @atan2(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @atan2(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.atan2 %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @cbrt(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @cbrt(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.cbrt %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @ceil(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @ceil(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.ceil %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @clamp(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @clamp(%arg0: tensor<4x8x3xf32>, %arg1: tensor<4x8x3xf32>, %arg2: tensor<4x8x3xf32>) {
  %0 = stablehlo.clamp %arg0, %arg1, %arg2 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @clamp_4_8_3_tensor_f32(
// CHECK: #sdy.op_sharding_rule<([], [i, j, k], [])->([i, j, k]) {i=4, j=8, k=3}>
func.func @clamp_4_8_3_tensor_f32(%arg0: tensor<f32>, %arg1: tensor<4x8x3xf32>, %arg2: tensor<f32>) {
  %0 = stablehlo.clamp %arg0, %arg1, %arg2 : (tensor<f32>, tensor<4x8x3xf32>, tensor<f32>) -> tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @compare(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @compare(%arg0: tensor<4x8x3xf32>, %arg1: tensor<4x8x3xf32>) {
  %0 = stablehlo.compare LT, %arg0, %arg1 : (tensor<4x8x3xf32>, tensor<4x8x3xf32>) -> tensor<4x8x3xi1>
  return
}

// CHECK-LABEL: func.func @complex(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @complex(%arg0: tensor<4x8x3xf32>, %arg1: tensor<4x8x3xf32>) {
  %0 = stablehlo.complex %arg0, %arg1 : tensor<4x8x3xcomplex<f32>>
  return
}

// CHECK-LABEL: func.func @convert(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @convert(%arg0: tensor<4x8x3xi32>) {
  %0 = stablehlo.convert %arg0 : (tensor<4x8x3xi32>) -> tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @cosine(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @cosine(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.cosine %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @count_leading_zeros(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @count_leading_zeros(%arg0: tensor<4x8x3xi32>) {
  %0 = stablehlo.count_leading_zeros %arg0 : tensor<4x8x3xi32>
  return
}

// CHECK-LABEL: func.func @divide(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @divide(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.divide %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @exponential(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @exponential(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.exponential %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @exponential_minus_one(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @exponential_minus_one(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.exponential_minus_one %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @floor(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @floor(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.floor %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @imag(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @imag(%arg0: tensor<4x8x3xcomplex<f32>>) {
  %0 = stablehlo.imag %arg0 : (tensor<4x8x3xcomplex<f32>>) -> tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @is_finite(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @is_finite(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.is_finite %arg0 : (tensor<4x8x3xf32>) -> tensor<4x8x3xi1>
  return
}

// CHECK-LABEL: func.func @log(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @log(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.log %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @log_plus_one(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @log_plus_one(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.log_plus_one %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @logistic(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @logistic(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.logistic %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @maximum(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @maximum(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.maximum %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @minimum(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @minimum(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.minimum %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @multiply(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @multiply(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.multiply %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @negate(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @negate(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @not(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @not(%arg0: tensor<4x8x3xi32>) {
  %0 = stablehlo.not %arg0 : tensor<4x8x3xi32>
  return
}

// CHECK-LABEL: func.func @or(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @or(%arg0: tensor<4x8x3xi32>, %arg1: tensor<4x8x3xi32>) {
  %0 = stablehlo.or %arg0, %arg1 : tensor<4x8x3xi32>
  return
}

// CHECK-LABEL: func.func @popcnt(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @popcnt(%arg0: tensor<4x8x3xi32>) {
  %0 = stablehlo.popcnt %arg0 : tensor<4x8x3xi32>
  return
}

// CHECK-LABEL: func.func @power(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @power(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.power %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @real(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @real(%arg0: tensor<4x8x3xcomplex<f32>>) {
  %0 = stablehlo.real %arg0 : (tensor<4x8x3xcomplex<f32>>) -> tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @reduce_precision(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @reduce_precision(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @remainder(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @remainder(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.remainder %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @round_nearest_afz(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @round_nearest_afz(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.round_nearest_afz %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @round_nearest_even(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @round_nearest_even(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.round_nearest_even %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @rsqrt(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.rsqrt %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @select(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @select(%arg0: tensor<4x8x3xi1>, %arg1: tensor<4x8x3xf32>, %arg2: tensor<4x8x3xf32>) {
  %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<4x8x3xi1>, tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @select_4_8_3_tensor_i1(
// CHECK: #sdy.op_sharding_rule<([], [i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @select_4_8_3_tensor_i1(%arg0: tensor<i1>, %arg1: tensor<4x8x3xf32>, %arg2: tensor<4x8x3xf32>) {
  %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @shift_left(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @shift_left(%arg0: tensor<4x8x3xi32>, %arg1: tensor<4x8x3xi32>) {
  %0 = stablehlo.shift_left %arg0, %arg1 : tensor<4x8x3xi32>
  return
}

// CHECK-LABEL: func.func @shift_right_arithmetic(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @shift_right_arithmetic(%arg0: tensor<4x8x3xi32>, %arg1: tensor<4x8x3xi32>) {
  %0 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<4x8x3xi32>
  return
}

// CHECK-LABEL: func.func @shift_right_logical(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @shift_right_logical(%arg0: tensor<4x8x3xi32>, %arg1: tensor<4x8x3xi32>) {
  %0 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<4x8x3xi32>
  return
}

// CHECK-LABEL: func.func @sign(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @sign(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.sign %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @sine(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @sine(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.sine %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @sqrt(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @sqrt(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.sqrt %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @subtract(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @subtract(%arg0: tensor<4x8x3xbf16>, %arg1: tensor<4x8x3xbf16>) {
  %0 = stablehlo.subtract %arg0, %arg1 : tensor<4x8x3xbf16>
  return
}

// CHECK-LABEL: func.func @tan(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @tan(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.tan %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @tanh(
// CHECK: #sdy.op_sharding_rule<([i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @tanh(%arg0: tensor<4x8x3xf32>) {
  %0 = stablehlo.tanh %arg0 : tensor<4x8x3xf32>
  return
}

// CHECK-LABEL: func.func @xor(
// CHECK: #sdy.op_sharding_rule<([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=3}>
func.func @xor(%arg0: tensor<4x8x3xi32>, %arg1: tensor<4x8x3xi32>) {
  %0 = stablehlo.xor %arg0, %arg1 : tensor<4x8x3xi32>
  return
}
