"""Data flow edges where a program may have them, but none of our passes puts them."""

from contextlib import closing

import numpy as np
import pytest

import ttxdsl
from tests.differential.equal_text import assert_equal_text, run_ours
from tests.differential.oracle import Oracle, OracleAborted

T = "tensor<8x8xf32>"
U = "tensor<4x8xf32>"
SPLIT = 'sharding=<@mesh, [{"a", ?}, {?}]>'
INSIDE = 'sharding=<@mesh, [{?}, {"b", ?}]>'
MESH = 'sdy.mesh @mesh = <["a"=2, "b"=2]>\n'
MAIN = f'func.func @main(%x: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"b", ?}}, {{?}}]>}}, %y: {T}) -> {T}'


def _main(body: str) -> str:
    return f"{MESH}{MAIN} {{\n{body}\nreturn %r : {T}\n}}"


def _loop(condition: str = "", body: str = "", behind: str = "", *, of: str) -> str:
    """A loop of `%k` and `%v`; `of` is what its body doubles, `behind` makes `%r`."""
    behind = behind or f"%r = stablehlo.negate %l#1 : {T}"
    return _main(f"""
      %i = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %l:2 = stablehlo.while(%k = %i, %v = %x) : tensor<i32>, {T}
      cond {{
        {condition or "%n = stablehlo.constant dense<3> : tensor<i32>"}
        %c = stablehlo.compare LT, {"%n" if condition else "%k"}, {"%one" if condition else "%n"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        {body}
        %j = stablehlo.add %k, %one : tensor<i32>
        %w = stablehlo.add {of}, {of} : {T}
        stablehlo.return %j, %w : tensor<i32>, {T}
      }}
      {behind}""")


def _manual(body: str) -> str:
    sharding = '<@mesh, [{"a", ?}, {?}]>'
    return _main(f"""
      %r = sdy.manual_computation(%x, %y) in_shardings=[{sharding}, {sharding}]
          out_shardings=[{sharding}] manual_axes={{"a"}} (%u: {U}, %v: {U}) {{
        {body}
        sdy.return %w : {U}
      }} : ({T}, {T}) -> {T}""")


LATE = {
    "a block argument's, behind other ops": _manual(
        f"%n = stablehlo.negate %u : {U}\n%e = sdy.data_flow_edge %v {INSIDE} : {U}\n"
        f"%w = stablehlo.add %e, %n : {U}"
    ),
    "the second argument's only": _manual(
        f"%e = sdy.data_flow_edge %v {INSIDE} : {U}\n%w = stablehlo.add %e, %u : {U}"
    ),
    "a block argument's, in a region": _manual(f"""
      %p = stablehlo.constant dense<true> : tensor<i1>
      %w = "stablehlo.if"(%p) ({{
        %e = sdy.data_flow_edge %v {INSIDE} : {U}
        %q = stablehlo.negate %e : {U}
        stablehlo.return %q : {U}
      }}, {{
        stablehlo.return %u : {U}
      }}) : (tensor<i1>) -> {U}"""),
    "a result's, behind other ops": _loop(
        of="%v",
        behind=f"%n = stablehlo.negate %y : {T}\n%e = sdy.data_flow_edge %l#1 {SPLIT} "
        f": {T}\n%r = stablehlo.add %e, %n : {T}",
    ),
}
"""Edges that somebody owns, not at once behind the owner."""

NOBODYS = {
    "a loop's argument": _loop(
        body=f"%e = sdy.data_flow_edge %v {SPLIT} : {T}", of="%e"
    ),
    "a loop's argument beside its result": _loop(
        body=f"%e = sdy.data_flow_edge %v {SPLIT} : {T}",
        of="%e",
        behind=f"%f = sdy.data_flow_edge %l#1 : {T}\n%r = stablehlo.negate %f : {T}",
    ),
    "an argument of a condition": _loop(
        condition="%n = sdy.data_flow_edge %k : tensor<i32>", of="%v"
    ),
    "a function's argument": _main(
        f"%e = sdy.data_flow_edge %x {SPLIT} : {T}\n%r = stablehlo.negate %e : {T}"
    ),
    "an op's result": _main(
        f"%n = stablehlo.negate %y : {T}\n%e = sdy.data_flow_edge %n : {T}\n"
        f"%r = stablehlo.negate %e : {T}"
    ),
}
"""Edges behind values that own none; C++ takes them, and crashes when it propagates."""

PASSES = (
    "sdy-sink-data-flow-edges",
    "sdy-insert-explicit-reshards{enable-full-version=true}",
    "sdy-insert-explicit-reshards{enable-full-version=false}",
    "sdy-close-shardings",
    "sdy-remove-size-one-axes",
    "sdy-export-pipeline",
)
PROPAGATION = (
    "sdy-basic-propagate",
    "sdy-aggressive-propagate",
    "sdy-user-priority-propagate",
)
NESTED = "sdy-sink-data-flow-edges", "sdy-insert-explicit-reshards"


def _theirs(name: str) -> str:
    return f"func.func({name})" if name.startswith(NESTED) else name


@pytest.mark.parametrize("case", [*LATE, *NOBODYS])
def test_passes_are_equal(oracle: Oracle, case: str) -> None:
    text = LATE.get(case) or NOBODYS[case]
    for name in PASSES:
        assert_equal_text(oracle, text, name, _theirs(name))
    if case in LATE:
        for name in PROPAGATION:
            assert_equal_text(oracle, text, name)


def test_who_imported_jax_survives_a_crash() -> None:
    with closing(Oracle()) as oracle:
        worker = oracle._start()
        for text in NOBODYS.values():
            with pytest.raises(OracleAborted, match="worker died with code -"):
                oracle.run(text, PROPAGATION[0])
            assert oracle.accepts(text)
        assert oracle._start() is worker


@pytest.mark.parametrize("case", NOBODYS)
def test_edges_of_nobody(oracle: Oracle, case: str) -> None:
    """They link nothing when ours propagates, and numbers stay."""
    text = NOBODYS[case]
    for name in PROPAGATION:
        with pytest.raises(OracleAborted):
            oracle.run(text, name)
        after = run_ours(text, name)
        assert oracle.accepts(after)
        assert after.count("sdy.data_flow_edge") == text.count("sdy.data_flow_edge")
    whole = ttxdsl.load(text)
    inputs = [np.arange(64, dtype=np.float32).reshape(8, 8) + n for n in range(2)]
    (wanted,) = whole.simulate(*inputs)
    np.testing.assert_array_equal(whole.partition().simulate(*inputs)[0], wanted)
