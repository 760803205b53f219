// RUN: xdsl-opt %s -p sdy-convert-global-to-local | filecheck %s
// RUN: xdsl-opt %s -p 'sdy-convert-global-to-local{per-dim-all-gather=true combine-multi-dimension-reduce-scatter=true enable-rgv3=true}' | filecheck %s --check-prefix=OTHER

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK:      func.func @gathers(%x: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<8x4xf32>
// CHECK-NEXT:   %[[A:.*]] = stablehlo.reshape %x : (tensor<4x2xf32>) -> tensor<1x4x2xf32>
// CHECK-NEXT:   %[[B:.*]] = "stablehlo.all_gather"(%[[A]]) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}>
// CHECK-NEXT:   %[[C:.*]] = stablehlo.reshape %[[B]] : (tensor<4x4x2xf32>) -> tensor<2x2x4x2xf32>
// CHECK-NEXT:   %[[D:.*]] = stablehlo.transpose %[[C]], dims = [0, 2, 1, 3]
// CHECK-NEXT:   stablehlo.reshape %[[D]] : (tensor<2x4x2x2xf32>) -> tensor<8x4xf32>
// OTHER:      func.func @gathers
// OTHER-NEXT:   %[[A:.*]] = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, {{.*}}replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#sdy<axis_ref"b">]>
// OTHER-NEXT:   "stablehlo.all_gather"(%[[A]]) <{all_gather_dim = 0 : i64, {{.*}}axes = [#sdy<axis_ref"a">]>
func.func @gathers(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> tensor<8x4xf32> {
  %0 = sdy.all_gather [{"a"}, {"b"}] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK:      func.func @scatters({{.*}}) -> (tensor<4x2xf32>
// CHECK-NEXT:   %[[R:.*]] = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>
// CHECK:        stablehlo.constant dense<[0, 0, 4, 4]> : tensor<4xi64>
// CHECK:        stablehlo.constant dense<[0, 2, 0, 2]> : tensor<4xi64>
// CHECK:        stablehlo.dynamic_slice %[[R]], %{{.*}}, %{{.*}}, sizes = [4, 2]
// OTHER:      func.func @scatters
// OTHER-NEXT:   %[[A:.*]] = stablehlo.reshape %x : (tensor<8x4xf32>) -> tensor<2x4x2x2xf32>
// OTHER-NEXT:   %[[B:.*]] = stablehlo.transpose %[[A]], dims = [0, 2, 1, 3]
// OTHER-NEXT:   %[[C:.*]] = stablehlo.reshape %[[B]] : (tensor<2x2x4x2xf32>) -> tensor<4x4x2xf32>
// OTHER-NEXT:   "stablehlo.reduce_scatter"(%[[C]])
func.func @scatters(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"a", "b"}>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) {
  %0 = sdy.reduce_scatter [{"a"}, {"b"}] %x out_sharding=<@mesh, [{"a"}, {"b"}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK:      func.func @counts
// CHECK-NEXT:   %[[I:.*]] = stablehlo.iota dim = 0 : tensor<4xi32>
// CHECK-NEXT:   stablehlo.partition_id : tensor<ui32>
// CHECK:        stablehlo.constant dense<[0, 4, 0, 4]> : tensor<4xi64>
// CHECK:        stablehlo.add %[[I]]
func.func @counts() -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
  %0 = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} : tensor<8xi32>
  return %0 : tensor<8xi32>
}

// CHECK:      func.func @body(%x: tensor<2xf32>
// CHECK-NEXT:   %[[N:.*]] = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} : tensor<2xf32>
// CHECK-NEXT:   return %[[N]] : tensor<2xf32>
func.func @body(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", "b"}]>] out_shardings=[<@mesh, [{"a", "b"}]>] manual_axes={"a"} (%y: tensor<4xf32>) {
    %1 = stablehlo.negate %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
