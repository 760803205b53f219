// Programs without shardings, one a form of an op; the test splits their borders at
// random over several meshes. Sizes are such that most axes divide them.

// Values from nothing

func.func @constants_of_many_types(%a: tensor<8xi1>, %b: tensor<8xui8>, %c: tensor<4x2xcomplex<f32>>, %d: tensor<8xbf16>) -> (tensor<8xi1>, tensor<8xui8>, tensor<4x2xcomplex<f32>>, tensor<8xbf16>) {
  %i = stablehlo.constant dense<[true, false, false, true, true, true, false, true]> : tensor<8xi1>
  %j = stablehlo.constant dense<[0, 255, 3, 128, 5, 6, 7, 8]> : tensor<8xui8>
  %k = stablehlo.constant dense<[[(1.0, 2.0), (3.0, 4.0)], [(5.0, 6.0), (7.0, 8.0)], [(9.0, 1.0), (2.0, 3.0)], [(4.0, 5.0), (6.0, 7.0)]]> : tensor<4x2xcomplex<f32>>
  %l = stablehlo.constant dense<[1.0, 2.0, 3.0, 0x7F80, 5.0, 6.0, 7.0, 8.0]> : tensor<8xbf16>
  %0 = stablehlo.xor %a, %i : tensor<8xi1>
  %1 = stablehlo.add %b, %j : tensor<8xui8>
  %2 = stablehlo.multiply %c, %k : tensor<4x2xcomplex<f32>>
  %3 = stablehlo.minimum %d, %l : tensor<8xbf16>
  return %0, %1, %2, %3 : tensor<8xi1>, tensor<8xui8>, tensor<4x2xcomplex<f32>>, tensor<8xbf16>
}

func.func @no_results(%a: tensor<8x4xf32>) {
  %0 = stablehlo.abs %a : tensor<8x4xf32>
  return
}

func.func @only_constants() -> (tensor<8x4xf32>, tensor<f32>, tensor<4xi32>) {
  %0 = stablehlo.constant dense<2.0> : tensor<8x4xf32>
  %1 = stablehlo.constant dense<3.0> : tensor<f32>
  %2 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  return %0, %1, %2 : tensor<8x4xf32>, tensor<f32>, tensor<4xi32>
}

func.func @arguments_returned(%a: tensor<8x4xf32>, %b: tensor<f32>) -> (tensor<8x4xf32>, tensor<f32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.abs %a : tensor<8x4xf32>
  return %a, %b, %a, %0 : tensor<8x4xf32>, tensor<f32>, tensor<8x4xf32>, tensor<8x4xf32>
}

func.func @empty_tensors(%a: tensor<0x8xf32>, %b: tensor<8x0xf32>, %c: tensor<4x8xf32>) -> (tensor<0x0xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8x0xf32>) {
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<0x8xf32>, tensor<8x0xf32>) -> tensor<0x0xf32>
  %1 = stablehlo.dot_general %b, %a, contracting_dims = [1] x [0] : (tensor<8x0xf32>, tensor<0x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.concatenate %a, %c, dim = 0 : (tensor<0x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<0x8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = stablehlo.reverse %b, dims = [0] : tensor<8x0xf32>
  return %0, %1, %2, %3, %4 : tensor<0x0xf32>, tensor<8x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8x0xf32>
}

// Moving data

func.func @slices_of_all_kinds(%a: tensor<16x24xf32>) -> (tensor<8x24xf32>, tensor<16x12xf32>, tensor<8x6xf32>, tensor<1x24xf32>, tensor<16x0xf32>) {
  %0 = stablehlo.slice %a [8:16, 0:24] : (tensor<16x24xf32>) -> tensor<8x24xf32>
  %1 = stablehlo.slice %a [0:16, 1:24:2] : (tensor<16x24xf32>) -> tensor<16x12xf32>
  %2 = stablehlo.slice %a [1:16:2, 3:24:4] : (tensor<16x24xf32>) -> tensor<8x6xf32>
  %3 = stablehlo.slice %a [15:16, 0:24] : (tensor<16x24xf32>) -> tensor<1x24xf32>
  %4 = stablehlo.slice %a [0:16, 3:3] : (tensor<16x24xf32>) -> tensor<16x0xf32>
  return %0, %1, %2, %3, %4 : tensor<8x24xf32>, tensor<16x12xf32>, tensor<8x6xf32>, tensor<1x24xf32>, tensor<16x0xf32>
}

func.func @pads_of_all_kinds(%a: tensor<8x16xi32>, %z: tensor<i32>) -> (tensor<16x16xi32>, tensor<8x16xi32>, tensor<24x16xi32>, tensor<8x12xi32>, tensor<12x31xi32>) {
  %0 = stablehlo.pad %a, %z, low = [4, 0], high = [4, 0], interior = [0, 0] : (tensor<8x16xi32>, tensor<i32>) -> tensor<16x16xi32>
  %1 = stablehlo.pad %a, %z, low = [0, -3], high = [0, 3], interior = [0, 0] : (tensor<8x16xi32>, tensor<i32>) -> tensor<8x16xi32>
  %2 = stablehlo.pad %a, %z, low = [1, 0], high = [1, 0], interior = [2, 0] : (tensor<8x16xi32>, tensor<i32>) -> tensor<24x16xi32>
  %3 = stablehlo.pad %a, %z, low = [0, -2], high = [0, -2], interior = [0, 0] : (tensor<8x16xi32>, tensor<i32>) -> tensor<8x12xi32>
  %4 = stablehlo.pad %a, %z, low = [-3, 0], high = [0, 0], interior = [1, 1] : (tensor<8x16xi32>, tensor<i32>) -> tensor<12x31xi32>
  return %0, %1, %2, %3, %4 : tensor<16x16xi32>, tensor<8x16xi32>, tensor<24x16xi32>, tensor<8x12xi32>, tensor<12x31xi32>
}

func.func @dynamic_slices(%a: tensor<16x8xf32>, %i: tensor<i32>, %j: tensor<ui8>, %k: tensor<i64>) -> (tensor<4x8xf32>, tensor<16x8xf32>, tensor<3x2xf32>, tensor<1x8xf32>) {
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [4, 8] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %1 = stablehlo.dynamic_slice %a, %j, %j, sizes = [16, 8] : (tensor<16x8xf32>, tensor<ui8>, tensor<ui8>) -> tensor<16x8xf32>
  %2 = stablehlo.dynamic_slice %a, %k, %k, sizes = [3, 2] : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<3x2xf32>
  %n = stablehlo.negate %i : tensor<i32>
  %3 = stablehlo.dynamic_slice %a, %n, %i, sizes = [1, 8] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<16x8xf32>, tensor<3x2xf32>, tensor<1x8xf32>
}

func.func @dynamic_updates(%a: tensor<16x8xf32>, %b: tensor<4x8xf32>, %c: tensor<16x8xf32>, %d: tensor<3x2xf32>, %i: tensor<i32>, %j: tensor<i8>) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
  %0 = stablehlo.dynamic_update_slice %a, %b, %i, %i : (tensor<16x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
  %1 = stablehlo.dynamic_update_slice %a, %c, %i, %i : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
  %n = stablehlo.negate %j : tensor<i8>
  %2 = stablehlo.dynamic_update_slice %a, %d, %n, %j : (tensor<16x8xf32>, tensor<3x2xf32>, tensor<i8>, tensor<i8>) -> tensor<16x8xf32>
  return %0, %1, %2 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
}

func.func @starts_that_are_computed(%a: tensor<16x8xf32>, %b: tensor<16x8xi32>) -> (tensor<2x8xf32>, tensor<16x8xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.reduce(%b init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<16x8xi32>, tensor<i32>) -> tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %s, %z, sizes = [2, 8] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
  %1 = stablehlo.dynamic_update_slice %a, %0, %z, %s : (tensor<16x8xf32>, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<16x8xf32>
}

func.func @reshapes_of_all_kinds(%a: tensor<8x16xf32>, %b: tensor<1x8x1x4xf32>, %c: tensor<24xf32>) -> (tensor<128xf32>, tensor<2x4x4x4xf32>, tensor<16x8xf32>, tensor<32xf32>, tensor<2x3x4xf32>, tensor<1xf32>) {
  %0 = stablehlo.reshape %a : (tensor<8x16xf32>) -> tensor<128xf32>
  %1 = stablehlo.reshape %a : (tensor<8x16xf32>) -> tensor<2x4x4x4xf32>
  %2 = stablehlo.reshape %a : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %3 = stablehlo.reshape %b : (tensor<1x8x1x4xf32>) -> tensor<32xf32>
  %4 = stablehlo.reshape %c : (tensor<24xf32>) -> tensor<2x3x4xf32>
  %5 = stablehlo.slice %c [5:6] : (tensor<24xf32>) -> tensor<1xf32>
  %6 = stablehlo.reshape %5 : (tensor<1xf32>) -> tensor<f32>
  %7 = stablehlo.reshape %6 : (tensor<f32>) -> tensor<1xf32>
  return %0, %1, %2, %3, %4, %7 : tensor<128xf32>, tensor<2x4x4x4xf32>, tensor<16x8xf32>, tensor<32xf32>, tensor<2x3x4xf32>, tensor<1xf32>
}

func.func @bitcasts(%a: tensor<8x16xi32>, %b: tensor<8x16x4xui8>, %c: tensor<8x2xi32>, %d: tensor<4x8xf32>) -> (tensor<8x16x4xui8>, tensor<8x16xi32>, tensor<8xi64>, tensor<4x8xi32>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<8x16xi32>) -> tensor<8x16x4xui8>
  %1 = stablehlo.bitcast_convert %b : (tensor<8x16x4xui8>) -> tensor<8x16xi32>
  %2 = stablehlo.bitcast_convert %c : (tensor<8x2xi32>) -> tensor<8xi64>
  %3 = stablehlo.bitcast_convert %d : (tensor<4x8xf32>) -> tensor<4x8xi32>
  return %0, %1, %2, %3 : tensor<8x16x4xui8>, tensor<8x16xi32>, tensor<8xi64>, tensor<4x8xi32>
}

func.func @concatenations(%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %c: tensor<8x2xf32>) -> (tensor<24x4xf32>, tensor<8x10xf32>, tensor<8x4xf32>) {
  %0 = stablehlo.concatenate %a, %b, %a, dim = 0 : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<24x4xf32>
  %1 = stablehlo.concatenate %a, %c, %b, dim = 1 : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<8x10xf32>
  %2 = stablehlo.concatenate %b, dim = 1 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %1, %2 : tensor<24x4xf32>, tensor<8x10xf32>, tensor<8x4xf32>
}

func.func @reversals(%a: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<8x16xf32>
  %1 = stablehlo.reverse %a, dims = [1] : tensor<8x16xf32>
  %2 = stablehlo.reverse %a, dims = [0, 1] : tensor<8x16xf32>
  %3 = stablehlo.reverse %a, dims = [] : tensor<8x16xf32>
  return %0, %1, %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

func.func @broadcasts(%a: tensor<8x1xf32>, %b: tensor<4xf32>, %c: tensor<f32>) -> (tensor<8x16xf32>, tensor<4x8xf32>, tensor<8x4x2xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<8x4x2xf32>
  %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<8x16xf32>, tensor<4x8xf32>, tensor<8x4x2xf32>, tensor<8x8xf32>
}

// Indexing

func.func @gathers_of_all_kinds(%a: tensor<8x16x4xf32>, %i: tensor<8x4x1xi32>, %j: tensor<2x8xi32>, %k: tensor<4x8x2xi32>) -> (tensor<8x4x4xf32>, tensor<8x4xf32>, tensor<4x8x3x1x4xf32>, tensor<4x16x8xf32>) {
  %0 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<8x16x4xf32>, tensor<8x4x1xi32>) -> tensor<8x4x4xf32>
  %1 = "stablehlo.gather"(%a, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 0>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<8x16x4xf32>, tensor<2x8xi32>) -> tensor<8x4xf32>
  %2 = "stablehlo.gather"(%a, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3, 4], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 3, 1, 4>}> : (tensor<8x16x4xf32>, tensor<4x8x2xi32>) -> tensor<4x8x3x1x4xf32>
  %m = stablehlo.slice %j [0:1, 0:8] : (tensor<2x8xi32>) -> tensor<1x8xi32>
  %3 = "stablehlo.gather"(%a, %m) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, indices_are_sorted = false, slice_sizes = array<i64: 1, 16, 4>}> : (tensor<8x16x4xf32>, tensor<1x8xi32>) -> tensor<16x4x8xf32>
  %4 = stablehlo.transpose %3, dims = [1, 0, 2] : (tensor<16x4x8xf32>) -> tensor<4x16x8xf32>
  return %0, %1, %2, %4 : tensor<8x4x4xf32>, tensor<8x4xf32>, tensor<4x8x3x1x4xf32>, tensor<4x16x8xf32>
}

func.func @scatters_of_all_kinds(%a: tensor<8x16x4xf32>, %i: tensor<8x4x1xi32>, %u: tensor<8x4x4xf32>, %j: tensor<2x8xi32>, %v: tensor<8x4xf32>) -> (tensor<8x16x4xf32>, tensor<8x16x4xf32>, tensor<8x16x4xf32>) {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32> }) : (tensor<8x16x4xf32>, tensor<8x4x1xi32>, tensor<8x4x4xf32>) -> tensor<8x16x4xf32>
  %1 = "stablehlo.scatter"(%a, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 0>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      stablehlo.return %q : tensor<f32> }) : (tensor<8x16x4xf32>, tensor<2x8xi32>, tensor<8x4xf32>) -> tensor<8x16x4xf32>
  %2 = "stablehlo.scatter"(%a, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 0>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %h = stablehlo.constant dense<0.5> : tensor<f32>
      %s = stablehlo.multiply %p, %h : tensor<f32>
      %r = stablehlo.add %s, %q : tensor<f32>
      stablehlo.return %r : tensor<f32> }) : (tensor<8x16x4xf32>, tensor<2x8xi32>, tensor<8x4xf32>) -> tensor<8x16x4xf32>
  return %0, %1, %2 : tensor<8x16x4xf32>, tensor<8x16x4xf32>, tensor<8x16x4xf32>
}

func.func @scatter_of_several(%a: tensor<16x4xf32>, %b: tensor<16x4xi32>, %i: tensor<8x1xi32>, %u: tensor<8x4xf32>, %v: tensor<8x4xi32>) -> (tensor<16x4xf32>, tensor<16x4xi32>) {
  %0:2 = "stablehlo.scatter"(%a, %b, %i, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
      %x = stablehlo.add %p, %r : tensor<f32>
      %y = stablehlo.maximum %q, %s : tensor<i32>
      stablehlo.return %x, %y : tensor<f32>, tensor<i32> }) : (tensor<16x4xf32>, tensor<16x4xi32>, tensor<8x1xi32>, tensor<8x4xf32>, tensor<8x4xi32>) -> (tensor<16x4xf32>, tensor<16x4xi32>)
  return %0#0, %0#1 : tensor<16x4xf32>, tensor<16x4xi32>
}

// Reductions

func.func @reductions_of_any_body(%a: tensor<8x16xf32>, %b: tensor<8x16xi1>, %c: tensor<8x16xui8>, %d: tensor<8x16xcomplex<f32>>, %i: tensor<f32>) -> (tensor<8xf32>, tensor<16xf32>, tensor<16xi1>, tensor<8xui8>, tensor<complex<f32>>) {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %u = stablehlo.constant dense<3> : tensor<ui8>
  %z = stablehlo.constant dense<(0.0, 1.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%a init: %i) across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32> reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %r = stablehlo.abs %p : tensor<f32>
    %s = stablehlo.abs %q : tensor<f32>
    %x = stablehlo.maximum %r, %s : tensor<f32>
    stablehlo.return %x : tensor<f32>
  }
  %1 = stablehlo.reduce(%a init: %i) across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32> reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %x = stablehlo.add %q, %p : tensor<f32>
    stablehlo.return %x : tensor<f32>
  }
  %2 = stablehlo.reduce(%b init: %t) applies stablehlo.xor across dimensions = [0] : (tensor<8x16xi1>, tensor<i1>) -> tensor<16xi1>
  %3 = stablehlo.reduce(%c init: %u) applies stablehlo.multiply across dimensions = [1] : (tensor<8x16xui8>, tensor<ui8>) -> tensor<8xui8>
  %4 = stablehlo.reduce(%d init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<16xf32>, tensor<16xi1>, tensor<8xui8>, tensor<complex<f32>>
}

func.func @extremes_of_integers(%a: tensor<8x16xi8>, %b: tensor<8x16xui32>, %i: tensor<i8>, %j: tensor<ui32>) -> (tensor<8xi8>, tensor<16xui32>, tensor<i8>, tensor<ui32>, tensor<8xui32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.minimum across dimensions = [1] : (tensor<8x16xi8>, tensor<i8>) -> tensor<8xi8>
  %1 = stablehlo.reduce(%b init: %j) applies stablehlo.maximum across dimensions = [0] : (tensor<8x16xui32>, tensor<ui32>) -> tensor<16xui32>
  %2 = stablehlo.reduce(%a init: %i) applies stablehlo.and across dimensions = [0, 1] : (tensor<8x16xi8>, tensor<i8>) -> tensor<i8>
  %3 = stablehlo.reduce(%b init: %j) applies stablehlo.or across dimensions = [0, 1] : (tensor<8x16xui32>, tensor<ui32>) -> tensor<ui32>
  %4 = stablehlo.reduce(%b init: %j) applies stablehlo.and across dimensions = [1] : (tensor<8x16xui32>, tensor<ui32>) -> tensor<8xui32>
  return %0, %1, %2, %3, %4 : tensor<8xi8>, tensor<16xui32>, tensor<i8>, tensor<ui32>, tensor<8xui32>
}

func.func @mean_and_variance_at_once(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%a init: %z), (%b init: %z) across dimensions = [1] : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %s: tensor<f32>) {
    %x = stablehlo.add %p, %q : tensor<f32>
    %y = stablehlo.maximum %r, %s : tensor<f32>
    stablehlo.return %x, %y : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}

func.func @sorts_of_all_kinds(%a: tensor<8x16xi32>, %b: tensor<8x16xf32>) -> (tensor<8x16xi32>, tensor<8x16xf32>, tensor<8x16xi32>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%p: tensor<i32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<f32>):
      %x = stablehlo.compare GT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %x : tensor<i1> }) : (tensor<8x16xi32>, tensor<8x16xf32>) -> (tensor<8x16xi32>, tensor<8x16xf32>)
  %1 = "stablehlo.sort"(%a) <{dimension = -2 : i64, is_stable = false}> ({
    ^bb0(%p: tensor<i32>, %q: tensor<i32>):
      %x = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %x : tensor<i1> }) : (tensor<8x16xi32>) -> tensor<8x16xi32>
  return %0#0, %0#1, %1 : tensor<8x16xi32>, tensor<8x16xf32>, tensor<8x16xi32>
}

func.func @top_k(%a: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x4xi32>, tensor<8x16xf32>) {
  %0:2 = chlo.top_k(%a, k = 4) : tensor<8x16xf32> -> (tensor<8x4xf32>, tensor<8x4xi32>)
  %1:2 = chlo.top_k(%a, k = 16) : tensor<8x16xf32> -> (tensor<8x16xf32>, tensor<8x16xi32>)
  return %0#0, %0#1, %1#0 : tensor<8x4xf32>, tensor<8x4xi32>, tensor<8x16xf32>
}

func.func @running_sums(%a: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %z) <{padding = dense<[[0, 0], [15, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 16>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32> }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %1 = "stablehlo.reduce_window"(%a, %z) <{padding = dense<[[0, 7], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 8, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32> }) : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}

// Contractions, matrices

func.func @dots_of_many_types(%a: tensor<8x16xi8>, %b: tensor<16x4xi8>, %c: tensor<8x16xbf16>, %d: tensor<16x4xbf16>, %e: tensor<8x16xcomplex<f32>>) -> (tensor<8x4xi32>, tensor<8x4xf32>, tensor<8x8xcomplex<f32>>, tensor<f32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xi8>, tensor<16x4xi8>) -> tensor<8x4xi32>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xf32>
  %2 = stablehlo.dot_general %e, %e, contracting_dims = [1] x [1] : (tensor<8x16xcomplex<f32>>, tensor<8x16xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  %3 = stablehlo.dot_general %1, %1, contracting_dims = [0, 1] x [0, 1] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<8x4xi32>, tensor<8x4xf32>, tensor<8x8xcomplex<f32>>, tensor<f32>
}

func.func @matrices(%a: tensor<8x4x4xf32>, %b: tensor<8x4x16xf32>, %c: tensor<8x16x4xf32>) -> (tensor<8x4x4xf32>, tensor<8x4x16xf32>, tensor<8x16x4xf32>) {
  %t = stablehlo.transpose %a, dims = [0, 2, 1] : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %p = stablehlo.dot_general %a, %t, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x4x4xf32>, tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %i = stablehlo.iota dim = 1 : tensor<8x4x4xi32>
  %j = stablehlo.iota dim = 2 : tensor<8x4x4xi32>
  %k = stablehlo.compare EQ, %i, %j : (tensor<8x4x4xi32>, tensor<8x4x4xi32>) -> tensor<8x4x4xi1>
  %m = stablehlo.convert %k : (tensor<8x4x4xi1>) -> tensor<8x4x4xf32>
  %d = stablehlo.add %p, %m : tensor<8x4x4xf32>
  %0 = stablehlo.cholesky %d, lower = true : tensor<8x4x4xf32>
  %1 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<8x4x4xf32>, tensor<8x4x16xf32>) -> tensor<8x4x16xf32>
  %2 = "stablehlo.triangular_solve"(%0, %c) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<8x4x4xf32>, tensor<8x16x4xf32>) -> tensor<8x16x4xf32>
  return %0, %1, %2 : tensor<8x4x4xf32>, tensor<8x4x16xf32>, tensor<8x16x4xf32>
}

func.func @fourier(%a: tensor<8x4x16xcomplex<f32>>, %b: tensor<8x16xf32>) -> (tensor<8x4x16xcomplex<f32>>, tensor<8x4x16xcomplex<f32>>, tensor<8x9xcomplex<f32>>, tensor<8x16xf32>) {
  %0 = stablehlo.fft %a, type = FFT, length = [16] : (tensor<8x4x16xcomplex<f32>>) -> tensor<8x4x16xcomplex<f32>>
  %1 = stablehlo.fft %a, type = IFFT, length = [4, 16] : (tensor<8x4x16xcomplex<f32>>) -> tensor<8x4x16xcomplex<f32>>
  %2 = stablehlo.fft %b, type = RFFT, length = [16] : (tensor<8x16xf32>) -> tensor<8x9xcomplex<f32>>
  %3 = stablehlo.fft %2, type = IRFFT, length = [16] : (tensor<8x9xcomplex<f32>>) -> tensor<8x16xf32>
  return %0, %1, %2, %3 : tensor<8x4x16xcomplex<f32>>, tensor<8x4x16xcomplex<f32>>, tensor<8x9xcomplex<f32>>, tensor<8x16xf32>
}

func.func @batch_norms(%a: tensor<8x4x16xf32>, %s: tensor<16xf32>, %o: tensor<16xf32>, %g: tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x4x16xf32>, tensor<16xf32>, tensor<8x4x16xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%a, %s, %o) <{epsilon = 0.1 : f32, feature_index = 2 : i64}> : (tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>)
  %1:3 = "stablehlo.batch_norm_grad"(%a, %s, %0#1, %0#2, %g) <{epsilon = 0.1 : f32, feature_index = 2 : i64}> : (tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x4x16xf32>) -> (tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>)
  %2 = "stablehlo.batch_norm_inference"(%a, %s, %o, %0#1, %0#2) <{epsilon = 0.1 : f32, feature_index = 2 : i64}> : (tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<8x4x16xf32>
  return %0#0, %0#1, %0#2, %1#0, %1#1, %2 : tensor<8x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<8x4x16xf32>, tensor<16xf32>, tensor<8x4x16xf32>
}

// Windows

func.func @convolution_of_groups(%a: tensor<8x16x8xf32>, %k: tensor<3x2x16xf32>, %l: tensor<3x8x16xf32>) -> (tensor<8x16x16xf32>, tensor<2x16x16xf32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<8x16x8xf32>, tensor<3x2x16xf32>) -> tensor<8x16x16xf32>
  %1 = stablehlo.convolution(%a, %l) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[1, 1]], lhs_dilate = [1], rhs_dilate = [1]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<8x16x8xf32>, tensor<3x8x16xf32>) -> tensor<2x16x16xf32>
  return %0, %1 : tensor<8x16x16xf32>, tensor<2x16x16xf32>
}

func.func @convolution_of_integers(%a: tensor<4x16x16x8xi8>, %k: tensor<3x3x8x8xi8>) -> (tensor<4x16x16x8xi32>, tensor<4x8x8x8xi32>, tensor<4x32x32x8xi32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 2], [1, 1]], rhs_dilate = [2, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16x8xi8>, tensor<3x3x8x8xi8>) -> tensor<4x16x16x8xi32>
  %1 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [1, 0]], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16x8xi8>, tensor<3x3x8x8xi8>) -> tensor<4x8x8x8xi32>
  %2 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 2], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16x8xi8>, tensor<3x3x8x8xi8>) -> tensor<4x32x32x8xi32>
  return %0, %1, %2 : tensor<4x16x16x8xi32>, tensor<4x8x8x8xi32>, tensor<4x32x32x8xi32>
}

// Control flow

func.func @loops_in_loops(%a: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %v = %a) : tensor<i32>, tensor<8x16xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %1:2 = stablehlo.while(%j = %c, %u = %v) : tensor<i32>, tensor<8x16xf32>
        cond {
          %p = stablehlo.compare LE, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          %k = stablehlo.add %j, %o : tensor<i32>
          %x = stablehlo.dot_general %u, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
          %y = stablehlo.tanh %x : tensor<8x16xf32>
          stablehlo.return %k, %y : tensor<i32>, tensor<8x16xf32>
        }
      %z = stablehlo.reverse %1#1, dims = [1] : tensor<8x16xf32>
      %q = stablehlo.add %i, %o : tensor<i32>
      stablehlo.return %q, %z : tensor<i32>, tensor<8x16xf32>
    }
  return %0#1 : tensor<8x16xf32>
}

func.func @a_condition_that_reduces(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %m = stablehlo.constant dense<100.0> : tensor<f32>
  %s = stablehlo.abs %a : tensor<8x16xf32>
  %0 = stablehlo.while(%v = %s) : tensor<8x16xf32>
    cond {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %r = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
      %p = stablehlo.compare LT, %r, %m : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1.0> : tensor<8x16xf32>
      %x = stablehlo.add %v, %one : tensor<8x16xf32>
      stablehlo.return %x : tensor<8x16xf32>
    }
  return %0 : tensor<8x16xf32>
}

func.func @branches_of_several(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>, %p: tensor<i1>, %j: tensor<i32>) -> (tensor<8x16xf32>, tensor<f32>, tensor<8x8xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = "stablehlo.if"(%p) ({
      %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
      %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
      stablehlo.return %t, %r : tensor<8x16xf32>, tensor<f32>
    }, {
      stablehlo.return %a, %z : tensor<8x16xf32>, tensor<f32>
    }) : (tensor<i1>) -> (tensor<8x16xf32>, tensor<f32>)
  %1 = "stablehlo.case"(%j) ({
      %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
      stablehlo.return %r : tensor<8x8xf32>
    }, {
      %c = stablehlo.iota dim = 1 : tensor<8x8xf32>
      stablehlo.return %c : tensor<8x8xf32>
    }, {
      %r = stablehlo.slice %a [0:8, 4:12] : (tensor<8x16xf32>) -> tensor<8x8xf32>
      stablehlo.return %r : tensor<8x8xf32>
    }) : (tensor<i32>) -> tensor<8x8xf32>
  return %0#0, %0#1, %1 : tensor<8x16xf32>, tensor<f32>, tensor<8x8xf32>
}

func.func @barriers_and_tokens(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> (tensor<8x16xf32>, tensor<16x8xf32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %u = stablehlo.after_all %t, %t : !stablehlo.token
  %0:3 = stablehlo.optimization_barrier %a, %u, %b : tensor<8x16xf32>, !stablehlo.token, tensor<16x8xf32>
  return %0#0, %0#2 : tensor<8x16xf32>, tensor<16x8xf32>
}

func.func @tokens_in_loops(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %t = stablehlo.create_token : !stablehlo.token
  %0:3 = stablehlo.while(%i = %c, %u = %t, %v = %a) : tensor<i32>, !stablehlo.token, tensor<8x16xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %q = stablehlo.add %i, %o : tensor<i32>
      %s = stablehlo.after_all %u : !stablehlo.token
      %x = stablehlo.add %v, %v : tensor<8x16xf32>
      stablehlo.return %q, %s, %x : tensor<i32>, !stablehlo.token, tensor<8x16xf32>
    }
  return %0#2 : tensor<8x16xf32>
}

// Other ops

func.func @maps_and_choices(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %p: tensor<i1>, %q: tensor<8x16xi1>, %s: tensor<f32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %r = stablehlo.multiply %x, %y : tensor<f32>
      %t = stablehlo.add %r, %s : tensor<f32>
      stablehlo.return %t : tensor<f32>
  }) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<8x16xf32>
  %2 = stablehlo.select %q, %a, %b : tensor<8x16xi1>, tensor<8x16xf32>
  %3 = stablehlo.clamp %s, %a, %b : (tensor<f32>, tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %4 = stablehlo.reduce_precision %a, format = e5m2 : tensor<8x16xf32>
  return %0, %1, %2, %3, %4 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

func.func @old_contractions(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %v: tensor<16xf32>, %i: tensor<4xi32>) -> (tensor<8x4xf32>, tensor<8xf32>, tensor<8x4xf32>, tensor<16xf32>, tensor<4x16xf32>) {
  %0 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.dot %a, %v : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8xf32>
  %2 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.unary_einsum %a, config = "ij->j" : (tensor<8x16xf32>) -> tensor<16xf32>
  %4 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<8x16xf32>, tensor<4xi32>) -> tensor<4x16xf32>
  return %0, %1, %2, %3, %4 : tensor<8x4xf32>, tensor<8xf32>, tensor<8x4xf32>, tensor<16xf32>, tensor<4x16xf32>
}

func.func @chlo_ops(%a: tensor<8x16xf32>, %b: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi1>, tensor<8x16xf32>) {
  %0 = chlo.erf %a : tensor<8x16xf32> -> tensor<8x16xf32>
  %1 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 1>} : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %2 = chlo.broadcast_compare %b, %a {broadcast_dimensions = array<i64: 1>, comparison_direction = #chlo<comparison_direction GE>} : (tensor<16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  %3 = "chlo.constant_like"(%a) <{value = 2.5 : f32}> : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0, %1, %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi1>, tensor<8x16xf32>
}

func.func @composites(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.composite "my.twice" %a {decomposition = @twice} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

func.func @private_functions(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = func.call @twice(%a) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = func.call @twice(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

func.func @random_numbers(%s: tensor<2xui64>, %a: tensor<8x16xui32>) -> (tensor<2xui64>, tensor<8x16xui32>, tensor<16x8xui64>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x16xui32>)
  %2, %3 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<16x8xui64>)
  %4 = stablehlo.add %1, %a : tensor<8x16xui32>
  return %2, %4, %3 : tensor<2xui64>, tensor<8x16xui32>, tensor<16x8xui64>
}

func.func @custom_calls(%a: tensor<8x16xf32>, %b: tensor<4x8x8xf32>) -> (tensor<8x16xf32>, tensor<4x8x8xf32>) {
  %0 = stablehlo.custom_call @MoveToHost(%a) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.custom_call @Sharding(%b) : (tensor<4x8x8xf32>) -> tensor<4x8x8xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<4x8x8xf32>
}

// What others call

func.func private @twice(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.add %x, %x : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
