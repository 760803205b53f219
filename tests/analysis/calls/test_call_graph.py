"""Symbols and call graphs: free names, dead functions, orders."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region

from tests.transforms.run_pass import parse
from ttxdsl.analysis.calls.call_graph import (
    callees_first,
    callers_first,
    copy_function,
    main_function,
    original_name,
)
from ttxdsl.analysis.calls.symbols import Symbols, remove_unused_private_functions
from ttxdsl.diagnostics.errors import CompileError, UnsupportedError


def module(**calls: str) -> ModuleOp:
    """A module of functions: for each the names that it calls."""
    functions = "".join(
        f"func.func {'public' if name == 'main' else 'private'} @{name}() {{\n"
        + "".join(f"func.call @{callee}() : () -> ()\n" for callee in callees.split())
        + "return\n}\n"
        for name, callees in calls.items()
    )
    return parse(functions)[1]


def names(op: ModuleOp) -> list[str]:
    return list(Symbols(op).functions)


def test_one_counter_for_all_names():
    symbols = Symbols(module(f="", g="", f_1=""))
    assert symbols.take("h") == "h"
    assert symbols.take("f") == "f_0"
    assert symbols.take("g") == "g_1"
    assert symbols.take("f") == "f_2"
    symbols.free("g")
    assert symbols.take("g") == "g"


def test_unused_private_functions():
    op = module(main="used", used="inner", inner="", dead="dead_too", dead_too="dead")
    remove_unused_private_functions(op)
    assert names(op) == ["main", "used", "inner"]


def test_functions_that_attributes_name_stay():
    _, op = parse("""
      func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
        %0 = stablehlo.composite "my.op" %x {decomposition = @body}
          : (tensor<8xf32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>
      }
      func.func private @body(%x: tensor<8xf32>) -> tensor<8xf32> {
        return %x : tensor<8xf32>
      }""")
    remove_unused_private_functions(op)
    assert names(op) == ["main", "body"]


def test_orders():
    op = module(unused="g", main="f g f", f="g", g="")
    order = [function.sym_name.data for function in callees_first(op)]
    assert order == ["g", "unused", "f", "main"]
    assert callers_first(op) == callees_first(op)[::-1]


def test_long_chains():
    # built and not read: xDSL verifies each call by a walk over all functions
    bodies = [[CallOp(f"f{n + 1}", [], []), ReturnOp()] for n in range(3000)]
    op = ModuleOp(
        [
            FuncOp(f"f{n}", ((), ()), Region(Block(body)))
            for n, body in enumerate([*bodies, [ReturnOp()]])
        ]
    )
    assert [f.sym_name.data for f in callees_first(op)][:2] == ["f3000", "f2999"]


def test_recursion_names_the_function():
    with pytest.raises(UnsupportedError, match="'@f'"):
        callees_first(module(main="f", f="g", g="f"))


def test_copies_call_copies():
    op = module(main="f f", f="g", g="")
    symbols = Symbols(op)
    copy = symbols.functions[copy_function(symbols.functions["f"], symbols)]
    assert names(op) == ["main", "f", "g", "g_0", "f_1"]
    assert original_name(copy) == "f"
    again = symbols.functions[copy_function(copy, symbols)]
    assert original_name(again) == "f"


def test_main_function():
    assert main_function(module(only="")).sym_name.data == "only"
    assert main_function(module(f="", main="")).sym_name.data == "main"
    with pytest.raises(CompileError, match="which of the 2"):
        main_function(module(f="", g=""))
