"""What programs ask of their arguments, and that they compute numbers with what they get."""

import math
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
from xdsl.utils.exceptions import InterpretationError

from tests.analysis.training_programs import PROGRAMS
from tests.differential.corpus import programs
from tests.sampling import sampled
from ttxdsl import from_jax
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.values.argument_demands import (
    NOTHING,
    ValueDemand,
    argument_demands,
)
from ttxdsl.analysis.values.intervals import ANY, NOT_NEGATIVE, Interval
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.interpreters.compare import special_numbers
from ttxdsl.interpreters.inputs import random_inputs
from ttxdsl.interpreters.runtime.run import Runner
from ttxdsl.loading.program import parse_program


def demands(text: str) -> list[ValueDemand]:
    return argument_demands(entry_function(parse_program(text)))


def of_body(body: str, *types: str, result: str = "tensor<4xf32>") -> list[ValueDemand]:
    """The demands of a function that takes `%a0`, … and returns `%r`."""
    arguments = ", ".join(f"%a{at}: {type}" for at, type in enumerate(types))
    return demands(
        f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"
    )


F32 = "tensor<4xf32>"


@pytest.mark.parametrize(
    ("body", "within"),
    [
        ("%r = stablehlo.sqrt %a0 : tensor<4xf32>", NOT_NEGATIVE),
        ("%r = stablehlo.log %a0 : tensor<4xf32>", NOT_NEGATIVE),
        ("%r = stablehlo.log_plus_one %a0 : tensor<4xf32>", Interval(-1)),
        ("%r = chlo.asin %a0 : tensor<4xf32> -> tensor<4xf32>", Interval(-1, 1)),
        ("%r = stablehlo.exponential %a0 : tensor<4xf32>", ANY),
        # 0.5 * x - 1 under a root
        (
            "%half = stablehlo.constant dense<0.5> : tensor<4xf32>\n"
            "%one = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
            "%0 = stablehlo.multiply %half, %a0 : tensor<4xf32>\n"
            "%1 = stablehlo.subtract %0, %one : tensor<4xf32>\n"
            "%r = stablehlo.sqrt %1 : tensor<4xf32>",
            Interval(2),
        ),
        # -log(-log(x))
        (
            "%0 = stablehlo.log %a0 : tensor<4xf32>\n"
            "%1 = stablehlo.negate %0 : tensor<4xf32>\n"
            "%r = stablehlo.log %1 : tensor<4xf32>",
            Interval(0, 1),
        ),
        # what is not negative anyway asks nothing
        (
            "%c = stablehlo.constant dense<0.1> : tensor<4xf32>\n"
            "%0 = stablehlo.multiply %c, %a0 : tensor<4xf32>\n"
            "%1 = stablehlo.multiply %0, %a0 : tensor<4xf32>\n"
            "%r = stablehlo.sqrt %1 : tensor<4xf32>",
            ANY,
        ),
        (
            "%0 = stablehlo.abs %a0 : tensor<4xf32>\n"
            "%r = stablehlo.log %0 : tensor<4xf32>",
            ANY,
        ),
        # log(x) - 1000 under a root: no number is large enough
        (
            "%c = stablehlo.constant dense<1000.0> : tensor<4xf32>\n"
            "%0 = stablehlo.log %a0 : tensor<4xf32>\n"
            "%1 = stablehlo.subtract %0, %c : tensor<4xf32>\n"
            "%r = stablehlo.sqrt %1 : tensor<4xf32>",
            NOT_NEGATIVE,
        ),
    ],
)
def test_what_functions_of_an_argument_ask(body: str, within: Interval):
    assert of_body(body, F32)[0].within == within


def test_a_step_that_powers_count_is_at_least_one():
    (step, _) = of_body(
        "%b = stablehlo.constant dense<0.9> : tensor<f32>\n"
        "%one = stablehlo.constant dense<1.0> : tensor<f32>\n"
        "%0 = stablehlo.convert %a0 : (tensor<i32>) -> tensor<f32>\n"
        "%1 = stablehlo.power %b, %0 : tensor<f32>\n"
        "%2 = stablehlo.subtract %one, %1 : tensor<f32>\n"
        "%3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
        "%r = stablehlo.divide %a1, %3 : tensor<4xf32>",
        "tensor<i32>",
        F32,
    )
    assert step.within.low == 0 and step.is_open


def test_a_demand_goes_through_loops_and_computations_of_devices():
    x, y = demands("""\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%n = %i, %z = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %3 = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %n, %3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %m = stablehlo.add %n, %1 : tensor<i32>
    %half = stablehlo.constant dense<0.5> : tensor<4xf32>
    %w = stablehlo.multiply %z, %half : tensor<4xf32>
    stablehlo.return %m, %w : tensor<i32>, tensor<4xf32>
  }
  %r = stablehlo.sqrt %0#1 : tensor<4xf32>
  %s = sdy.manual_computation(%y) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
    %b = stablehlo.log %a : tensor<2xf32>
    sdy.return %b : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}""")
    assert x.within == NOT_NEGATIVE
    assert y.within == NOT_NEGATIVE


def of_jax(function: Any, *arguments: Any) -> list[ValueDemand]:
    program = from_jax(jax.jit(function), *arguments)
    return argument_demands(entry_function(program.module))


F = jax.ShapeDtypeStruct((24, 8), np.float32)
N = jax.ShapeDtypeStruct((3,), np.int32)
I = jax.ShapeDtypeStruct((), np.int32)  # noqa: E741


def test_indices_are_within_what_they_index():
    assert of_jax(lambda x, n: x[n], F, N)[1].within.high == 23
    assert of_jax(lambda x, n: x.at[:, n].add(1.0), F, N)[1].within.high == 7
    at = of_jax(lambda x, i: jax.lax.dynamic_slice(x, (i, 0), (5, 8)), F, I)[1]
    assert at.within.high == 19
    hot = of_jax(lambda n: jax.nn.one_hot(n, 11), N)[0]
    assert hot.within == Interval(0, 10)
    pairs = of_jax(lambda x, n, m: x[n, m], F, N, N)
    assert [one.within.high for one in pairs[1:]] == [23, 7]


def test_scales_weights_and_matrices():
    scale, x, w = of_jax(lambda s, x, w: (s * x) @ w, N.update(shape=(8,), dtype=F.dtype), F, F.update(shape=(8, 16)))  # fmt: skip
    assert scale.is_scale and not x.is_scale
    assert w.summed == 8 and x.summed == 0
    (a,) = of_jax(jax.numpy.linalg.cholesky, F.update(shape=(2, 8, 8)))
    assert a.is_definite


def test_numbers_are_drawn_as_they_are_asked_for():
    def draw(demand: ValueDemand, type_: str) -> np.ndarray:
        function = entry_function(
            parse_program(f"func.func @main(%a: tensor<{type_}>) {{ return }}")
        )
        (array,) = random_inputs(function, 0, [demand])
        return array.astype(np.float64)

    for type_ in ("999xf32", "999xbf16", "999xf8E4M3FN"):
        positive = draw(ValueDemand(NOT_NEGATIVE), type_)
        assert positive.min() > 0.05 and positive.max() < 2
        inside = draw(ValueDemand(Interval(-1, 1), is_open=True), type_)
        assert -1 < inside.min() < -0.5 and 0.5 < inside.max() < 1
        scale = draw(ValueDemand(is_scale=True), type_)
        assert abs(scale.mean() - 1) < 0.05 and scale.std() < 0.2
    weights = draw(ValueDemand(summed=100), "99x9xf32")
    assert abs(weights.std() - 0.1) < 0.01
    ids = draw(ValueDemand(Interval(-96, 95)), "999xi32")
    assert (ids.min(), ids.max()) == (0, 95)
    steps = draw(ValueDemand(Interval(0), is_open=True), "999xui8")
    assert (steps.min(), steps.max()) == (1, 8)
    matrices = draw(ValueDemand(is_definite=True), "3x9x9xf32")
    assert np.linalg.eigvalsh(matrices).min() > 0.5
    assert (draw(NOTHING, "99xf8E8M0FNU") > 0).all()


@pytest.mark.parametrize("name", sampled(PROGRAMS, 7))
def test_steps_compute_numbers(name: str):
    function, *arguments = PROGRAMS[name]
    program = from_jax(jax.jit(function), *arguments)
    for seed in range(3):
        for result in program.loaded.interpret(seed=seed).results:
            assert not special_numbers(np.asarray(result)).is_any


def not_numbers(every: int) -> Iterator[str]:
    """Programs of the corpus of which a result is no number."""
    for one in programs()[::every]:
        try:
            runner = Runner(parse_program(one.pretty))
            results = runner.run(random_inputs(runner.function, 0))
        except (CompileError, InterpretationError, ValueError):
            continue
        if any(special_numbers(np.asarray(result)).is_most for result in results):
            yield one.name


def test_the_corpus_computes_numbers():
    assert set(not_numbers(7)) <= {"constant_special"}


@pytest.mark.fuzz
def test_the_whole_corpus_computes_numbers():
    special = {"constant_special", "constant_special_bf16", "constant_c128_special"}
    assert set(not_numbers(1)) == special


def test_demands_that_exclude_each_other_leave_the_first():
    low = ValueDemand(NOT_NEGATIVE)
    assert low.joined(ValueDemand(Interval(high=-1))) == low
    assert low.joined(ValueDemand(Interval(high=1))).within == Interval(0, 1)
    assert math.isinf(low.within.high)
