"""Stage 6 where bytes count: by priorities, or aggressively where that sends less.

Where shardings contradict each other, who comes first decides, and no order is always
best: with weights split over the axis of the batch, op priorities let those of the
weights win, so that the batch is gathered. What both ways would have devices send is
counted (`traffic.py`) before anything is planned. That is rough, for optimizations make up
for much of it: where it is less, the program goes on to its end both ways, and the
cheaper one is stage 6. Where nobody looks at the stages in between, that end is kept.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import (
    Remark,
    collect_remarks,
    emit_remark,
    repeat_remarks,
)
from ttxdsl.ir.collector import discard_block
from ttxdsl.transforms.shardy.importing.sdy_remove_size_one_axes import (
    remove_size_one_axes,
)
from ttxdsl.transforms.shardy.meshes import mesh_lookup
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

Steps = TypeVar("Steps")


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
        """Return the better pass of both for a module; only its dead ops are erased."""
        return self._best(ctx, module)[0]

    def finish_with(
        self,
        ctx: Context,
        module: ModuleOp,
        go_on: Callable[[Context, ModuleOp], tuple[int, Steps]],
    ) -> Steps | None:
        """Propagate, and where both ways are tried, take the cheaper one to its end.

        Args:
            ctx: the dialects.
            module: the program, which is changed.
            go_on: takes a program from behind stage 6 to its end, and tells what devices
                send then, and what was done.

        Returns:
            What was done, None if the program is only behind stage 6.

        Raises:
            CompileError: the program is refused by priority, and going on.
        """
        (_, first), *others = self.candidates(module, apart=True)
        if not others:
            first.finish(keep_rules=self.keep_sharding_rules)
            return None
        ((way, second),) = others
        after = None
        with collect_remarks() as theirs, suppress(CompileError):
            second.finish(keep_rules=way.keep_sharding_rules)
            after = go_on(ctx, second.module)
        mine: list[Remark] = []
        try:
            with collect_remarks() as mine:
                first.finish(keep_rules=self.keep_sharding_rules)
                before = go_on(ctx, module)
        except CompileError:
            repeat_remarks(mine)
            raise
        if after is None or after[0] >= before[0]:
            repeat_remarks(mine)
            return before[1]
        self._remark(way, before[0], after[0])
        repeat_remarks(theirs)
        module.properties, module.attributes = (
            second.module.properties,
            second.module.attributes,
        )
        replaced, chosen = module.body.block, second.module.body.block
        module.body.detach_block(replaced)
        discard_block(replaced)
        second.module.body.detach_block(chosen)
        module.body.add_block(chosen)
        return after[1]

    def candidates(
        self, module: ModuleOp, *, apart: bool = False
    ) -> list[tuple[PropagationPass, Propagation]]:
        """Return by priority, and aggressively too where it takes bytes to decide.

        Args:
            module: the program. Its dead ops are erased, and axes of size one go out of
                its shardings if devices then send less.
            apart: propagate aggressively in a copy, so that both can be finished.
        """
        by_priority, first = UserPriorityPropagatePass(), Propagation(module)
        graph = first.graph
        given = [graph.sharding_of(place) for place in graph.places_with_shardings()]
        by_priority.propagate(first)
        now = traffic(graph)
        if not now.moved:  # nothing contradicts
            return [(by_priority, first)]
        mesh_of = mesh_lookup(module)
        if any(
            axis.size_in(mesh_of(sharding)) == 1
            for sharding in given
            if sharding
            for axis in sharding.all_axes
        ):
            without = module.clone()
            remove_size_one_axes(without)
            larger = Propagation(without)
            by_priority.propagate(larger)
            if traffic(larger.graph).bits < now.bits:
                remove_size_one_axes(module)
                return self.candidates(module, apart=apart)
        if any(
            dim.priority_or_default
            for sharding in given
            if sharding
            for dim in sharding.dims
        ):
            return [(by_priority, first)]
        aggressive = AggressivePropagatePass()
        second = Propagation(module.clone() if apart else module)
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
        self._remark(aggressive, before, after)
        return aggressive, second

    def _remark(self, way: PropagationPass, before: int, after: int) -> None:
        emit_remark(
            f"shardings contradict each other: stage 6 is {way.name}, with which a "
            f"device sends {after:,} bytes, {before:,} with {self.name}"
        )

    def _bytes(
        self, ctx: Context, module: ModuleOp, propagation: PropagationPass
    ) -> int | None:
        """Return the bytes sent with a pass; None if the program is then refused."""
        assert self.sent is not None, "given by the pipeline"
        copy = module.clone()
        with collect_remarks():
            try:
                propagation.apply(ctx, copy)
                return self.sent(ctx, copy)
            except CompileError:
                return None
