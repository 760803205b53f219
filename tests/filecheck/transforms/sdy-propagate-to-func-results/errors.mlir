// RUN: xdsl-opt %s -p sdy-propagate-to-func-results --verify-diagnostics | filecheck %s

// CHECK: which of the 2 functions is the main one?
// CHECK: hint: call it @main
func.func @f() {
  return
}
func.func @g() {
  return
}
