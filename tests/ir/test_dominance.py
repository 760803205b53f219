"""Uses of values where they are not defined: one diagnostic, with op, value and place."""

import re

import pytest
from xdsl.context import Context
from xdsl.dialects import builtin, func, test
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from tests.work import calls
from ttxdsl.api import program_of
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import stablehlo
from ttxdsl.ir.dominance import find_violation
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import parse_program
from ttxdsl.universe import UNIVERSE

WRONG: dict[str, tuple[str, str]] = {
    "below": (
        "%0 = stablehlo.add %arg, %1 : T\n%1 = stablehlo.add %arg, %arg : T",
        "in.mlir:2:1: error: 'stablehlo.add' op: operand #1 (a result of 'stablehlo.add'"
        " at in.mlir:3:1) does not dominate this use: it is defined below",
    ),
    "its own result": (
        "%0 = stablehlo.add %0, %arg : T",
        "in.mlir:2:1: error: 'stablehlo.add' op: operand #0 (a result of 'stablehlo.add'"
        " at in.mlir:2:1) does not dominate this use: it is the op's own result",
    ),
    "inside of the op": (
        '%0 = "stablehlo.case"(%i) ({\nstablehlo.return %0 : T\n}) : (I) -> T',
        "in.mlir:3:1: error: 'stablehlo.return' op: operand #0 (a result of"
        " 'stablehlo.case' at in.mlir:2:1) does not dominate this use: it is the result"
        " of an op that this one is inside of",
    ),
    "inside, below": (
        '%0 = "stablehlo.case"(%i) ({\nstablehlo.return %1 : T\n}) : (I) -> T\n'
        "%1 = stablehlo.add %arg, %arg : T",
        "in.mlir:3:1: error: 'stablehlo.return' op: operand #0 (a result of"
        " 'stablehlo.add' at in.mlir:5:1) does not dominate this use: it is defined"
        " below",
    ),
    "of a region before": (
        '%0 = "stablehlo.case"(%i) ({\n%x = stablehlo.add %arg, %arg : T\n'
        "stablehlo.return %x : T\n}) : (I) -> T\n%1 = stablehlo.add %arg, %x : T",
        "in.mlir:6:1: error: 'stablehlo.add' op: operand #1 (%x) is not defined",
    ),
    "of a region behind": (
        '%0 = "stablehlo.case"(%i) ({\nstablehlo.return %x : T\n}, {\n'
        "%x = stablehlo.add %arg, %arg : T\nstablehlo.return %x : T\n}) : (I) -> T",
        "in.mlir:3:1: error: 'stablehlo.return' op: operand #0 (%x, a result of"
        " 'stablehlo.add' at in.mlir:5:1) does not dominate this use: it is defined"
        " inside a region that this op is not in",
    ),
    "of another function": (
        "return\n}\nfunc.func @g() -> T {\n%0 = stablehlo.add %arg2, %arg2 : T\n"
        "return %0 : T\n}\nfunc.func @h(%arg2: T) {",
        "in.mlir:5:1: error: 'stablehlo.add' op: operand #0 (%arg2, an argument of"
        " 'func.func' at in.mlir:8:1) does not dominate this use: it is defined outside"
        " of 'func.func', which is isolated",
    ),
    "nowhere": (
        "%0 = stablehlo.add %arg, %1 : T",
        "in.mlir:2:1: error: 'stablehlo.add' op: operand #1 (%1) is not defined",
    ),
}

RIGHT = {
    "blocks in another order": "cf.br ^b\n^a:\n%y = stablehlo.add %x, %x : T\ncf.br ^c\n"
    "^b:\n%x = stablehlo.add %arg, %arg : T\ncf.br ^a\n^c:\n",
    "several blocks, whose order nobody asks": "return\n^a:\n"
    "%y = stablehlo.add %x, %x : T\n%x = stablehlo.add %arg, %arg : T\n",
    "a module, whose ops have no order": "builtin.module {\n"
    "%y = stablehlo.add %x, %x : T\n%x = stablehlo.constant dense<1.0> : T\n}\n",
}


def program(body: str) -> str:
    """A function of two arguments and a flag around the lines, which starts at 2:1."""
    text = f"func.func @main(%arg: T, %i: I, %yes: i1) {{\n{body}\nreturn\n}}"
    text = re.sub(r"\bT\b", "tensor<4xf32>", text)
    return re.sub(r"\bI\b", "tensor<i32>", text)


@pytest.mark.parametrize(("body", "expected"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_one_diagnostic(body: str, expected: str):
    with pytest.raises(CompileError) as raised:
        parse_program(program(body), "in.mlir")
    assert str(raised.value) == expected


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_right_use_is_read(body: str):
    parse_program(program(body))


def test_module_that_was_not_read():
    module = parse_program(
        "%0 = stablehlo.constant dense<0> : tensor<i32>\n"
        '%1 = "stablehlo.case"(%0) ({\n'
        "%x = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
        "%y = stablehlo.add %x, %x : tensor<4xf32>\n"
        "stablehlo.return %y : tensor<4xf32>\n}) : (tensor<i32>) -> tensor<4xf32>"
    )
    block = ops_of_type(module, stablehlo.CaseOp)[0].regions[0].block
    constant, add, _ = block.ops
    constant.detach()
    block.insert_op_after(constant, add)
    with pytest.raises(CompileError, match=r"operand #0 .* it is defined below"):
        program_of(module)


def test_time_grows_with_the_program():
    def work(count: int) -> int:
        ops = "".join(
            f"%a{i} = stablehlo.add %arg, %arg : T\n"
            f'%c{i} = "stablehlo.case"(%i) ({{\n'
            f"%b{i} = stablehlo.add %a{i}, %a{i // 2} : T\n"
            f"stablehlo.return %b{i} : T\n}}) : (I) -> T\n"
            for i in range(count)
        )
        module = parse_program(program(ops))
        return calls(lambda: find_violation(module))

    assert work(800) < 5 * work(200)


def test_xdsl_opt_reads_by_the_same_rule():
    context = Context()
    for name, factory in UNIVERSE.all_dialects.items():
        context.register_dialect(name, factory)
    context.load_dialect(builtin.Builtin)
    context.load_dialect(func.Func)
    text = program("%0 = stablehlo.add %arg, %0 : T")
    with pytest.raises(VerifyException, match=r"in.mlir:2:1: .* the op's own result"):
        Parser(context, text, "in.mlir").parse_module()


def test_regions_of_unknown_dialects_may_be_graphs():
    context = Context()
    context.load_dialect(builtin.Builtin)
    context.load_dialect(test.Test)
    text = '"test.op"() ({\n"test.op"(%0) : (i1) -> ()\n%0 = "test.op"() : () -> i1\n'
    Parser(context, text + "}) : () -> ()").parse_module()
