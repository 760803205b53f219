"""Devices' products that only a collective reads are combined as they are made."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)

from tests.interpreters.reference import parse
from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters.kernels import matrices
from ttxdsl.interpreters.kernels.contraction import Contraction
from ttxdsl.interpreters.kernels.matrices import Summands
from ttxdsl.interpreters.kernels.reduction import AllReducer, Reducer
from ttxdsl.interpreters.mesh.collectives import DeviceMesh
from ttxdsl.interpreters.runtime import threads
from ttxdsl.interpreters.runtime.run import Runner


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch):
    """A few rows at a time, by two threads."""
    make_small_large(monkeypatch)


def make_small_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "_SHARE", 1)
    monkeypatch.setattr(matrices, "_LINES", 2)
    monkeypatch.setattr(matrices, "SIZE", 8)
    monkeypatch.setattr(matrices, "threads", lambda: 2)
    monkeypatch.setattr(threads, "threads", lambda: 2)


MATRICES = Contraction(((), ()), ((1,), (0,)), (2, 2), np.dtype(np.float32))


@settings(max_examples=40)
@given(st.data())
def test_they_are_combined_in_the_order_of_one_array(data: st.DataObject):
    """To the bit, along any axes, also where one side is the same on several devices.

    Products are exact whatever BLAS does: left sides pick rows of the right ones.
    """
    with pytest.MonkeyPatch.context() as patch:
        make_small_large(patch)
        lead = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=3))
        m, k, n = data.draw(st.tuples(*(st.integers(1, 7) for _ in range(3))))
        ours, theirs = (
            [data.draw(st.sampled_from([1, one, one])) for one in lead] for _ in "xy"
        )
        rng = np.random.default_rng(0)
        x = np.eye(k, dtype=np.float32)[rng.integers(0, k, (*ours, m))]
        y = rng.standard_normal((*theirs, k, n)).astype(np.float32)
        later, plain = MATRICES.deferred(x, y), MATRICES(x, y)
        if plain.size * k < 2:
            return
        assert isinstance(later, Summands) and later.shape == plain.shape
        np.testing.assert_array_equal(np.asarray(later), plain)
        shape = (*plain.shape[: len(lead)], 1, m * n)
        for axes in (
            one
            for r in range(len(lead))
            for one in combinations(range(len(lead)), r + 1)
        ):
            over = AllReducer(
                Reducer.named(data.draw(st.sampled_from(["add", "maximum"])))
            )
            np.testing.assert_array_equal(
                over(later.reshape(shape), axes), over(plain.reshape(shape), axes)
            )


def summed(value: str, shape: str) -> str:
    """An `all_reduce` of a value over the second axis of the mesh."""
    return f""""stablehlo.all_reduce"({value}) <{{
        replica_groups = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids
      }}> ({{
        ^bb0(%l: tensor<f32>, %h: tensor<f32>):
          %t = stablehlo.add %l, %h : tensor<f32>
          stablehlo.return %t : tensor<f32>
      }}) : (tensor<{shape}xf32>) -> tensor<{shape}xf32>"""


def program(body: str) -> ModuleOp:
    """A product %d whose contracting dimension the second axis splits; %s is returned."""
    return parse(f"""sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(%a: tensor<8x12xf32>, %b: tensor<12x6xf32>) -> tensor<8x6xf32> {{
  %r = sdy.manual_computation(%a, %b)
      in_shardings=[<@mesh, [{{"x"}}, {{"y"}}]>, <@mesh, [{{"y"}}, {{}}]>]
      out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={{"x", "y"}}
      (%p: tensor<4x4xf32>, %q: tensor<4x6xf32>) {{
    %d = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0]
        : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    {body}
    sdy.return %s : tensor<4x6xf32>
  }} : (tensor<8x12xf32>, tensor<12x6xf32>) -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}}""")


SUM = f"%s = {summed('%d', '4x6')}"
RESHAPED = f"""%e = stablehlo.reshape %d : (tensor<4x6xf32>) -> tensor<2x12xf32>
    %f = {summed("%e", "2x12")}
    %s = stablehlo.reshape %f : (tensor<2x12xf32>) -> tensor<4x6xf32>"""
READ_TWICE = f"""%e = {summed("%d", "4x6")}
    %m = stablehlo.subtract %d, %d : tensor<4x6xf32>
    %s = stablehlo.add %e, %m : tensor<4x6xf32>"""
CHANGED = f"""%n = stablehlo.negate %d : tensor<4x6xf32>
    %e = {summed("%n", "4x6")}
    %s = stablehlo.negate %e : tensor<4x6xf32>"""

rng = np.random.default_rng(0)
A, B = (rng.standard_normal(shape).astype(np.float32) for shape in ((8, 12), (12, 6)))


@pytest.mark.parametrize(
    ("body", "together"),
    [(SUM, True), (RESHAPED, True), (READ_TWICE, False), (CHANGED, False)],
    ids=["summed", "reshaped", "read twice", "changed"],
)
@pytest.mark.usefixtures("small_is_large")
def test_a_product_that_only_a_collective_reads(
    body: str, together: bool, monkeypatch: pytest.MonkeyPatch
):
    """It is never whole; others are, and the numbers are the same."""
    asked: list[tuple[int, ...]] = []
    combined = Summands.combined

    def spy(self: Summands, axes: Any, ufunc: Any) -> Any:
        asked.append(self.shape)
        return combined(self, axes, ufunc)

    monkeypatch.setattr(Summands, "combined", spy)
    monkeypatch.setattr(Summands, "__array__", None)
    runner = Runner(program(body))
    for _ in range(2):
        (found,) = runner.run([A, B])
        np.testing.assert_allclose(found, A @ B, rtol=1e-5, atol=1e-5)
    assert bool(asked) == together


@pytest.mark.parametrize("lead", [(2, 3), (1, 3), (2, 1), (1, 1)], ids=str)
@pytest.mark.parametrize(
    "groups",
    [
        ((0, 1, 2), (3, 4, 5)),
        ((0, 3), (1, 4), (2, 5)),
        ((0, 1, 2, 3, 4, 5),),
        ((0, 4), (1, 5), (2, 3)),
    ],
    ids=["one axis", "the other", "both", "neither"],
)
@pytest.mark.usefixtures("small_is_large")
def test_any_groups_of_any_devices(
    groups: tuple[tuple[int, ...], ...], lead: tuple[int, int]
):
    """Also along axes on which all devices have the same, and that are one product's."""
    mesh = DeviceMesh((("x", 2), ("y", 3)))
    y = rng.standard_normal((*lead, 4, 2)).astype(np.float32)
    for x in (rng.standard_normal((*lead, 2, 4)), np.ones((1, 1, 2, 4))):
        sides = x.astype(np.float32), y
        later, plain = MATRICES.deferred(*sides), MATRICES(*sides)
        assert isinstance(later, Summands)
        found = mesh.all_reduce(later, 2, groups, AllReducer(Reducer.named("add")))
        wanted = mesh.all_reduce(plain, 2, groups, AllReducer(Reducer.named("add")))
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


@register_impls
class _OtherSum(InterpreterFunctions):
    @impl(stablehlo.AllReduceOp)
    def run_all_reduce(
        self, interpreter: Interpreter, op: stablehlo.AllReduceOp, args: PythonValues
    ) -> PythonValues:
        (x,) = args
        assert isinstance(x, np.ndarray)
        return (x.sum(axis=1, keepdims=True),)
