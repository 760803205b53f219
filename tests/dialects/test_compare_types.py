"""`compare_type` fits the elements: what XLA does not compile is refused."""

import ml_dtypes
import numpy as np
import pytest

from tests.differential.oracle import Oracle, OracleRejected
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.loading.program import parse_program

ELEMENTS = {
    "i1": np.bool_,
    "i8": np.int8,
    "i64": np.int64,
    "ui8": np.uint8,
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "complex<f32>": np.complex64,
}


def text(element: str, compare_type: str) -> str:
    tensor = f"tensor<2x{element}>"
    return (
        f"func.func @main(%a: {tensor}, %b: {tensor}) -> tensor<2xi1> {{\n"
        f"  %0 = stablehlo.compare EQ, %a, %b{compare_type} :"
        f" ({tensor}, {tensor}) -> tensor<2xi1>\n  return %0 : tensor<2xi1>\n}}"
    )


@pytest.mark.parametrize("element", ELEMENTS)
def test_xla_takes_what_we_take(oracle: Oracle, element: str):
    names = ("", ", NOTYPE", ", FLOAT", ", TOTALORDER", ", SIGNED", ", UNSIGNED")
    for name in names:
        program = text(element, name)
        try:
            oracle.compute(program, [np.zeros(2, ELEMENTS[element])] * 2)
        except OracleRejected:
            with pytest.raises(CompileError, match=r"compared as .* \(C3\)"):
                parse_program(program)
        else:
            parse_program(program)


def test_message_names_what_fits():
    with pytest.raises(CompileError, match="f32 are compared as FLOAT or TOTALORDER"):
        parse_program(text("f32", ", SIGNED"))
    with pytest.raises(CompileError, match="i1 are compared as UNSIGNED, not as FLOAT"):
        parse_program(text("i1", ", FLOAT"))
