// Programs whose numbers must not change when they become per-device code.
// Each function is a program of its own, with the meshes before it.

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @perm = <["x"=2, "y"=4], device_ids=[3, 1, 7, 5, 0, 2, 6, 4]>

func.func @iota_const(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@perm, [{"x", "y"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@perm, [{"x", "y"}, {}]>}) {
  %i = stablehlo.iota dim = 0 : tensor<8x4xf32>
  %c = stablehlo.constant dense<[[0.0,1.0,2.0,3.0],[4.0,1.0,2.0,3.0],[5.0,1.0,2.0,3.0],[6.0,1.0,2.0,3.0],[7.0,1.0,2.0,3.0],[8.0,1.0,2.0,3.0],[9.0,1.0,2.0,3.0],[0.5,1.0,2.0,3.0]]> : tensor<8x4xf32>
  %0 = stablehlo.add %a, %i : tensor<8x4xf32>
  %1 = stablehlo.multiply %0, %c : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

func.func @iota_sub(%a: tensor<8x4xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)2, "x"}, {"y":(1)2}]>}) -> (tensor<8x4xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8x4xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x4xi32>
  %0 = stablehlo.add %a, %i : tensor<8x4xi32>
  %1 = stablehlo.multiply %0, %j : tensor<8x4xi32>
  return %1 : tensor<8x4xi32>
}

func.func @init_add(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %i: tensor<f32>) -> (tensor<8xf32>, tensor<f32>, tensor<16xf32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.reduce(%a init: %i) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.reduce(%a init: %i) applies stablehlo.minimum across dimensions = [0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<f32>, tensor<16xf32>
}

func.func @logic(%a: tensor<8x16xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %i: tensor<i1>, %b: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %j : tensor<i32>) -> (tensor<8xi1>, tensor<16xi1>, tensor<8xi32>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.and across dimensions = [1] : (tensor<8x16xi1>, tensor<i1>) -> tensor<8xi1>
  %1 = stablehlo.reduce(%a init: %i) applies stablehlo.or across dimensions = [0] : (tensor<8x16xi1>, tensor<i1>) -> tensor<16xi1>
  %2 = stablehlo.reduce(%b init: %j) applies stablehlo.xor across dimensions = [1] : (tensor<8x16xi32>, tensor<i32>) -> tensor<8xi32>
  return %0, %1, %2 : tensor<8xi1>, tensor<16xi1>, tensor<8xi32>
}

func.func @gathers(%a: tensor<8x16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}, %s: tensor<5x2xi32>) -> (tensor<5x6xf32>, tensor<5x8x1xf32>, tensor<5x2x6xf32>) {
  %0 = "stablehlo.gather"(%a, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<8x16x6xf32>, tensor<5x2xi32>) -> tensor<5x6xf32>
  %1 = "stablehlo.gather"(%a, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [1], start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 8, 1, 1>}> : (tensor<8x16x6xf32>, tensor<5x2xi32>) -> tensor<5x8x1xf32>
  %2 = "stablehlo.gather"(%a, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 6>}> : (tensor<8x16x6xf32>, tensor<5x2xi32>) -> tensor<5x2x6xf32>
  return %0, %1, %2 : tensor<5x6xf32>, tensor<5x8x1xf32>, tensor<5x2x6xf32>
}

func.func @gather_nomap(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@perm, [{"x"}, {"y"}]>}, %s: tensor<4xui32>) -> (tensor<4xf32>) {
  %0 = "stablehlo.gather"(%a, %s) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x16xf32>, tensor<4xui32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @gather_batch(%a: tensor<8x16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}, %s: tensor<8x3x1xi64>) -> (tensor<8x3x6xf32>) {
  %0 = "stablehlo.gather"(%a, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 6>}> : (tensor<8x16x6xf32>, tensor<8x3x1xi64>) -> tensor<8x3x6xf32>
  return %0 : tensor<8x3x6xf32>
}

func.func @scatters(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %u: tensor<12x16xf32> , %s: tensor<12x1xi32>, %v: tensor<12x3xf32>, %w: tensor<12xf32>, %t: tensor<12x2xi32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = "stablehlo.scatter"(%a, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %b: tensor<f32>):
      %q = stablehlo.add %p, %b : tensor<f32>
      stablehlo.return %q : tensor<f32> }) : (tensor<8x16xf32>, tensor<12x1xi32>, tensor<12x16xf32>) -> tensor<8x16xf32>
  %1 = "stablehlo.scatter"(%a, %t, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %b: tensor<f32>):
      %q = stablehlo.maximum %p, %b : tensor<f32>
      stablehlo.return %q : tensor<f32> }) : (tensor<8x16xf32>, tensor<12x2xi32>, tensor<12x3xf32>) -> tensor<8x16xf32>
  %2 = "stablehlo.scatter"(%a, %t, %w) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32> }) : (tensor<8x16xf32>, tensor<12x2xi32>, tensor<12xf32>) -> tensor<8x16xf32>
  return %0, %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

func.func @scatter_updates(%a: tensor<8x16xf32>, %u: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>} , %s: tensor<12x1xi32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = "stablehlo.scatter"(%a, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %b: tensor<f32>):
      %q = stablehlo.add %p, %b : tensor<f32>
      stablehlo.return %q : tensor<f32> }) : (tensor<8x16xf32>, tensor<12x1xi32>, tensor<12x16xf32>) -> tensor<8x16xf32>
  %1 = "stablehlo.scatter"(%a, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %b: tensor<f32>):
      %q = stablehlo.multiply %p, %b : tensor<f32>
      stablehlo.return %q : tensor<f32> }) : (tensor<8x16xf32>, tensor<12x1xi32>, tensor<12x16xf32>) -> tensor<8x16xf32>
  %2 = "stablehlo.scatter"(%a, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %b: tensor<f32>):
      %q = stablehlo.maximum %p, %b : tensor<f32>
      stablehlo.return %q : tensor<f32> }) : (tensor<8x16xf32>, tensor<12x1xi32>, tensor<12x16xf32>) -> tensor<8x16xf32>
  return %0, %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

func.func @dus(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@perm, [{"x"}, {"y"}]>}, %u: tensor<3x5xf32>, %v: tensor<8x5xf32>, %s: tensor<i32>, %t: tensor<i32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.dynamic_update_slice %a, %u, %s, %t : (tensor<8x16xf32>, tensor<3x5xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
  %1 = stablehlo.dynamic_update_slice %a, %v, %s, %t : (tensor<8x16xf32>, tensor<8x5xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}

func.func @dus_row(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %u: tensor<3x5xui8>, %s: tensor<ui8>, %b: tensor<8x16xui8> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x16xui8>) {
  %0 = stablehlo.dynamic_update_slice %b, %u, %s, %s : (tensor<8x16xui8>, tensor<3x5xui8>, tensor<ui8>, tensor<ui8>) -> tensor<8x16xui8>
  return %0 : tensor<8x16xui8>
}

func.func @reshapes(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<128xf32>, tensor<4x2x16xf32>, tensor<4x12xf32>, tensor<2x3x8x1xf32>) {
  %0 = stablehlo.reshape %a : (tensor<8x16xf32>) -> tensor<128xf32>
  %1 = stablehlo.reshape %a : (tensor<8x16xf32>) -> tensor<4x2x16xf32>
  %2 = stablehlo.reshape %b : (tensor<6x8xf32>) -> tensor<4x12xf32>
  %3 = stablehlo.reshape %b : (tensor<6x8xf32>) -> tensor<2x3x8x1xf32>
  return %0, %1, %2, %3 : tensor<128xf32>, tensor<4x2x16xf32>, tensor<4x12xf32>, tensor<2x3x8x1xf32>
}

func.func @sorts(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1> }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = "stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1> }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xf32>
}

func.func @while(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %o = stablehlo.constant dense<1> : tensor<i32>
  %k = stablehlo.iota dim = 1 : tensor<8x16xf32>
  %0:2 = stablehlo.while(%i = %c, %v = %a) : tensor<i32>, tensor<8x16xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %q = stablehlo.add %i, %o : tensor<i32>
      %r = stablehlo.multiply %v, %v : tensor<8x16xf32>
      %t = stablehlo.add %r, %k : tensor<8x16xf32>
      stablehlo.return %q, %t : tensor<i32>, tensor<8x16xf32>
    }
  return %0#1 : tensor<8x16xf32>
}

func.func @ifs(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %p: tensor<i1>, %j: tensor<i32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = "stablehlo.if"(%p) ({
      %r = stablehlo.multiply %a, %a : tensor<8x16xf32>
      stablehlo.return %r : tensor<8x16xf32>
    }, {
      stablehlo.return %a : tensor<8x16xf32>
    }) : (tensor<i1>) -> tensor<8x16xf32>
  %1 = "stablehlo.case"(%j) ({
      %r = stablehlo.multiply %a, %a : tensor<8x16xf32>
      stablehlo.return %r : tensor<8x16xf32>
    }, {
      %r = stablehlo.add %a, %a : tensor<8x16xf32>
      stablehlo.return %r : tensor<8x16xf32>
    }) : (tensor<i32>) -> tensor<8x16xf32>
  %2 = stablehlo.optimization_barrier %a : tensor<8x16xf32>
  return %0, %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

func.func @misc(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %s: tensor<f32>) -> (tensor<8x16xf32>, tensor<i32>, tensor<8x16x4xi8>, tensor<2x3x8x16xf32>) {
  %0 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %1 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<8x16xf32>) -> tensor<i32>
  %2 = stablehlo.bitcast_convert %a : (tensor<8x16xf32>) -> tensor<8x16x4xi8>
  %3 = stablehlo.broadcast %a, sizes = [2, 3] : (tensor<8x16xf32>) -> tensor<2x3x8x16xf32>
  return %0, %1, %2, %3 : tensor<8x16xf32>, tensor<i32>, tensor<8x16x4xi8>, tensor<2x3x8x16xf32>
}

func.func @unknown(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32>) {
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

func.func @noargs() -> (tensor<8xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @passthru(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  return %b, %a, %a : tensor<4xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}

func.func @nothing() {
  return
}

func.func @nested_full(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32>) {
  %0 = stablehlo.add %a, %a : tensor<8x16xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%b: tensor<4x4xf32>) {
    %2 = stablehlo.multiply %b, %b : tensor<4x4xf32>
    sdy.return %2 : tensor<4x4xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = stablehlo.add %1, %a : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

func.func @nested_partial(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32>) {
  %0 = stablehlo.add %a, %a : tensor<8x16xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<4x16xf32>) {
    %2 = stablehlo.multiply %b, %b : tensor<4x16xf32>
    %i = stablehlo.iota dim = 1 : tensor<4x16xf32>
    %4 = stablehlo.add %2, %i : tensor<4x16xf32>
    sdy.return %4 : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = stablehlo.add %1, %a : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

func.func @two_manual(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x16xf32>) {
  %1 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"y"}, {"x"}]>] manual_axes={"x", "y"} (%b: tensor<4x4xf32>) {
    %2 = stablehlo.concatenate %b, %b, dim = 1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.slice %2 [0:2, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
    sdy.return %3 : tensor<2x8xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %k = stablehlo.cosine %1 : tensor<8x16xf32>
  %3 = sdy.manual_computation(%k) in_shardings=[<@mesh, [{}, {"y", "x"}]>] out_shardings=[<@mesh, [{}, {"y", "x"}]>] manual_axes={"x", "y"} (%b: tensor<8x2xf32>) {
    %2 = stablehlo.abs %b : tensor<8x2xf32>
    sdy.return %2 : tensor<8x2xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

func.func @constraints(%a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)2}, {"x", "y":(1)2}]>}) {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {"y", "x"}]> : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"}]> : tensor<16x32xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x", "y":(1)2}, {"y":(2)2}]> : tensor<16x32xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"x"}, {}]> : tensor<16x32xf32>
  %4 = sdy.sharding_constraint %3 <@mesh, [{}, {"x"}]> : tensor<16x32xf32>
  return %4 : tensor<16x32xf32>
}

func.func @constraints_perm(%a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@perm, [{"x", "y"}, {}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@perm, [{"y":(2)2}, {"x", "y":(1)2}]>}) {
  %0 = sdy.sharding_constraint %a <@perm, [{}, {"y", "x"}]> : tensor<16x32xf32>
  %1 = sdy.sharding_constraint %0 <@perm, [{"y"}, {"x"}]> : tensor<16x32xf32>
  %2 = sdy.sharding_constraint %1 <@perm, [{"x", "y":(1)2}, {"y":(2)2}]> : tensor<16x32xf32>
  %3 = sdy.sharding_constraint %2 <@perm, [{"x"}, {}]> : tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}

func.func @other_order(%a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.sharding_constraint %a <@perm, [{"x"}, {"y"}]> : tensor<16x32xf32>
  %i = stablehlo.iota dim = 1 {sdy.sharding = #sdy.sharding_per_value<[<@perm, [{"x"}, {"y"}]>]>} : tensor<16x32xf32>
  %1 = stablehlo.add %0, %i {sdy.sharding = #sdy.sharding_per_value<[<@perm, [{"x"}, {"y"}]>]>} : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

func.func @scatter_dot(%a: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, %b: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> (tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

func.func @conv_features(%a: tensor<4x6x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}, {"y"}]>}, %k: tensor<3x3x8x16xf32>) -> (tensor<4x6x6x16xf32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x6x6x8xf32>, tensor<3x3x8x16xf32>) -> tensor<4x6x6x16xf32>
  return %0 : tensor<4x6x6x16xf32>
}

func.func @conv_groups(%a: tensor<4x6x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}, {"y"}]>}, %k: tensor<3x3x1x16xf32>) -> (tensor<4x6x6x16xf32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<4x6x6x8xf32>, tensor<3x3x1x16xf32>) -> tensor<4x6x6x16xf32>
  return %0 : tensor<4x6x6x16xf32>
}

func.func @conv_batch_groups(%a: tensor<8x6x6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}, {}, {}]>}, %k: tensor<3x3x3x16xf32>) -> (tensor<2x4x4x16xf32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<8x6x6x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x4x4x16xf32>
  return %0 : tensor<2x4x4x16xf32>
}

func.func @conv_one_by_one(%a: tensor<4x8x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}, {}]>}, %k: tensor<1x1x3x5xf32>) -> (tensor<4x8x8x5xf32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x3xf32>, tensor<1x1x3x5xf32>) -> tensor<4x8x8x5xf32>
  return %0 : tensor<4x8x8x5xf32>
}

func.func @pool_tiled(%a: tensor<4x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}, %i: tensor<f32>) -> (tensor<4x8x8xf32>) {
  %0 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32> }) : (tensor<4x16x8xf32>, tensor<f32>) -> tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}

func.func @pool_overlapping(%a: tensor<4x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}, %i: tensor<f32>) -> (tensor<4x16x8xf32>) {
  %0 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 1, 3, 2>, padding = dense<[[0, 0], [1, 1], [1, 0]]> : tensor<3x2xi64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32> }) : (tensor<4x16x8xf32>, tensor<f32>) -> tensor<4x16x8xf32>
  return %0 : tensor<4x16x8xf32>
}

func.func @pool_gradient(%a: tensor<4x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}, %s: tensor<4x8x8xf32>, %i: tensor<f32>) -> (tensor<4x16x8xf32>) {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) <{window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %r : tensor<i1> }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %r = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %r : tensor<f32> }) : (tensor<4x16x8xf32>, tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x16x8xf32>
  return %0 : tensor<4x16x8xf32>
}

func.func @solve(%a: tensor<4x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %b: tensor<4x3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>}) -> (tensor<4x3x8xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x3x3xf32>, tensor<4x3x8xf32>) -> tensor<4x3x8xf32>
  return %0 : tensor<4x3x8xf32>
}

func.func @solve_right(%a: tensor<4x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %b: tensor<4x8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}]>}) -> (tensor<4x8x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4x3x3xf32>, tensor<4x8x3xf32>) -> tensor<4x8x3xf32>
  return %0 : tensor<4x8x3xf32>
}

func.func @fourier(%a: tensor<4x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x8xcomplex<f32>>) {
  %0 = stablehlo.fft %a, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
  return %0 : tensor<4x8xcomplex<f32>>
}

func.func @norm(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %s: tensor<8xf32>, %o: tensor<8xf32>, %m: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %v = stablehlo.multiply %m, %m : tensor<8xf32>
  %0 = "stablehlo.batch_norm_inference"(%a, %s, %o, %m, %v) <{epsilon = 1.0e-01 : f32, feature_index = 1 : i64}> : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1, %2, %3 = "stablehlo.batch_norm_training"(%a, %s, %o) <{epsilon = 1.0e-01 : f32, feature_index = 1 : i64}> : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0, %2, %3, %1 : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>
}

func.func @top(%a: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %0, %1 = chlo.top_k(%a, k = 3) : tensor<4x16xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xi32>
}

func.func @written_rule(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32>) {
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=8, k=16} reduction={k}, custom>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

func.func @moves(%a: tensor<8x16xi32> {sdy.sharding = #sdy.sharding<@perm, [{"x"}, {"y"}]>}, %p: tensor<i32>) -> (tensor<4x8xi32>, tensor<8x20xi32>, tensor<8x16xi32>, tensor<16x16xi32>, tensor<15x16xi32>) {
  %0 = stablehlo.slice %a [2:6, 0:16:2] : (tensor<8x16xi32>) -> tensor<4x8xi32>
  %1 = stablehlo.pad %a, %p, low = [0, 1], high = [0, 3], interior = [0, 0] : (tensor<8x16xi32>, tensor<i32>) -> tensor<8x20xi32>
  %2 = stablehlo.reverse %a, dims = [1] : tensor<8x16xi32>
  %3 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<16x16xi32>
  %4 = stablehlo.pad %a, %p, low = [0, -1], high = [0, 1], interior = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@perm, [{}, {"y"}]>]>} : (tensor<8x16xi32>, tensor<i32>) -> tensor<15x16xi32>
  return %0, %1, %2, %3, %4 : tensor<4x8xi32>, tensor<8x20xi32>, tensor<8x16xi32>, tensor<16x16xi32>, tensor<15x16xi32>
}

func.func @two_reduces(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %i: tensor<f32>, %c: tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %k = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %0:2 = stablehlo.reduce(%a init: %i), (%k init: %c) across dimensions = [1] : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
     reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>)  {
       %t = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
       %u = stablehlo.select %t, %p, %q : tensor<i1>, tensor<f32>
       %v = stablehlo.select %t, %r, %s : tensor<i1>, tensor<i32>
       stablehlo.return %u, %v : tensor<f32>, tensor<i32>
     }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}

func.func @maximum(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %i: tensor<f32>) -> tensor<8xf32> {
  %0 = stablehlo.reduce(%arg0 init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @slices_and_updates(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %pv: tensor<f32>, %s: tensor<i32>) -> (tensor<4x8xf32>, tensor<8x20xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>) {
  %0 = stablehlo.slice %arg0 [2:6, 0:16:2] : (tensor<8x16xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.pad %arg0, %pv, low = [0, 1], high = [0, 3], interior = [0, 0] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x20xf32>
  %2 = stablehlo.reverse %arg0, dims = [1] : tensor<8x16xf32>
  %3 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %4 = stablehlo.dynamic_slice %arg0, %s, %s, sizes = [4, 8] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %5 = stablehlo.dynamic_update_slice %arg0, %4, %s, %s : (tensor<8x16xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>
  return %0, %1, %2, %3, %5 : tensor<4x8xf32>, tensor<8x20xf32>, tensor<8x16xf32>, tensor<16x16xf32>, tensor<8x16xf32>
}

func.func @scatter_both(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %u: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %s: tensor<12x1xi32>) -> (tensor<8x16xf32>) {
  %0 = "stablehlo.scatter"(%arg0, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %q = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %q : tensor<f32> }) : (tensor<8x16xf32>, tensor<12x1xi32>, tensor<12x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// a barrier whose own sharding is not its operand's, returned and used by others
func.func @barrier_resharded(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, tensor<8x8xf32>, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<8x8xf32>
  %1 = stablehlo.negate %0 : tensor<8x8xf32>
  return %0, %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// the candidates of all devices are gathered, not what they were picked from; ties by index
func.func @argmax(%a: tensor<4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<4xf32>, tensor<4xi32>, tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
  %i = stablehlo.iota dim = 1 : tensor<4x16xi32>
  %j = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %rounded = stablehlo.round_nearest_even %a : tensor<4x16xf32>
  %0:2 = stablehlo.reduce(%rounded init: %lowest), (%i init: %zero) across dimensions = [1] : (tensor<4x16xf32>, tensor<4x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
      %gt = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %lt = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %first = stablehlo.and %eq, %lt : tensor<i1>
      %left = stablehlo.or %gt, %first : tensor<i1>
      %m = stablehlo.maximum %x, %y : tensor<f32>
      %n = stablehlo.select %left, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %m, %n : tensor<f32>, tensor<i32>
    }
  %1:2 = stablehlo.reduce(%b init: %lowest), (%j init: %zero) across dimensions = [1] : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
      %gt = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %m = stablehlo.select %gt, %x, %y : tensor<i1>, tensor<f32>
      %n = stablehlo.select %gt, %p, %q : tensor<i1>, tensor<i32>
      stablehlo.return %m, %n : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1, %1#1 : tensor<4xf32>, tensor<4xi32>, tensor<8xi32>
}
