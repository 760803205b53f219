"""Wrong text is refused with its place."""

import pytest
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ttxdsl.loading.program import make_context

SYNTAX = {
    "stablehlo.add %0, %0 : (tensor<4xf32>) -> tensor<4xf32>": "operand types",
    "stablehlo.iota dim = 0 : tensor<4xf32>, 1": "",
    "stablehlo.iota dims = 0 : tensor<4xf32>": "dim",
    "stablehlo.transpose %0, dims = 0 : (tensor<4xf32>) -> tensor<4xf32>": "[",
    "stablehlo.slice %0 [0:2:] : (tensor<4xf32>) -> tensor<2xf32>": "",
    "stablehlo.compare QT, %0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>": "",
    "stablehlo.select %0, %0, %0 : tensor<4xf32>": "two types",
    "stablehlo.complex %0, %0 : tensor<4xf32>": "complex",
    "stablehlo.reduce_precision %0, format = e5 : tensor<4xf32>": "e5m10",
    "stablehlo.constant 3 : i32": "dense",
    "stablehlo.tuple %0 : tensor<4xf32>": "tuple",
    "stablehlo.reduce(%0 init: %0) applies stablehlo.subtract across dimensions = [0] "
    ": (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>": "not commutative",
    "stablehlo.reduce(%0 init: %0) applies stablehlo.sine across dimensions = [0] : "
    "(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>": "no op that a reduce can apply",
    "stablehlo.convolution(%0, %0) dim_numbers = [b, f, f]x[0, i, o]->[b, f, 0], window "
    "= {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>": "each once",
    "stablehlo.convolution(%0, %0) dim_numbers = [b, f]x[i, o]->[b, f], window = {step "
    "= [1]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>": "unexpected keyword",
    "stablehlo.convolution(%0, %0) dim_numbers = [b, f]x[i, o]->[b, f], window = {pad "
    "= [[1]]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>": "pairs",
    '"stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<left = '
    "[0]>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>": "expected one of",
    '"stablehlo.dot_general"(%0, %0) <{dot_dimension_numbers = #stablehlo.dot<'
    "lhs_contracting_dimensions = [0], lhs_contracting_dimensions = [0]>}> : "
    "(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>": "duplicated",
    "stablehlo.iota dim = 0 {iota_dimension = 0 : i64} : tensor<4xf32>": "given twice",
    "stablehlo.custom_call @f() {a = #stablehlo.channel_handle<handle = 1>} : () -> "
    "tensor<f32>": "expected `type`",
}


@pytest.mark.parametrize("text", SYNTAX, ids=range(len(SYNTAX)))
def test_wrong_syntax_is_refused_where_it_is(text: str):
    program = f"func.func @f(%0: tensor<4xf32>) {{\n%1 = {text}\nreturn\n}}"
    with pytest.raises(ParseError) as refused:
        Parser(make_context(), program).parse_module()
    assert SYNTAX[text] in str(refused.value)
    start = refused.value.span.start
    assert program.index(text) <= start <= program.index("return") + len("return")


def test_the_sign_of_an_unknown_size_is_no_size_of_a_window():
    """jaxlib takes it, and nothing can be computed of it."""
    text = """
    func.func @f(%x: tensor<3xf32>, %z: tensor<f32>) -> tensor<2xf32> {
      %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: -9223372036854775808>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %1 = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<3xf32>, tensor<f32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    with pytest.raises(VerifyException, match="must be positive"):
        Parser(make_context(), text).parse_module().verify()


QUANTIZED = {
    "u5:f32, 1.0": "2/4/8/16/32-bit quantized integer",
    "i64:f32, 1.0": "2/4/8/16/32-bit quantized integer",
    "i8:i32, 1.0": "2/4/8/16/32-bit quantized integer",
    "i8<5:4>:f32, 1.0": r"stores \[5, 4\], which is no range within",
    "i8<-129:127>:f32, 1.0": "which is no range within",
    "i8:f32, 0.0": "scale 0.0 is not positive",
    "i8:f32:0, {1.0, -2.0, 1.0, 1.0}": "scale -2.0 is not positive",
    "i8:f32, 1.0:200": "zero point 200 is not in",
    "i0:f32, 1.0": "i0 cannot store quantized values",
}


@pytest.mark.parametrize("stored", QUANTIZED)
def test_what_cannot_be_quantized_so(stored: str):
    """Specification, "Types": storage is of 2 to 32 bits, ranges and scales are some."""
    kind = f"tensor<4x!quant.uniform<{stored}>>"
    text = f"""func.func @main(%a: {kind}) -> {kind} {{
      %0 = stablehlo.add %a, %a : {kind}
      return %0 : {kind}
    }}"""
    with pytest.raises((ParseError, VerifyException), match=QUANTIZED[stored]):
        Parser(make_context(), text).parse_module().verify()
