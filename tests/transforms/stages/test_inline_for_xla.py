"""What XLA inlines ahead of its propagation, and how a function that it keeps is sharded."""

import numpy as np
import pytest

import ttxdsl
from tests.transforms.run_pass import run_passes
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent

VALUE = "tensor<8x64xf32>"


def chain(ops: int, calls: int) -> str:
    """Return a program that calls a chain of elementwise ops a number of times."""
    lines = [f"%{at + 1} = stablehlo.sine %{at} : {VALUE}" for at in range(ops)]
    called = [
        f"%{at + 1} = call @f(%{at}) : ({VALUE}) -> {VALUE}" for at in range(calls)
    ]
    body, main = "\n  ".join(lines), "\n  ".join(called)
    return f"""
func.func private @f(%0: {VALUE}) -> {VALUE} {{
  {body}
  return %{ops} : {VALUE}
}}
func.func @main(%0: {VALUE}) -> {VALUE} {{
  {main}
  return %{calls} : {VALUE}
}}
"""


@pytest.mark.parametrize(
    ("ops", "calls", "stays"), [(19, 2, True), (18, 2, False), (40, 1, False)]
)
def test_large_functions_of_several_calls_stay(ops: int, calls: int, stays: bool):
    text = run_passes(chain(ops, calls), "inline-for-xla")
    assert text.count("call @f") == (calls if stays else 0)


def test_a_broadcast_of_ones_is_three_instructions():
    ones, text = "tensor<8x1xf32>", chain(17, 2)
    assert "call @f" not in run_passes(text, "inline-for-xla")
    repeated = f"""
  %s = stablehlo.slice %17 [0:8, 0:1] : ({VALUE}) -> {ones}
  %r = stablehlo.broadcast_in_dim %s, dims = [0, 1] : ({ones}) -> {VALUE}
  return %r : {VALUE}"""
    text = text.replace(f"return %17 : {VALUE}", repeated, 1)
    assert "call @f" in run_passes(text, "inline-for-xla")


def test_what_cannot_be_inlined_is_refused_as_by_the_stages():
    text = chain(19, 2).replace(
        "%1 = stablehlo.sine %0 :", "%1 = call @g(%0) : (XX) ->"
    )
    text = text.replace("XX", VALUE) + f"func.func private @g({VALUE}) -> {VALUE}"
    with pytest.raises(CompileError, match="'@g' is declared but has no body"):
        run_passes(text, "inline-for-xla")


def test_a_kept_function_is_split_one_way_for_all_its_calls():
    """As in libtpu 0.0.52, whose partitioner has one computation for them; values reshard at its border."""
    sent = {}
    for ops in (18, 19):
        function, _, _ = chain(ops, 2).partition("func.func @main")
        program = ttxdsl.load(f"""
sdy.mesh @mesh = <["d"=8]>
{function}
func.func @main(
  %x: {VALUE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"d"}}, {{}}]>}},
  %y: {VALUE} {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"d"}}]>}}
) -> ({VALUE}, {VALUE}) {{
  %0 = call @f(%x) : ({VALUE}) -> {VALUE}
  %1 = call @f(%y) : ({VALUE}) -> {VALUE}
  return %0, %1 : {VALUE}, {VALUE}
}}
""")
        partitioned = program.partition(version="xla")
        sent[ops] = bytes_sent(partitioned.module)
        x = np.linspace(-1, 1, 512, dtype=np.float32).reshape(8, 64)
        expected = x
        for _ in range(ops):
            expected = np.sin(expected)
        for result in partitioned.lower("ttnn").simulate(x, x):
            np.testing.assert_allclose(result, expected, rtol=1e-5)
    assert sent[18] == 0 < sent[19]
