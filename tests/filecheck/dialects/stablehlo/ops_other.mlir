// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every op of the family other, in both forms.

// CHECK-LABEL: @batch_norm_grad(
// CHECK:      %{{.*}}, %{{.*}}, %{{.*}} = "stablehlo.batch_norm_grad"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
func.func @batch_norm_grad(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<6xf32>, %3: tensor<6xf32>, %4: tensor<4x6xf32>) {
  %5, %6, %7 = "stablehlo.batch_norm_grad"(%0, %1, %2, %3, %4) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  func.return
}

// CHECK-LABEL: @batch_norm_inference(
// CHECK:      %{{.*}} = "stablehlo.batch_norm_inference"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
func.func @batch_norm_inference(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<6xf32>, %3: tensor<6xf32>, %4: tensor<6xf32>) {
  %5 = "stablehlo.batch_norm_inference"(%0, %1, %2, %3, %4) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @batch_norm_training(
// CHECK:      %{{.*}}, %{{.*}}, %{{.*}} = "stablehlo.batch_norm_training"(%{{.*}}, %{{.*}}, %{{.*}}) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
func.func @batch_norm_training(%0: tensor<4x6xf32>, %1: tensor<6xf32>, %2: tensor<6xf32>) {
  %3, %4, %5 = "stablehlo.batch_norm_training"(%0, %1, %2) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
  func.return
}

// CHECK-LABEL: @create_token(
// CHECK:      %{{.*}} = stablehlo.create_token : !stablehlo.token
func.func @create_token() {
  %0 = stablehlo.create_token : !stablehlo.token
  func.return
}

// CHECK-LABEL: @custom_call(
// CHECK:      %{{.*}} = stablehlo.custom_call @f(%{{.*}}) {api_version = 4 : i32, backend_config = {a = 1 : i32}, has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
func.func @custom_call(%0: tensor<4x6xf32>) {
  %1 = stablehlo.custom_call @f(%0) {api_version = 4 : i32, backend_config = {a = 1 : i32}, has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @get_tuple_element(
// CHECK:      %{{.*}} = stablehlo.get_tuple_element %{{.*}}[1] : (tuple<tensor<4xf32>, tensor<4xi32>>) -> tensor<4xi32>
func.func @get_tuple_element(%0: tuple<tensor<4xf32>, tensor<4xi32>>) {
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<4xi32>>) -> tensor<4xi32>
  func.return
}

// CHECK-LABEL: @rng(
// CHECK:      %{{.*}} = stablehlo.rng %{{.*}}, %{{.*}}, %{{.*}}, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
func.func @rng(%0: tensor<f32>, %1: tensor<f32>) {
  %k = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  %2 = stablehlo.rng %0, %1, %k, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @rng_bit_generator(
// CHECK:      %{{.*}}, %{{.*}} = stablehlo.rng_bit_generator %{{.*}}, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
func.func @rng_bit_generator(%0: tensor<2xui64>) {
  %1, %2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  func.return
}

// CHECK-LABEL: @tuple(
// CHECK:      %{{.*}} = stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<4xf32>, tensor<4xi32>>
func.func @tuple(%0: tensor<4xf32>, %1: tensor<4xi32>) {
  %2 = stablehlo.tuple %0, %1 : tuple<tensor<4xf32>, tensor<4xi32>>
  func.return
}
