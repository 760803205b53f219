// RUN: xdsl-opt %s -p inline --split-input-file | filecheck %s

// A chain of calls, a function used twice, and one that stays because it is public.

func.func public @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = func.call @outer(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1:2 = func.call @swap(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %1#0, %1#1 : tensor<2xf32>, tensor<2xf32>
}
func.func private @outer(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @inner(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = func.call @inner(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @swap(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  return %y, %x : tensor<2xf32>, tensor<2xf32>
}
func.func private @never_called(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func public @also_public(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = func.call @main(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}

// CHECK-LABEL: func.func public @main
// CHECK-NEXT:    [[A:%.+]] = stablehlo.tanh %x : tensor<2xf32>
// CHECK-NEXT:    [[B:%.+]] = stablehlo.tanh [[A]] : tensor<2xf32>
// CHECK-NEXT:    func.return %x, [[B]] : tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  func.func public @also_public
// CHECK-NEXT:    [[A:%.+]] = stablehlo.tanh %x : tensor<2xf32>
// CHECK-NEXT:    [[B:%.+]] = stablehlo.tanh [[A]] : tensor<2xf32>
// CHECK-NEXT:    func.return [[B]] : tensor<2xf32>
// CHECK-NEXT:  }
// CHECK-NEXT:  }

// -----

// Calls inside regions are inlined; a symbol that another op names stays.

func.func public @main(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = func.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  %2 = stablehlo.composite "my.op" %0 {decomposition = @kept} : (tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @kept(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// CHECK-LABEL: func.func public @main
// CHECK:         [[N:%.+]] = stablehlo.negate %x : tensor<2xf32>
// CHECK-NEXT:    stablehlo.return [[N]] : tensor<2xf32>
// CHECK-NOT:   @f
// CHECK:       func.func private @kept

// -----

// Shardings on a callee's arguments and results, and on the call, become constraints.

sdy.mesh @mesh = <["x"=2]>
func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = func.call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @f(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) {
  %0 = stablehlo.negate %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func public @main
// CHECK-NEXT:    [[A:%.+]] = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<2xf32>
// CHECK-NEXT:    [[N:%.+]] = stablehlo.negate [[A]] : tensor<2xf32>
// CHECK-NEXT:    [[R:%.+]] = sdy.sharding_constraint [[N]] <@mesh, [{?}]> : tensor<2xf32>
// CHECK-NEXT:    [[C:%.+]] = sdy.sharding_constraint [[R]] <@mesh, [{"x"}]> : tensor<2xf32>
// CHECK-NEXT:    func.return [[C]] : tensor<2xf32>
