"""Names and strings of any characters: we read what we print, and so does jaxlib."""

import pytest

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import parse_program, program_text

PROGRAM = """\
module @{0} attributes {{x.a = {1}, {2} = 1 : i32}} {{
  sdy.mesh @{1} = <[{0}=2, {2}=4]>
  func.func @{2}(%arg0: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@{1}, [{{{0}, {2}:(1)2}}]>}}) -> tensor<8xf32> {{
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@{1}, [{{{0}, ?}}]>] out_shardings=[<@{1}, [{{{0}}}], replicated={{{2}}}>] manual_axes={{{0}}} (%arg1: tensor<4xf32>) {{
      sdy.return %arg1 : tensor<4xf32>
    }} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.named_computation<{0}>(%0) (%arg1: tensor<8xf32>) {{
      sdy.return %arg1 : tensor<8xf32>
    }} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.custom_call @{0}(%1) {{backend_config = {1}}} : (tensor<8xf32>) -> tensor<8xf32>
    return %2 : tensor<8xf32>
  }}
}}
"""


def test_string_that_is_no_text():
    config = "module {{ func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{ {} }} }}"
    call = '%0 = stablehlo.custom_call @f(%a) {backend_config = "\\FF\\01a"}'
    ops = f"{call} : (tensor<4xf32>) -> tensor<4xf32> return %0 : tensor<4xf32>"
    printed = program_text(parse_program(config.format(ops)))
    assert 'backend_config = "\\FF\\01a"' in printed
    assert program_text(parse_program(printed)) == printed
    with pytest.raises(CompileError, match=r"^in.mlir:1:17: error: string literal"):
        parse_program('sdy.mesh @m = <["\\FF"=2]>', "in.mlir")
