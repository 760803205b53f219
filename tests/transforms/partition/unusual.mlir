// Programs that are unusual in how they are sharded, not in what they compute.
// `// -----` and a name before each.

// ----- two_functions

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.abs %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func @other(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- two_functions_on_two_meshes

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @perm = <["x"=2, "y"=4], device_ids=[3, 1, 7, 5, 0, 2, 6, 4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.abs %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func @other(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@perm, [{}, {"y"}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- a_mesh_written_in_the_sharding

func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- an_empty_mesh

sdy.mesh @mesh = <[]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- a_private_function_that_nobody_calls

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.abs %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func private @dead(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.abs %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- a_declaration

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.abs %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
func.func private @ext(tensor<8x16xf32>) -> tensor<8x16xf32>

// ----- an_unreduced_argument

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"y"}>}) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- replicated_axes_and_priorities

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {?}p0], replicated={"y"}>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}p2]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- sub_axes

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)2}, {"y":(1)2, "x"}]>}, %b: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {"x"}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.add %a, %b : tensor<8x16xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x16xf32>) -> tensor<128xf32>
  %2 = stablehlo.reshape %1 : (tensor<128xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// ----- a_tuple_that_is_taken_apart

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.tuple %a, %b : tuple<tensor<8x16xf32>, tensor<4xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<8x16xf32>, tensor<4xf32>>) -> tensor<8x16xf32>
  %2 = stablehlo.abs %1 : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// ----- a_loop_split_otherwise_than_its_ends

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %n: tensor<i32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %v = %a) : tensor<i32>, tensor<8x16xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"y"}, {}]>]>}
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %q = stablehlo.add %i, %o : tensor<i32>
      %r = stablehlo.reverse %v, dims = [0] : tensor<8x16xf32>
      stablehlo.return %q, %r : tensor<i32>, tensor<8x16xf32>
    }
  return %0#1 : tensor<8x16xf32>
}

// ----- a_constraint_in_a_loop

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %n: tensor<i32>) -> tensor<8x16xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %v = %a) : tensor<i32>, tensor<8x16xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %q = stablehlo.add %i, %o : tensor<i32>
      %k = sdy.sharding_constraint %v <@mesh, [{"y"}, {}]> : tensor<8x16xf32>
      %t = stablehlo.transpose %k, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
      %d = stablehlo.dot_general %k, %t, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
      %e = stablehlo.dot_general %d, %k, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
      %f = stablehlo.tanh %e : tensor<8x16xf32>
      stablehlo.return %q, %f : tensor<i32>, tensor<8x16xf32>
    }
  return %0#1 : tensor<8x16xf32>
}

// ----- random_numbers_that_are_nearly_one

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x16xf32>, tensor<1xf32>) {
  %l = stablehlo.constant dense<1.0> : tensor<f32>
  %h = stablehlo.constant dense<1.0000001> : tensor<f32>
  %s = stablehlo.constant dense<[8, 16]> : tensor<2xi64>
  %r = stablehlo.rng %l, %h, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<8x16xf32>
  %0 = stablehlo.add %a, %r : tensor<8x16xf32>
  %b = stablehlo.slice %r [3:4, 5:6] : (tensor<8x16xf32>) -> tensor<1x1xf32>
  %c = stablehlo.reshape %b : (tensor<1x1xf32>) -> tensor<1xf32>
  return %0, %c : tensor<8x16xf32>, tensor<1xf32>
}

// ----- quantized

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.uniform_quantize %a : (tensor<8x16xf32>) -> tensor<8x16x!quant.uniform<i8:f32, 0.5:2>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<8x16x!quant.uniform<i8:f32, 0.5:2>>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// ----- quantized_per_axis

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x2xf32>, tensor<2x8xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<8x2xf32>) -> tensor<8x2x!quant.uniform<i8:f32:1, {0.5:2, 0.25:1}>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<8x2x!quant.uniform<i8:f32:1, {0.5:2, 0.25:1}>>) -> tensor<8x2xf32>
  %2 = stablehlo.uniform_quantize %b : (tensor<2x8xf32>) -> tensor<2x8x!quant.uniform<i8:f32:0, {0.5:2, 0.25:1}>>
  %3 = stablehlo.uniform_dequantize %2 : (tensor<2x8x!quant.uniform<i8:f32:0, {0.5:2, 0.25:1}>>) -> tensor<2x8xf32>
  return %1, %3 : tensor<8x2xf32>, tensor<2x8xf32>
}

// ----- one_device

sdy.mesh @mesh = <["x"=1]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- sharded_scalars

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, %b: tensor<1x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<1x1xf32>) {
  %0 = stablehlo.negate %a : tensor<f32>
  return %0, %b : tensor<f32>, tensor<1x1xf32>
}

// ----- no_mesh

func.func @main(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %a : tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// ----- five_dimensions_of_shuffled_devices

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=3, "d"=2, "e"=2], device_ids=[24, 26, 2, 16, 32, 31, 25, 19, 30, 22, 37, 13, 43, 8, 18, 34, 6, 40, 41, 35, 17, 38, 29, 39, 4, 9, 3, 45, 10, 15, 27, 21, 11, 42, 5, 46, 47, 44, 28, 7, 12, 14, 23, 20, 0, 36, 33, 1]>
func.func @main(%a: tensor<24x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", "a"}, {"e", "b"}]>}, %b: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"b", "c"}]>}) -> tensor<24x24xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<24x16xf32>, tensor<16x24xf32>) -> tensor<24x24xf32>
  %1 = stablehlo.reverse %0, dims = [0, 1] : tensor<24x24xf32>
  return %1 : tensor<24x24xf32>
}

// ----- gathered_inside_a_manual_computation_and_again_outside_of_it

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}, %p: tensor<i1>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {"a"}]>] out_shardings=[<@mesh, [{"b"}, {}]>] manual_axes={"b"} (%y: tensor<4x8xf32>) {
    %1 = stablehlo.negate %y : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = "stablehlo.if"(%p) ({
    stablehlo.return %0 : tensor<8x8xf32>
  }, {
    stablehlo.return %0 : tensor<8x8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<i1>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// ----- another_tensor_of_the_same_value

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}]>}, %p: tensor<i1>) -> tensor<16xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}]>] out_shardings=[<@mesh, [{"a", "b"}]>] manual_axes={"a", "b"} (%y: tensor<4xf32>) {
    sdy.return %y : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<16xf32>
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %0 : tensor<16xf32>
  }, {
    stablehlo.return %0 : tensor<16xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<i1>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
