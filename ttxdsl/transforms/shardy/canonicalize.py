"""`canonicalize` with a choice of rewrites by label, as Shardy's pipelines run it.

`sdy-reshard` is a reshard behind a reshard; `sdy-collective` is everything that is
rewritten at a collective. All other rewrites have no label.

Source: MLIR's canonicalizer, options `enable-patterns` and `disable-patterns`.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.rewriter import Rewriter
from xdsl.traits import HasCanonicalizationPatternsTrait, IsolatedFromAbove
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.dead_code_elimination import is_trivially_dead, region_dce

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.ir.traversal import ops_of_type


@dataclass(frozen=True)
class _Chosen(RewritePattern):
    """Apply those rewrites of an op whose label is chosen."""

    enabled: tuple[str, ...]
    disabled: tuple[str, ...]

    def _is_chosen(self, label: str | None) -> bool:
        if label in self.disabled:
            return False
        return not self.enabled or label in self.enabled

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite one op; a dead one is gone before others are compared with it."""
        if is_trivially_dead(op):
            _erase_with_what_only_it_used(op, rewriter)
            return
        patterns = [
            pattern
            for trait in op.get_traits_of_type(HasCanonicalizationPatternsTrait)
            for pattern in trait.get_patterns(type(op))
            if self._is_chosen(sdy.rewrite_label(type(op), pattern))
        ]
        if patterns:
            GreedyRewritePatternApplier(patterns).match_and_rewrite(op, rewriter)


def _erase_with_what_only_it_used(op: Operation, rewriter: PatternRewriter) -> None:
    """Erase a dead op, and at once what is dead then, as MLIR's driver does.

    What it uses in its regions counts too.
    """
    dead = [op]
    while dead:
        dead_op = dead.pop()
        ops = [*dead_op.walk()]
        inside = set(ops)
        owners = dict.fromkeys(
            value.owner
            for inner in ops
            for value in inner.operands
            if isinstance(value.owner, Operation) and value.owner not in inside
        )
        rewriter.erase(dead_op)
        dead += [owner for owner in owners if is_trivially_dead(owner)]


def _home_of_constants(op: Operation) -> Block | None:
    """Return the first block around an op that sees nothing outside of its region."""
    around = op.parent_op()
    while around is not None and not around.has_trait(IsolatedFromAbove):
        op, around = around, around.parent_op()
    region = op.parent_region()
    return None if region is None else region.first_block


def share_constants(module: ModuleOp) -> None:
    """Keep one of equal StableHLO constants, at the start of its function.

    C++ merges constants whose attributes, such as shardings, differ; here these stay
    apart.
    """
    known: dict[tuple[Block, tuple[tuple[str, Attribute], ...]], Operation] = {}
    shared: set[Operation] = set()
    for op in ops_of_type(module, stablehlo.ConstantOp):
        block = _home_of_constants(op)
        if block is None:
            continue
        attributes = op.properties | op.attributes | {"type": op.result_types[0]}
        first = known.setdefault((block, tuple(sorted(attributes.items()))), op)
        if first is not op:
            Rewriter.replace_op(op, [], first.results)
            continue
        at_start = block.first_op is op or (op.parent is block and op.prev_op in shared)
        if not at_start and block.first_op is not None:
            op.detach()
            block.insert_op_before(op, block.first_op)
        shared.add(op)


@dataclass(frozen=True)
class LabelledCanonicalizePass(CanonicalizePass):
    """Rewrite ops to simpler ones, and remove dead ones.

    Options:
        enable_patterns: only rewrites with one of these labels.
        disable_patterns: no rewrites with one of these labels.

    Without options this is xDSL's own pass.
    """

    name = "canonicalize"

    enable_patterns: str | tuple[str, ...] = ()
    disable_patterns: str | tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place.

        Raises:
            CompileError: there are no rewrites with a label.
        """
        enabled, disabled = map(_labels, (self.enable_patterns, self.disable_patterns))
        for label in (*enabled, *disabled):
            if label not in _LABELS:
                raise CompileError(
                    f"no rewrites have the label '{visible(label)}'",
                    hint=f"there are {' and '.join(_LABELS)}",
                )
        if not enabled and not disabled:
            super().apply(ctx, op)
            return
        share_constants(op)
        walker = PatternRewriteWalker(
            _Chosen(enabled, disabled), post_walk_func=region_dce
        )
        walker.rewrite_module(op)


_LABELS = (sdy.COLLECTIVE_LABEL, sdy.RESHARD_LABEL)


def _labels(option: str | tuple[str, ...]) -> tuple[str, ...]:
    return (option,) if isinstance(option, str) else option
