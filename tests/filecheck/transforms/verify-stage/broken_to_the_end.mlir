// RUN: xdsl-opt %s --split-input-file --verify-diagnostics -p 'verify-stage{stage=13}' | filecheck %s

// What holds to the end: one program an invariant, which breaks that one first.

// Stage 1 inlines what has a body.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = func.call @f(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func private @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> { return %a : tensor<8x8xf32> }

// CHECK: error: 'func.call' op: '@f' is still called{{.*}} after stage 13
// CHECK-NEXT: hint: stage 1 should have seen to that

// -----

// Stage 3 gives every argument a status.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> ) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// CHECK: error: {{.*}}argument 0 has no ttcore.shard_status{{.*}} after stage 13
// CHECK-NEXT: hint: stage 3 should have seen to that

// -----

// Stage 4 makes a mesh where there is none.

func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// CHECK: error: {{.*}}the module has no mesh{{.*}} after stage 13
// CHECK-NEXT: hint: stage 4 should have seen to that

// -----

// Data flow edges are for stage 6 only,

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = sdy.data_flow_edge %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: 'sdy.data_flow_edge' op: is still there{{.*}} after stage 13
// CHECK-NEXT: hint: stage 6 should have seen to that

// -----

// and so are sharding groups.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  sdy.sharding_group %a group_id=0 : tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}

// CHECK: error: 'sdy.sharding_group' op: is still there{{.*}} after stage 13
// CHECK-NEXT: hint: stage 6 should have seen to that

// -----

// Stage 7 leaves no constraint.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: 'sdy.sharding_constraint' op: is still there{{.*}} after stage 13
// CHECK-NEXT: hint: stage 7 should have seen to that

// -----

// Stage 9 wraps everything.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = stablehlo.abs %a : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: {{.*}}is in '@main' outside of a manual computation{{.*}} after stage 13
// CHECK-NEXT: hint: stage 9 should have seen to that

// -----

// Stage 10 leaves no reshard.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={} (%i: tensor<8x8xf32>) {
    %1 = sdy.reshard %i <@mesh, [{}, {}]> : tensor<8x8xf32>
 sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: 'sdy.reshard' op: is still there{{.*}} after stage 13
// CHECK-NEXT: hint: stage 10 should have seen to that

// -----

// Stage 11 leaves StableHLO's collectives,

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x", "y"} (%i: tensor<8x8xf32>) {
    %1 = sdy.all_gather [{}, {}] %i out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
 sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: 'sdy.all_gather' op: is still there{{.*}} after stage 13
// CHECK-NEXT: hint: stage 11 should have seen to that

// -----

// no axis that is not manual,

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%i: tensor<8x8xf32>) {
    sdy.return %i : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: {{.*}}is not manual along "y"{{.*}} after stage 13
// CHECK-NEXT: hint: stage 11 should have seen to that

// -----

// no computation inside of another,

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x", "y"} (%i: tensor<8x8xf32>) {
    %1 = sdy.manual_computation(%i) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={} (%j: tensor<8x8xf32>) {
  sdy.return %j : tensor<8x8xf32>
} : (tensor<8x8xf32>) -> tensor<8x8xf32>
sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: {{.*}}is inside of something else{{.*}} after stage 13
// CHECK-NEXT: hint: stage 11 should have seen to that

// -----

// and no sharding, neither on ops

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x", "y"} (%i: tensor<8x8xf32>) {
    %1 = stablehlo.abs %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x8xf32>
sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: {{.*}}still has the attribute sdy.sharding{{.*}} after stage 13
// CHECK-NEXT: hint: stage 11 should have seen to that

// -----

// nor on arguments.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {}]>] manual_axes={} (%i: tensor<8x8xf32>) {
    sdy.return %i : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: {{.*}}still has sdy.sharding at its border{{.*}} after stage 13
// CHECK-NEXT: hint: stage 11 should have seen to that

// -----

// Stage 12 closes dimensions.

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x8xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{?}, {}]>] out_shardings=[<@mesh, [{?}, {}]>] manual_axes={"x", "y"} (%i: tensor<8x8xf32>) {
    sdy.return %i : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK: error: {{.*}}has an open dimension in <@mesh, {{\[}}{?}, {}]>{{.*}} after stage 13
// CHECK-NEXT: hint: stage 12 should have seen to that
