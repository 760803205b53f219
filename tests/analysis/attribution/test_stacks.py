"""Where ops come from: JAX's name stack, tracebacks, and what becomes of each op."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.attribution.stacks import Stacks
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.stages.inline import InlinePass


def location(text: str):
    module = parse_program(f"func.func private @f() loc({text})")
    return next(op for op in module.ops if isinstance(op, FuncOp)).location


CALLS = """\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @f(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("jit(g)/layer/jit(f)"("m.py":5:1))
  return %1 : tensor<4xf32>
}
func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32> loc("inner/neg"("m.py":1:2))
  return %0 : tensor<4xf32>
}
"""


def inlined() -> tuple[ModuleOp, Stacks]:
    module = parse_program(CALLS)
    stacks = Stacks(module)
    InlinePass().apply(make_context(), module)
    return module, stacks


def test_frames_go_through_calls():
    module, stacks = inlined()
    second = [op for op in module.walk() if op.name == "stablehlo.negate"][1]
    found = [f.position for f in stacks.frames(second)]
    assert found == ["m.py:1:2", "m.py:5:1"]
