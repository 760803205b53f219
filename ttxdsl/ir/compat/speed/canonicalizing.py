"""Mend: xDSL's canonicalization tries to rewrite every op of a program.

Few classes fold or have patterns, and few ops are dead: the others are left out of the
list of ops to visit. What is rewritten next to them comes into it as before.
"""

from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
from xdsl.traits import HasCanonicalizationPatternsTrait, HasFolder
from xdsl.transforms import canonicalize
from xdsl.transforms.dead_code_elimination import region_dce


def _is_rewritten(op_class: type[Operation]) -> bool:
    return bool(
        op_class.has_trait(HasFolder, value_if_unregistered=False)
        or op_class.get_traits_of_type(HasCanonicalizationPatternsTrait)
    )


class _Walker(PatternRewriteWalker):
    """A walk over the ops that canonicalization may change."""

    def _populate_worklist(self, op: Operation | Region | Block) -> None:
        known: dict[type[Operation], bool] = {}
        for inner in op.walk(
            reverse=not self.walk_reverse, region_first=not self.walk_regions_first
        ):
            kind, results = type(inner), inner.results
            if kind not in known:
                known[kind] = _is_rewritten(kind)
            may_be_dead = not results or results[0].first_use is None
            if may_be_dead or known[kind]:
                self._worklist.push(inner)


def mend() -> None:
    """Visit only what may change."""

    def apply(self: object, ctx: Context, op: ModuleOp) -> None:
        pattern = GreedyRewritePatternApplier(
            [canonicalize.CanonicalizationRewritePattern()],
            ctx=ctx,
            folding_enabled=True,
        )
        _Walker(pattern, post_walk_func=region_dce).rewrite_module(op)

    canonicalize.CanonicalizePass.apply = cast(Any, apply)
