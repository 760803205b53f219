"""Canonicalization visits what it may change, and does to that what xDSL does."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
from xdsl.transforms.canonicalize import (
    CanonicalizationRewritePattern,
    CanonicalizePass,
)
from xdsl.transforms.dead_code_elimination import region_dce

from ttxdsl.loading.program import make_context, parse_program

FOLDS = """
func.func @main(%a: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %five = arith.addi %two, %three : i32
  %kept = arith.addi %a, %zero : i32
  %unused = arith.muli %a, %a : i32
  %sum = arith.addi %kept, %five : i32
  func.return %sum : i32
}
"""

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


def test_the_same_is_folded_and_dropped():
    ctx = Context()
    for dialect in (builtin.Builtin, arith.Arith, func.Func):
        ctx.load_dialect(dialect)
    ours, theirs = (Parser(ctx, FOLDS).parse_module() for _ in range(2))
    CanonicalizePass().apply(ctx, ours)
    pattern = GreedyRewritePatternApplier(
        [CanonicalizationRewritePattern()], ctx=ctx, folding_enabled=True
    )
    PatternRewriteWalker(pattern, post_walk_func=region_dce).rewrite_module(theirs)
    assert str(ours) == str(theirs)
    assert "muli" not in str(ours) and str(ours).count("arith.addi") == 1
