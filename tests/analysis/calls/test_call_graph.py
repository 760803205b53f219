"""Symbols and call graphs: free names, dead functions, orders."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.transforms.run_pass import parse
from ttxdsl.analysis.calls.call_graph import (
    callees_first,
    copy_function,
    main_function,
    original_name,
)
from ttxdsl.analysis.calls.symbols import Symbols
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
