// RUN: xdsl-opt %s --verify-diagnostics -p 'apply-tt-argument-annotations{argument-types="mian=input"}' | filecheck %s --check-prefix NAME
// RUN: xdsl-opt %s --verify-diagnostics -p 'apply-tt-argument-annotations{argument-types="main=input"}' | filecheck %s --check-prefix COUNT
// RUN: xdsl-opt %s --verify-diagnostics -p 'apply-tt-argument-annotations{argument-types="main=input,weight"}' | filecheck %s --check-prefix KIND
// RUN: xdsl-opt %s --verify-diagnostics -p 'apply-tt-argument-annotations{argument-types="input,parameter"}' | filecheck %s --check-prefix FORM
// RUN: xdsl-opt %s --verify-diagnostics -p 'apply-tt-argument-annotations{argument-types="main=input,input;main=input,input"}' | filecheck %s --check-prefix TWICE

func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}

// NAME: error: argument-types: no public function 'mian'; there is: main
// COUNT: :7:1: error: 'func.func' op: argument-types: 1 types for the 2 arguments of 'main'
// KIND: error: argument-types: unknown type 'weight' for function 'main'; one of input, parameter, constant, default
// FORM: error: argument-types: expected 'function=type,…', got 'input,parameter'
// TWICE: error: argument-types: function 'main' is given twice
