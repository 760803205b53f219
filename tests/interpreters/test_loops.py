"""Loops: a pass through a body writes where nobody looks, and nowhere else."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from xdsl.dialects.builtin import ModuleOp

from tests.interpreters.reference import parse
from tests.work import calls
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.interpreters.kernels import indexing
from ttxdsl.interpreters.runtime.plan import RegionPlan
from ttxdsl.interpreters.runtime.run import Runner

ROWS, WIDTH = 4, 3
BUFFER = f"tensor<{ROWS}x{WIDTH}xf32>"
FLAT = f"tensor<{ROWS * WIDTH}xf32>"
ROW = f"tensor<1x{WIDTH}xf32>"


def loop(body: str, results: str, *, buffers: int = 2, turns: int = ROWS) -> str:
    """A program of one loop over some buffers `%b0`, … and a counter `%i`."""
    args = ", ".join(f"%a{n}: {BUFFER}" for n in range(buffers))
    starts = ", ".join(["%i = %zero", *(f"%b{n} = %a{n}" for n in range(buffers))])
    types = ", ".join(["tensor<i32>", *[BUFFER] * buffers])
    given = ", ".join(f"%r#{n + 1}" for n in range(buffers))
    return f"""func.func @main({args}) -> ({", ".join([BUFFER] * buffers)}) {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %end = stablehlo.constant dense<{turns}> : tensor<i32>
      %r:{buffers + 1} = stablehlo.while({starts}) : {types}
      cond {{
        %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      }} do {{
        {body}
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, {results} : {types}
      }}
      return {given} : {", ".join([BUFFER] * buffers)}
    }}"""


def row_of(source: str, name: str) -> str:
    """Row `%i` of a buffer."""
    return f"""{name} = stablehlo.dynamic_slice {source}, %i, %zero, sizes = [1, {WIDTH}]
      : ({BUFFER}, tensor<i32>, tensor<i32>) -> {ROW}"""


def updated(source: str, row: str, name: str, at: str = "%i") -> str:
    """A buffer with another row."""
    return f"""{name} = stablehlo.dynamic_update_slice {source}, {row}, {at}, %zero
      : ({BUFFER}, {ROW}, tensor<i32>, tensor<i32>) -> {BUFFER}"""


def doubled(row: str, name: str) -> str:
    return f"{name} = stablehlo.add {row}, {row} : {ROW}"


def buffers(count: int = 2) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.random((ROWS, WIDTH)).astype(np.float32) for _ in range(count)]


def copying(text: str, inputs: list[Any]) -> tuple[np.ndarray, ...]:
    """The results where every result of an op is a copy: nothing is shared."""
    runner = Runner(parse(text))
    return runner.run([x.copy() for x in inputs], lambda _, x: x.copy())


def check(text: str, inputs: list[Any] | None = None) -> tuple[np.ndarray, ...]:
    """The results of three runs, which leave their inputs alone."""
    inputs = buffers() if inputs is None else inputs
    kept = [x.copy() for x in inputs]
    wanted = copying(text, inputs)
    runner = Runner(parse(text))
    for _ in range(3):
        found = runner.run(inputs)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip(inputs, kept, strict=True):
            np.testing.assert_array_equal(one, other)
    return wanted


def in_ttnn(text: str) -> ModuleOp:
    """The program for one device."""
    module = parse(text)
    convert_stablehlo_to_ttir(module)
    convert_ttir_to_ttnn(module)
    return module


def written_in_place(
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    made: Callable[[str], ModuleOp] = parse,
    kernel: str = "update_slice_in_place",
) -> int:
    """How many updates of a run wrote into their operand."""
    found: list[bool] = []
    update = getattr(indexing, kernel)

    def watched(*args: Any, **options: Any) -> Any:
        result = update(*args, **options)
        found.append(result is not None)
        return result

    monkeypatch.setattr(indexing, kernel, watched)
    Runner(made(text)).run(buffers(text.count("%a") // 2))
    return sum(found)


STACK = loop(
    "\n".join([row_of("%b0", "%x"), doubled("%x", "%y"), updated("%b1", "%y", "%n")]),
    "%b0, %n",
)


def test_rows_go_into_the_buffer_that_nobody_else_has(monkeypatch: pytest.MonkeyPatch):
    """The first turn copies what the caller has, the others write."""
    (_, stacked) = check(STACK)
    np.testing.assert_array_equal(stacked, 2 * buffers()[0])
    assert written_in_place(monkeypatch, STACK) == ROWS - 1


def scattered(source: str, row: str, name: str, body: str) -> str:
    """A buffer into whose row `%i` a scatter puts another, or adds it."""
    return f"""%at = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %flat = stablehlo.reshape {row} : ({ROW}) -> tensor<{WIDTH}xf32>
      {name} = "stablehlo.scatter"({source}, %at, %flat) <{{
        scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>
      }}> ({{
        ^bb0(%old: tensor<f32>, %new: tensor<f32>):
          {body}
      }}) : ({BUFFER}, tensor<1xi32>, tensor<{WIDTH}xf32>) -> {BUFFER}"""


PUT = "stablehlo.return %new : tensor<f32>"
ADD = "%s = stablehlo.add %old, %new : tensor<f32>\nstablehlo.return %s : tensor<f32>"


@pytest.mark.parametrize("body", [PUT, ADD], ids=["put", "add"])
def test_so_does_what_is_scattered(monkeypatch: pytest.MonkeyPatch, body: str):
    steps = [row_of("%b0", "%x"), doubled("%x", "%y")]
    text = loop("\n".join([*steps, scattered("%b1", "%y", "%n", body)]), "%b0, %n")
    (_, stacked) = check(text)
    first, second = buffers()
    wanted = 2 * first + (second if body == ADD else 0)
    np.testing.assert_allclose(stacked, wanted, rtol=1e-6)
    written: list[bool] = []
    scatter = indexing.scatter

    def watched(inputs: Any, *args: Any, **how: Any) -> Any:
        results = scatter(inputs, *args, **how)
        written.append(np.shares_memory(inputs[0], results[0]))
        return results

    monkeypatch.setattr(indexing, "scatter", watched)
    Runner(parse(text)).run(buffers())
    assert written == [False] + [True] * (ROWS - 1)


def test_so_they_do_in_ttnn(monkeypatch: pytest.MonkeyPatch):
    """A turn costs the row, not the buffer, so that a scan is linear in its length."""
    wanted = check(STACK)
    for found, one in zip(Runner(in_ttnn(STACK)).run(buffers()), wanted, strict=True):
        np.testing.assert_array_equal(found, one)
    count = written_in_place(monkeypatch, STACK, in_ttnn, "scatter_in_place")
    assert count == ROWS - 1


KEPT = {
    "read after": loop(
        "\n".join(
            [
                row_of("%b0", "%x"),
                updated("%b1", "%x", "%n"),
                f"%m = stablehlo.add %b1, %n : {BUFFER}",
            ]
        ),
        "%m, %n",
    ),
    "two names": loop(
        "\n".join([row_of("%b1", "%x"), updated("%b0", "%x", "%n")]), "%n, %n"
    ),
    "one old, one new": loop(
        "\n".join([row_of("%b1", "%x"), updated("%b0", "%x", "%n")]), "%n, %b0"
    ),
    "a view of it": loop(
        "\n".join(
            [
                row_of("%b1", "%x"),
                f"%flat = stablehlo.reshape %b0 : ({BUFFER}) -> {FLAT}",
                updated("%b0", "%x", "%n"),
                f"%again = stablehlo.reshape %flat : ({FLAT}) -> {BUFFER}",
            ]
        ),
        "%n, %again",
    ),
    "a slice of it": loop(
        "\n".join(
            [
                row_of("%b0", "%x"),
                updated("%b0", "%x", "%n", "%zero"),
                updated("%b1", "%x", "%m"),
            ]
        ),
        "%n, %m",
    ),
    "itself": loop(updated("%b0", "%x", "%n").join([row_of("%b0", "%x") + "\n", ""]), "%n, %b1"),
    "a slice that is carried": loop(
        "\n".join(
            [
                f"%x = stablehlo.slice %b0 [0:1, 0:{WIDTH}] : ({BUFFER}) -> {ROW}",
                f"%wide = stablehlo.broadcast_in_dim %x, dims = [0, 1]"
                f" : ({ROW}) -> {BUFFER}",
                row_of("%b1", "%y"),
                doubled("%y", "%z"),
                updated("%b0", "%z", "%n", "%zero"),
            ]
        ),
        "%n, %wide",
    ),
    "a choice": loop(
        "\n".join(
            [
                f"%p = stablehlo.compare LT, %b0, %b1 : ({BUFFER}, {BUFFER})"
                f" -> tensor<{ROWS}x{WIDTH}xi1>",
                f"%n = stablehlo.add %b0, %b0 : {BUFFER}",
                f"%m = stablehlo.select %p, %n, %b1"
                f" : tensor<{ROWS}x{WIDTH}xi1>, {BUFFER}",
                f"%k = stablehlo.select %p, %m, %n"
                f" : tensor<{ROWS}x{WIDTH}xi1>, {BUFFER}",
            ]
        ),
        "%k, %m",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_somebody_still_looks_at_stays(name: str):
    wanted = check(KEPT[name])
    for found, one in zip(
        Runner(in_ttnn(KEPT[name])).run(buffers()), wanted, strict=True
    ):
        np.testing.assert_array_equal(found, one)


def random_body(seed: int) -> tuple[str, str]:
    """Views, updates and sums of three buffers, some of them carried under other names."""
    rng = random.Random(seed)
    values, lines = ["%b0", "%b1", "%b2"], list[str]()
    for n in range(rng.randint(2, 8)):
        new, x, y = f"%v{n}", rng.choice(values), rng.choice(values)
        match rng.randrange(6):
            case 0 | 1:
                at = rng.choice(["%i", "%zero", "%one"])
                lines += [row_of(y, f"%w{n}"), updated(x, f"%w{n}", new, at)]
            case 2:
                lines.append(f"{new} = stablehlo.add {x}, {y} : {BUFFER}")
            case 3:
                lines += [
                    f"%f{n} = stablehlo.reshape {x} : ({BUFFER}) -> {FLAT}",
                    f"{new} = stablehlo.reshape %f{n} : ({FLAT}) -> {BUFFER}",
                ]
            case 4:
                bits = f"tensor<{ROWS}x{WIDTH}xi1>"
                lines += [
                    f"%p{n} = stablehlo.compare LT, {x}, {y}"
                    f" : ({BUFFER}, {BUFFER}) -> {bits}",
                    f"{new} = stablehlo.select %p{n}, {y}, {x} : {bits}, {BUFFER}",
                ]
            case _:
                turned = f"tensor<{WIDTH}x{ROWS}xf32>"
                lines += [
                    f"%t{n} = stablehlo.transpose {x}, dims = [1, 0]"
                    f" : ({BUFFER}) -> {turned}",
                    f"{new} = stablehlo.transpose %t{n}, dims = [1, 0]"
                    f" : ({turned}) -> {BUFFER}",
                ]
        values.append(new)
    return "\n".join(lines), ", ".join(rng.choice(values[-5:]) for _ in range(3))


@given(st.integers(0, 1 << 20))
@settings(max_examples=40)
def test_random_loops_give_what_copies_give(seed: int):
    body, results = random_body(seed)
    check(loop(body, results, buffers=3), buffers(3))


def test_a_pass_costs_the_kernels_alone():
    """A turn of the first loop is five ops: no op, attribute or type is read again."""
    inputs = buffers()
    runner = {
        n: Runner(parse(STACK.replace("dense<4>", f"dense<{n}>"))) for n in (8, 16, 32)
    }
    for one in runner.values():
        one.run(inputs)
    found = {n: calls(lambda one=one: one.run(inputs)) for n, one in runner.items()}
    turn = (found[16] - found[8]) / 8
    # what else the process remembers moves it by a few calls
    assert found[32] - found[16] == pytest.approx(16 * turn, rel=0.05)
    assert turn < 250


def names(plan: RegionPlan) -> list[str]:
    """The ops that are left after the first pass."""
    return [step.op.name for run in plan.groups for step in run.steps]
