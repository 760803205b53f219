// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every op of the family data_movement, in both forms.

// CHECK-LABEL: @bitcast_convert(
// CHECK:      %{{.*}} = stablehlo.bitcast_convert %{{.*}} : (tensor<4xf32>) -> tensor<4x4xui8>
func.func @bitcast_convert(%0: tensor<4xf32>) {
  %1 = stablehlo.bitcast_convert %0 : (tensor<4xf32>) -> tensor<4x4xui8>
  func.return
}

// CHECK-LABEL: @broadcast(
// CHECK:      %{{.*}} = stablehlo.broadcast %{{.*}}, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
func.func @broadcast(%0: tensor<4xf32>) {
  %1 = stablehlo.broadcast %0, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
  func.return
}

// CHECK-LABEL: @broadcast_in_dim(
// CHECK:      %{{.*}} = stablehlo.broadcast_in_dim %{{.*}}, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
func.func @broadcast_in_dim(%0: tensor<4xf32>) {
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @concatenate(
// CHECK:      %{{.*}} = stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 1 : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
func.func @concatenate(%0: tensor<4x6xf32>, %1: tensor<4x2xf32>) {
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  func.return
}

// CHECK-LABEL: @constant(
// CHECK:      %{{.*}} = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
func.func @constant() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  func.return
}

// CHECK-LABEL: @dynamic_broadcast_in_dim(
// CHECK:      %{{.*}} = stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = [0] {known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x6xf32>
func.func @dynamic_broadcast_in_dim(%0: tensor<4xf32>) {
  %k = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  %1 = stablehlo.dynamic_broadcast_in_dim %0, %k, dims = [0] {known_nonexpanding_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @dynamic_iota(
// CHECK:      %{{.*}} = stablehlo.dynamic_iota %{{.*}}, dim = 1 : (tensor<2xi64>) -> tensor<4x6xf32>
func.func @dynamic_iota() {
  %k = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  %0 = stablehlo.dynamic_iota %k, dim = 1 : (tensor<2xi64>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @dynamic_pad(
// CHECK:      %{{.*}} = stablehlo.dynamic_pad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9xf32>
func.func @dynamic_pad(%0: tensor<4xf32>, %1: tensor<f32>) {
  %l = stablehlo.constant dense<1> : tensor<1xi64>
  %h = stablehlo.constant dense<1> : tensor<1xi64>
  %i = stablehlo.constant dense<1> : tensor<1xi64>
  %2 = stablehlo.dynamic_pad %0, %1, %l, %h, %i : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9xf32>
  func.return
}

// CHECK-LABEL: @dynamic_reshape(
// CHECK:      %{{.*}} = stablehlo.dynamic_reshape %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<1xi64>) -> tensor<24xf32>
func.func @dynamic_reshape(%0: tensor<4x6xf32>) {
  %k = stablehlo.constant dense<24> : tensor<1xi64>
  %1 = stablehlo.dynamic_reshape %0, %k : (tensor<4x6xf32>, tensor<1xi64>) -> tensor<24xf32>
  func.return
}

// CHECK-LABEL: @dynamic_slice(
// CHECK:      %{{.*}} = stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
func.func @dynamic_slice(%0: tensor<4x6xf32>, %1: tensor<i32>, %2: tensor<i32>) {
  %3 = stablehlo.dynamic_slice %0, %1, %2, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @dynamic_update_slice(
// CHECK:      %{{.*}} = stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
func.func @dynamic_update_slice(%0: tensor<4x6xf32>, %1: tensor<2x3xf32>, %2: tensor<i32>, %3: tensor<i32>) {
  %4 = stablehlo.dynamic_update_slice %0, %1, %2, %3 : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @get_dimension_size(
// CHECK:      %{{.*}} = stablehlo.get_dimension_size %{{.*}}, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
func.func @get_dimension_size(%0: tensor<4x6xf32>) {
  %1 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
  func.return
}

// CHECK-LABEL: @iota(
// CHECK:      %{{.*}} = stablehlo.iota dim = 1 : tensor<4x6xf32>
func.func @iota() {
  %0 = stablehlo.iota dim = 1 : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @pad(
// CHECK:      %{{.*}} = stablehlo.pad %{{.*}}, %{{.*}}, low = [1, 2], high = [1, 2], interior = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6x15xf32>
func.func @pad(%0: tensor<4x6xf32>, %1: tensor<f32>) {
  %2 = stablehlo.pad %0, %1, low = [1, 2], high = [1, 2], interior = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6x15xf32>
  func.return
}

// CHECK-LABEL: @real_dynamic_slice(
// CHECK:      %{{.*}} = stablehlo.real_dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
func.func @real_dynamic_slice(%0: tensor<4x6xf32>, %1: tensor<2xi64>, %2: tensor<2xi64>, %3: tensor<2xi64>) {
  %4 = stablehlo.real_dynamic_slice %0, %1, %2, %3 : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return
}

// CHECK-LABEL: @reshape(
// CHECK:      %{{.*}} = stablehlo.reshape %{{.*}} : (tensor<4x6xf32>) -> tensor<24xf32>
func.func @reshape(%0: tensor<4x6xf32>) {
  %1 = stablehlo.reshape %0 : (tensor<4x6xf32>) -> tensor<24xf32>
  func.return
}

// CHECK-LABEL: @reverse(
// CHECK:      %{{.*}} = stablehlo.reverse %{{.*}}, dims = [0] : tensor<4x6xf32>
func.func @reverse(%0: tensor<4x6xf32>) {
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4x6xf32>
  func.return
}

// CHECK-LABEL: @set_dimension_size(
// CHECK:      %{{.*}} = stablehlo.set_dimension_size %{{.*}}, %{{.*}}, dim = 1 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 6>>
func.func @set_dimension_size(%0: tensor<4x6xf32>, %1: tensor<i32>) {
  %2 = stablehlo.set_dimension_size %0, %1, dim = 1 : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 6>>
  func.return
}

// CHECK-LABEL: @slice(
// CHECK:      %{{.*}} = stablehlo.slice %{{.*}} [1:4:2, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>
func.func @slice(%0: tensor<4x6xf32>) {
  %1 = stablehlo.slice %0 [1:4:2, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: @transpose(
// CHECK:      %{{.*}} = stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
func.func @transpose(%0: tensor<4x6xf32>) {
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  func.return
}
