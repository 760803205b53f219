// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// What the short forms cannot say, and attributes that no op defines.

// CHECK-LABEL: @reduce_of_two
func.func @reduce_of_two(%x: tensor<4x6xf32>, %y: tensor<4x6xi32>, %a: tensor<f32>, %b: tensor<i32>) {
  // CHECK:      stablehlo.reduce(%x init: %a), (%y init: %b) across dimensions = [1] {mhlo.note} : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  // CHECK-NEXT:  reducer(%p: tensor<f32>, %r: tensor<f32>) (%q: tensor<i32>, %s: tensor<i32>)
  // CHECK-NEXT:   stablehlo.add %p, %r : tensor<f32>
  %0:2 = stablehlo.reduce(%x init: %a), (%y init: %b) across dimensions = [1] {mhlo.note} : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%p: tensor<f32>, %r: tensor<f32>) (%q: tensor<i32>, %s: tensor<i32>) {
    %1 = stablehlo.add %p, %r : tensor<f32>
    %2 = stablehlo.multiply %q, %s : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  func.return
}

// Arguments in the other order are no short form: subtraction would show it.
// CHECK-LABEL: @reduce_in_the_other_order
func.func @reduce_in_the_other_order(%x: tensor<4xf32>, %a: tensor<f32>) {
  // CHECK: reducer(%p: tensor<f32>, %r: tensor<f32>)
  // CHECK-NEXT: stablehlo.add %r, %p
  %0 = stablehlo.reduce(%x init: %a) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%p: tensor<f32>, %r: tensor<f32>) {
    %1 = stablehlo.add %r, %p : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  func.return
}

// CHECK-LABEL: @loop
func.func @loop(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      %r, %r_1 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf32> attributes {mhlo.note = 1 : i64}
  // CHECK-NEXT: cond {
  // CHECK-NEXT:   %c = stablehlo.constant dense<0> : tensor<i32>
  // CHECK-NEXT:   stablehlo.compare LT, %c, %i, SIGNED
  // CHECK:      } do {
  // CHECK-NEXT:   stablehlo.return %i, %v
  %r:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf32> attributes {mhlo.note = 1 : i64}
  cond {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %c, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    stablehlo.return %i, %v : tensor<i32>, tensor<4xf32>
  }
  func.return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: @types_that_differ
func.func @types_that_differ(%x: tensor<?xf32>, %y: tensor<4xf32>, %p: tensor<i1>, %b: tensor<?xf32, #stablehlo.bounds<8>>) {
  // CHECK: stablehlo.add %x, %y : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.add %x, %y : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.select %p, %x, %y : (tensor<i1>, tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  %1 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  // CHECK: stablehlo.negate %b : tensor<?xf32, #stablehlo.bounds<8>>
  %2 = stablehlo.negate %b : tensor<?xf32, #stablehlo.bounds<8>>
  // CHECK: stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<?xf32>, tensor<4xf32>) -> tensor<f32>
  %3 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<?xf32>, tensor<4xf32>) -> tensor<f32>
  // CHECK: algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> :
  %4 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<?xf32>, tensor<4xf32>) -> tensor<f32>
  func.return
}

// CHECK-LABEL: @attributes
func.func @attributes(%x: tensor<4xf32>) {
  // CHECK: stablehlo.tanh %x {mhlo.frontend_attributes = {a = "b"}, result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %0 = stablehlo.tanh %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>, mhlo.frontend_attributes = {a = "b"}} : tensor<4xf32>
  // CHECK: stablehlo.constant {mhlo.note} dense<1.000000e+00> : tensor<f32>
  %1 = stablehlo.constant {mhlo.note} dense<1.0> : tensor<f32>
  // CHECK: stablehlo.optimization_barrier {mhlo.note} %x : tensor<4xf32>
  %2 = stablehlo.optimization_barrier {mhlo.note} %x : tensor<4xf32>
  // CHECK: stablehlo.optimization_barrier ()
  stablehlo.optimization_barrier ()
  func.return
}

func.func private @decomposed(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}

// CHECK-LABEL: @calls
func.func @calls(%x: tensor<4xf32>) {
  // CHECK: stablehlo.composite "my.op" %x {composite_attributes = {n = 1 : i64}, decomposition = @decomposed, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.composite "my.op" %x {composite_attributes = {n = 1 : i64}, decomposition = @decomposed, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.custom_call @"odd name"(%x) {backend_config = "text"} : (tensor<4xf32>) -> ()
  stablehlo.custom_call @"odd name"(%x) {backend_config = "text"} : (tensor<4xf32>) -> ()
  // CHECK: "stablehlo.async_start"(%x)
  // CHECK: !stablehlo.future<tensor<2xf32>>
  %1 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<4xf32>):
    %3 = stablehlo.slice %y [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %3 : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  // CHECK: "stablehlo.async_done"
  %2 = "stablehlo.async_done"(%1) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  func.return
}

// CHECK-LABEL: @mesh_axes
func.func @mesh_axes(%x: tensor<4xf32>) {
  // CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>]>}> : (tensor<4xf32>) -> tensor<8xf32>
  func.return
}

// CHECK-LABEL: @quantized
func.func @quantized(%x: tensor<4xf32>) {
  // CHECK: (tensor<4xf32>) -> tensor<4x!quant.uniform<u8<1:255>:f32, 0.5:3>>
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8<1:255>:f32, 5.0e-1:3>>
  // CHECK: (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32:0, {0.5, 0.25:3, 1.0, 1.0}>>
  %1 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32:0, {0.5, 0.25:3, 1.0, 1.0}>>
  func.return
}
