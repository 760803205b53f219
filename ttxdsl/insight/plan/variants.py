"""Variants of a plan: the same step with one change each, made and planned again.

Changes of the per-device program are made in it: donation, saved activations in the host's
memory, another chip. Changes of the program that was loaded are compiled anew: its batch,
and state that another axis of the mesh splits, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.analysis.attribution.roles import Role, Roles
from ttxdsl.analysis.calls.function_attributes import (
    argument_attributes,
    entry_function,
    result_attributes,
    set_argument_attributes,
    set_result_attributes,
)
from ttxdsl.analysis.values.state import DONATED, results_of_arguments
from ttxdsl.costs.chips import CHIPS
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import collect_remarks
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.plan.batch import scale_batch
from ttxdsl.insight.plan.plan import StepPlan, Variant, plan_step
from ttxdsl.insight.plan.remat import POLICIES, with_policy
from ttxdsl.insight.plan.saved import saved_activations
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.loading.program import make_context
from ttxdsl.sharding.axes import AxisRef
from ttxdsl.sharding.spec import DimSharding
from ttxdsl.transforms.pipeline import TTStableHLOPipelinePass

_SHARDING = "sdy.sharding"


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a per-device program: the program as loaded, and the pipeline."""

    module: ModuleOp
    pipeline: TTStableHLOPipelinePass

    def compiled(self, changed: ModuleOp) -> ModuleOp:
        """Return a changed program per device.

        Raises:
            CompileError: it cannot be partitioned.
        """
        module = changed.clone()
        with collect_remarks():
            try:
                self.pipeline.apply(make_context(), module)
            except DiagnosticException as error:
                raise CompileError(str(error).strip().partition("\n")[0]) from error
        return module


def with_variants(
    plan: StepPlan,
    module: ModuleOp,
    origin: Origin | None,
    trip_count: int | None = None,
    on_step: Callable[[str], None] | None = None,
) -> StepPlan:
    """Return a plan with the same step changed, each change made and planned.

    Args:
        plan: of the per-device program.
        module: that program.
        origin: what it was made of; without it nothing is compiled anew.
        trip_count: as of the plan.
        on_step: called with the name of each change before it is made.
    """
    planner = _Planner(plan, trip_count)
    variants: list[Variant] = []
    refused: list[str] = []
    changes = [_donation, _offload, _chips]
    for change in changes:
        variants += change(planner, module)
    if origin is not None:
        saved = {activation.name for activation in saved_activations(module)}
        products = "dot_general" in saved and len(saved - {"carry"}) > 1
        for name, compiled in _anew(
            origin,
            saves=bool(saved),
            saves_products=products,
            draws=_draws_much(module, plan.memory.peak_bytes),
        ):
            if on_step is not None:
                on_step(name)
            try:
                other = planner.plan(compiled())
            except CompileError as error:
                refused.append(f"{name}: not tried, {error.message}")
                continue
            variants.append(_variant(name, other))
            if name == _HALF:
                variants += _accumulated(other, module)
    else:
        refused.append("the batch and shardings: not tried on a partitioned program")
    return replace(
        plan,
        variants=tuple(variants),
        assumptions=(*plan.assumptions, *refused),
    )


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans changed programs as the first one."""

    start: StepPlan
    trip_count: int | None

    def plan(self, module: ModuleOp, *, offload: bool = False) -> StepPlan:
        return plan_step(
            module,
            self.start.chip,
            slices=self.start.slices,
            trip_count=self.trip_count,
            offload=offload,
        )


def _variant(change: str, plan: StepPlan) -> Variant:
    memory = plan.memory
    return Variant(
        change,
        memory.peak_bytes,
        memory.limit_bytes,
        plan.time.step_s,
        plan.tokens_per_second,
    )


# Changes of the per-device program


def _donation(planner: _Planner, module: ModuleOp) -> Iterator[Variant]:
    changed = module.clone()
    function = entry_function(changed)
    state = results_of_arguments(function)
    if not state:
        return
    given = argument_attributes(function)
    if donated := [at for at in state if any(name in given[at] for name in DONATED)]:
        change = "without donating the state"
        for at in donated:
            given[at] = {k: v for k, v in given[at].items() if k not in DONATED}
    else:
        change = "donate the state: donate_argnums"
        for at in state:
            given[at] = {**given[at], DONATED[1]: UnitAttr()}
    set_argument_attributes(function, given)
    yield _variant(change, planner.plan(changed))


def _offload(planner: _Planner, module: ModuleOp) -> Iterator[Variant]:
    saved = saved_activations(module)
    if saved and not all(activation.on_host for activation in saved):
        yield _variant(
            "saved activations offloaded to the host",
            planner.plan(module, offload=True),
        )


def _chips(planner: _Planner, module: ModuleOp) -> Iterator[Variant]:
    """The chips of the same kind of network with more memory, if that is worth asking."""
    start = planner.start
    own = start.chip
    if start.memory.fits and start.memory.is_certain:
        return
    for chip in CHIPS.values():
        alike = chip.links == own.links or chip.links > 1 < own.links
        if chip.name != own.name and alike and chip.memory_bytes > own.memory_bytes:
            other = plan_step(
                module, chip, slices=start.slices, trip_count=planner.trip_count
            )
            yield _variant(f"on {chip.name}", other)


# Changes of the program that was loaded

_HALF = "half the batch"
_DRAWS_MUCH = 50
"""A part of the peak, one to so many, from which random bits are worth a compilation."""


def _draws_much(module: ModuleOp, peak_bytes: int) -> bool:
    """Whether the random bits that a device draws at once are a part of its peak."""
    most = max(
        (
            value_bytes(op.output)
            for op in ops_of_type(module, stablehlo.RngBitGeneratorOp)
        ),
        default=0,
    )
    return most * _DRAWS_MUCH > peak_bytes


def _anew(
    origin: Origin, *, saves: bool, saves_products: bool, draws: bool
) -> Iterator[tuple[str, Callable[[], ModuleOp]]]:
    """Yield the name of each change and what makes the changed program of a device.

    Args:
        origin: the program as loaded.
        saves: whether loops save activations.
        saves_products: whether products are among them.
        draws: whether random bits take much memory.
    """
    module, compiled = origin.module, origin.compiled
    yield _HALF, lambda: compiled(scale_batch(module, Fraction(1, 2)))
    yield "twice the batch", lambda: compiled(scale_batch(module, Fraction(2)))
    if saves:
        for name, policy in list(POLICIES.items())[: 2 if saves_products else 1]:
            yield name, lambda policy=policy: compiled(with_policy(module, policy))
    if draws and not origin.pipeline.local_random_bits:
        pipeline = replace(origin.pipeline, local_random_bits=True)
        yield (
            "random bits by parts: --local-random-bits",
            lambda: Origin(module, pipeline).compiled(module),
        )
    for axis in _unused_axes(module):
        yield (
            f'state split over "{axis}", too',
            lambda axis=axis: compiled(_split_state(module, axis)),
        )


def _accumulated(half: StepPlan, module: ModuleOp) -> Iterator[Variant]:
    """Yield two steps of half the batch whose gradients are added up, if it trains."""
    function = entry_function(module)
    body = function.body.block
    for op in body.ops:
        if isinstance(op, sdy.ManualComputationOp):
            body = op.body.block
    try:
        roles = Roles(function).of_arguments()
    except CompileError:
        roles = {}
    gradients = sum(
        value_bytes(argument)
        for argument in body.args
        if roles.get(argument.index) is Role.PARAMETERS
    )
    if not gradients:
        return
    variant = _variant("accumulate over 2 microbatches", half)
    yield replace(
        variant,
        peak_bytes=variant.peak_bytes + gradients,
        step_s=2 * variant.step_s,
    )


def _state_shardings(function: FuncOp) -> dict[int, sdy.TensorShardingAttr]:
    state = results_of_arguments(function)
    return {
        index: sharding
        for index, entry in enumerate(argument_attributes(function))
        if index in state
        and isinstance(sharding := entry.get(_SHARDING), sdy.TensorShardingAttr)
    }


def _axes_of(sharding: sdy.TensorShardingAttr) -> set[str]:
    return {axis.name for dim in sharding.data.dims for axis in dim.axes}


def _unused_axes(module: ModuleOp) -> list[str]:
    """Return axes of the mesh that do not split the largest argument of the state."""
    function = entry_function(module)
    shardings = _state_shardings(function)
    meshes = [mesh for mesh in sdy.mesh_table(module).values() if mesh.total_size > 1]
    if not shardings or len(set(meshes)) != 1:
        return []
    arguments = function.body.block.args
    largest = max(shardings, key=lambda index: value_bytes(arguments[index]))
    used = _axes_of(shardings[largest])
    return [name for name, size in meshes[0].axes if size > 1 and name not in used]


def _split_state(module: ModuleOp, axis: str) -> ModuleOp:
    """Return a copy whose state an axis splits where it divides a dimension, FSDP's way."""
    changed = module.clone()
    function = entry_function(changed)
    (mesh,) = {m for m in sdy.mesh_table(changed).values() if m.total_size > 1}
    given, results = argument_attributes(function), result_attributes(function)
    becomes = results_of_arguments(function)
    for index, sharding in _state_shardings(function).items():
        if axis in _axes_of(sharding):
            continue
        shape = shape_of(function.body.block.args[index])
        dims = list(sharding.data.dims)
        parts = [
            size // dim.sharded_size(mesh) if size % dim.sharded_size(mesh) == 0 else 0
            for size, dim in zip(shape, dims, strict=True)
        ]
        able = [at for at, part in enumerate(parts) if part % mesh.axis_size(axis) == 0]
        able = [at for at in able if parts[at] > 0]
        if not able:
            continue
        at = max(able, key=lambda at: parts[at])
        dims[at] = DimSharding((*dims[at].axes, AxisRef(axis)))
        new = sdy.TensorShardingAttr(replace(sharding.data, dims=tuple(dims)))
        given[index] = {**given[index], _SHARDING: new}
        results[becomes[index]] = {**results[becomes[index]], _SHARDING: new}
    set_argument_attributes(function, given)
    set_result_attributes(function, results)
    return changed
