// RUN: xdsl-opt %s -p sdy-manual-axes-cleanup --verify-diagnostics | filecheck %s

// CHECK: error: 'sdy.manual_computation' op: a manual computation with manual axes and a body that is not empty needs an operand or a result
func.func @main() {
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"a"} () {
    "test.op"() : () -> ()
    sdy.return
  } : () -> ()
  return
}
