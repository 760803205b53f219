// RUN: xdsl-opt %s -p canonicalize | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @reduce_scatter(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"x", "y"}] %0 out_sharding=<@mesh, [{}, {"x", "y"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
// CHECK-LABEL: @reduce_scatter
// CHECK-NEXT: %0 = sdy.reduce_scatter [{}, {"x"}] %a out_sharding=<@mesh, [{}, {"x"}]>
// CHECK-NEXT: %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{}, {"x", "y"}]>
// CHECK-NEXT: func.return %1

func.func @one_exchange(%a: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}, {}, {}]>}) -> tensor<8x8x8x8xf32> {
  %0 = sdy.all_to_all [{"y"}: 1->3] %a out_sharding=<@mesh, [{"x"}, {}, {}, {"y"}]> : tensor<8x8x8x8xf32>
  %1 = sdy.all_to_all [{"x"}: 0->2] %0 out_sharding=<@mesh, [{}, {}, {"x"}, {"y"}]> : tensor<8x8x8x8xf32>
  return %1 : tensor<8x8x8x8xf32>
}
// CHECK-LABEL: @one_exchange
// CHECK-NEXT: sdy.all_to_all [{"x"}: 0->2, {"y"}: 1->3] %a

func.func @nothing_moves(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.collective_permute %a out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  %1 = sdy.all_gather [{}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}
// CHECK-LABEL: @nothing_moves
// CHECK-NEXT: func.return %a

func.func @reshards(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
  %2 = sdy.reshard %a <@mesh, [{"y"}]> : tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
// CHECK-LABEL: @reshards
// CHECK-NEXT: %0 = sdy.reshard %a <@mesh, [{"y"}]>
// CHECK-NEXT: func.return %0, %0
