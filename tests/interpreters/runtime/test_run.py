"""Entry points, wrong inputs, the checks on results, liveness, other interpreters."""

import tracemalloc
import weakref

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects import test
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.rewriter import Rewriter

import ttxdsl
from tests.interpreters.reference import parse, run
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError
from ttxdsl.dialects import stablehlo
from ttxdsl.interpreters.runtime.regions import LocatedError
from ttxdsl.interpreters.runtime.run import Runner, register_implementations, run_module
from ttxdsl.loading.program import parse_program

TWO = """
func.func public @f(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @g(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}"""


def test_which_entry_is_asked_for():
    with pytest.raises(CompileError, match="public functions are: @f, @g"):
        run(TWO.replace("private", "public"), np.ones(2, np.float32))
    with pytest.raises(CompileError, match="no function @h") as error:
        run(TWO, np.ones(2, np.float32), entry="h")
    assert "the functions are @f, @g" in str(error.value)


def test_wrong_inputs():
    module = parse(TWO)
    with pytest.raises(CompileError, match="takes 1 arguments, 2 were given"):
        run_module(module, [np.ones(2), np.ones(2)])
    with pytest.raises(
        CompileError, match="elements of type float32, the value has float64"
    ):
        run_module(module, [np.ones(2)])
    with pytest.raises(
        CompileError, match=r"has type tensor<2xf32>, the value has shape \(3,\)"
    ):
        run_module(module, [np.ones(3, np.float32)])
    with pytest.raises(CompileError, match="is given list, which is no array"):
        run_module(module, [[[1, 2], [3]]])
    assert run_module(module, [[1, 2]])[0].tolist() == [2, 4]


def test_plain_numbers_take_the_arguments_type():
    text = "func.func @main(%a: tensor<bf16>, %b: tensor<i1>) -> (tensor<bf16>, tensor<i1>) { return %a, %b : tensor<bf16>, tensor<i1> }"
    found = run(text, 1.5, True)
    assert found[0].dtype == ml_dtypes.bfloat16 and float(found[0]) == 1.5
    with pytest.raises(CompileError, match="takes elements of type bool"):
        run(text, 1.5, 3)


@pytest.mark.parametrize(
    ("element", "inside", "outside"),
    [
        ("i8", (-128, 127), (-129, 128)),
        ("i4", (-8, 7), (-9, 8)),
        ("ui16", (0, 65535), (-1, 65536)),
        ("ui64", (0, 2**64 - 1), (-1,)),
    ],
)
def test_plain_numbers_do_not_wrap_around(
    element: str, inside: tuple[int, ...], outside: tuple[int, ...]
):
    text = f"func.func @main(%a: tensor<{element}>) -> tensor<{element}> {{ return %a : tensor<{element}> }}"
    assert [int(run(text, number)[0]) for number in inside] == [*inside]
    for number in outside:
        with pytest.raises(CompileError, match="does not hold"):
            run(text, number)


def test_what_cannot_be_run_is_named_with_its_place():
    text = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.custom_call @unheard_of(%a) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    with pytest.raises(UnsupportedError, match="custom call @unheard_of") as error:
        run(text, np.ones(2, np.float32))
    assert error.value.op_name == "stablehlo.custom_call"
    text = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = "test.op"(%a) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    from xdsl.dialects.test import Test

    module = parse_with(text, Test)
    with pytest.raises(LocatedError, match=r"test\.op"):
        run_module(module, [np.ones(2, np.float32)])


def parse_with(text, dialect):
    from xdsl.context import Context
    from xdsl.dialects import builtin, func
    from xdsl.parser import Parser

    context = Context()
    for one in (builtin.Builtin, func.Func, dialect):
        context.load_dialect(one)
    return Parser(context, text).parse_module()


def test_results_are_held_against_their_types():
    """A program that lies about a shape (no verifier ran) does not run."""
    module = parse(TWO)
    text = str(module)
    assert "tensor<2xf32>" in text
    from xdsl.dialects.builtin import TensorType, f32

    add = next(op for op in module.walk() if op.name == "stablehlo.add")
    Rewriter.replace_value_with_new_type(add.results[0], TensorType(f32, [3]))
    with pytest.raises(
        LocatedError, match=r"shape \(2,\) and type float32 where its type says"
    ):
        run_module(module, [np.ones(2, np.float32)])


def test_values_die_after_their_last_use():
    text = """func.func @main(%a: tensor<1000xf32>) -> tensor<1000xf32> {
      %0 = stablehlo.add %a, %a : tensor<1000xf32>
      %1 = stablehlo.add %0, %0 : tensor<1000xf32>
      %2 = stablehlo.add %1, %1 : tensor<1000xf32>
      %3 = stablehlo.add %2, %2 : tensor<1000xf32>
      return %3 : tensor<1000xf32>
    }"""
    module = parse(text)
    alive: list[int] = []

    class Watch(Interpreter.Listener):
        def __init__(self):
            self.seen: list[weakref.ref[np.ndarray]] = []

        def did_interpret_op(self, op, results):
            # one that goes where an operand dies is the same array
            alive.append(len({id(ref()) for ref in self.seen if ref() is not None}))
            self.seen += [weakref.ref(result) for result in results]

    interpreter = Interpreter(module, listeners=(Watch(),))
    register_implementations(interpreter)
    interpreter.call_op("main", (np.ones(1000, np.float32),))
    assert max(alive) == 1


@register_impls
class _OtherAdd(InterpreterFunctions):
    """Somebody else's stablehlo.add, and an op that only they know."""

    @impl(stablehlo.AddOp)
    def run_add(
        self, interpreter: Interpreter, op: stablehlo.AddOp, args: PythonValues
    ) -> PythonValues:
        return (args[0] * 10,)

    @impl(test.TestOp)
    def run_test(
        self, interpreter: Interpreter, op: test.TestOp, args: PythonValues
    ) -> PythonValues:
        return (args[0] + 1,)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("f8E5M2", "float8_e5m2"), ("f8E4M3FN", "float8_e4m3fn"), ("bf16", "bfloat16")],
)
def test_windows_of_narrow_floats(kind: str, name: str):
    # NumPy takes the f8 that is the upper half of an f16 for one of its own
    text = f"""func.func @main(%a: tensor<4x{kind}>, %z: tensor<{kind}>) -> tensor<3x{kind}> {{
      %0 = "stablehlo.reduce_window"(%a, %z) <{{window_dimensions = array<i64: 2>}}> ({{
      ^bb0(%x: tensor<{kind}>, %y: tensor<{kind}>):
        %s = stablehlo.add %x, %y : tensor<{kind}>
        stablehlo.return %s : tensor<{kind}>
      }}) : (tensor<4x{kind}>, tensor<{kind}>) -> tensor<3x{kind}>
      return %0 : tensor<3x{kind}>
    }}"""
    dtype = np.dtype(getattr(ml_dtypes, name))
    array = np.array([1, 0, 2, -1], np.float32).astype(dtype)
    found = run(text, array, np.zeros((), dtype))[0]
    assert found.astype(np.float32).tolist() == [1, 2, 1]


def test_types_without_values_are_refused():
    text = "func.func @main(%a: tensor<2xf80>) -> tensor<2xf80> { return %a : tensor<2xf80> }"
    with pytest.raises(UnsupportedError, match="element type f80"):
        run(text, np.ones(2))


def test_a_result_goes_where_an_operand_dies():
    """Five large values one after the other need the memory of two, and no more."""
    steps = "\n".join(
        f'%{at + 1} = "ttnn.add"(%{at}, %a) : (tensor<4096x512xf32>, tensor<4096x512xf32>)'
        " -> tensor<4096x512xf32>"
        for at in range(5)
    )
    text = f"""func.func @main(%a: tensor<4096x512xf32>) -> tensor<4096x512xf32> {{
      %0 = "ttnn.multiply"(%a, %a) : (tensor<4096x512xf32>, tensor<4096x512xf32>)
        -> tensor<4096x512xf32>
      {steps}
      return %5 : tensor<4096x512xf32>
    }}"""
    runner, x = Runner(parse_program(text)), np.ones((4096, 512), np.float32)
    runner.run([x])
    tracemalloc.start()
    (found,) = runner.run([x])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert float(found[0, 0]) == 6
    assert peak < 1.5 * x.nbytes


def test_what_is_computed_ahead_leaves_its_operands_to_ops_before():
    """`%d` dies in the square root, which has constant operands, and the sum reads it."""
    text = """func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
      %n = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%x = %a, %i = %n) : tensor<3xf32>, tensor<i32>
      cond {
        %two = stablehlo.constant dense<2> : tensor<i32>
        %more = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      } do {
        %c = stablehlo.constant dense<[2.0, 8.0, 18.0]> : tensor<3xf32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %d = stablehlo.add %c, %c : tensor<3xf32>
        %y = stablehlo.add %x, %d : tensor<3xf32>
        %r = stablehlo.sqrt %d : tensor<3xf32>
        %z = stablehlo.subtract %y, %r : tensor<3xf32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %z, %j : tensor<3xf32>, tensor<i32>
      }
      return %0#0 : tensor<3xf32>
    }"""
    (result,) = run(text, np.zeros(3, np.float32))
    np.testing.assert_array_equal(result, [4, 24, 60])


def test_a_function_that_calls_itself_is_a_diagnostic():
    module = parse_program("""
        func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = func.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }
        func.func private @f(%x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = func.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
          return %0 : tensor<2xf32>
        }""")
    with pytest.raises(CompileError, match="recursive call of '@f'"):
        run_module(module, [np.zeros(2, np.float32)])


def test_a_tuple_does_not_come_out_of_a_run():
    """Of tensors of one shape, it would be an array of both."""
    module = parse_program("""
        func.func public @main(%x: tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
          %0 = stablehlo.tuple %x, %x : tuple<tensor<2xf32>, tensor<2xf32>>
          return %0 : tuple<tensor<2xf32>, tensor<2xf32>>
        }""")
    with pytest.raises(CompileError, match="result 0 of '@main' is of type tuple<"):
        run_module(module, [np.zeros(2, np.float32)])


def test_a_declaration_cannot_be_run():
    """It is compiled, since there is nothing to do."""
    said = '{sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}'
    program = ttxdsl.load(f"""
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(tensor<4xf32> {said}) -> tensor<4xf32>""")
    assert said in program.partition().text
    assert "sdy" not in program.lower("ttnn").text
    with pytest.raises(CompileError, match="'@main' is declared and has no body"):
        program.simulate(np.zeros(4, np.float32))


def test_complex_products_are_no_real_numbers():
    """The verifier lets them pass, as C++ does, but nobody says which number it is."""
    text = """func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32> {
      %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
      return %r : tensor<2x2xf32>
    }"""
    ones = np.ones((2, 2), np.float32)
    with pytest.raises(CompileError, match=r"2:.*dot_general.*complex numbers is no"):
        ttxdsl.load(text).simulate(ones, ones.astype(np.complex64))


def test_special_functions_keep_no_part_of_complex_numbers():
    """The verifier lets them pass, as C++ does."""
    t = "tensor<2xcomplex<f32>>"
    text = f"func.func @main(%a: {t}) -> {t} {{ %r = chlo.bessel_i1e %a : {t} -> {t} return %r : {t} }}"
    numbers = np.array([1 + 2j, 3], np.complex64)
    program = ttxdsl.load(text)
    for form in (program, program.lower("ttnn")):
        with pytest.raises(CompileError, match="known of real numbers only"):
            form.simulate(numbers)
