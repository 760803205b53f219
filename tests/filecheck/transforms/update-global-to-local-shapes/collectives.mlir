// RUN: xdsl-opt %s -p wrap-under-manual-computation,update-global-to-local-shapes | filecheck %s

// Every collective of sdy, over one axis, several, and part of one.

sdy.mesh @mesh = <["x"=2, "y"=4]>

func.func @all_gather(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_gather [{"x", "y"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// One step an axis, the minor one first.
// CHECK-LABEL: func.func @all_gather
// CHECK: (%arg1: tensor<2x8xf32>) {
// CHECK-NEXT: %[[Y:.*]] = "stablehlo.all_gather"(%arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[}}[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<2x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %{{.*}} = "stablehlo.all_gather"(%[[Y]]) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<{{\[}}[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> : (tensor<8x8xf32>) -> tensor<16x8xf32>

func.func @sub_axis(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}, {}]>}) {
  %0 = sdy.all_gather [{"y":(2)2}, {}] %a out_sharding=<@mesh, [{"y":(1)2}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// CHECK-LABEL: func.func @sub_axis
// CHECK: replica_groups = dense<{{\[}}[0, 1], [2, 3], [4, 5], [6, 7]]>
// CHECK-SAME: (tensor<4x8xf32>) -> tensor<8x8xf32>

func.func @all_to_all(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// CHECK-LABEL: func.func @all_to_all
// CHECK: "stablehlo.all_to_all"
// CHECK-SAME: concat_dimension = 0 : i64, replica_groups = dense<{{\[}}[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64
// CHECK-SAME: (tensor<8x8xf32>) -> tensor<16x4xf32>

func.func @permute(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2}, {}]>}) -> (tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2, "x"}, {}]>}) {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"y":(1)2, "x"}, {}]> : tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
// Devices that already hold what they need send to themselves.
// CHECK-LABEL: func.func @permute
// CHECK: source_target_pairs = dense<{{\[}}[0, 0], [1, 1], [2, 4], [3, 5], [4, 2], [5, 3], [6, 6], [7, 7]]> : tensor<8x2xi64>

func.func @reduce_scatter(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<16x8xf32>, tensor<f32>) -> tensor<16xf32>
  %1 = sdy.reduce_scatter [{"y"}] %0 out_sharding=<@mesh, [{"y"}]> : tensor<16xf32>
  return %1 : tensor<16xf32>
}
// It combines as the reduction before it did.
// CHECK-LABEL: func.func @reduce_scatter
// CHECK: "stablehlo.reduce_scatter"
// CHECK-SAME: scatter_dimension = 0 : i64
// CHECK: stablehlo.maximum
// CHECK: (tensor<16xf32>) -> tensor<4xf32>
