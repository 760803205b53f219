// RUN: xdsl-opt %s -p 'sdy-apply-sharding-constraints{debug-sharding-origins=true debug-propagation-edge-sharding=true},sdy-basic-propagate{debug-sharding-origins=true debug-propagation-edge-sharding=true}' | filecheck %s --check-prefix=RECORDED
// RUN: xdsl-opt %s -p 'sdy-apply-sharding-constraints{debug-sharding-origins=true debug-propagation-edge-sharding=true},sdy-basic-propagate{debug-sharding-origins=true debug-propagation-edge-sharding=true},sdy-remove-propagation-debug-info' | filecheck %s

sdy.mesh @mesh = <["a"=2, "b"=2]>

// The step that applied the constraint comes before those of propagation.

// RECORDED:      stablehlo.negate {{.*}}sdy.sharding_origins = [{b = "constraint_0"}]
// RECORDED-NEXT: sdy.sharding_constraint {{.*}}sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"b" = result-0 -> [operand-0]}]}]>
// RECORDED-NEXT: stablehlo.add {{.*}}sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"b" = operand-0 -> [result-0]}]}]>

// All of it goes but the name of the constraint.

// CHECK-NOT: {{sdy.sharding_origins|sdy.propagation_edges}}
// CHECK:     sdy.sharding_origin_name = "constraint_0"
// CHECK-NOT: {{sdy.sharding_origins|sdy.propagation_edges}}
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.negate %x : tensor<8x16xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"b"}]> : tensor<8x16xf32>
  %2 = stablehlo.add %1, %1 : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
