// RUN: xdsl-opt %s -p 'canonicalize{enable-patterns=sdy-reshard}' | filecheck %s --check-prefix=RESHARD
// RUN: xdsl-opt %s -p 'canonicalize{enable-patterns=sdy-collective}' | filecheck %s --check-prefix=COLLECTIVE
// RUN: xdsl-opt %s -p 'canonicalize{disable-patterns=sdy-reshard,sdy-collective}' | filecheck %s --check-prefix=OTHERS

sdy.mesh @mesh = <["a"=2, "b"=2]>

// A reshard of a reshard has a label, collectives have another. One reshard for two equal
// ones has none. Equal constants are one whatever the labels.

// RESHARD:         %[[C:.*]] = stablehlo.constant
// RESHARD-NEXT:    stablehlo.add %[[C]], %[[C]]
// RESHARD-NEXT:    sdy.reshard %x <@mesh, [{"b"}]>
// RESHARD-NEXT:    sdy.reshard %x <@mesh, [{"b"}]>
// RESHARD-NEXT:    sdy.all_gather
// RESHARD-NEXT:    sdy.all_slice
// RESHARD-NEXT:    return
// COLLECTIVE:      %[[C:.*]] = stablehlo.constant
// COLLECTIVE-NEXT: stablehlo.add %[[C]], %[[C]]
// COLLECTIVE-NEXT: sdy.reshard
// COLLECTIVE-NEXT: sdy.reshard
// COLLECTIVE-NEXT: sdy.reshard
// COLLECTIVE-NEXT: %[[G:.*]] = sdy.all_gather
// COLLECTIVE-NEXT: return %{{.*}}, %{{.*}}, %x
// OTHERS:          %[[C:.*]] = stablehlo.constant
// OTHERS-NEXT:     stablehlo.add %[[C]], %[[C]]
// OTHERS-NEXT:     %[[R:.*]] = sdy.reshard %x <@mesh, [{}]>
// OTHERS-NEXT:     sdy.reshard %[[R]] <@mesh, [{"b"}]>
// OTHERS-NEXT:     sdy.reshard %x <@mesh, [{"b"}]>
// OTHERS-NEXT:     sdy.all_gather
// OTHERS-NEXT:     sdy.all_slice
// OTHERS-NEXT:     return
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<8xf32>
  %d = stablehlo.constant dense<1.0> : tensor<8xf32>
  %e = stablehlo.add %c, %d : tensor<8xf32>
  %0 = sdy.reshard %x <@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"b"}]> : tensor<8xf32>
  %2 = sdy.reshard %x <@mesh, [{"b"}]> : tensor<8xf32>
  %3 = sdy.all_gather [{"a"}] %x out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %4 = sdy.all_slice [{"a"}] %3 out_sharding=<@mesh, [{"a"}]> : tensor<8xf32>
  return %1, %2, %4, %e : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
