"""The thirteen stages in order: from a global program to per-device code.

| stage | pass                                | what it does                          |
|-------|-------------------------------------|---------------------------------------|
| 1     | `inline`                            | one function, no calls                |
| 2     | `apply-tt-argument-annotations`     | input, parameter or constant          |
| 3     | `apply-argument-shard-status`       | which arguments arrive split          |
| 4     | `apply-shardy-argument-annotations` | shardings to start from               |
| 5     | `sdy-apply-sharding-constraints`    | constraints become shardings          |
| 6     | `sdy-user-priority-propagate`       | every value gets a sharding           |
| 7     | `sdy-sharding-constraint-to-reshard`| the remaining constraints             |
| 8     | `sdy-insert-explicit-reshards`      | where shardings do not fit together   |
| 9     | `wrap-under-manual-computation`     | one `sdy.manual_computation`          |
| 10    | `sdy-reshard-to-collectives`        | reshards become collectives           |
| 11    | `update-global-to-local-shapes`     | every device sees its own part        |
| 12    | `sdy-close-shardings`               | nothing is open any more              |
| 13    | `canonicalize`                      | tidy                                  |

Stages 5 to 12 are skipped when the program came partitioned. Around the stages run
passes that prepare for them or clean up:

- Before 1: other exporters' shardings become sdy's (`import-xla-sdy`), several meshes
  become one (`unify-meshes`), and composites without a rule are opened so that their
  ops are split (`open-composites`).
- After 1: tuples, which Shardy does not know, go (`fold-tuples`), and so does all of
  sdy where nothing can be split (`drop-idle-shardings`).
- Before 2: places that are constants become static (`constant-places`).
- Before 4: meshes inside shardings get a name.
- Before 6: counting indices become batching dimensions (`batch-counting-indices`), ops
  that Shardy has no rule for get one (`supply-sharding-rules`; stage 11 removes them),
  manual axes are completed, and data flow edges and sharding groups are put in, which
  last for stage 6 only.
- Stage 6 goes by priorities as JAX's partitioner does, or by
  `sdy-aggressive-propagate`, with a remark, where that sends less and the program gives
  no priorities (`less_traffic.py`). Axes of size one are taken out of shardings where
  that sends less (`sdy-remove-size-one-axes`): they split nothing, but contend.
- Around 8: axes that do not divide a dimension are dropped (`even-out-shardings`);
  before it carries of loops grow to what their axes divide (`pad-carries`), values
  between even ones are computed in frames (`frame-uneven-values`), and slices at
  computed starts become sums of parts (`sum-dynamic-slices`), each where that sends
  less. After it, slices share a gather (`gather-before-slices`) and ops a reshard
  (`simplify-reshards`).
- Stage 10 takes the collectives that send least. After it run Shardy's rewrites of
  collectives (`shardy-ccl-canonicalization`), after 11 ours (`optimize-collectives`).

With `optimize=false` none of the optimizations run, stage 6 is
`sdy-aggressive-propagate`, and stage 10 takes Shardy's collectives, as the design has
it.

`version=2026` is tt-mlir's own pipeline of that year, whose stages have the same
numbers:

- Stage 6 is `sdy-user-priority-propagate{conservative-propagation=true}`: no part of an
  axis splits a value unless somebody named it.
- `decouple-const-fanout` runs before 5, `replicate-non-splittable-values` and
  `insert-reshards-for-unpropagated-ops` before 8.
- `flatten-or-convert-composites` takes composites apart after 1, and
  `reoutline-composites` restores those that are still whole after 11.
- Nothing propagates through loops, branches and barriers, sharding groups are ignored,
  reshards are not shared, and `optimize-collectives` does not run.

`version=xla` makes the choices of XLA's partitioner: stage 1 is `inline-for-xla`, which leaves large
functions of several calls to stage 6, stage 6 is `sdy-user-priority-propagate` of the
program as HLO has it (`through-hlo` before 5, `carry-free-values` after 6), operands are split as
results are (`follow-results` before 8), and of the optimizations
`shardy-ccl-canonicalization` runs, `collective-cse` and `sink-collectives`. Plans for chips of XLA's are
of it where no constraint says how a step is split, or its shardings contradict each other.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from ttxdsl.analysis.attribution.origins import Unmarked, joined_parts
from ttxdsl.analysis.calls.function_attributes import entry_functions
from ttxdsl.analysis.graph_state import is_solved
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import (
    Cost,
    OpsAt,
    doing,
    emit_warning,
    holding_back,
    tell_costs,
)
from ttxdsl.diagnostics.sanitize import visible
from ttxdsl.dialects import sdy
from ttxdsl.dialects.boundary import (
    require_one_level,
    require_structured,
    require_tensors,
)
from ttxdsl.dialects.replica_groups import require_one_replica, warn_of_other_partitions
from ttxdsl.ir.collector import without_collections
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.doors import PIPELINES
from ttxdsl.sharding.devices.mesh import Mesh
from ttxdsl.transforms.collectives.optimize_collectives import (
    OptimizeCollectivesPass,
    remaining_optimizations,
)
from ttxdsl.transforms.collectives.program.bytes_sent import bytes_sent
from ttxdsl.transforms.frontends.import_xla_sdy import ImportXlaSdyPass
from ttxdsl.transforms.shardy.exporting.sdy_close_shardings import CloseShardingsPass
from ttxdsl.transforms.shardy.exporting.sdy_insert_explicit_reshards import (
    InsertExplicitReshardsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_remove_sharding_groups import (
    RemoveShardingGroupsPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_reshard_to_collectives import (
    ReshardToCollectivesPass,
    check_collectives,
    check_reshards,
)
from ttxdsl.transforms.shardy.exporting.sdy_sharding_constraint_to_reshard import (
    ShardingConstraintToReshardPass,
)
from ttxdsl.transforms.shardy.exporting.sdy_sink_data_flow_edges import (
    SinkDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_add_data_flow_edges import (
    AddDataFlowEdgesPass,
)
from ttxdsl.transforms.shardy.importing.sdy_apply_sharding_constraints import (
    ApplyShardingConstraintsPass,
)
from ttxdsl.transforms.shardy.importing.sdy_manual_axes_cleanup import (
    ManualAxesCleanupPass,
)
from ttxdsl.transforms.shardy.importing.sdy_sharding_group_import import (
    ShardingGroupImportPass,
)
from ttxdsl.transforms.shardy.propagation.less_traffic import LessTrafficPropagatePass
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass
from ttxdsl.transforms.stages.apply_argument_shard_status import (
    ApplyArgumentShardStatusPass,
)
from ttxdsl.transforms.stages.apply_shardy_argument_annotations import (
    ApplyShardyArgumentAnnotationsPass,
)
from ttxdsl.transforms.stages.apply_tt_argument_annotations import (
    ApplyTTArgumentAnnotationsPass,
)
from ttxdsl.transforms.stages.batch_counting_indices import BatchCountingIndicesPass
from ttxdsl.transforms.stages.constant_places import ConstantPlacesPass
from ttxdsl.transforms.stages.drop_idle_shardings import DropIdleShardingsPass
from ttxdsl.transforms.stages.even_islands import KEEP_ISLANDS_WHOLE
from ttxdsl.transforms.stages.even_out_shardings import (
    EvenOutShardingsPass,
    check_boundary_shardings,
)
from ttxdsl.transforms.stages.fold_tuples import FoldTuplesPass
from ttxdsl.transforms.stages.frame_uneven_values import FrameUnevenValuesPass
from ttxdsl.transforms.stages.gather_before_slices import GatherBeforeSlicesPass
from ttxdsl.transforms.stages.inline import InlinePass
from ttxdsl.transforms.stages.open_composites import OpenCompositesPass
from ttxdsl.transforms.stages.pad_carries import PadCarriesPass
from ttxdsl.transforms.stages.shardy_ccl_canonicalization import (
    ShardyCCLCanonicalizationPass,
)
from ttxdsl.transforms.stages.simplify_reshards import SimplifyReshardsPass
from ttxdsl.transforms.stages.sum_dynamic_slices import SumDynamicSlicesPass
from ttxdsl.transforms.stages.supply_sharding_rules import SupplyShardingRulesPass
from ttxdsl.transforms.stages.update_global_to_local_shapes import (
    UpdateGlobalToLocalShapesPass,
)
from ttxdsl.transforms.stages.verify_stage import LAST_STAGE, verify_stage
from ttxdsl.transforms.stages.wrap_under_manual_computation import (
    WrapUnderManualComputationPass,
)
from ttxdsl.universe import named_pass

LAST_READING_STAGE = 4
"""The last stage that looks at the shardings that the program came with."""
FIRST_SHARDING_STAGE = 5
PROPAGATION_STAGE = 6
RESHARDS_STAGE = 8
"""The stage that makes shardings fit together; later ones take them as they are."""
COLLECTIVES_STAGE = 10
LOCAL_STAGE = 11
"""The stage that relies on shardings to fit together."""
LAST_SHARDING_STAGE = 12


@dataclass(frozen=True, slots=True)
class Stage:
    """One step that a program has taken: a stage of the pipeline or a lowering.

    `number` is 1 to 13 for the stages and None for lowerings; a stage is `skipped`
    when the program came partitioned already.
    """

    number: int | None
    name: str
    seconds: float
    skipped: bool = False

    def __str__(self) -> str:
        number = "  " if self.number is None else f"{self.number:2}"
        time = "skipped" if self.skipped else f"{self.seconds * 1e3:.1f} ms"
        return f"{number} {self.name}: {time}"


@dataclass(frozen=True, slots=True)
class Hooks:
    """Callbacks that run besides a stage, or in its place, during compilation.

    A caller that looks at the module after a stage needs no hook: it iterates.

    Attributes:
        before: told the number (None for lowerings) and name of each step.
        propagate: does what stage 6 does; None for the stage itself.
        insert_reshards: the same of stage 8.
        looks: whether the caller looks at the module between the stages. If not, and it
            is compiled two ways, the end of the cheaper one is kept.
    """

    before: Callable[[int | None, str], None] | None = None
    propagate: Callable[[ModuleOp], None] | None = None
    insert_reshards: Callable[[ModuleOp], None] | None = None
    looks: bool = True

    def run(self, number: int, stage: ModulePass, ctx: Context, op: ModuleOp) -> None:
        """Run a stage, or what is there in its place."""
        instead = {
            PROPAGATION_STAGE: self.propagate,
            RESHARDS_STAGE: self.insert_reshards,
        }.get(number)
        if instead is None:
            stage.apply(ctx, op)
        else:
            instead(op)


NO_HOOKS = Hooks()
UNSEEN = Hooks(looks=False)

DESIGN = "design"
"""The version of the pipeline that the design describes, see the module."""

T = TypeVar("T")


def _flag(default: T, help: str, metavar: str | None = None, **more: Any) -> T:
    """Declare an option that commands have as a flag too, see `cli/options/common.py`."""
    return field(default=default, metadata={"help": help, "metavar": metavar, **more})


@dataclass(frozen=True)
class TTStableHLOPipelinePass(ModulePass):
    """All thirteen stages, with tt-mlir's options.

    Options:
        mesh-shape: devices to use for a program without shardings, `1,8`.
        argument-types: `main=input,parameter;…`, see stage 2.
        automatic-arg-analysis: find the batch dimension of such a program (true).
        result-presharded: one 0 or 1 a result, see stage 3.
        dump-dir: write `NN-stage.mlir` after each stage into this directory.
        verify-each: check the module after each stage, also by `verify-stage`.
        first-stage, last-stage: the stages to run, by number.
        optimize: let collectives send less (true); see the module.
        without: optimizations to leave out, by name: those of `optimize-collectives`, and
            passes that only `optimize` runs.
        pad-borders: grow what shardings do not divide (false as in the design; commands do).
        strict: refuse what would be computed replicated with a warning.
        local-random-bits: let devices draw the bits of their parts alone, from one state,
            as XLA does with `xla_tpu_spmd_rng_bit_generator_unsafe` (false: all bits each).
        version: `design`, `2026` or `xla`; see the module.
        propagation: the pass that is stage 6, any that is registered, with options in
            quotes: `"NAME{option=value}"`. The passes around it stay.
        reshards: the same of stage 8.
    """

    name = "tt-stablehlo-pipeline"

    mesh_shape: tuple[int, ...] = _flag((), "devices, see stage 4", "1,N")
    argument_types: str | None = _flag(
        None, "main=input,parameter; see stage 2", "TEXT"
    )
    automatic_arg_analysis: bool = _flag(
        True, "find the batch of a program without shardings"
    )
    result_presharded: tuple[int, ...] = _flag((), "see stage 3", "1,0")
    dump_dir: str | None = _flag(None, "write NN-stage.mlir after each stage", "DIR")
    verify_each: bool = _flag(
        False, "check the program after each step, not only as read and at the end"
    )
    first_stage: int = 1
    last_stage: int = LAST_STAGE
    optimize: bool = _flag(
        True, "move, join and drop collectives so that they send less"
    )
    without: tuple[str, ...] = ()
    pad_borders: bool = _flag(
        False,
        "pad arguments and results that their shardings do not divide",
        command_default=True,
    )
    strict: bool = _flag(
        False, "refuse what would be computed replicated with a warning"
    )
    local_random_bits: bool = _flag(
        False,
        "draw random bits by parts, as XLA's xla_tpu_spmd_rng_bit_generator_unsafe:"
        " other numbers than one device's",
    )
    version: str = _flag(
        DESIGN,
        "the stages of the design, those that tt-mlir has today, or XLA's choices",
        flag="pipeline",
        choices=PIPELINES,
    )
    propagation: str | None = _flag(
        None, "what stage 6 is: any registered pass, sdy-op-priority-propagate", "PASS"
    )
    reshards: str | None = _flag(None, "what stage 8 is: any registered pass", "PASS")

    def stages(self) -> list[ModulePass]:
        """Return the passes of the thirteen stages; stage n is at index n - 1."""
        return self._version.stages(self)

    @property
    def _version(self) -> "Version":
        if self.version not in PIPELINES:
            raise CompileError(
                f"version {self.version!r} of the pipeline: not {' or '.join(PIPELINES)}"
            )
        return PIPELINES[self.version]

    def rest_to_count(self, ctx: Context, module: ModuleOp) -> Iterator[Stage]:
        """Go on from stage 6 as far as the bytes that devices send can be counted."""
        rest = replace(self, last_stage=LOCAL_STAGE, dump_dir=None)
        return rest.go_on(ctx, module, NO_HOOKS)

    def bytes_with_carries(self, ctx: Context, module: ModuleOp) -> int:
        """Return what devices send if a module's carries stay as they are in stage 8."""
        as_they_are = replace(self, without=(*self.without, PadCarriesPass.name))
        return as_they_are._bytes_from(RESHARDS_STAGE, ctx, module)

    def _bytes_from(self, stage: int, ctx: Context, module: ModuleOp) -> int:
        rest = replace(
            self,
            first_stage=stage,
            last_stage=LOCAL_STAGE,
            verify_each=False,
            dump_dir=None,
        )
        rest.apply(ctx, module)
        return bytes_sent(module)

    def go_on(
        self, ctx: Context, module: ModuleOp, hooks: Hooks, costs: Sequence[Cost] = ()
    ) -> Iterator[Stage]:
        """Run the stages behind propagation on a module that is propagated."""
        known = [*costs]
        with holding_back(known):
            for cleanup in self._version.after(self, PROPAGATION_STAGE):
                cleanup.apply(ctx, module)
        check_collectives(module)
        rest = replace(self, first_stage=PROPAGATION_STAGE + 1, verify_each=False)
        yield from rest.run(ctx, module, hooks, known)

    def run(
        self,
        ctx: Context,
        module: ModuleOp,
        hooks: Hooks = NO_HOOKS,
        costs: Sequence[Cost] = (),
    ) -> Iterator[Stage]:
        """Run one stage a step, changing the module in place.

        Whoever iterates may look at the module between the stages.

        Args:
            costs: what earlier stages found, to be told at the end.

        Raises:
            CompileError: a stage refuses the program or its options.
        """
        version, stages = self._version, self.stages()
        if not 1 <= self.first_stage <= self.last_stage <= len(stages):
            raise CompileError(
                f"first-stage {self.first_stage}, last-stage {self.last_stage}: not"
                f" two numbers from 1 to {len(stages)} in order"
            )
        require_one_level(module)
        require_structured(module)
        require_tensors(entry_functions(module))
        if self.first_stage == 1:
            ImportXlaSdyPass(self.mesh_shape).apply(ctx, module)
        dump = _dumper(self.dump_dir) if self.dump_dir else None
        solved = False
        held = [*costs]
        written = WrittenShardings([], False)
        if self.first_stage <= LAST_READING_STAGE:
            written = _written_shardings(module)
        if self.first_stage == 1 and written.names_several_meshes(module):
            from ttxdsl.transforms.stages.unify_meshes import UnifyMeshesPass

            UnifyMeshesPass(self.strict).apply(ctx, module)
            written = _written_shardings(module)
        whole = not (hooks.looks or hooks.propagate or dump)
        whole &= self.last_stage == LAST_STAGE
        unseen = replace(hooks, before=None)
        rest: list[Stage] | None = None
        for number, stage in enumerate(stages[: self.last_stage], 1):
            if number < self.first_stage:
                continue
            if number == FIRST_SHARDING_STAGE:
                solved = is_solved(module)
                if not solved:
                    require_one_replica(module)
                    warn_of_other_partitions(module)
                    if self.pad_borders and not self.strict:
                        from ttxdsl.transforms.stages.pad_borders import PadBordersPass

                        PadBordersPass().apply(ctx, module)
                    check_boundary_shardings(module)
            skipped = solved and (FIRST_SHARDING_STAGE <= number <= LAST_SHARDING_STAGE)
            if hooks.before is not None:
                hooks.before(number, stage.name)
            start = time.perf_counter()
            if not skipped:
                before = version.before(self, number, module, written)
                with (
                    doing(f"stage {number} {stage.name}"),
                    without_collections(),
                    holding_back(held),
                ):
                    for preparation in before:
                        preparation.apply(ctx, module)
                    if whole and isinstance(stage, LessTrafficPropagatePass):
                        rest = stage.finish_with(
                            ctx,
                            module,
                            lambda ctx, module: self.go_on(ctx, module, unseen, held),
                        )
                    else:
                        hooks.run(number, stage, ctx, module)
                    if rest is None:
                        for cleanup in version.after(self, number):
                            cleanup.apply(ctx, module)
                if number in (PROPAGATION_STAGE, COLLECTIVES_STAGE) and rest is None:
                    check_collectives(module)
                if number == COLLECTIVES_STAGE:
                    check_reshards(module)
            if number == self.last_stage and held:
                # before stage 11 nobody knows what a device will have
                tell_costs(held, _ops_at(module) if number >= LOCAL_STAGE else None)
            seconds = time.perf_counter() - start
            if rest is not None:
                if self.verify_each:
                    module.verify()
                    verify_stage(module, LAST_STAGE)
                yield Stage(number, stage.name, seconds)
                yield from rest
                return
            if self.verify_each:
                if number == FIRST_SHARDING_STAGE:
                    check_collectives(module)  # what the verifier says, and of what
                module.verify()
                verify_stage(module, number)
            if dump:
                dump(number, stage.name, module)
            yield Stage(number, stage.name, seconds, skipped)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run all stages."""
        for _ in self.run(ctx, op, UNSEEN):
            pass


def _ops_at(module: ModuleOp) -> OpsAt:
    """Return each device's ops by the location that they come from."""
    unmarked = Unmarked()
    by_location: dict[int, list[Operation]] = {}
    wrappers = ops_of_type(module, sdy.ManualComputationOp)
    for op in (inner for wrapper in wrappers for inner in wrapper.body.walk()):
        for part in joined_parts(op.location):
            by_location.setdefault(id(unmarked(part)), []).append(op)
    return lambda location: by_location.get(id(unmarked(location)), ())


class WrittenShardings(NamedTuple):
    """The features of a program's shardings that stages do not take as they are.

    `meshes` are those written inside shardings.
    """

    meshes: list[Mesh]
    has_priority: bool

    def names_several_meshes(self, module: ModuleOp) -> bool:
        """Whether there are more than one mesh, or one without axes."""
        meshes = [*sdy.mesh_table(module).values(), *self.meshes]
        return len(set(meshes)) > 1 or any(not mesh.axes for mesh in meshes)


def _written_shardings(module: ModuleOp) -> WrittenShardings:
    written = sdy.written_shardings(module)
    meshes = [sharding.mesh for sharding in written if isinstance(sharding.mesh, Mesh)]
    priorities = {
        dim.priority_or_default for sharding in written for dim in sharding.dims
    }
    return WrittenShardings(meshes, max(priorities, default=0) > 0)


class Version:
    """A version of the pipeline: its stages, and what is done around them.

    This one is the design's. Others are derived from it, and registered in
    `ttxdsl.loading.doors.PIPELINES`; their stages keep their numbers.
    """

    def stages(self, pipeline: TTStableHLOPipelinePass) -> list[ModulePass]:
        """Return the passes of the thirteen stages, with the pipeline's options."""
        return [
            InlinePass(),
            ApplyTTArgumentAnnotationsPass(pipeline.argument_types),
            ApplyArgumentShardStatusPass(pipeline.result_presharded),
            ApplyShardyArgumentAnnotationsPass(
                pipeline.mesh_shape, pipeline.automatic_arg_analysis
            ),
            ApplyShardingConstraintsPass(),
            self.propagation(pipeline)
            if pipeline.propagation is None
            else named_pass(pipeline.propagation),
            ShardingConstraintToReshardPass(),
            InsertExplicitReshardsPass()
            if pipeline.reshards is None
            else named_pass(pipeline.reshards),
            WrapUnderManualComputationPass(),
            self.collectives(pipeline),
            UpdateGlobalToLocalShapesPass(pipeline.strict, pipeline.local_random_bits),
            CloseShardingsPass(),
            CanonicalizePass(),
        ]

    def propagation(self, pipeline: TTStableHLOPipelinePass) -> ModulePass:
        """Return stage 6."""
        if pipeline.optimize:
            return LessTrafficPropagatePass(rest=pipeline.rest_to_count)
        from ttxdsl.transforms.shardy.propagation.aggressive import (
            AggressivePropagatePass,
        )

        return AggressivePropagatePass()

    def collectives(self, pipeline: TTStableHLOPipelinePass) -> ModulePass:
        """Return stage 10."""
        return ReshardToCollectivesPass(cheapest=pipeline.optimize)

    def before(
        self,
        pipeline: TTStableHLOPipelinePass,
        number: int,
        module: ModuleOp,
        written: WrittenShardings,
    ) -> list[ModulePass]:
        """Return what prepares the program for a stage, see the module.

        Args:
            module: the program, as the stages before left it.
            written: the shardings that it came with; none after stage 4 of a run that
                began after it.
        """
        match number:
            case 1 if is_to_split(pipeline, module, written):
                return [OpenCompositesPass()]
            case 2 if is_to_split(pipeline, module, written):
                return optional(pipeline, ConstantPlacesPass())
            case 4:
                if written.has_priority and not isinstance(
                    self.stages(pipeline)[PROPAGATION_STAGE - 1],
                    UserPriorityPropagatePass,
                ):
                    emit_warning(
                        "the program gives shardings a priority, which the stages do"
                        " not look at: sdy-user-priority-propagate does"
                    )
                if not written.meshes:
                    return []
                from ttxdsl.transforms.shardy.importing.sdy_lift_inlined_meshes import (
                    LiftInlinedMeshesPass,
                )

                return [LiftInlinedMeshesPass()]
            case 6:
                return [
                    *optional(pipeline, BatchCountingIndicesPass()),
                    SupplyShardingRulesPass(),
                    ManualAxesCleanupPass(),
                    ShardingGroupImportPass(),
                    AddDataFlowEdgesPass(),
                ]
            case 8:
                carries = optional(
                    pipeline, PadCarriesPass(pipeline.bytes_with_carries)
                )
                frames = optional(pipeline, FrameUnevenValuesPass())
                slices = optional(pipeline, SumDynamicSlicesPass())
                return [
                    *carries,
                    *frames,
                    even_out(pipeline),
                    *slices,
                ]
            case _:
                return []

    def after(self, pipeline: TTStableHLOPipelinePass, number: int) -> list[ModulePass]:
        """Return what cleans up behind a stage."""
        match number:
            case 1:
                return [FoldTuplesPass(), DropIdleShardingsPass()]
            case 6:
                return [SinkDataFlowEdgesPass(), RemoveShardingGroupsPass()]
            case 8:
                gathers = optional(pipeline, GatherBeforeSlicesPass())
                return [even_out(pipeline), *gathers, SimplifyReshardsPass()]
            case 10:
                return optional(pipeline, ShardyCCLCanonicalizationPass())
            case 11:
                left = remaining_optimizations(pipeline.without)
                return optional(pipeline, OptimizeCollectivesPass(left)) if left else []
            case _:
                return []


def optional(
    pipeline: TTStableHLOPipelinePass, optimization: ModulePass
) -> list[ModulePass]:
    """Return an optimization, unless it is left out."""
    return (
        [optimization]
        if pipeline.optimize and optimization.name not in pipeline.without
        else []
    )


def even_out(pipeline: TTStableHLOPipelinePass) -> EvenOutShardingsPass:
    """Return the pass that splits nothing unevenly, as strict as the pipeline."""
    islands = pipeline.optimize and KEEP_ISLANDS_WHOLE not in pipeline.without
    return EvenOutShardingsPass(pipeline.strict, islands)


def is_to_split(
    pipeline: TTStableHLOPipelinePass, module: ModuleOp, written: WrittenShardings
) -> bool:
    """Return whether the program will be split, as far as is known at its start."""
    return not is_solved(module) and (
        prod(pipeline.mesh_shape) > 1
        or any(
            mesh.total_size > 1
            for mesh in (*sdy.mesh_table(module).values(), *written.meshes)
        )
    )


DESIGN_VERSION = Version()


def dumped_file(folder: Path, number: int, name: str) -> Path:
    """Return the file that a stage, counted from 1, is written to."""
    return folder / f"{number:02}-{name.removeprefix('sdy-')}.mlir"


def _dumper(directory: str) -> Callable[[int, str, ModuleOp], None]:
    """Return a function that writes a stage's module into a folder, which is made."""
    from ttxdsl.transforms.shardy.save_module import write_module

    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        shown = visible(directory)
        message = f"cannot make the folder '{shown}': {error.strerror}"
        raise CompileError(message) from error

    def dump(number: int, name: str, module: ModuleOp) -> None:
        write_module(dumped_file(folder, number, name), module)

    return dump
