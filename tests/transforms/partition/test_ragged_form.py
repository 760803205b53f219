"""A call by the name of a ragged exchange that has another form is one of unknown work."""

from ttxdsl import load

ROWS = "tensor<8x64xf32>"
CALL = f"""
func.func @main(%x: {ROWS}) -> {ROWS} {{
  %r = stablehlo.custom_call @ragged_all_to_all(%x) {{api_version = 4 : i32,
    backend_config = {{}}}} : ({ROWS}) -> {ROWS}
  return %r : {ROWS}
}}"""


def test_another_form_is_partitioned_and_planned():
    program = load(CALL)
    assert program.plan("v5e", variants=False).memory.peak_bytes > 0
