"""Compiling a program, with notes and without: the same thirteen stages, watched.

In place of stages 6 and 8 is what does the same and takes notes (`recording.py`). Passes
that are there by another package take none: of them what came of it is known.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from ttxdsl.analysis.attribution.origins import Origins
from ttxdsl.analysis.usage.collectives import collective_ops
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy
from ttxdsl.insight.why.trials.edits import Edit, changed
from ttxdsl.insight.why.trials.recording import (
    Insertion,
    Moved,
    Recorded,
    RecordingInserter,
)
from ttxdsl.ir.traversal import all_ops
from ttxdsl.loading.program import make_context
from ttxdsl.sharding.axes import common_prefix, is_prefix
from ttxdsl.transforms.pipeline import (
    PROPAGATION_STAGE,
    RESHARDS_STAGE,
    UNSEEN,
    Hooks,
    Stage,
    TTStableHLOPipelinePass,
)
from ttxdsl.transforms.shardy.exporting.sdy_insert_explicit_reshards import (
    InsertExplicitReshardsPass,
)
from ttxdsl.transforms.shardy.propagation.less_traffic import (
    LessTrafficPropagatePass,
    finished_copy,
)
from ttxdsl.transforms.stages.verify_stage import LAST_STAGE


class Watch(Protocol):
    """Follows a module while it is compiled and recorded."""

    def start(self, module: ModuleOp) -> None:
        """Look at the module before the first stage."""

    def before(self, number: int | None, name: str) -> None:
        """Hear of a stage that begins."""

    def step(self, stage: Stage) -> None:
        """Look at the module after a stage."""


def compile_and_record(
    original: ModuleOp,
    pipeline: TTStableHLOPipelinePass,
    *,
    invented: bool = False,
    watch: Watch | None = None,
    last_stage: int = LAST_STAGE,
) -> Recorded:
    """Compile a copy of a program through the thirteen stages and take notes.

    Args:
        invented: whether its annotations are those that stage 4 found.
        last_stage: after which to stop; notes of later ones are then not there.

    Raises:
        CompileError: the program cannot be compiled.
    """
    module = original.clone()
    if watch is not None:
        watch.start(module)
    context, stages = make_context(), pipeline.stages()
    recorded = Recorded(original, module, stages[PROPAGATION_STAGE - 1], invented)
    numbered = recorded.numbered
    numbered.mark_like(zip(all_ops(module), all_ops(original), strict=True))
    ours = can_take_notes(pipeline)
    hooks = Hooks(
        before=None if watch is None else watch.before,
        propagate=lambda module: recorded.propagate(module, context),
        insert_reshards=recorded.insert_reshards if ours else None,
    )
    with collect_remarks() as remarks:
        to_there = replace(_to_the_end(pipeline), last_stage=last_stage)
        for result in to_there.run(context, module, hooks):
            match result.number:
                case 5:
                    recorded.skipped = result.skipped
                    recorded.start_stage_6(module)
                case 7:
                    for op in all_ops(module):
                        source = numbered.origin(op)
                        if isinstance(op, sdy.ReshardOp) and isinstance(
                            source, sdy.ShardingConstraintOp
                        ):
                            recorded.constraints[op] = source
                case 8 if ours:
                    notes = recorded.insertions
                    recorded.demands = _moved(module, notes, numbered, original)
                case 9:
                    numbered.mark(all_ops(module))
                case 10:
                    recorded.end_stage_10(module)
                case _:
                    pass
            if watch is not None:
                watch.step(result)
    recorded.remarks = remarks
    if last_stage < LAST_STAGE:
        return recorded
    for op in collective_ops(module):
        recorded.sources[op] = numbered.parts(op)
    return recorded


def as_stage_4_annotates(
    original: ModuleOp, pipeline: TTStableHLOPipelinePass
) -> ModuleOp | None:
    """A copy of a program without a mesh, with the mesh and annotations of stage 4.

    Changes are made to this, so that each is one change beside what stage 4 chose.

    Returns:
        None if the program has a mesh, or stage 4 finds nothing to split.

    Raises:
        CompileError: the program cannot be compiled.
    """
    if sdy.mesh_table(original):
        return None
    module = original.clone()
    with collect_remarks():
        replace(_to_the_end(pipeline), last_stage=4).apply(make_context(), module)
    annotated = original.clone()
    functions = {f.sym_name.data: f for f in annotated.ops if isinstance(f, FuncOp)}
    first = annotated.body.block.first_op
    for op in module.ops:
        if isinstance(op, sdy.MeshOp) and first is not None:
            annotated.body.block.insert_op_before(op.clone(), first)
        elif isinstance(op, FuncOp) and op.sym_name.data in functions:
            shardings = sdy.func_argument_shardings(op)
            sdy.set_func_shardings(functions[op.sym_name.data], shardings)
    return annotated if sdy.mesh_table(annotated) else None


def compile_plainly(
    original: ModuleOp,
    pipeline: TTStableHLOPipelinePass,
    moves: "Moves | None" = None,
) -> ModuleOp:
    """Compile a program without notes: what a change is judged by.

    Args:
        moves: takes note of what is moved; its stage 8 is then run.

    Raises:
        CompileError: the program cannot be compiled.
    """
    module = original.clone()
    hooks = UNSEEN
    if moves is not None:
        hooks = replace(UNSEEN, insert_reshards=moves.insert_reshards)
    with collect_remarks():
        for _ in _to_the_end(pipeline).run(make_context(), module, hooks):
            pass
    if moves is not None:
        moves.chosen = moves.of(module)
    return module


class Moves:
    """Notes of what stages 7 and 8 move in copies of a program, for which of its ops.

    Attributes:
        chosen: what the copy moves that was compiled to its end.
    """

    def __init__(self, original: ModuleOp):
        self._original = original
        self._numbered = Origins()
        self._of: dict[Block, frozenset[Moved]] = {}
        self.chosen: frozenset[Moved] = frozenset()

    def number(self, copy: ModuleOp) -> None:
        """Mark the ops of a copy, before it is changed."""
        self._numbered.mark_like(
            zip(all_ops(copy), all_ops(self._original), strict=True)
        )

    def insert_reshards(self, module: ModuleOp) -> None:
        """Run stage 8 on such a copy, or one of it, and take note."""
        notes: dict[Operation, Insertion] = {}
        RecordingInserter(module, notes).run()
        moved = _moved(module, notes, self._numbered, self._original)
        self._of[module.body.block] = moved

    def of(self, module: ModuleOp) -> frozenset[Moved]:
        """Return what a module moves; nothing if it was not to go through stage 8."""
        return self._of.get(module.body.block, frozenset())


class Demands:
    """The moves of stages 7 and 8 in a program: for which ops, along which axes.

    Args:
        ways: the moves of each way that stage 6 may choose.
        choose: returns those of the way that it chooses, which takes a whole compilation.
    """

    def __init__(
        self,
        ways: Collection[frozenset[Moved]],
        choose: Callable[[], frozenset[Moved]] | None = None,
    ):
        self._ways = ways
        self._choose = choose

    def lack(self, op: tuple[int, ...] | None, axes: Iterable[str]) -> bool:
        """Return True if nothing is sent any more for an op along one of the axes."""
        answers = {
            any((op, axis) not in moved for axis in axes) for moved in self._ways
        }
        if len(answers) == 1:
            return answers.pop()
        return any((op, axis) not in self.chosen for axis in axes)

    @cached_property
    def chosen(self) -> frozenset[Moved]:
        """The moves of the way that stage 6 chooses."""
        if self._choose is None:
            (moved,) = self._ways
            return moved
        return self._choose()


def demands_of(
    original: ModuleOp, edits: Sequence[Edit], pipeline: TTStableHLOPipelinePass
) -> Demands:
    """Return the moves of stages 7 and 8 in a changed program.

    Where stage 6 chooses one of two ways by the bytes that devices send, both go as far as
    stage 8. Bytes are counted only if the two differ in what is asked.

    Raises:
        CompileError: the program cannot be compiled so far.
    """
    moves = Moves(original)
    module = changed(original, edits, moves.number)
    stage_6 = pipeline.stages()[PROPAGATION_STAGE - 1]
    context = make_context()
    others: list[ModuleOp] = []

    def by_priority(module: ModuleOp) -> None:
        assert isinstance(stage_6, LessTrafficPropagatePass)
        (_, first), other, _ = stage_6.candidates(module)
        if other is not None:
            way, second = other
            others.append(finished_copy(module, second, way))
        first.finish(keep_rules=stage_6.keep_sharding_rules)

    both = isinstance(stage_6, LessTrafficPropagatePass)
    hooks = Hooks(
        propagate=by_priority if both else None, insert_reshards=moves.insert_reshards
    )
    short = replace(_to_the_end(pipeline), last_stage=RESHARDS_STAGE)
    ways: set[frozenset[Moved]] = set()
    with collect_remarks():
        for _ in short.run(context, module, hooks):
            pass
        ways.add(moves.of(module))
        for other in others:
            with suppress(CompileError):  # then it is not chosen
                for _ in short.go_on(context, other, hooks):
                    pass
                ways.add(moves.of(other))

    def choose() -> frozenset[Moved]:
        moves = Moves(original)
        module = changed(original, edits, moves.number)
        compile_plainly(module, pipeline, moves)
        return moves.chosen

    return Demands(ways, choose if len(ways) > 1 else None)


def _moved(
    module: ModuleOp,
    insertions: dict[Operation, Insertion],
    numbered: Origins,
    original: ModuleOp,
) -> frozenset[Moved]:
    """Return what a copy of a program that is behind stage 8 moves."""
    moved: set[Moved] = set()
    ops = len(all_ops(original))
    for op in all_ops(module):
        if isinstance(op, sdy.ReshardOp | sdy.AllReduceOp):
            note = insertions.get(op)
            chain = numbered.chain(op if note is None else note.user)
            known = tuple(number for number in chain if number < ops)
            moved.update((known, axis) for axis in _moved_axes(op))
    return frozenset(moved)


def _moved_axes(op: sdy.ReshardOp | sdy.AllReduceOp) -> set[str]:
    """The names of the axes along which an op of stage 8 has something to send."""
    if isinstance(op, sdy.AllReduceOp):
        return {axis.name for axis in op.reduction_axes.data}
    before = sdy.get_sharding(op.input)
    if before is None:
        return set()
    names: set[str] = set()
    after = op.sharding.data.axes_per_dim
    for old, new in zip(before.axes_per_dim, after, strict=True):
        # axes that are only added are cut off each shard, where it is
        if not is_prefix(old, new):
            kept = common_prefix(old, new)
            names.update(axis.name for axis in old if axis not in kept)
    return names


def can_take_notes(pipeline: TTStableHLOPipelinePass) -> bool:
    """Return True if stage 8 is the one that the recording one does the same as."""
    stage_8 = pipeline.stages()[RESHARDS_STAGE - 1]
    return isinstance(stage_8, InsertExplicitReshardsPass)


def _to_the_end(pipeline: TTStableHLOPipelinePass) -> TTStableHLOPipelinePass:
    """All thirteen stages with the same options, and nothing written or verified."""
    return replace(
        pipeline, first_stage=1, last_stage=LAST_STAGE, verify_each=False, dump_dir=None
    )
