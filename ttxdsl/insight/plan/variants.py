"""Variants of a plan: the same step with one change each, made and planned again.

Changes of the per-device program are made in it: donation, saved activations in the host's
memory, another chip. Changes of the program that was loaded are compiled anew: its batch,
and state that another axis of the mesh splits, too.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from xdsl.dialects.builtin import ModuleOp
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
from ttxdsl.analysis.usage.device import DeviceUsage, usage_on
from ttxdsl.analysis.values.entry import donated_arguments
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.costs.chips import CHIPS, Chip
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.diagnostics.remarks import Remark, collect_remarks
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.insight.plan.batch import scale_batch
from ttxdsl.insight.plan.plan import StepPlan, Variant
from ttxdsl.insight.plan.remat import POLICIES, with_policy
from ttxdsl.insight.plan.saved import saved_activations, saved_values
from ttxdsl.ir.collector import freeing_old_bodies, without_collections
from ttxdsl.ir.tensors import shape_of, value_bytes
from ttxdsl.ir.traversal import all_ops, ops_of_type
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
            CompileError: it cannot be partitioned, in one line.
        """
        try:
            return self.partitioned(changed)[0]
        except DiagnosticException as error:
            raise CompileError(str(error).strip().partition("\n")[0]) from error

    def partitioned(self, changed: ModuleOp) -> tuple[ModuleOp, tuple[Remark, ...]]:
        """Return a changed program per device, and what its stages remark.

        Raises:
            DiagnosticException: it cannot be partitioned.
        """
        module, pipeline = changed.clone(), replace(self.pipeline, dump_dir=None)
        with collect_remarks() as remarks, without_collections(), freeing_old_bodies():
            pipeline.apply(make_context(), module)
        return module, tuple(remarks)


MOST_OPS = 15_000
"""Ops that variants compile and plan without `--all`: work, so that answers do not hang on the clock."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A change that is to be made and planned.

    Attributes:
        name: as in the table.
        kind: by which `_SMALLER` and `_FASTER` order it.
        is_compiled: whether the program as loaded is changed and compiled, not its own.
        make: the variants of it, two where microbatches of it are another.
    """

    name: str
    kind: str
    is_compiled: bool
    make: Callable[[], Iterable[Variant]]


_SMALLER = ("donation", "remat", "state", "offload", "chip", "half", "random", "twice")
_FASTER = ("twice", "donation", "state", "half", "random", "chip", "remat", "offload")
"""Kinds of changes by what they likely gain: where memory is short, and where it is not."""


def with_variants(
    plan: StepPlan,
    usage: DeviceUsage,
    origin: Origin | None,
    on_step: Callable[[str], None] | None = None,
    every: bool = False,
) -> StepPlan:
    """Return a plan with the same step changed, each change made and planned.

    Args:
        plan: of the per-device program.
        origin: what it was made of; without it nothing is compiled anew.
        on_step: called with the name of each change before it is made.
        every: measure all; else until `MOST_OPS` are compiled and planned, the likeliest gain
            first, and what is left is named.
    """
    planner = _Planner(plan, usage)
    changes = [*_own_changes(planner), *_anew(planner, origin)]
    short = not (plan.memory.fits and plan.memory.is_certain)
    order = _SMALLER if short else _FASTER
    ops = len(all_ops(usage.module))
    left = None if every else MOST_OPS
    measured: dict[str, tuple[Variant, ...]] = {}
    refused: dict[str, str] = {}
    for change in sorted(changes, key=lambda change: order.index(change.kind)):
        if left is not None:
            work = ops if change.is_compiled else ops // 2
            if work > left:
                continue
            left -= work
        if on_step is not None:
            on_step(change.name)
        try:
            measured[change.name] = tuple(change.make())
        except CompileError as error:
            refused[change.name] = error.message
    names = [change.name for change in changes]
    if origin is None:
        names.append("the batch and shardings")
        refused[names[-1]] = "the program came partitioned"
    return replace(
        plan,
        variants=tuple(v for name in names for v in measured.get(name, ())),
        refused=tuple((name, refused[name]) for name in names if name in refused),
        unmeasured=tuple(
            name for name in names if name not in measured and name not in refused
        ),
    )


@dataclass(frozen=True, slots=True)
class _Planner:
    """Plans changed programs as the first one."""

    start: StepPlan
    usage: DeviceUsage

    def own(self, change: str, **changed: Any) -> Variant:
        """Return a variant that holds something else at the same time of its ops."""
        start = self.start
        return Variant.of(change, self.usage, start.chip, start.tokens, **changed)

    def anew(self, change: str, module: ModuleOp, chip: Chip | None = None) -> Variant:
        """Return a variant that is another program, or on another chip."""
        chip = chip or self.start.chip
        usage = usage_on(module, chip, self.start.slices, self.usage.trip_count)
        return Variant.of(change, usage, chip)


# Changes of the per-device program


def _own_changes(planner: _Planner) -> Iterator[_Change]:
    start, module = planner.start, planner.usage.module

    def change(name: str, kind: str, **changed: Any) -> _Change:
        return _Change(name, kind, False, lambda: [planner.own(name, **changed)])

    function = entry_function(module)
    if state := set(results_of_arguments(function)):
        donated = donated_arguments(function)
        if donated & state:
            name = "without donating the state"
            yield change(name, "donation", donated=donated - state)
        else:
            name = "donate the state: donate_argnums"
            yield change(name, "donation", donated=donated | state)
    saved = saved_activations(module)
    if saved and not all(activation.on_host for activation in saved):
        name = "saved activations offloaded to the host"
        yield change(name, "offload", offloaded=saved_values(module))
    if not (start.memory.fits and start.memory.is_certain):
        for chip in _larger_chips(start.chip):
            make = partial(planner.anew, f"on {chip.name}", module, chip)
            yield _Change(f"on {chip.name}", "chip", False, lambda make=make: [make()])


def _larger_chips(own: Chip) -> Iterator[Chip]:
    """Return the chips of the same kind of network with more memory."""
    for chip in CHIPS.values():
        alike = chip.links == own.links or chip.links > 1 < own.links
        if chip.name != own.name and alike and chip.memory_bytes > own.memory_bytes:
            yield chip


# Changes of the program that was loaded

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


def _anew(planner: _Planner, origin: Origin | None) -> Iterator[_Change]:
    """Yield the changes that are compiled."""
    if origin is None:
        return
    module, compiled = origin.module, origin.compiled
    device = planner.usage.module

    def change(name: str, kind: str, make: Callable[[], ModuleOp]) -> _Change:
        return _Change(name, kind, True, lambda: [planner.anew(name, make())])

    def half() -> Iterator[Variant]:
        halved = compiled(scale_batch(module, Fraction(1, 2)))
        variant = planner.anew("half the batch", halved)
        yield variant
        yield from _accumulated(variant, device)

    yield _Change("half the batch", "half", True, half)
    yield change(
        "twice the batch", "twice", lambda: compiled(scale_batch(module, Fraction(2)))
    )
    if saved := {kept.name for kept in saved_activations(device)} - {"carry"}:
        products = "dot_general" in saved and len(saved) > 1
        for name, policy in list(POLICIES.items())[: 2 if products else 1]:
            yield change(
                name,
                "remat",
                lambda policy=policy: compiled(with_policy(module, policy)),
            )
    draws = _draws_much(device, planner.start.memory.peak_bytes)
    if draws and not origin.pipeline.local_random_bits:
        pipeline = replace(origin.pipeline, local_random_bits=True)
        yield change(
            "random bits by parts: --local-random-bits",
            "random",
            lambda: Origin(module, pipeline).compiled(module),
        )
    for axis in _unused_axes(module):
        yield change(
            f'state split over "{axis}", too',
            "state",
            lambda axis=axis: compiled(_split_state(module, axis)),
        )


def _accumulated(half: Variant, module: ModuleOp) -> Iterator[Variant]:
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
    yield replace(
        half,
        change="accumulate over 2 microbatches",
        peak_bytes=half.peak_bytes + gradients,
        step_s=2 * half.step_s,
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
