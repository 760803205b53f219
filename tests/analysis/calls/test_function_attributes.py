import pytest
from xdsl.dialects.func import FuncOp

from ttxdsl.analysis.calls.function_attributes import result_names
from ttxdsl.loading.program import parse_program


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ("result[0]['w']", "result[0]['w']"),
        ("[0]['w']", "result[0]['w']"),
        ("result", "result"),
        ("", None),
    ],
)
def test_results_have_the_paths_that_jax_wrote(info: str, name: str | None):
    text = (
        "func.func @main(%x: tensor<2xf32>)"
        f' -> (tensor<2xf32> {{jax.result_info = "{info}"}}) {{\n'
        "  return %x : tensor<2xf32>\n}"
    )
    module = parse_program(text)
    (function,) = [op for op in module.ops if isinstance(op, FuncOp)]
    assert result_names(function) == [name]
