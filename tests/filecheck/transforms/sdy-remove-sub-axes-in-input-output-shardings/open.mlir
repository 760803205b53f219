// RUN: xdsl-opt %s -p sdy-remove-sub-axes-in-input-output-shardings | filecheck %s

sdy.mesh @mesh = <["a"=2, "b"=4, "c"=3]>

// CHECK:      func.func @main(
// CHECK-SAME:   %x: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b":(2)2}]>}
// CHECK-SAME: -> (tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p1, {}]>})
func.func @main(%x: tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b":(1)2, "c", ?}, {"b":(2)2}]>})
    -> (tensor<24x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b":(1)2, ?}p1, {}]>}) {
  return %x : tensor<24x24xf32>
}
