"""Compiling a program, with notes and without: the same thirteen stages, watched.

Stages 6 and 8 are replaced by ones that do the same and take notes (`recording.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from ttxdsl.dialects import sdy
from ttxdsl.explaining.recording import COLLECTIVES, PropagationName, Recorded
from ttxdsl.program import make_context
from ttxdsl.remarks import collect_remarks
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass
from ttxdsl.transforms.shardy.exporting.sdy_insert_explicit_reshards import (
    InsertExplicitReshardsPass,
)
from ttxdsl.transforms.shardy.propagation.aggressive import AggressivePropagatePass
from ttxdsl.transforms.shardy.propagation.op_priority import OpPriorityPropagatePass
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass

PROPAGATIONS: dict[PropagationName, AggressivePropagatePass] = {
    "aggressive": AggressivePropagatePass(),
    "op-priority": OpPriorityPropagatePass(),
    "user-priority": UserPriorityPropagatePass(),
}
"""What stage 6 can be; the pipeline's own is the first."""


@dataclass(frozen=True)
class _RecordingPass(ModulePass):
    """A stage that is run by a function, under the name of the pass that it replaces."""

    name = "recorded"

    run: Callable[[ModuleOp], None] = lambda module: None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the module in place."""
        self.run(op)


@dataclass(frozen=True)
class _RecordingPipeline(TTStableHLOPipelinePass):
    """The pipeline with stages 6 and 8 replaced by recording ones."""

    recorded: Recorded | None = None

    def stages(self) -> list[ModulePass]:
        """The thirteen stages."""
        stages, recorded = super().stages(), self.recorded
        assert recorded is not None
        inner = PROPAGATIONS[recorded.propagation]
        assert isinstance(stages[5], AggressivePropagatePass)
        assert isinstance(stages[7], InsertExplicitReshardsPass)
        stages[5] = _RecordingPass(lambda module: recorded.propagate(module, inner))
        stages[7] = _RecordingPass(recorded.insert_reshards)
        return stages


def compile_and_record(
    original: ModuleOp,
    pipeline: TTStableHLOPipelinePass,
    propagation: PropagationName = "aggressive",
    *,
    invented: bool = False,
) -> Recorded:
    """Compile a copy of a program through the thirteen stages and take notes.

    Args:
        original: the program; it is not changed.
        pipeline: the options; all thirteen stages are run.
        propagation: what stage 6 is.
        invented: whether its annotations are those that stage 4 found.

    Raises:
        CompileError: the program cannot be compiled.
    """
    module = original.clone()
    recorded = Recorded(original, module, propagation, invented)
    marks = recorded.marks
    marks.mark_like(module, original)
    watched = _pipeline(pipeline, recorded)
    with collect_remarks() as remarks:
        for result in watched.run(make_context(), module):
            match result.number:
                case 5:
                    recorded.skipped = result.skipped
                    recorded.start_stage_6(module)
                case 7:
                    for op in module.walk():
                        source = marks.origin(op)
                        if isinstance(op, sdy.ReshardOp) and isinstance(
                            source, sdy.ShardingConstraintOp
                        ):
                            recorded.constraints[op] = source
                case 9:
                    marks.mark(module)
                case 10:
                    recorded.end_stage_10(module)
                case _:
                    pass
    recorded.remarks = remarks
    for op in module.walk():
        if isinstance(op, COLLECTIVES):
            recorded.sources[op] = marks.origins(op)
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
        replace(pipeline, first_stage=1, last_stage=4, dump_dir=None).apply(
            make_context(), module
        )
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


def _pipeline(
    pipeline: TTStableHLOPipelinePass, recorded: Recorded
) -> _RecordingPipeline:
    return _RecordingPipeline(
        mesh_shape=pipeline.mesh_shape,
        argument_types=pipeline.argument_types,
        automatic_arg_analysis=pipeline.automatic_arg_analysis,
        result_presharded=pipeline.result_presharded,
        strict=pipeline.strict,
        recorded=recorded,
    )


def compile_plainly(
    original: ModuleOp,
    pipeline: TTStableHLOPipelinePass,
    propagation: PropagationName = "aggressive",
) -> ModuleOp:
    """The same program without notes: what a change is judged by.

    Raises:
        CompileError: the program cannot be compiled.
    """
    module = original.clone()
    plain = _PlainPipeline(
        mesh_shape=pipeline.mesh_shape,
        argument_types=pipeline.argument_types,
        automatic_arg_analysis=pipeline.automatic_arg_analysis,
        result_presharded=pipeline.result_presharded,
        strict=pipeline.strict,
        propagation=propagation,
    )
    with collect_remarks():
        plain.apply(make_context(), module)
    module.verify()
    return module


@dataclass(frozen=True)
class _PlainPipeline(TTStableHLOPipelinePass):
    """The pipeline with another stage 6."""

    propagation: PropagationName = "aggressive"

    def stages(self) -> list[ModulePass]:
        """The thirteen stages."""
        stages = super().stages()
        stages[5] = PROPAGATIONS[self.propagation]
        return stages
