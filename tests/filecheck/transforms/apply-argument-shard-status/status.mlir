// RUN: xdsl-opt %s -p apply-argument-shard-status | filecheck %s
// RUN: xdsl-opt %s -p 'apply-argument-shard-status{result-presharded=1,0}' | filecheck %s --check-prefix RESULT
// RUN: xdsl-opt %s --verify-diagnostics -p 'apply-argument-shard-status{result-presharded=1}' | filecheck %s --check-prefix COUNT
// RUN: xdsl-opt %s --verify-diagnostics -p 'apply-argument-shard-status{result-presharded=1,2}' | filecheck %s --check-prefix FLAG

// A sharding says that the data arrives split; a status that is there stays, also in
// tt-mlir's spelling. Private functions have no callers outside.

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %b: tensor<2xf32>, %c: tensor<2xf32> {ttcore.shard_status = #ttcore.shard_status<presharded>}) -> (tensor<2xf32>, tensor<2xf32>) {
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}
func.func private @inside(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

// CHECK: %a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>, ttcore.shard_status = #ttcore.shard_status<sharded>}
// CHECK-SAME: %b: tensor<2xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}
// CHECK-SAME: %c: tensor<2xf32> {ttcore.shard_status = #ttcore.shard_status<presharded>}
// CHECK-SAME: -> (tensor<2xf32>, tensor<2xf32>)
// CHECK: func.func private @inside(%a: tensor<2xf32>)

// RESULT: -> (tensor<2xf32> {ttcore.shard_status = #ttcore.shard_status<sharded>}, tensor<2xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>})
// COUNT: error: 'func.func' op: result-presharded: 1 entries for the 2 results of 'main'
// FLAG: error: result-presharded: each entry is 0 or 1
