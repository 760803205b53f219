"""The package's layers: imports go downward only, and modules stay readable."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ttxdsl

ROOT = Path(ttxdsl.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

CONTRIBUTING = ROOT.parent / "CONTRIBUTING.md"
_ROW = re.compile(r"^\| `(\w+)` \| [^|]* \|([^|]*)\|$", re.MULTILINE)


def read_layers() -> dict[str, set[str]]:
    """What each package may import, by the table in CONTRIBUTING.md, the lowest first."""
    layers: dict[str, set[str]] = {}
    for package, allowed in _ROW.findall(CONTRIBUTING.read_text()):
        named = set(re.findall(r"`(\w+)`", allowed))
        layers[package] = set(layers) if "all above" in allowed else named
    return layers


LAYERS = read_layers()

LONGEST = 700
"""Lines of a module; dialects, which are declarations, may be longer."""


def dotted(module: Path) -> str:
    parts = module.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported_modules(module: Path) -> frozenset[str]:
    """The modules of ours that a module imports, also inside functions and for types."""
    ours = {dotted(one) for one in MODULES}
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(source)):
                inner = {f"{source}.{alias.name}" for alias in node.names}
                found |= {name if name in ours else source for name in inner}
            case _:
                pass
    return frozenset(found & ours)


def circles() -> Iterator[list[str]]:
    """Modules that import each other, directly or not (Tarjan's components)."""
    graph = {dotted(module): sorted(imported_modules(module)) for module in MODULES}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []

    def visit(name: str) -> Iterator[list[str]]:
        index[name] = low[name] = len(index)
        path.append(name)
        for other in graph[name]:
            if other not in index:
                yield from visit(other)
            if other in path:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            component = path[path.index(name) :]
            del path[path.index(name) :]
            if len(component) > 1:
                yield sorted(component)

    for name in graph:
        if name not in index:
            yield from visit(name)


def name_of(module: Path) -> str:
    return str(module.relative_to(ROOT))


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_imports_go_downward(module: Path):
    package = module.relative_to(ROOT).with_suffix("").parts[0]
    if package != "__init__":
        packages = {
            name.split(".")[1] for name in imported_modules(module) if "." in name
        }
        assert packages <= LAYERS[package] | {package}


def test_the_list_goes_downward():
    names = list(LAYERS)
    for number, name in enumerate(names):
        assert LAYERS[name] <= set(names[:number])


def test_no_modules_import_each_other():
    assert list(circles()) == []


@pytest.mark.parametrize(
    "module", [m for m in MODULES if m.is_relative_to(ROOT / "sharding")], ids=name_of
)
def test_sharding_knows_no_ir(module: Path):
    assert "xdsl" not in {
        (node.module or "").partition(".")[0]
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.ImportFrom)
    }


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_module_says_what_it_is_for_and_stays_short(module: Path):
    text = module.read_text()
    assert ast.get_docstring(ast.parse(text))
    assert module.stem not in ("utils", "helpers", "misc")
    if not module.is_relative_to(ROOT / "dialects"):
        assert text.count("\n") <= LONGEST


def test_one_place_talks_to_terminals():
    """`ttxdsl.terminal` shows what names hold; `rich` alone would obey it."""
    own = re.compile(r"rich\.markup|import .*\bConsole\b")
    found = {name_of(module) for module in MODULES if own.search(module.read_text())}
    assert found == {"terminal.py"}
