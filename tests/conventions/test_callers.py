"""Every definition of the package has a caller in it, or a reason to be public.

A definition is called if its name is used somewhere else: as a name, an attribute, a
field of a match pattern, or the second half of a `module:Name` in a table. What Python
or xDSL call by themselves counts as called: methods that override one of a base class,
and what a decorator registers.
"""

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

from tests.conventions.modules import MODULES, ROOT, dotted, tree_of

PUBLIC: dict[str, str] = {
    "api.__init__.Program._repr_html_": "notebooks call it",
    "api.__init__.Program.compare_xla": "the command as a method",
    "api.__init__.Program.doctor": "what users choose a mesh with",
    "api.__init__.Program.to_jax": "what users run a program with on devices",
    "api.__init__.Program.interpret": "the command as a method",
    "insight.budget.pytest_plugin.pytest_addoption": "pytest calls it",
    "insight.budget.pytest_plugin.pytest_collect_file": "pytest calls it",
    "conversion.stablehlo_to_ttir.lowering.lowers": "the decorator for lowerings of plug-ins",
    "conversion.ttir_to_ttnn.lowering.lowers_to_ttnn": "the same for ttnn",
    "ir.data_flow.register_data_flow": "for ops of another dialect",
    "ir.data_flow.unregister_data_flow": "takes that back",
    "diagnostics.display.Displayed._repr_html_": "notebooks call it",
    "rules.registry.sharding_rule_of": "the decorator for rules of another dialect",
    "rules.registry.unregister_sharding_rule": "takes that back",
    "sharding.spec.TensorSharding.shard_slices": "what a sharding means, which tests ask",
    "sharding.spec.TensorSharding.without_priorities": "how user priorities end",
    "bridges.tt_mlir.compiler.parse_text": "what users ask tt-mlir's verifiers with",
}
"""What only users call, by `module.Class.method`, and why it is there."""

REGISTERING = re.compile(
    r"irdl_(op|attr)_definition|impl\w*\(|register\w*"
    r"|(compiles|compiled|computes|computed|interpreted|on_mesh|_of_each|_collective)\("
)
"""Decorators that hand what they decorate to somebody who calls it."""

_ENTRY = re.compile(r"[\w.]+:(\w+)")

Definition = ast.FunctionDef | ast.ClassDef
Span = tuple[Path, int, int]


def names_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The names that code uses, each with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(ctx=ast.Load()):
                yield node.id, node.lineno
            case ast.Attribute():
                yield node.attr, node.lineno
            case ast.MatchClass():
                yield from ((name, node.lineno) for name in node.kwd_attrs)
            case ast.Call(
                func=ast.Name("getattr"), args=[_, ast.Constant(str(name)), *_]
            ):
                yield name, node.lineno
            case ast.Call(func=ast.Name("cast"), args=[ast.Constant(str(quoted)), _]):
                yield from (
                    (name, node.lineno) for name, _ in names_in(ast.parse(quoted))
                )
            case ast.Constant(str(text)) if entry := _ENTRY.fullmatch(text):
                yield entry[1], node.lineno
            case _:
                pass


@cache
def uses() -> dict[str, list[tuple[Path, int]]]:
    """Where each name is used."""
    found: defaultdict[str, list[tuple[Path, int]]] = defaultdict(list)
    for module in MODULES:
        for name, line in names_in(tree_of(module)):
            found[name].append((module, line))
    return found


def registered(node: Definition) -> bool:
    return any(REGISTERING.match(ast.unparse(one)) for one in node.decorator_list)


def overrides(module: Path, owner: str, name: str) -> bool:
    """Whether a base class has a method of this name, which callers then mean."""
    found = cast(object, importlib.import_module(dotted(module)))
    for part in owner.split("."):
        found = getattr(found, part)
    assert isinstance(found, type)
    return any(name in vars(base) for base in found.__mro__[1:])


def definitions(
    body: list[ast.stmt], owner: str = ""
) -> Iterator[tuple[str, ast.stmt, str]]:
    """Functions, classes, methods and constants of a module: owner, node and name."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.ClassDef() if not registered(node):
                yield owner, node, node.name
            case ast.Assign(targets=[ast.Name(name)]) if not owner:
                yield owner, node, name
            case ast.AnnAssign(target=ast.Name(name)) if not owner:
                yield owner, node, name
            case _:
                pass
        if isinstance(node, ast.ClassDef):
            yield from definitions(node.body, f"{owner}.{node.name}".lstrip("."))


def uncalled() -> Iterator[str]:
    for module in MODULES:
        where = ".".join(module.relative_to(ROOT).with_suffix("").parts)
        for owner, node, name in definitions(tree_of(module).body):
            if name.startswith("__") and name.endswith("__"):
                continue
            elsewhere = any(
                used_in != module or not node.lineno <= line <= (node.end_lineno or 0)
                for used_in, line in uses().get(name, [])
            )
            if elsewhere or (owner and overrides(module, owner, name)):
                continue
            yield ".".join(part for part in (where, owner, name) if part)


def test_every_definition_has_a_caller():
    assert sorted(set(uncalled()) - set(PUBLIC)) == []


def test_what_is_public_needs_the_list():
    assert sorted(set(PUBLIC) - set(uncalled())) == []
