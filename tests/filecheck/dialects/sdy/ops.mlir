// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>
// GENERIC: "sdy.mesh"() <{sym_name = "mesh", mesh = #sdy.mesh<["x"=2, "y"=4]>}> : () -> ()
sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: @shardings_of_values
func.func @shardings_of_values(%a: tensor<8x8xf32>) {
  // CHECK-NEXT: sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  // GENERIC: "sdy.sharding_constraint"(%{{.*}}) <{sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.reshard %{{.*}} <@mesh, [{}, {}]> {test.unit} : tensor<8x8xf32>
  // GENERIC: "sdy.reshard"
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> {test.unit} : tensor<8x8xf32>
  // CHECK-NEXT: sdy.sharding_group %{{.*}} group_id=21 : tensor<8x8xf32>
  // GENERIC: "sdy.sharding_group"(%{{.*}}) <{group_id = 21 : i64}> : (tensor<8x8xf32>) -> ()
  sdy.sharding_group %a group_id=21 : tensor<8x8xf32>
  // CHECK-NEXT: sdy.constant dense<1.000000e+00> : tensor<8xf32>
  // GENERIC: "sdy.constant"() <{value = dense<1.000000e+00> : tensor<8xf32>}> : () -> tensor<8xf32>
  %2 = sdy.constant dense<1.0> : tensor<8xf32>
  // CHECK-NEXT: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1> : tensor<8xi32>
  %3 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1> : tensor<8xi32>
  return
}

// CHECK-LABEL: @propagation
func.func @propagation(%a: tensor<8x8xf32>) {
  // CHECK-NEXT: sdy.func_data_flow_edge %{{.*}} : tensor<8x8xf32>
  %0 = sdy.func_data_flow_edge %a : tensor<8x8xf32>
  %1 = "test.op"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} : tensor<8x8xf32>
  %2 = sdy.data_flow_edge %1 : tensor<8x8xf32>
  %3 = "test.op"(%2) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.propagation_barrier %{{.*}} allowed_direction=NONE : tensor<8x8xf32>
  %5 = sdy.propagation_barrier %4 allowed_direction=NONE : tensor<8x8xf32>
  // CHECK-NEXT: sdy.propagation_barrier %{{.*}} allowed_direction=FORWARD : tensor<8x8xf32>
  // GENERIC: "sdy.propagation_barrier"(%{{.*}}) <{allowed_direction = 1 : i32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = sdy.propagation_barrier %5 allowed_direction=FORWARD : tensor<8x8xf32>
  // CHECK-NEXT: sdy.propagation_barrier %{{.*}} allowed_direction=BACKWARD {test.unit} : tensor<8x8xf32>
  %7 = sdy.propagation_barrier %6 allowed_direction=BACKWARD {test.unit} : tensor<8x8xf32>
  return
}

// CHECK-LABEL: @computations
func.func @computations(%a: tensor<8x8xf32>) {
  // CHECK-NEXT: sdy.manual_computation(%{{.*}}, %{{.*}}) in_shardings=[<@mesh, [{"x", "y", ?}, {?}]>, <@mesh, [{}, {}], replicated={"x"}>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32>) {
  // CHECK-NEXT:   sdy.return {test.unit} %{{.*}} : tensor<4x8xf32>
  // CHECK-NEXT: } {test.unit} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // GENERIC: <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x", "y", ?}, {?}]>, <@mesh, [{}, {}], replicated={"x"}>]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>}> ({
  %0 = sdy.manual_computation(%a, %a) in_shardings=[<@mesh, [{"x", "y", ?}, {?}]>, <@mesh, [{}, {}], replicated={"x"}>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>, %c: tensor<8x8xf32>) {
    sdy.return {test.unit} %b : tensor<4x8xf32>
  } {test.unit} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  // CHECK-NEXT:   sdy.return
  // CHECK-NEXT: } : () -> ()
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  // CHECK-NEXT: sdy.named_computation<"f">(%{{.*}}) (%{{.*}}: tensor<8x8xf32>) {
  // CHECK-NEXT:   sdy.return %{{.*}} : tensor<8x8xf32>
  // CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.named_computation<"f">(%a) (%b: tensor<8x8xf32>) {
    sdy.return %b : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: sdy.named_computation<"g">(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{?}, {?}]>] (%{{.*}}: tensor<8x8xf32>) {
  %2 = sdy.named_computation<"g">(%1) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{?}, {?}]>] (%b: tensor<8x8xf32>) {
    sdy.return %b : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// CHECK-LABEL: @collectives
func.func @collectives(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) {
  // CHECK-NEXT: sdy.all_gather [{"x"}, {}] %{{.*}} out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  // GENERIC: "sdy.all_gather"(%{{.*}}) <{gathering_axes = #sdy<list_of_axis_ref_lists[{"x"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}>
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.all_slice [{}, {"x"}] %{{.*}} out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  // GENERIC: slicing_axes = #sdy<list_of_axis_ref_lists[{}, {"x"}]>
  %1 = sdy.all_slice [{}, {"x"}] %0 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.all_to_all [{"x"}: 1->0] %{{.*}} out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>
  // GENERIC: params = #sdy<all_to_all_param_list[{"x"}: 1->0]>
  %2 = sdy.all_to_all [{"x"}: 1->0] %1 out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.collective_permute %{{.*}} out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.sharded_to_unreduced [{"y"}, {}] %{{.*}} out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  %4 = sdy.sharded_to_unreduced [{"y"}, {}] %3 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y"}> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.all_reduce {"y":(1)2} %{{.*}} out_sharding=<@mesh, [{"x"}, {}], unreduced={"y":(2)2}> : tensor<8x8xf32>
  // GENERIC: reduction_axes = #sdy<axis_ref_list{"y":(1)2}>
  %5 = sdy.all_reduce {"y":(1)2} %4 out_sharding=<@mesh, [{"x"}, {}], unreduced={"y":(2)2}> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.reduce_scatter [{}, {"y":(2)2}] %{{.*}} out_sharding=<@mesh, [{"x"}, {"y":(2)2}]> : tensor<8x8xf32>
  %6 = sdy.reduce_scatter [{}, {"y":(2)2}] %5 out_sharding=<@mesh, [{"x"}, {"y":(2)2}]> : tensor<8x8xf32>
  // CHECK-NEXT: sdy.replicated_to_unreduced {"y":(1)2} %{{.*}} out_sharding=<@mesh, [{"x"}, {"y":(2)2}], unreduced={"y":(1)2}> : tensor<8x8xf32>
  %7 = sdy.replicated_to_unreduced {"y":(1)2} %6 out_sharding=<@mesh, [{"x"}, {"y":(2)2}], unreduced={"y":(1)2}> : tensor<8x8xf32>
  return
}
