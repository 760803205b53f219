"""Stage 6 where bytes count: by priorities, or aggressively where that sends less.

Where shardings contradict each other, who comes first decides, and no order is always
best: with weights split over the axis of the batch, op priorities let those of the
weights win, so that the batch is gathered. What both ways would have devices send is
counted (`traffic.py`) before anything is planned. That is rough, for optimizations make up
for much of it: where it is less, the program goes on to stage 11 both ways, and the
cheaper one is stage 6.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks, emit_remark
from ttxdsl.transforms.shardy.propagation.aggressive import AggressivePropagatePass
from ttxdsl.transforms.shardy.propagation.basic import PropagationPass
from ttxdsl.transforms.shardy.propagation.engine import Propagation
from ttxdsl.transforms.shardy.propagation.traffic import traffic
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass

CLEARLY_LESS = 0.95
"""The part of the bytes of the one from which on the other is tried: lower, it misses what
pays, higher, most tries are for nothing (docs/evidence/decisions.md, 2026-11-27)."""

Sent = Callable[[Context, ModuleOp], int]
"""What devices send if a module goes on from stage 6, which changes it."""


@dataclass(frozen=True)
class LessTrafficPropagatePass(UserPriorityPropagatePass):
    """Propagate by priorities, or aggressively if devices then send less.

    Priorities that a program gives decide: then it is always by these.

    Options:
        sent: the rest of the pipeline.
    """

    sent: Sent | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Propagate in the whole module."""
        _, propagation = self._best(ctx, op)
        propagation.finish(keep_rules=self.keep_sharding_rules)

    def chosen(self, ctx: Context, module: ModuleOp) -> PropagationPass:
        """Which of both it is for a module, of which only dead ops are erased."""
        return self._best(ctx, module)[0]

    def candidates(self, module: ModuleOp) -> list[tuple[PropagationPass, Propagation]]:
        """Return by priority, and aggressively too where it takes bytes to decide.

        Args:
            module: the program, of which only dead ops are erased.
        """
        by_priority, first = UserPriorityPropagatePass(), Propagation(module)
        graph = first.graph
        given = [graph.sharding_of(place) for place in graph.places_with_shardings()]
        by_priority.propagate(first)
        if any(dim.priority_or_default for one in given if one for dim in one.dims):
            return [(by_priority, first)]
        now = traffic(graph)
        if not now.moved:  # nothing contradicts
            return [(by_priority, first)]
        aggressive, second = AggressivePropagatePass(), Propagation(module)
        aggressive.propagate(second)
        if traffic(second.graph).bits >= CLEARLY_LESS * now.bits:
            return [(by_priority, first)]
        return [(by_priority, first), (aggressive, second)]

    def _best(
        self, ctx: Context, module: ModuleOp
    ) -> tuple[PropagationPass, Propagation]:
        (by_priority, first), *others = self.candidates(module)
        if not others:
            return by_priority, first
        ((aggressive, second),) = others
        before = self._bytes(ctx, module, by_priority)
        after = self._bytes(ctx, module, aggressive)
        if before is None or after is None or after >= before:
            return by_priority, first
        emit_remark(
            f"shardings contradict each other: stage 6 is {aggressive.name}, with which a "
            f"device sends {after:,} bytes, {before:,} with {by_priority.name}"
        )
        return aggressive, second

    def _bytes(
        self, ctx: Context, module: ModuleOp, propagation: PropagationPass
    ) -> int | None:
        """What is sent with one of both; None if the program is then refused."""
        assert self.sent is not None, "given by the pipeline"
        copy = module.clone()
        with collect_remarks():
            try:
                propagation.apply(ctx, copy)
                return self.sent(ctx, copy)
            except CompileError:
                return None
