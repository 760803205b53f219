"""The package's layers: imports go downward only, and modules stay readable."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conventions.modules import MODULES, ROOT, dotted, nodes_of, tree_of

CONTRIBUTING = ROOT.parent / "CONTRIBUTING.md"
_ROW = re.compile(r"^\| `([\w.]+)` \| [^|]* \|([^|]*)\|$", re.MULTILINE)


def read_layers() -> dict[str, set[str]]:
    """What each package may import, by the table in CONTRIBUTING.md, the lowest first."""
    layers: dict[str, set[str]] = {}
    for package, allowed in _ROW.findall(CONTRIBUTING.read_text()):
        named = set(re.findall(r"`([\w.]+)`", allowed))
        layers[package] = set(layers) if "all above" in allowed else named
    return layers


LAYERS = read_layers()

LONGEST = 700
"""Lines of a module; dialects, which are declarations, may be longer."""


OURS = {*map(dotted, MODULES)}


@cache
def imported_modules(module: Path) -> frozenset[str]:
    """The modules of ours that a module imports, also inside functions and for types."""
    found: set[str] = set()
    for node in nodes_of(module):
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(source)):
                inner = {f"{source}.{alias.name}" for alias in node.names}
                found |= {name if name in OURS else source for name in inner}
            case _:
                pass
    return frozenset(found & OURS)


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


def room_of(name: str) -> str:
    """The row of the table that a module belongs to: the longest that it starts with."""
    inner = name.removeprefix("ttxdsl.")
    return max((row for row in LAYERS if f"{inner}.".startswith(f"{row}.")), key=len)


def test_imports_go_downward():
    upward: dict[str, set[str]] = {}
    for module in MODULES:
        if dotted(module) != "ttxdsl":
            room = room_of(dotted(module))
            rooms = {
                room_of(name) for name in imported_modules(module) if name != "ttxdsl"
            }
            if more := rooms - LAYERS[room] - {room}:
                upward[name_of(module)] = more
    assert upward == {}


def test_the_list_goes_downward():
    names = list(LAYERS)
    for number, name in enumerate(names):
        assert LAYERS[name] <= set(names[:number])


def test_no_modules_import_each_other():
    assert list(circles()) == []


def test_sharding_knows_no_ir():
    knows = [
        name_of(module)
        for module in MODULES
        if module.is_relative_to(ROOT / "sharding")
        for node in nodes_of(module)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").partition(".")[0] == "xdsl"
    ]
    assert knows == []


def test_modules_say_what_they_are_for_and_stay_short():
    for module in MODULES:
        assert ast.get_docstring(tree_of(module)), name_of(module)
        assert module.stem not in ("utils", "helpers", "misc"), name_of(module)
        if not module.is_relative_to(ROOT / "dialects"):
            assert module.read_text().count("\n") <= LONGEST, name_of(module)


OF_XDSL = {"apply", "match_and_rewrite", "parse", "print", "verify", "verify_"}
OF_XDSL |= {f"{verb}_parameter{s}" for verb in ("parse", "print") for s in ("", "s")}
"""Methods of passes, patterns, ops and attributes, which their class explains."""


def undocumented(module: Path) -> Iterator[str]:
    """Yield public methods without docstrings; `print_x` may leave it to `parse_x`."""
    for node in nodes_of(module):
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
        names = {method.name for method in methods} | OF_XDSL
        for method in methods:
            decorators = set(map(ast.unparse, method.decorator_list))
            if not (
                method.name.startswith("_")
                or method.name in OF_XDSL
                or (
                    method.name.startswith("print_")
                    and f"parse{method.name.removeprefix('print')}" in names
                )
                or decorators & {"override", "overload"}
                or any(name.endswith(".setter") for name in decorators)
                or ast.get_docstring(method)
            ):
                yield f"{name_of(module)}: {node.name}.{method.name}"


def test_methods_say_what_they_do():
    assert [name for module in MODULES for name in undocumented(module)] == []


QUESTIONS = ("What", "How", "Which", "Where", "Who", "Whether")


def questions(module: Path) -> Iterator[str]:
    """Yield names whose docstring begins as a question, "Whether" of bool functions not."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in nodes_of(module):
        if not isinstance(node, documented):
            continue
        first = (ast.get_docstring(node) or "").split(maxsplit=1)[:1]
        if not first or first[0] not in QUESTIONS:
            continue
        returns = getattr(node, "returns", None)
        is_bool = isinstance(returns, ast.Name) and returns.id == "bool"
        if first[0] != "Whether" or not is_bool:
            yield f"{name_of(module)}: {getattr(node, 'name', 'the module')}"


def test_docstrings_begin_with_a_verb_or_a_noun():
    assert [name for module in MODULES for name in questions(module)] == []


def test_one_place_talks_to_terminals():
    """`ttxdsl.diagnostics.terminal` shows what names hold; `rich` alone would obey it."""
    own = re.compile(r"rich\.markup|import .*\bConsole\b")
    found = {name_of(module) for module in MODULES if own.search(module.read_text())}
    assert found == {"diagnostics/terminal.py"}


MOST_ENTRIES = {"": 16}
"""Of a folder; others have nine, but for the families below."""

FAMILIES = {"cli/commands", "bridges/tt_mlir/legalize"}
"""Folders of the rooms above with a command or a pass a file."""


def test_a_folder_can_be_taken_in_at_a_glance():
    """At the top, and in the rooms that people ask."""
    many: dict[str, int] = {}
    rooms = (
        *("analysis/usage", "api", "bridges", "cli", "costs", "diagnostics"),
        *("insight", "loading", "sharding"),
    )
    folders = [ROOT, *(one for room in rooms for one in (ROOT / room).rglob("*/"))]
    folders += [ROOT / room for room in rooms]
    for folder in folders:
        name = str(folder.relative_to(ROOT)).removeprefix(".")
        if name in FAMILIES or folder.name == "__pycache__":
            continue
        entries = [
            one
            for one in folder.iterdir()
            if one.name not in ("__init__.py", "__pycache__", "py.typed")
            and one.suffix in ("", ".py")
        ]
        if len(entries) > MOST_ENTRIES.get(name, 9):
            many[name] = len(entries)
    assert many == {}
