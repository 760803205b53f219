// RUN: xdsl-opt %s -p sdy-reshard-to-collectives --split-input-file | filecheck %s

// One collective each.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>

func.func @gather(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// CHECK-LABEL: @gather
// CHECK: sdy.all_gather [{"y"}, {"z"}] %a out_sharding=<@mesh, [{"x"}, {}]>

func.func @gather_part_of_an_axis(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) -> tensor<16xf32> {
  %0 = sdy.reshard %a <@mesh, [{"z":(1)2}]> : tensor<16xf32>
  return %0 : tensor<16xf32>
}
// CHECK-LABEL: @gather_part_of_an_axis
// CHECK: sdy.all_gather [{"z":(2)2}] %a out_sharding=<@mesh, [{"z":(1)2}]>

func.func @slice(%a: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x", ?}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// CHECK-LABEL: @slice
// CHECK: sdy.all_slice [{"x"}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]>

func.func @move(%a: tensor<16x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}, {}]>}) -> tensor<16x8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {"z"}, {"y"}]> : tensor<16x8x8xf32>
  return %0 : tensor<16x8x8xf32>
}
// CHECK-LABEL: @move
// CHECK: sdy.all_to_all [{"y"}: 0->2] %a out_sharding=<@mesh, [{"x"}, {"z"}, {"y"}]>

func.func @permute(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"y"}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// CHECK-LABEL: @permute
// CHECK: sdy.collective_permute %a out_sharding=<@mesh, [{"y"}, {"x"}]>

func.func @nothing(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x", ?}, {"y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// CHECK-LABEL: @nothing
// CHECK-NEXT: func.return %a

// -----

// Several: slice first, gather last; axes that belong together move together.

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>

func.func @slice_and_move(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x", "y"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// CHECK-LABEL: @slice_and_move
// CHECK-NEXT: %0 = sdy.all_slice [{"y"}, {}] %a out_sharding=<@mesh, [{"x", "y"}, {}]>
// CHECK-NEXT: sdy.all_to_all [{"x", "y"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x", "y"}]>

func.func @permute_move_gather(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "z"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// CHECK-LABEL: @permute_move_gather
// CHECK-NEXT: %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"z", "x"}, {}]>
// CHECK-NEXT: %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{"z"}, {"x"}]>
// CHECK-NEXT: sdy.all_gather [{"z"}, {}] %1 out_sharding=<@mesh, [{}, {"x"}]>

// -----

// Meshes: devices in another order, another name, other axes, one device.

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @same = <["x"=2, "y"=2]>
sdy.mesh @reverse = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @other = <["a"=4]>
sdy.mesh @device = <[], device_ids=[0]>

func.func @order(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@reverse, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x", "y"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @order
// CHECK-NEXT: %0 = sdy.all_slice [{"y"}] %a out_sharding=<@reverse, [{"x", "y"}]>
// CHECK-NEXT: sdy.collective_permute %0 out_sharding=<@mesh, [{"x", "y"}]>

func.func @name(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@same, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x", "y"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @name
// CHECK-NEXT: sdy.all_slice [{"y"}] %a out_sharding=<@mesh, [{"x", "y"}]>

func.func @axes(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: @axes
// CHECK-NEXT: sdy.reshard %a <@mesh, [{"x"}]>
// CHECK-NEXT: sdy.all_gather [{"a"}] %a out_sharding=<@other, [{}]>

func.func @single(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@device, []>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@device, []> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: @single
// CHECK-NEXT: %0 = sdy.reshard %a <@mesh, [{"x"}]>
// CHECK-NEXT: sdy.reshard %0 <@device, []>

// -----

// Sizes without a common divisor, and sub-axes that cannot be in one sharding.

sdy.mesh @mesh = <["x"=3, "y"=2]>
sdy.mesh @twelve = <["x"=12]>

func.func @sizes(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xf32> {
  %0 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<6xf32>
  return %0 : tensor<6xf32>
}
// CHECK-LABEL: @sizes
// CHECK: out_sharding=<@mesh, [{"y"}]> : tensor<6xf32>
// CHECK-NEXT: func.return

func.func @cannot_coexist(%a: tensor<12xf32> {sdy.sharding = #sdy.sharding<@twelve, [{"x":(1)3}]>}) -> tensor<12xf32> {
  %0 = sdy.reshard %a <@twelve, [{"x":(1)2}]> : tensor<12xf32>
  return %0 : tensor<12xf32>
}
// CHECK-LABEL: @cannot_coexist
// CHECK-NEXT: %0 = sdy.all_gather [{"x":(1)3}] %a out_sharding=<@twelve, [{}]>
// CHECK-NEXT: sdy.all_slice [{"x":(1)2}] %0 out_sharding=<@twelve, [{"x":(1)2}]>

// -----

// Barriers are looked through; reshards in regions count too.

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @barrier(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: @barrier
// CHECK: sdy.all_to_all [{"x"}: 0->1] %a

func.func @region(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%p: tensor<4x8xf32>) {
    %1 = sdy.reshard %p <@mesh, [{}, {"y"}]> : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
// CHECK-LABEL: @region
// CHECK: sdy.all_to_all [{"y"}: 0->1] %p out_sharding=<@mesh, [{}, {"y"}]>
