"""Classes of different packages have different names, or a reason to share one."""

import ast
from collections import defaultdict

from tests.conventions.modules import MODULES, ROOT, tree_of

_COLLECTIVE = "a collective in theory, and what ttir and ttnn share of its op"
SHARED = {
    "AllGather": _COLLECTIVE,
    "AllReduce": _COLLECTIVE,
    "AllToAll": _COLLECTIVE,
    "CollectivePermute": _COLLECTIVE,
    "ReduceScatter": _COLLECTIVE,
}
"""Names of classes in more than one package, and why. Ops and attributes of several
dialects share names in one package, since the dialect says which is meant."""


def shared() -> set[str]:
    packages: defaultdict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        package = module.relative_to(ROOT).with_suffix("").parts[0]
        for node in tree_of(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                packages[node.name].add(package)
    return {name for name, found in packages.items() if len(found) > 1}


def test_a_name_means_one_class():
    assert shared() == set(SHARED)
