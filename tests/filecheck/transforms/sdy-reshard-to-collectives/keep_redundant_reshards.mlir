// RUN: xdsl-opt %s -p 'sdy-reshard-to-collectives{keep-redundant-reshards=true}' | filecheck %s

sdy.mesh @mesh = <["x"=2]>

func.func @kept(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"x", ?}]> : tensor<8xf32>
  %1 = sdy.reshard %b <@mesh, [{}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: @kept
// CHECK-NEXT: sdy.reshard %a <@mesh, [{"x", ?}]>
// CHECK-NEXT: sdy.reshard %b <@mesh, [{}]>

func.func @needed(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK-LABEL: @needed
// CHECK-NEXT: sdy.all_gather [{"x"}] %a
