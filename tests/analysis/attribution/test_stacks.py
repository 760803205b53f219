"""Where ops come from: JAX's name stack, tracebacks, and what becomes of each op."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.attribution.stacks import Stacks, name_stack
from ttxdsl.diagnostics.errors import source_frames
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.stages.inline import InlinePass


def location(text: str):
    module = parse_program(f"func.func private @f() loc({text})")
    return next(op for op in module.ops if isinstance(op, FuncOp)).location


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('"jit(f)/layer/dot_general"', ("jit(f)", "layer", "dot_general")),
        (
            '"jit(f)/transpose(jvp(a/b))/dot"',
            ("jit(f)", "transpose(jvp)", "a", "b", "dot"),
        ),
        ('"jit(f)/jvp()/add"', ("jit(f)", "jvp", "add")),
        ('"mul"("f"("a.py":1:2))', ("mul",)),
        ('"a.py":1:2', ()),
    ],
)
def test_name_stack(text: str, parts: tuple[str, ...]):
    assert name_stack(location(text)) == parts


def test_frames_are_the_traceback_innermost_first():
    text = 'callsite("layer"("m.py":3:4) at "step"("m.py":9:1 to :20))'
    assert [(f.function, f.position) for f in source_frames(location(text))] == [
        ("layer", "m.py:3:4"),
        ("step", "m.py:9:1"),
    ]


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


def test_each_call_is_a_scope_of_its_own():
    module, stacks = inlined()
    first, second = (op for op in module.walk() if op.name == "stablehlo.negate")
    assert [s.name for s in stacks.scopes(first)] == ["@f", "inner"]
    assert [s.name for s in stacks.scopes(second)] == [
        *("jit(g)", "layer", "jit(f)", "inner"),
    ]
    assert stacks.origins.chain(first) != stacks.origins.chain(second)
    assert stacks.scopes(first)[0].call >= 0


def test_frames_go_through_calls():
    module, stacks = inlined()
    second = [op for op in module.walk() if op.name == "stablehlo.negate"][1]
    found = [f.position for f in stacks.frames(second)]
    assert found == ["m.py:1:2", "m.py:5:1"]


def test_nodes_are_found_in_what_is_made_of_them():
    module, stacks = inlined()
    negates = [op for op in module.walk() if op.name == "stablehlo.negate"]
    assert [stacks.node(op) for op in negates] == [None, None]
    stacks.mark_nodes([None, *negates])
    assert [stacks.node(op) for op in negates] == [1, 2]
    assert len(stacks.source_chain(negates[0])) == 2  # the call and the op
