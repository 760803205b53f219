// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s | xdsl-opt | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every op of the family control_flow, in both forms.

// CHECK-LABEL: @after_all(
// CHECK:      %{{.*}} = stablehlo.after_all %{{.*}}, %{{.*}} : !stablehlo.token
func.func @after_all(%0: !stablehlo.token, %1: !stablehlo.token) {
  %2 = stablehlo.after_all %0, %1 : !stablehlo.token
  func.return
}

// CHECK-LABEL: @async_done(
// CHECK:      %{{.*}} = "stablehlo.async_done"(%{{.*}}) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
func.func @async_done(%0: !stablehlo.future<tensor<2xf32>>) {
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  func.return
}

// CHECK-LABEL: @async_start(
// CHECK:      %{{.*}} = "stablehlo.async_start"(%{{.*}}) ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>):
// CHECK-NEXT: %{{.*}} = stablehlo.slice %{{.*}} [0:2] : (tensor<4xf32>) -> tensor<2xf32>
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<2xf32>
// CHECK-NEXT: }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
func.func @async_start(%0: tensor<4xf32>) {
  %1 = "stablehlo.async_start"(%0) ({
  ^bb0(%a: tensor<4xf32>):
    %c = stablehlo.slice %a [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %c : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  func.return
}

// CHECK-LABEL: @case(
// CHECK:      %{{.*}} = "stablehlo.case"(%{{.*}}) ({
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<4xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<4xf32>
// CHECK-NEXT: }) : (tensor<i32>) -> tensor<4xf32>
func.func @case(%0: tensor<4xf32>, %1: tensor<i32>) {
  %2 = "stablehlo.case"(%1) ({
    stablehlo.return %0 : tensor<4xf32>
  }, {
    stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @if(
// CHECK:      %{{.*}} = "stablehlo.if"(%{{.*}}) ({
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<4xf32>
// CHECK-NEXT: }, {
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<4xf32>
// CHECK-NEXT: }) : (tensor<i1>) -> tensor<4xf32>
func.func @if(%0: tensor<4xf32>, %1: tensor<i1>) {
  %2 = "stablehlo.if"(%1) ({
    stablehlo.return %0 : tensor<4xf32>
  }, {
    stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: @optimization_barrier(
// CHECK:      %{{.*}}, %{{.*}} = stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>
func.func @optimization_barrier(%0: tensor<4xf32>, %1: tensor<4xi32>) {
  %2, %3 = stablehlo.optimization_barrier %0, %1 : tensor<4xf32>, tensor<4xi32>
  func.return
}

// CHECK-LABEL: @while(
// CHECK:      %{{.*}} = stablehlo.while(%{{.*}} = %{{.*}}) : tensor<i32>
// CHECK-NEXT: cond {
// CHECK-NEXT: %{{.*}} = stablehlo.compare LT, %{{.*}}, %{{.*}} : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT: stablehlo.return %{{.*}} : tensor<i32>
// CHECK-NEXT: }
func.func @while(%0: tensor<i32>) {
  %1 = stablehlo.while(%a = %0) : tensor<i32>
  cond {
    %c = stablehlo.compare LT, %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %a : tensor<i32>
  }
  func.return
}
