"""The package's modules, each parsed once for all conventions."""

import ast
from functools import cache
from pathlib import Path

import ttxdsl

ROOT = Path(ttxdsl.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))


@cache
def tree_of(module: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(module.read_text(encoding="utf-8"))


@cache
def nodes_of(module: Path) -> list[ast.AST]:
    """Return all nodes of a module's tree."""
    return [*ast.walk(tree_of(module))]


def dotted(module: Path) -> str:
    """Return the name by which a module is imported."""
    parts = module.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
