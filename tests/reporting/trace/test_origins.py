"""Where ops come from: JAX's name stack, tracebacks, and what becomes of each op."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttxdsl.program import make_context, parse_program
from ttxdsl.reporting.trace.origins import Origins, frames_of, name_stack
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
    assert [(f.function, f.position) for f in frames_of(location(text))] == [
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


def inlined() -> tuple[ModuleOp, Origins]:
    module = parse_program(CALLS)
    origins = Origins(module)
    InlinePass().apply(make_context(), module)
    return module, origins


def test_each_call_is_a_scope_of_its_own():
    module, origins = inlined()
    first, second = (op for op in module.walk() if op.name == "stablehlo.negate")
    assert [s.name for s in origins.scopes(first)] == ["@f", "inner"]
    assert [s.name for s in origins.scopes(second)] == [
        *("jit(g)", "layer", "jit(f)", "inner"),
    ]
    assert origins.chain(first) != origins.chain(second)
    assert origins.scopes(first)[0].call >= 0


def test_frames_go_through_calls():
    module, origins = inlined()
    second = [op for op in module.walk() if op.name == "stablehlo.negate"][1]
    found = [f.position for f in origins.frames(second)]
    assert found == ["m.py:1:2", "m.py:5:1"]


def test_nodes_are_found_in_what_is_made_of_them():
    module, origins = inlined()
    negates = [op for op in module.walk() if op.name == "stablehlo.negate"]
    assert [origins.node(op) for op in negates] == [None, None]
    origins.mark_nodes([None, *negates])
    assert [origins.node(op) for op in negates] == [1, 2]
    assert origins.source_chain(negates[0])[-1].startswith("ttxdsl.op=")
