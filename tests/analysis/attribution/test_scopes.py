"""Scopes that are deep inside each other, as of functions that call each other."""

from tests.work import calls
from ttxdsl.analysis.attribution.nodes import TraceNode
from ttxdsl.analysis.attribution.scopes import Scopes
from ttxdsl.analysis.attribution.stacks import ScopeName


def chain(depth: int) -> tuple[Scopes, list[TraceNode]]:
    """A scope in a scope, each with one node."""
    scopes = Scopes()
    path = [ScopeName(f"f{level}") for level in range(depth)]
    groups = [scopes.scope(path[: level + 1], "scope") for level in range(depth)]
    nodes = [
        TraceNode("op", "tanh", f"%{at}", group, [(at - 1, 0)] if at else [], [])
        for at, group in enumerate(groups)
    ]
    return scopes, nodes


def test_nodes_are_looked_for_once():
    def work(depth: int) -> int:
        scopes, nodes = chain(depth)
        return calls(lambda: scopes.settle(nodes))

    # each node is in all scopes around it, which is told to them one by one
    assert work(400) < 5 * work(200) < 2_000_000
