"""Elementwise ops that go through a stretch together compute what each does alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from xdsl.dialects.builtin import ModuleOp

from tests.interpreters.reference import parse
from ttxdsl.conversion.stablehlo_to_ttir.convert import convert_stablehlo_to_ttir
from ttxdsl.conversion.ttir_to_ttnn.convert import convert_ttir_to_ttnn
from ttxdsl.interpreters.kernels.elements import tensor_of, widen
from ttxdsl.interpreters.kernels.elementwise import BINARY, UFUNCS, UNARY
from ttxdsl.interpreters.runtime import fusion, threads
from ttxdsl.interpreters.runtime.compiled_op import COMPILERS, CompiledOp, RowKernel
from ttxdsl.interpreters.runtime.regions import LocatedError, session
from ttxdsl.interpreters.runtime.run import Runner

SHAPE = (6, 5)
UNARY_OPS = ("abs", "cosine", "exponential", "logistic", "negate", "tanh", "sqrt")
BINARY_OPS = ("add", "divide", "maximum", "multiply", "power", "subtract")


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch):
    """Stretches of eight elements, by two threads."""
    make_small_large(monkeypatch)


def make_small_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "LARGE", 16)
    monkeypatch.setattr(fusion, "SIZE", 8)
    monkeypatch.setattr(threads, "threads", lambda: 2)


def of(*shape: int, element: str = "f32") -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def random_program(seed: int) -> str:
    """Elementwise ops on four arguments, and others in between; some results are used
    again later, some are returned."""
    rng = random.Random(seed)
    dtype = rng.choice(["f32", "f32", "f64", "bf16"])
    type_ = of(*SHAPE, element=dtype)
    values = [f"%a{n}" for n in range(4)]
    lines = [f"%zero = stablehlo.constant dense<0.0> : tensor<{dtype}>"]
    for n in range(rng.randrange(3, 14)):
        recent = values[-rng.choice([2, len(values)]) :]
        x, y = rng.choice(recent), rng.choice(values)
        kind = rng.random()
        if kind < 0.35:
            op = f"stablehlo.{rng.choice(UNARY_OPS)} {x} : {type_}"
        elif kind < 0.7:
            op = f"stablehlo.{rng.choice(BINARY_OPS)} {x}, {y} : {type_}"
        elif kind < 0.8:
            lines.append(
                f"%p{n} = stablehlo.compare LT, {x}, {y} :"
                f" ({type_}, {type_}) -> {of(*SHAPE, element='i1')}"
            )
            op = (
                f"stablehlo.select %p{n}, {x}, {y} :"
                f" {of(*SHAPE, element='i1')}, {type_}"
            )
        elif kind < 0.95:
            # of a row, which is row by row, or of a column
            of_row = rng.random() < 0.7
            kept, gone = (0, 1) if of_row else (1, 0)
            reduced = of(SHAPE[kept], element=dtype)
            lines.append(
                f"%s{n} = stablehlo.reduce({x} init: %zero) applies"
                f" stablehlo.{rng.choice(['add', 'maximum'])} across"
                f" dimensions = [{gone}] : ({type_}, tensor<{dtype}>) -> {reduced}"
            )
            op = (
                f"stablehlo.broadcast_in_dim %s{n}, dims = [{kept}] :"
                f" ({reduced}) -> {type_}"
            )
        else:
            turned = of(*reversed(SHAPE), element=dtype)
            lines.append(
                f"%t{n} = stablehlo.transpose {x}, dims = [1, 0] : ({type_}) -> {turned}"
            )
            op = f"stablehlo.reshape %t{n} : ({turned}) -> {type_}"
        lines.append(f"%v{n} = {op}")
        values.append(f"%v{n}")
    out = [values[-1], *rng.sample(values, 2)]
    args = ", ".join(f"%a{n}: {type_}" for n in range(4))
    types = ", ".join([type_] * len(out))
    body = "\n".join([*lines, f"return {', '.join(out)} : {types}"])
    return f"func.func @main({args}) -> ({types}) {{\n{body}\n}}"


def inputs_of(runner: Runner, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for type_ in runner.function.function_type.inputs:
        _, dtype = tensor_of(type_)
        found.append(rng.uniform(0.1, 2, SHAPE).astype(dtype))
    return found


def as_it_is(module: ModuleOp) -> None:
    """StableHLO."""


def in_ttnn(module: ModuleOp) -> None:
    convert_stablehlo_to_ttir(module)
    convert_ttir_to_ttnn(module)


@pytest.mark.parametrize("lower", [as_it_is, in_ttnn])
@given(seed=st.integers(0, 1 << 20))
@settings(max_examples=16)
def test_stretches_compute_what_whole_arrays_do(
    lower: Callable[[ModuleOp], None], seed: int
):
    """To the bit, in the first pass and later ones; arguments stay as they are."""
    module = parse(random_program(seed))
    lower(module)
    wanted = Runner(module).run(inputs_of(Runner(module), seed))
    with pytest.MonkeyPatch.context() as patch:
        make_small_large(patch)
        runner = Runner(module)
        inputs = inputs_of(runner, seed)
        before = [x.copy() for x in inputs]
        for _ in range(3):
            found = runner.run(inputs)
            for x, y in zip(found, wanted, strict=True):
                assert x.dtype == y.dtype
                np.testing.assert_array_equal(widen(x), widen(y))
            for x, y in zip(inputs, before, strict=True):
                np.testing.assert_array_equal(x, y)


GELU = f"""func.func @main(%x: {of(*SHAPE)}) -> {of(*SHAPE)} {{
  %square = stablehlo.multiply %x, %x : {of(*SHAPE)}
  %cube = stablehlo.multiply %square, %x : {of(*SHAPE)}
  %tanh = stablehlo.tanh %cube : {of(*SHAPE)}
  %y = stablehlo.multiply %tanh, %x : {of(*SHAPE)}
  return %y : {of(*SHAPE)}
}}"""


@pytest.mark.usefixtures("small_is_large")
def test_what_is_made_on_the_way_is_never_whole(monkeypatch: pytest.MonkeyPatch):
    """Four ops ask for memory once, and kernels see stretches alone."""
    asked: list[tuple[int, ...]] = []

    def spy(shape: Any, dtype: Any) -> Any:
        asked.append(tuple(shape))
        return np.empty(shape, dtype)

    monkeypatch.setattr(fusion, "empty", spy)
    runner = Runner(parse(GELU))
    runner.run([np.ones(SHAPE, np.float32)])
    assert asked == [SHAPE]
    (plan,) = session(runner.interpreter).plans.values()
    assert [len(run.steps) for run in plan.groups] == [4, 1]


def softmax(*shape: int) -> str:
    """Of the last dimension, times a weight an element of it."""
    whole, rows, dims = of(*shape), of(*shape[:-1]), [*range(len(shape) - 1)]
    last = len(shape) - 1
    return f"""func.func @main(%x: {whole}, %w: {of(shape[-1])}) -> {whole} {{
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum
        across dimensions = [{last}] : ({whole}, tensor<f32>) -> {rows}
      %mb = stablehlo.broadcast_in_dim %m, dims = {dims} : ({rows}) -> {whole}
      %d = stablehlo.subtract %x, %mb : {whole}
      %e = stablehlo.exponential %d : {whole}
      %wb = stablehlo.broadcast_in_dim %w, dims = [{last}]
        : ({of(shape[-1])}) -> {whole}
      %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add
        across dimensions = [{last}] : ({whole}, tensor<f32>) -> {rows}
      %sb = stablehlo.broadcast_in_dim %s, dims = {dims} : ({rows}) -> {whole}
      %y = stablehlo.divide %e, %sb : {whole}
      %z = stablehlo.multiply %y, %wb : {whole}
      return %z : {whole}
    }}"""


@pytest.mark.parametrize("shape", [(6, 5), (1, 6, 5), (2, 3, 5)])
def test_a_softmax_goes_row_by_row(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
):
    """In ttnn all of it is one run; views of the weights go ahead of it."""
    make_small_large(monkeypatch)
    module = parse(softmax(*shape))
    in_ttnn(module)
    runner = Runner(module)
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(one).astype(np.float32) for one in (shape, shape[-1]))
    (found,) = runner.run([x, w])
    (plan,) = session(runner.interpreter).plans.values()
    (run,) = (one for one in plan.groups if len(one.steps) > 1)
    names = [step.op.name.removeprefix("ttnn.") for step in run.steps]
    assert [name for name in names if name not in ("reshape", "repeat")] == [
        *("max", "subtract", "exp", "sum", "divide", "multiply")
    ]
    assert run.keeps == len(shape) - 1 and len(run.outputs) == 1
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(found, e / e.sum(axis=-1, keepdims=True) * w, 1e-6)


@pytest.mark.usefixtures("small_is_large")
def test_rows_are_not_repeated_beside_what_is_whole():
    """Of two that a ufunc reads together one is repeated, else the result would be short."""
    whole, rows = of(*SHAPE), of(SHAPE[0], 1)
    text = f"""func.func @main(%x: {whole}, %low: {rows}, %high: {rows}) -> {whole} {{
      %0 = "ttnn.add"(%low, %low) : ({rows}, {rows}) -> {rows}
      %a = "ttnn.repeat"(%0) <{{repeat_dims = #ttnn.shape<1x5>}}> : ({rows}) -> {whole}
      %1 = "ttnn.multiply"(%0, %high) : ({rows}, {rows}) -> {rows}
      %b = "ttnn.repeat"(%1) <{{repeat_dims = #ttnn.shape<1x5>}}> : ({rows}) -> {whole}
      %c = "ttnn.subtract"(%a, %b) : ({whole}, {whole}) -> {whole}
      %d = "ttnn.divide"(%x, %c) : ({whole}, {whole}) -> {whole}
      %e = "ttnn.repeat"(%1) <{{repeat_dims = #ttnn.shape<1x5>}}> : ({rows}) -> {whole}
      %f = "ttnn.multiply"(%d, %e) : ({whole}, {whole}) -> {whole}
      %g = "ttnn.multiply"(%d, %f) : ({whole}, {whole}) -> {whole}
      return %g : {whole}
    }}"""
    runner = Runner(parse(text))
    rng = np.random.default_rng(0)
    x, low, high = (
        rng.standard_normal((SHAPE[0], n)).astype(np.float32) for n in (5, 1, 1)
    )
    for _ in range(2):
        (found,) = runner.run([x, low, high])
        two = low + low
        part = x / (two - two * high)
        np.testing.assert_array_equal(found, part * (part * (two * high)))
    (plan,) = session(runner.interpreter).plans.values()
    (run,) = (one for one in plan.groups if len(one.steps) > 1)
    repeats = [one for one in run.row_steps if one.op.name == "ttnn.repeat"]
    kept = [one.kernel(np.ones((2, 1))).shape for one in repeats]
    assert kept == [(2, 1), (2, 5), (2, 1)]


@pytest.mark.usefixtures("small_is_large")
def test_what_has_nothing_to_do_with_a_run_is_one_of_its_own():
    """Updates that take turns, of shapes that begin alike, and an op that needs two."""
    wide, long = of(*SHAPE, 4), of(*SHAPE)
    text = f"""func.func @main(%a: {wide}, %b: {wide}, %c: {long}, %d: {long})
        -> ({wide}, {long}, {long}) {{
      %0 = stablehlo.multiply %a, %a : {wide}
      %1 = stablehlo.multiply %c, %c : {long}
      %2 = stablehlo.subtract %b, %0 : {wide}
      %3 = stablehlo.subtract %d, %1 : {long}
      %4 = stablehlo.reshape %c : ({long}) -> {long}
      %5 = stablehlo.add %3, %4 : {long}
      return %2, %3, %5 : {wide}, {long}, {long}
    }}"""
    runner = Runner(parse(text))
    rng = np.random.default_rng(0)
    shapes = (*SHAPE, 4), (*SHAPE, 4), SHAPE, SHAPE
    a, b, c, d = (rng.standard_normal(one).astype(np.float32) for one in shapes)
    for _ in range(2):
        found = runner.run([a, b, c, d])
        for one, wanted in zip(
            found, (b - a * a, d - c * c, d - c * c + c), strict=True
        ):
            np.testing.assert_array_equal(one, wanted)
    (plan,) = session(runner.interpreter).plans.values()
    runs = [[step.op.name.split(".")[1] for step in run.steps] for run in plan.groups]
    assert runs == [
        ["reshape"],
        ["multiply", "subtract", "add"],
        ["multiply", "subtract"],
        ["return"],
    ]


@pytest.mark.usefixtures("small_is_large")
def test_a_number_is_no_row():
    """A sum of all elements, and one more number, where there is no mesh."""
    text = f"""func.func @main(%x: {of(*SHAPE)}, %n: tensor<f32>) -> tensor<f32> {{
      %s = "ttnn.sum"(%x) <{{keep_dim = false, dim_arg = [0 : i32, 1 : i32]}}> :
        ({of(*SHAPE)}) -> tensor<f32>
      %t = "ttnn.add"(%s, %n) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return %t : tensor<f32>
    }}"""
    x, n = np.ones(SHAPE, np.float32), np.float32(2)
    (found,) = Runner(parse(text)).run([x, n])
    assert found == 32


@pytest.mark.usefixtures("small_is_large")
def test_an_operand_that_dies_is_written():
    """Each pass but the first op's: the argument is the caller's, `%a` is nobody's."""
    text = f"""func.func @main(%x: {of(*SHAPE)}) -> {of(*SHAPE)} {{
      %a = stablehlo.add %x, %x : {of(*SHAPE)}
      %t = stablehlo.transpose %a, dims = [0, 1] : ({of(*SHAPE)}) -> {of(*SHAPE)}
      %b = stablehlo.add %t, %x : {of(*SHAPE)}
      return %b : {of(*SHAPE)}
    }}"""
    x = np.ones(SHAPE, np.float32)
    (found,) = Runner(parse(text)).run([x])
    np.testing.assert_array_equal(found, np.full(SHAPE, 3))
    np.testing.assert_array_equal(x, np.ones(SHAPE))


@pytest.mark.usefixtures("small_is_large")
def test_what_a_view_looks_at_is_not_written():
    """An operand that dies is, of the ops of a run; not if a view of it is read later."""
    type_ = of(*SHAPE)
    text = f"""func.func @main(%x: {type_}) -> {type_} {{
      %0 = stablehlo.multiply %x, %x : {type_}
      %1 = stablehlo.reshape %0 : ({type_}) -> {type_}
      %2 = stablehlo.add %0, %x : {type_}
      %3 = stablehlo.multiply %2, %1 : {type_}
      %4 = stablehlo.add %3, %x : {type_}
      return %4 : {type_}
    }}"""
    runner = Runner(parse(text))
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    for _ in range(2):
        (found,) = runner.run([x])
        np.testing.assert_array_equal(found, (x * x + x) * (x * x) + x)
    (plan,) = session(runner.interpreter).plans.values()
    run, _ = plan.groups
    assert [step.over is not None for step in run.row_steps] == [
        *(False, False, False, True, True)
    ]


@pytest.mark.parametrize(
    "name", sorted(name for name in UNARY if UNARY[name] in UFUNCS)
)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("stretched", [False, True])
def test_a_column_is_not_written(
    monkeypatch: pytest.MonkeyPatch, name: str, dtype: str, stretched: bool
):
    """NumPy 2.4 negates elements that are 16 or 64 bytes apart wrongly onto themselves."""
    if stretched:
        make_small_large(monkeypatch)
    for columns in (2, 4, 8):
        whole, column = of(25, columns, element=dtype), of(25, element=dtype)
        text = f"""func.func @main(%x: {whole}) -> {column} {{
          %a = stablehlo.add %x, %x : {whole}
          %s = stablehlo.slice %a [0:25, 0:1] : ({whole}) -> {of(25, 1, element=dtype)}
          %c = stablehlo.reshape %s : ({of(25, 1, element=dtype)}) -> {column}
          %r = stablehlo.{name} %c : {column}
          return %r : {column}
        }}"""
        runner = Runner(parse(text))
        _, kind = tensor_of(runner.function.function_type.inputs.data[0])
        x = np.random.default_rng(0).uniform(0.1, 2, (25, columns)).astype(kind)
        (found,) = runner.run([x])
        np.testing.assert_array_equal(found, UNARY[name](2 * x[:, 0]))


def test_memory_of_an_operand_that_dies_is_taken(monkeypatch: pytest.MonkeyPatch):
    """The first run asks for new memory; `%t` is a view of it that dies in the second."""
    make_small_large(monkeypatch)
    asked: list[tuple[int, ...]] = []

    def spy(shape: Any, dtype: Any) -> Any:
        asked.append(tuple(shape))
        return np.empty(shape, dtype)

    monkeypatch.setattr(fusion, "empty", spy)
    flat = of(SHAPE[0] * SHAPE[1])
    text = f"""func.func @main(%x: {of(*SHAPE)}) -> {flat} {{
      %a = stablehlo.add %x, %x : {of(*SHAPE)}
      %t = stablehlo.reshape %a : ({of(*SHAPE)}) -> {flat}
      %b = stablehlo.add %t, %t : {flat}
      %c = stablehlo.multiply %b, %t : {flat}
      return %c : {flat}
    }}"""
    (found,) = Runner(parse(text)).run([np.ones(SHAPE, np.float32)])
    np.testing.assert_array_equal(found, np.full(SHAPE[0] * SHAPE[1], 8))
    assert asked == [SHAPE]


@pytest.mark.usefixtures("small_is_large")
def test_an_error_names_its_op(monkeypatch: pytest.MonkeyPatch):
    def broken(*_: Any) -> Any:
        raise ValueError("no such function")

    module = parse(GELU)
    (tanh,) = (type(op) for op in module.walk() if op.name == "stablehlo.tanh")
    monkeypatch.setitem(
        COMPILERS, tanh, lambda _: CompiledOp(broken, rows=RowKernel(2, broken))
    )
    runner = Runner(module)
    with pytest.raises(LocatedError, match=r"'stablehlo.tanh'.*\n?.*no such function"):
        runner.run([np.ones(SHAPE, np.float32)])


def test_what_cannot_be_prepared_is_an_error_of_its_turn(
    monkeypatch: pytest.MonkeyPatch,
):
    """The op is named, and what comes before it has run."""
    module = parse(GELU)
    tanh, first = (
        next(type(op) for op in module.walk() if op.name == f"stablehlo.{name}")
        for name in ("tanh", "multiply")
    )
    ran: list[str] = []

    def broken(op: Any) -> Any:
        raise ValueError("no such function")

    def watched(op: Any) -> Any:
        return lambda x, y: ran.append("multiply") or x * y

    monkeypatch.setitem(COMPILERS, tanh, broken)
    monkeypatch.setitem(COMPILERS, first, watched)
    with pytest.raises(LocatedError, match=r"'stablehlo.tanh'.*\n?.*no such function"):
        Runner(module).run([np.ones(SHAPE, np.float32)])
    assert len(ran) == 2


def test_what_is_the_same_on_more_devices_is_computed_once_there(
    monkeypatch: pytest.MonkeyPatch,
):
    """`%c` is the same along "y" and `%d` is not: they do not go together."""
    make_small_large(monkeypatch)
    shapes: list[tuple[int, ...] | None] = []
    real = fusion._common_lead  # pyright: ignore[reportPrivateUsage]

    def spy(*args: Any) -> Any:
        shapes.append(real(*args))
        return shapes[-1]

    monkeypatch.setattr(fusion, "_common_lead", spy)
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=2]>
    func.func @main(%p: tensor<8x8xf32>, %q: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = sdy.manual_computation(%p, %q)
        in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {"y"}]>]
        out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"}
        (%a: tensor<4x8xf32>, %b: tensor<4x4xf32>) {
          %s = stablehlo.slice %a [0:4, 0:4] : (tensor<4x8xf32>) -> tensor<4x4xf32>
          %c = stablehlo.multiply %s, %s : tensor<4x4xf32>
          %d = stablehlo.multiply %c, %b : tensor<4x4xf32>
          sdy.return %d : tensor<4x4xf32>
      } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    rng = np.random.default_rng(0)
    p, q = rng.standard_normal((2, 8, 8)).astype(np.float32)
    (found,) = Runner(parse(text)).run([p, q])
    left = np.tile(p[:, :4] ** 2, (1, 2))
    np.testing.assert_array_equal(found, left * q)
    assert shapes == [None]


@pytest.mark.parametrize("name", sorted({**UNARY, **BINARY}))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stretch_is_a_part_of_the_whole(name: str, dtype: Any):
    """NumPy's kernels give an element the same number wherever it lies."""
    kernel = {**UNARY, **BINARY}[name]
    x, y = np.random.default_rng(0).uniform(0.1, 3, (2, 1031)).astype(dtype)
    args = (x,) if name in UNARY else (x, y)
    if name in INTEGERS:
        args = tuple((10 * one).astype(np.int32) for one in args)
    whole = kernel(*args)
    for start, end in ((0, 7), (7, 500), (500, 1031)):
        part = kernel(*(one[start:end] for one in args))
        np.testing.assert_array_equal(part, whole[start:end])
    ufunc = UFUNCS.get(kernel)
    if ufunc is not None:
        out = args[0].copy()
        ufunc(out, *args[1:], out=out)
        np.testing.assert_array_equal(out, whole)


@given(st.integers(0, 1 << 20))
@settings(max_examples=100)
def test_results_lie_as_those_of_a_ufunc(seed: int):
    """Sums and products that come next then add in the same order."""
    rng = random.Random(seed)
    shape = [rng.randrange(2, 5) for _ in range(rng.randrange(1, 5))]
    arrays: list[Any] = []
    for _ in range(2):
        order = rng.sample(range(len(shape)), len(shape))
        there = [shape[dim] if rng.random() < 0.8 else 1 for dim in order]
        x = np.zeros(there, np.float32).transpose(np.argsort(order))
        arrays.append(np.broadcast_to(x, shape))
    made = np.add(*arrays)
    found = fusion._order_of(arrays, len(shape))  # pyright: ignore[reportPrivateUsage]
    assert [made.strides[dim] for dim in found] == sorted(made.strides, reverse=True)


INTEGERS = {
    *("and", "count_leading_zeros", "not", "or", "popcnt", "xor"),
    *("shift_left", "shift_right_arithmetic", "shift_right_logical"),
}
