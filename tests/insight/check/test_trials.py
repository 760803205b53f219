"""Trials: which results must be equal to the bit, and the inputs that are tried."""

from __future__ import annotations

import numpy as np
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


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ([f"%1 = stablehlo.reverse %a, dims = [0] : {T}"], True),
        ([f"%1 = stablehlo.add %a, %a : {T}"], True),
        ([f"%1 = stablehlo.tanh %a : {T}"], False),
        ([f"%0 = stablehlo.tanh %a : {T}", f"%1 = stablehlo.negate %0 : {T}"], False),
        ([f"%0 = stablehlo.tanh %a : {T}", f"%1 = stablehlo.negate %a : {T}"], True),
        ([f"%1 = func.call @exact(%a) : ({T}) -> {T}"], True),
        ([f"%1 = func.call @rounds(%a) : ({T}) -> {T}"], False),
    ],
)
def test_exact_results(lines: list[str], answer: bool):
    assert exact(*lines) is answer


@pytest.mark.parametrize(("captured", "answer"), [("%a", True), ("%0", False)])
def test_what_a_region_captures_counts(captured: str, answer: bool):
    branch = f"{{\n stablehlo.return {captured} : {T}\n}}"
    assert (
        exact(
            f"%0 = stablehlo.tanh %a : {T}",
            f'%1 = "stablehlo.if"(%p) ({branch}, {branch}) : (tensor<i1>) -> {T}',
        )
        is answer
    )


def test_what_a_region_does_counts():
    branch = f"{{\n %2 = stablehlo.tanh %a : {T}\n stablehlo.return %2 : {T}\n}}"
    call = f'%1 = "stablehlo.if"(%p) ({branch}, {branch}) : (tensor<i1>) -> {T}'
    assert not exact(call)


def test_integers_are_as_exact_as_what_they_are_made_of():
    line = f"%0 = stablehlo.tanh %a : {T}"
    converted = f"%1 = stablehlo.convert %0 : ({T}) -> tensor<4xi32>"
    assert not exact(line, converted, type_="tensor<4xi32>")
    count = f"%0 = stablehlo.convert %a : ({T}) -> tensor<4xi32>"
    powers = "%1 = stablehlo.power %0, %0 : tensor<4xi32>"
    assert exact(count, powers, type_="tensor<4xi32>")


def test_trials():
    module = parse_program(
        f"func.func @main(%a: {T}) -> {T} {{\n"
        f"  %0 = stablehlo.negate %a : {T}\n  return %0 : {T}\n}}\n"
    )
    tagged, one, two = trials_of(module, (1, 2))
    assert tagged.tagged
    assert tagged.inputs[0].tolist() == [0, 1, 2, 3]
    assert tagged.expected[0].tolist() == [0, -1, -2, -3]
    assert not np.array_equal(one.inputs[0], two.inputs[0])
    assert [trial.name for trial in trials_of(module, (), tagged=False)] == []


def test_a_function_without_a_body_is_refused():
    module = parse_program(
        f"func.func @main(%a: {T}) -> {T} {{\n"
        f"  %0 = func.call @elsewhere(%a) : ({T}) -> {T}\n  return %0 : {T}\n}}\n"
        f"func.func private @elsewhere({T}) -> {T}\n"
    )
    with pytest.raises(CompileError, match="elsewhere"):
        trials_of(module)
