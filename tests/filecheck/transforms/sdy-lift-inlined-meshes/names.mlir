// RUN: xdsl-opt %s -p sdy-lift-inlined-meshes | filecheck %s

// Of two equal meshes the first stays, and new ones stand behind the last.

// CHECK:      builtin.module {
// CHECK-NEXT:   sdy.mesh @first = <["a"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}]}}
// CHECK-NEXT:   sdy.mesh @mesh = <["a"=4]>
// CHECK-NEXT:   sdy.mesh @mesh_0 = <["a"=2], device_ids=[1, 0]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}], device_ids = dense<[1, 0]> : tensor<2xi64>}}
// CHECK-NEXT:   sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
sdy.mesh @first = <["a"=2]>
sdy.mesh @second = <["a"=2]>
sdy.mesh @mesh = <["a"=4]>

// CHECK:      func.func @main(
// CHECK-SAME:   %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@first, [{"a"}]>}
// CHECK-SAME:   %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"a"}]>}
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@second, [{"a"}]>},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["a"=2], device_ids=[1, 0]>, [{"a"}]>}) -> tensor<8xf32> {
  // CHECK: stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@first, [{?}]>]>}
  %0 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<mesh<["a"=2]>, [{?}]>]>} : tensor<8xf32>
  // CHECK: "test.op"(%{{.*}}) {sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_3, []>]>}
  %1 = "test.op"(%0) {sdy.sharding = #sdy.sharding_per_value<[<mesh<[], device_ids=[3]>, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
