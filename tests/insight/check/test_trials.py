"""Trials: which results must be equal to the bit, and the inputs that are tried."""

import pytest

from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.insight.check.trials import exact_results, trials_of
from ttxdsl.loading.program import parse_program

T = "tensor<4xf32>"


def exact(*lines: str, result: str = "%1", type_: str = T) -> bool:
    body = "\n".join(lines)
    module = parse_program(
        f"func.func private @exact(%x: {T}) -> {T} {{\n"
        f"  %0 = stablehlo.negate %x : {T}\n  return %0 : {T}\n}}\n"
        f"func.func private @rounds(%x: {T}) -> {T} {{\n"
        f"  %0 = stablehlo.tanh %x : {T}\n  return %0 : {T}\n}}\n"
        f"func.func @main(%a: {T}, %p: tensor<i1>) -> {type_} {{\n"
        f"{body}\n  return {result} : {type_}\n}}\n"
    )
    (answer,) = exact_results(entry_function(module))
    return answer


def test_a_function_without_a_body_is_refused():
    module = parse_program(
        f"func.func @main(%a: {T}) -> {T} {{\n"
        f"  %0 = func.call @elsewhere(%a) : ({T}) -> {T}\n  return %0 : {T}\n}}\n"
        f"func.func private @elsewhere({T}) -> {T}\n"
    )
    with pytest.raises(CompileError, match="elsewhere"):
        trials_of(module)
