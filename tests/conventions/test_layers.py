"""The package's layers: imports go downward only, and modules stay readable."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ttxdsl

ROOT = Path(ttxdsl.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

LAYERS: dict[str, set[str]] = {
    "sharding": set(),
    "ir": set(),
    "compat": {"ir"},
    "dialects": {"sharding", "compat", "errors"},
    "rules": {"sharding", "dialects", "errors"},
    "interpreters": {"sharding", "dialects", "errors"},
    "reporting": {"sharding", "dialects", "rules", "errors"},
    "transforms": {
        "sharding",
        "dialects",
        "rules",
        "compat",
        "collector",
        "errors",
        "files",
        "remarks",
        "visible",
    },
    "checking": {
        "sharding",
        "dialects",
        "interpreters",
        "reporting",
        "transforms",
        "conversion",
        "errors",
        "program",
        "remarks",
        "universe",
    },
    "explaining": {
        "sharding",
        "dialects",
        "rules",
        "interpreters",
        "reporting",
        "transforms",
        "compat",
        "errors",
        "program",
        "remarks",
    },
    "conversion": {
        "sharding",
        "dialects",
        "interpreters",
        "collector",
        "errors",
        "remarks",
    },
}
"""What each package may import besides itself; what is not listed may import all."""

LONGEST = 700
"""Lines of a module; dialects, which are declarations, may be longer."""


def imported_packages(module: Path) -> set[str]:
    """The packages of ours that a module imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "ttxdsl":
                names = [f"ttxdsl.{alias.name}" for alias in node.names]
        for name in names:
            head, _, rest = name.partition(".")
            if head == "ttxdsl":
                found.add(rest.partition(".")[0])
    return found


def name_of(module: Path) -> str:
    return str(module.relative_to(ROOT))


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_imports_go_downward(module: Path):
    package = module.relative_to(ROOT).parts[0]
    if package in LAYERS:
        assert imported_packages(module) <= LAYERS[package] | {package}


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
