// RUN: xdsl-opt %s -p sdy-pre-order-funcs | filecheck %s

// CHECK: @main
// CHECK: @f
// CHECK: @g
func.func private @g() {
  return
}
func.func private @f() {
  func.call @g() : () -> ()
  return
}
func.func @main() {
  func.call @f() : () -> ()
  return
}
