// RUN: xdsl-opt %s -p 'sdy-sink-data-flow-edges{sink-debug-sharding-origins=true sink-debug-propagation-edge-sharding=true}' | filecheck %s

sdy.mesh @mesh = <["a"=2]>

// One entry an edge, so that entries can be told apart.
// CHECK:      sdy.block_arg_propagation_edges = []
// CHECK-SAME: sdy.block_arg_sharding_origins = []
// CHECK-SAME: sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>]
// CHECK-SAME: sdy.result_sharding_origins = [{}, {a = "input: 1"}]
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0:2 = stablehlo.optimization_barrier %x, %y : tensor<8xf32>, tensor<8xf32>
  %1 = sdy.data_flow_edge %0#0 : tensor<8xf32>
  %2 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"a"}]> {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>, sdy.sharding_origins = {a = "input: 1"}} : tensor<8xf32>
  return %2 : tensor<8xf32>
}
