// RUN: xdsl-opt --split-input-file --verify-diagnostics %s | filecheck %s

// What a user sees: the op in its place, the constraint, what is there.

// CHECK: C10: contracted dimensions 1 of lhs and 0 of rhs have sizes 6 and 5
func.func @dot(%x: tensor<4x6xf32>, %y: tensor<5x3xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  func.return
}

// -----

// CHECK: C3: limit index 7 of dimension 1 is past the end 6
func.func @slice(%x: tensor<4x6xf32>) {
  %0 = stablehlo.slice %x [0:4, 0:7] : (tensor<4x6xf32>) -> tensor<4x7xf32>
  func.return
}

// -----

// CHECK: C4: replica groups must be of one size, -1 is no process
func.func @gather(%x: tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
  func.return
}

// -----

// CHECK: operand 'operand' at position 0 does not verify
// CHECK: expected a tensor of 4/6/8/16/32/64-bit float or complex of f32 or f64 or 2/4/8/16/32-bit quantized integer, got tensor<4xi32>
func.func @sine(%x: tensor<4xi32>) {
  %0 = stablehlo.sine %x : tensor<4xi32>
  func.return
}

// -----

// CHECK: C6: argument 0 of body is tensor<i32>, but tensor<f32> is returned
func.func @reduce(%x: tensor<4xf32>, %a: tensor<f32>) {
  %0 = stablehlo.reduce(%x init: %a) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%p: tensor<i32>, %r: tensor<f32>) {
    stablehlo.return %r : tensor<f32>
  }
  func.return
}

// -----

// CHECK: bounds
func.func @bounds(%x: tensor<4x?xf32, #stablehlo.bounds<4, 8>>) {
  %0 = stablehlo.negate %x : tensor<4x?xf32, #stablehlo.bounds<4, 8>>
  func.return
}
