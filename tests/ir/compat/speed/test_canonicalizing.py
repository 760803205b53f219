"""Canonicalization visits what it may change, and does to that what xDSL does."""

from collections import Counter
from itertools import pairwise

import pytest
from xdsl.dialects import builtin
from xdsl.ir import Operation
from xdsl.pattern_rewriter import GreedyRewritePatternApplier
from xdsl.transforms.canonicalize import CanonicalizePass

from ttxdsl.loading.program import make_context, parse_program

PLAIN = """
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {{
  {ops}
  return %v{last} : tensor<8xf32>
}}
"""


def plain(count: int) -> str:
    """A chain of ops that nothing can be done to."""
    names = ["a", *(f"v{at}" for at in range(count))]
    ops = [
        f"%{new} = stablehlo.abs %{old} : tensor<8xf32>" for old, new in pairwise(names)
    ]
    return PLAIN.format(ops="\n  ".join(ops), last=count - 1)


def visits(module: builtin.ModuleOp, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often ops of each kind are visited."""
    seen = Counter[str]()
    visit = GreedyRewritePatternApplier.match_and_rewrite

    def counted(self: GreedyRewritePatternApplier, op: Operation, rewriter: object):
        seen[op.name] += 1
        visit(self, op, rewriter)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(GreedyRewritePatternApplier, "match_and_rewrite", counted)
    CanonicalizePass().apply(make_context(), module)
    return seen


def test_ops_that_stay_are_not_visited(monkeypatch: pytest.MonkeyPatch):
    seen = visits(parse_program(plain(40)), monkeypatch)
    assert seen["stablehlo.abs"] == 0
