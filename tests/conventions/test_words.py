"""Identifiers name the thing that they hold."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conventions.modules import ROOT, tree_of

EMPTY_WORDS = frozenset(("found", "made", "one", "said", "what", "who"))
"""Words that say nothing about the thing that they would name."""

ROOMS = (
    "analysis",
    "api",
    "bridges",
    "cli",
    "conversion",
    "costs",
    "diagnostics",
    "dialects",
    "insight",
    "interpreters",
    "ir",
    "loading",
    "rules",
    "sharding",
    "transforms",
    "universe.py",
)

PUBLIC = {
    ("bridges/xla/calibrating.py", "what"): "a key of `ttxdsl calibrate --json`",
    ("conversion/stablehlo_to_ttir/builder.py", "one"): "plug-ins call `builder.one`",
    ("conversion/ttir_to_ttnn/lowering.py", "one"): "plug-ins call `low.one`",
    ("insight/budget/check.py", "found"): "a field of the public `Finding`",
    ("insight/check/failure.py", "found"): "a key of `ttxdsl check --json`",
    ("interpreters/mesh/mismatch.py", "found"): "an attribute of a public error",
    ("transforms/partition/emitter.py", "one"): "named as the builders of conversion",
}
"""Names of the public interface that stay, and why."""


def defined_names(tree: ast.Module) -> Iterator[str]:
    """Yield every name that a module binds: variables, parameters, fields, functions."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name):
                yield name
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
                yield name
            case _:
                pass


def modules_of(place: str) -> list[Path]:
    path = ROOT / place
    return [path] if path.suffix else sorted(path.rglob("*.py"))


@pytest.mark.parametrize("place", ROOMS)
def test_identifiers_name_what_they_hold(place: str):
    modules = modules_of(place)
    assert modules
    empty = {
        (module.relative_to(ROOT).as_posix(), name)
        for module in modules
        for name in defined_names(tree_of(module))
        if name.lstrip("_") in EMPTY_WORDS
    }
    assert empty == {(path, name) for path, name in PUBLIC if path.startswith(place)}


def test_every_way_to_bind_a_name_is_seen():
    text = """
import x as a
def b(c, *d):
    e = lambda f: f
    self.g = [h for h in c]
    with e as (i, j): pass
    try: pass
    except E as k: pass
    match c:
        case [l, *m]: pass
    if (n := 1): pass
class o:
    p: int
"""
    assert {*defined_names(ast.parse(text))} >= {*"abcdefghijklmnop"}
