// RUN: xdsl-opt %s -p sdy-resolve-permutation-factors | filecheck %s
// RUN: xdsl-opt %s -p 'sdy-resolve-permutation-factors{enable-halo-exchange=false}' | filecheck %s --check-prefix=WHOLE

// A mesh with the devices in the opposite order along "a".

// CHECK:      sdy.mesh @mesh_reversed = <["a"=2, "b"=2], device_ids=[2, 3, 0, 1]>
sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK:      func.func @even
// CHECK-NEXT:   %[[R:.*]] = sdy.reshard %x <@mesh_reversed, [{"a"}, {"b"}]>
// CHECK-NEXT:   stablehlo.reverse %[[R]], dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>}
// CHECK-NEXT:   return
// WHOLE:      func.func @even
// WHOLE-NEXT:   %[[R:.*]] = sdy.reshard %x <@mesh, [{}, {"b"}]>
// WHOLE-NEXT:   %[[V:.*]] = stablehlo.reverse %[[R]], dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b"}]>]>}
// WHOLE-NEXT:   sdy.reshard %[[V]] <@mesh, [{"a"}, {"b"}]>
func.func @even(%x: tensor<6x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<6x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) {
  %0 = stablehlo.reverse %x, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<6x8xi32>
  return %0 : tensor<6x8xi32>
}

// The padding of the last shard moves to the front of the first one. Devices are numbered
// as in the whole mesh.

// CHECK:      func.func @uneven
// CHECK:        %[[P:.*]] = stablehlo.pad %x, %{{.*}}, low = [0, 0], high = [1, 0], interior = [0, 0] {sdy.sharding = {{.*}}} : (tensor<5x8xi32>, tensor<i32>) -> tensor<6x8xi32>
// CHECK-NEXT:   %[[M:.*]] = sdy.manual_computation(%[[P]]) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {"b"}]>] manual_axes={"a"} (%[[S:.*]]: tensor<3x8xi32>) {
// CHECK-NEXT:     %[[E:.*]] = stablehlo.slice %[[S]] [2:3, 0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b"}]>]>}
// CHECK-NEXT:     %[[H:.*]] = {{.*}}stablehlo.collective_permute{{.*}}(%[[E]]){{.*}}dense<{{\[\[}}0, 2], [1, 3]]>
// CHECK-NEXT:     %[[L:.*]] = stablehlo.slice %[[S]] [0:2, 0:8]
// CHECK-NEXT:     stablehlo.concatenate %[[H]], %[[L]], dim = 0
// CHECK:        %[[R:.*]] = sdy.reshard %[[M]] <@mesh_reversed, [{"a"}, {"b"}]>
// CHECK-NEXT:   %[[V:.*]] = stablehlo.reverse %[[R]], dims = [0] {{.*}} : tensor<6x8xi32>
// CHECK-NEXT:   stablehlo.slice %[[V]] [0:5, 0:8] {{.*}} : (tensor<6x8xi32>) -> tensor<5x8xi32>
func.func @uneven(%x: tensor<5x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<5x8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) {
  %0 = stablehlo.reverse %x, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<5x8xi32>
  return %0 : tensor<5x8xi32>
}

// What is taken from the front of each shard is there already.

// CHECK:      func.func @slices
// CHECK-NEXT:   %[[A:.*]] = stablehlo.slice %x [0:7]
// CHECK-NEXT:   %[[R:.*]] = sdy.reshard %x <@mesh, [{}]>
// CHECK-NEXT:   %[[B:.*]] = stablehlo.slice %[[R]] [0:5] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK-NEXT:   %[[C:.*]] = sdy.reshard %[[B]] <@mesh, [{"a"}]>
// CHECK-NEXT:   return %[[A]], %[[C]]
func.func @slices(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<7xf32>, tensor<5xf32>) {
  %0 = stablehlo.slice %x [0:7] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.slice %x [0:5] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : (tensor<8xf32>) -> tensor<5xf32>
  return %0, %1 : tensor<7xf32>, tensor<5xf32>
}
