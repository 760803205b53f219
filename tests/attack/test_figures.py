"""What is refused says the figure and the place; some of it was silently wrong."""

import pytest

from tests.attack.bombs import BOMBS
from tests.attack.bombs.registry import one_op
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.conversion.stablehlo_to_ttir.convert import ConvertStableHLOToTTIRPass
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects._tt.attributes import NumberError, dense_i32, i32_array, si32_attr
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.loading.program import make_context, parse_program
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass


def partition(text: str) -> None:
    TTStableHLOPipelinePass().apply(make_context(), parse_program(text))


def test_positions_beyond_32_bits():
    """Each half of the padded dimension begins at 3 * 10^9, in i32 a negative number."""
    split = '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}'
    result = f"tensor<{6 * 10**9}xf32>"
    text = one_op(
        f"stablehlo.pad %a, %z, low = [{6 * 10**9 - 8}], high = [0], interior = [0]"
        f" : (tensor<8xf32>, tensor<f32>) -> {result}",
        f"%a: tensor<8xf32> {split}, %z: tensor<f32>",
        result,
        'sdy.mesh @mesh = <["x"=2]>',
    )
    with pytest.raises(UnsupportedError, match="element 3000000000 of a dimension"):
        partition(text)


def test_numbers_of_ttir():
    for make in (si32_attr, lambda n: i32_array([n]), lambda n: dense_i32([n])):
        assert str(2**31 - 1) in str(make(2**31 - 1))
        with pytest.raises(NumberError, match="3000000000 does not fit"):
            make(3 * 10**9)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "a convolution with huge stride",
            "'stablehlo.convolution' op: has no form in",
        ),
        ("elements: 9223372036854775807", "the largest that ttir.s shapes can say"),
    ],
)
def test_lowering_names_the_op(name: str, message: str):
    module = parse_program(BOMBS[name]())
    TTStableHLOPipelinePass().apply(make_context(), module)
    with pytest.raises(UnsupportedError, match=message):
        ConvertStableHLOToTTIRPass().apply(make_context(), module)


def test_dimensions_beyond_numpys():
    module = parse_program(BOMBS["a tensor of rank 65"]())
    with pytest.raises(UnsupportedError, match=r"65 dimensions .* at most 64"):
        random_inputs(entry_function(module), 0)


def test_long_messages_are_cut():
    error = CompileError("a" * 10_000)
    assert len(error.message) < 5_000
    assert "[… 6000 characters …]" in error.message
