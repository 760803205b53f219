"""What a manual computation calls may not shard by the axes that it has bound."""

import numpy as np
import pytest

import ttxdsl
from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleRejected
from ttxdsl.diagnostics.errors import CompileError

T = "tensor<8x8xf32>"
U = "tensor<4x8xf32>"


def program(inner: str) -> str:
    """A computation over `b` that calls `@g`, which calls `@f`, which is `inner`."""
    rows = '<@mesh, [{"b"}, {}]>'
    return f"""
      sdy.mesh @mesh = <["a"=2, "b"=2]>
      func.func private @f(%x: {U}) -> {U} {{
        {inner}
        return %r : {U}
      }}
      func.func private @g(%x: {U}) -> {U} {{
        %0 = func.call @f(%x) : ({U}) -> {U}
        return %0 : {U}
      }}
      func.func @main(%x: {T}, %y: {U}) -> ({T}, {U}) {{
        %0 = sdy.manual_computation(%x) in_shardings=[{rows}] out_shardings=[{rows}]
            manual_axes={{"b"}} (%v: {U}) {{
          %1 = func.call @g(%v) : ({U}) -> {U}
          sdy.return %1 : {U}
        }} : ({T}) -> {T}
        %2 = func.call @f(%y) : ({U}) -> {U}
        return %0, %2 : {T}, {U}
      }}"""


def on(axis: str) -> str:
    return (
        f'{{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"{axis}"}}, {{}}]>]>}}'
    )


OF_BOUND = {
    "an op": f"%r = stablehlo.negate %x {on('b')} : {U}",
    "an axis that is only replicated": "%r = sdy.sharding_constraint %x "
    f'<@mesh, [{{?}}, {{?}}], replicated={{"b"}}> : {U}',
    "a computation": f"""
      %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{?}}, {{?}}]>]
          out_shardings=[<@mesh, [{{?}}, {{?}}]>] manual_axes={{"b"}} (%v: {U}) {{
        %1 = stablehlo.negate %v : {U}
        sdy.return %1 : {U}
      }} : ({U}) -> {U}""",
}


@pytest.mark.parametrize("case", OF_BOUND)
def test_refused_as_in_shardy(oracle: Oracle, case: str):
    """C++ says so when it verifies what its pipeline made of the call."""
    text = program(OF_BOUND[case])
    assert oracle.accepts(text)
    said = r'axis "b", which a manual computation around the call of @[fg] has bound'
    for refuse in (
        lambda: ttxdsl.load(text).partition(),
        lambda: run_ours(text, "sdy-propagation-pipeline"),
    ):
        with pytest.raises(CompileError, match=said):
            refuse()
    with pytest.raises(OracleRejected, match="already bound by a parent"):
        oracle.run(text, "sdy-propagation-pipeline")


def test_results(oracle: Oracle):
    """They are constraints where calls are inlined, and said at calls in Shardy's pipeline.

    Named computations alone do not ask for them.
    """
    text = program(f"%r = stablehlo.negate %x : {U}").replace(
        f"@f(%x: {U}) -> {U} {{",
        f"@f(%x: {U}) -> ({U} {{sdy.sharding = #sdy.sharding"
        '<@mesh, [{"b"}, {}]>}) {',
    )
    assert_equal_text(oracle, text, "sdy-import-func-calls")
    direct = text.replace("func.call @g(%v)", "func.call @f(%v)")
    with pytest.raises(OracleRejected, match="already bound by a parent"):
        oracle.run(direct, "sdy-propagation-pipeline")
    with pytest.raises(CompileError, match=r"@f shards a result by axis .b.,"):
        run_ours(direct, "sdy-propagation-pipeline")
    with pytest.raises(CompileError, match=r"'func\.func' op: it uses axis .b."):
        ttxdsl.load(text).partition()


def test_other_axes_are_fine():
    whole = ttxdsl.load(program(f"%r = stablehlo.negate %x {on('a')} : {U}"))
    inputs = [np.ones(shape, np.float32) for shape in ((8, 8), (4, 8))]
    for found, one in zip(whole.partition().simulate(*inputs), inputs, strict=True):
        np.testing.assert_array_equal(found, -one)
