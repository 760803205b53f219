// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every CHLO op, in both forms.

// CHECK-LABEL: @_asin_acos_kernel(
// CHECK:      %{{.*}} = chlo._asin_acos_kernel %{{.*}} : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
func.func @_asin_acos_kernel(%0: tensor<4xcomplex<f32>>) {
  %1 = chlo._asin_acos_kernel %0 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  func.return
}

// CHECK-LABEL: @acos(
// CHECK:      %{{.*}} = chlo.acos %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @acos(%0: tensor<4x6xf32>) {
  %1 = chlo.acos %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @acosh(
// CHECK:      %{{.*}} = chlo.acosh %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @acosh(%0: tensor<4x6xf32>) {
  %1 = chlo.acosh %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @asin(
// CHECK:      %{{.*}} = chlo.asin %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @asin(%0: tensor<4x6xf32>) {
  %1 = chlo.asin %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @asinh(
// CHECK:      %{{.*}} = chlo.asinh %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @asinh(%0: tensor<4x6xf32>) {
  %1 = chlo.asinh %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @atan(
// CHECK:      %{{.*}} = chlo.atan %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @atan(%0: tensor<4x6xf32>) {
  %1 = chlo.atan %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @atanh(
// CHECK:      %{{.*}} = chlo.atanh %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @atanh(%0: tensor<4x6xf32>) {
  %1 = chlo.atanh %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @bessel_i1e(
// CHECK:      %{{.*}} = chlo.bessel_i1e %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @bessel_i1e(%0: tensor<4x6xf32>) {
  %1 = chlo.bessel_i1e %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_add(
// CHECK:      %{{.*}} = chlo.broadcast_add %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_add(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_add %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_and(
// CHECK:      %{{.*}} = chlo.broadcast_and %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
func.func @broadcast_and(%0: tensor<4xi32>, %1: tensor<4x6xi32>) {
  %2 = chlo.broadcast_and %0, %1 {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  func.return
}

// CHECK-LABEL: @broadcast_atan2(
// CHECK:      %{{.*}} = chlo.broadcast_atan2 %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_atan2(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_atan2 %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_compare(
// CHECK:      %{{.*}} = chlo.broadcast_compare %{{.*}}, %{{.*}} {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
func.func @broadcast_compare(%0: tensor<4xf32>, %1: tensor<f32>) {
  %2 = chlo.broadcast_compare %0, %1 {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @broadcast_complex(
// CHECK:      %{{.*}} = chlo.broadcast_complex %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<f32>) -> tensor<4xcomplex<f32>>
func.func @broadcast_complex(%0: tensor<4xf32>, %1: tensor<f32>) {
  %2 = chlo.broadcast_complex %0, %1 : (tensor<4xf32>, tensor<f32>) -> tensor<4xcomplex<f32>>
  func.return
}

// CHECK-LABEL: @broadcast_divide(
// CHECK:      %{{.*}} = chlo.broadcast_divide %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_divide(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_divide %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_maximum(
// CHECK:      %{{.*}} = chlo.broadcast_maximum %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_maximum(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_maximum %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_minimum(
// CHECK:      %{{.*}} = chlo.broadcast_minimum %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_minimum(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_minimum %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_multiply(
// CHECK:      %{{.*}} = chlo.broadcast_multiply %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_multiply(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_multiply %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_next_after(
// CHECK:      %{{.*}} = chlo.broadcast_next_after %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_next_after(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_next_after %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_or(
// CHECK:      %{{.*}} = chlo.broadcast_or %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
func.func @broadcast_or(%0: tensor<4xi32>, %1: tensor<4x6xi32>) {
  %2 = chlo.broadcast_or %0, %1 {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  func.return
}

// CHECK-LABEL: @broadcast_polygamma(
// CHECK:      %{{.*}} = chlo.broadcast_polygamma %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_polygamma(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_polygamma %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_power(
// CHECK:      %{{.*}} = chlo.broadcast_power %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_power(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_power %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_remainder(
// CHECK:      %{{.*}} = chlo.broadcast_remainder %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_remainder(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_remainder %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_select(
// CHECK:      %{{.*}} = chlo.broadcast_select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
func.func @broadcast_select(%0: tensor<i1>, %1: tensor<4xf32>, %2: tensor<f32>) {
  %3 = chlo.broadcast_select %0, %1, %2 : (tensor<i1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @broadcast_shift_left(
// CHECK:      %{{.*}} = chlo.broadcast_shift_left %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
func.func @broadcast_shift_left(%0: tensor<4xi32>, %1: tensor<4x6xi32>) {
  %2 = chlo.broadcast_shift_left %0, %1 {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  func.return
}

// CHECK-LABEL: @broadcast_shift_right_arithmetic(
// CHECK:      %{{.*}} = chlo.broadcast_shift_right_arithmetic %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
func.func @broadcast_shift_right_arithmetic(%0: tensor<4xi32>, %1: tensor<4x6xi32>) {
  %2 = chlo.broadcast_shift_right_arithmetic %0, %1 {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  func.return
}

// CHECK-LABEL: @broadcast_shift_right_logical(
// CHECK:      %{{.*}} = chlo.broadcast_shift_right_logical %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
func.func @broadcast_shift_right_logical(%0: tensor<4xi32>, %1: tensor<4x6xi32>) {
  %2 = chlo.broadcast_shift_right_logical %0, %1 {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  func.return
}

// CHECK-LABEL: @broadcast_subtract(
// CHECK:      %{{.*}} = chlo.broadcast_subtract %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_subtract(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_subtract %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @broadcast_xor(
// CHECK:      %{{.*}} = chlo.broadcast_xor %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
func.func @broadcast_xor(%0: tensor<4xi32>, %1: tensor<4x6xi32>) {
  %2 = chlo.broadcast_xor %0, %1 {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>, tensor<4x6xi32>) -> tensor<4x6xi32>
  func.return
}

// CHECK-LABEL: @broadcast_zeta(
// CHECK:      %{{.*}} = chlo.broadcast_zeta %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @broadcast_zeta(%0: tensor<4x6xf32>, %1: tensor<6xf32>) {
  %2 = chlo.broadcast_zeta %0, %1 : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @conj(
// CHECK:      %{{.*}} = chlo.conj %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @conj(%0: tensor<4x6xf32>) {
  %1 = chlo.conj %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @constant(
// CHECK:      %{{.*}} = chlo.constant dense<1.000000e+00> : tensor<4xf32>
func.func @constant() {
  %0 = chlo.constant dense<1.000000e+00> : tensor<4xf32>
  func.return
}

// CHECK-LABEL: @constant_like(
// CHECK:      %{{.*}} = "chlo.constant_like"(%{{.*}}) <{value = 3 : i32}> : (tensor<4xf32>) -> tensor<4xi32>
func.func @constant_like(%0: tensor<4xf32>) {
  %1 = "chlo.constant_like"(%0) <{value = 3 : i32}> : (tensor<4xf32>) -> tensor<4xi32>
  func.return
}

// CHECK-LABEL: @cosh(
// CHECK:      %{{.*}} = chlo.cosh %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @cosh(%0: tensor<4x6xf32>) {
  %1 = chlo.cosh %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @digamma(
// CHECK:      %{{.*}} = chlo.digamma %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @digamma(%0: tensor<4x6xf32>) {
  %1 = chlo.digamma %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @erf(
// CHECK:      %{{.*}} = chlo.erf %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @erf(%0: tensor<4x6xf32>) {
  %1 = chlo.erf %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @erf_inv(
// CHECK:      %{{.*}} = chlo.erf_inv %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @erf_inv(%0: tensor<4x6xf32>) {
  %1 = chlo.erf_inv %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @erfc(
// CHECK:      %{{.*}} = chlo.erfc %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @erfc(%0: tensor<4x6xf32>) {
  %1 = chlo.erfc %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @is_inf(
// CHECK:      %{{.*}} = chlo.is_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
func.func @is_inf(%0: tensor<4xf32>) {
  %1 = chlo.is_inf %0 : tensor<4xf32> -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @is_neg_inf(
// CHECK:      %{{.*}} = chlo.is_neg_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
func.func @is_neg_inf(%0: tensor<4xf32>) {
  %1 = chlo.is_neg_inf %0 : tensor<4xf32> -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @is_pos_inf(
// CHECK:      %{{.*}} = chlo.is_pos_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
func.func @is_pos_inf(%0: tensor<4xf32>) {
  %1 = chlo.is_pos_inf %0 : tensor<4xf32> -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: @lgamma(
// CHECK:      %{{.*}} = chlo.lgamma %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @lgamma(%0: tensor<4x6xf32>) {
  %1 = chlo.lgamma %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @mulhi(
// CHECK:      %{{.*}} = chlo.mulhi %{{.*}}, %{{.*}} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
func.func @mulhi(%0: tensor<4xi32>, %1: tensor<4xi32>) {
  %2 = chlo.mulhi %0, %1 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  func.return
}

// CHECK-LABEL: @next_after(
// CHECK:      %{{.*}} = chlo.next_after %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
func.func @next_after(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = chlo.next_after %0, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @polygamma(
// CHECK:      %{{.*}} = chlo.polygamma %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
func.func @polygamma(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = chlo.polygamma %0, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @ragged_dot(
// CHECK:      %{{.*}} = "chlo.ragged_dot"(%{{.*}}, %{{.*}}, %{{.*}}) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
func.func @ragged_dot(%0: tensor<8x4xf32>, %1: tensor<3x4x5xf32>, %2: tensor<3xi32>) {
  %3 = "chlo.ragged_dot"(%0, %1, %2) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<8x5xf32>
  func.return
}

// CHECK-LABEL: @scan(
// CHECK:      %{{.*}}, %{{.*}} = chlo.scan(%{{.*}}) inits (%{{.*}}) dimension=1  attributes {is_reverse = true} {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
// CHECK-NEXT: %{{.*}} = stablehlo.add %{{.*}}, %{{.*}} : tensor<4xf32>
// CHECK-NEXT: stablehlo.return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: } : (tensor<4x6xf32>, tensor<4xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
func.func @scan(%0: tensor<4x6xf32>, %1: tensor<4xf32>) {
  %2, %3 = chlo.scan(%0) inits (%1) dimension=1  attributes {is_reverse = true} {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %c = stablehlo.add %a, %b : tensor<4xf32>
    stablehlo.return %c, %c : tensor<4xf32>, tensor<4xf32>
  } : (tensor<4x6xf32>, tensor<4xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
  func.return
}

// CHECK-LABEL: @sinh(
// CHECK:      %{{.*}} = chlo.sinh %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @sinh(%0: tensor<4x6xf32>) {
  %1 = chlo.sinh %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @square(
// CHECK:      %{{.*}} = chlo.square %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @square(%0: tensor<4x6xf32>) {
  %1 = chlo.square %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @tan(
// CHECK:      %{{.*}} = chlo.tan %{{.*}} : tensor<4x6xf32> -> tensor<4x6xf32>
func.func @tan(%0: tensor<4x6xf32>) {
  %1 = chlo.tan %0 : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @top_k(
// CHECK:      %{{.*}}, %{{.*}} = chlo.top_k(%{{.*}}, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
func.func @top_k(%0: tensor<4x6xf32>) {
  %1, %2 = chlo.top_k(%0, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  func.return
}

// CHECK-LABEL: @zeta(
// CHECK:      %{{.*}} = chlo.zeta %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
func.func @zeta(%0: tensor<4xf32>, %1: tensor<4xf32>) {
  %2 = chlo.zeta %0, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return
}
