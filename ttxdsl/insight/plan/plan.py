"""The plan of a step on chips: memory by what it is for, time by what bounds it.

Memory is the peak of the per-device program with what XLA fuses
(`ttxdsl.analysis.usage.buffers.fusion`), time a schedule of what is left on the chip's published
figures (`ttxdsl.costs.chips`). docs/evidence/plan.md has the errors of both, as measured
against the TPU's own compiler.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any

from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ttxdsl.analysis.attribution.roles import Role, Roles
from ttxdsl.analysis.attribution.words import Words
from ttxdsl.analysis.calls.call_graph import callers
from ttxdsl.analysis.calls.function_attributes import entry_function
from ttxdsl.analysis.usage.buffers.layouts import uses
from ttxdsl.analysis.usage.buffers.order import depends_on_carried
from ttxdsl.analysis.usage.device import DeviceUsage
from ttxdsl.analysis.usage.memory import LiveValue, MemoryProfile
from ttxdsl.analysis.usage.needs import place_of
from ttxdsl.analysis.usage.timeline import Event
from ttxdsl.analysis.usage.work import flops
from ttxdsl.analysis.values.state import results_of_arguments
from ttxdsl.costs.chips import Chip
from ttxdsl.diagnostics.display import Displayed
from ttxdsl.diagnostics.errors import CompileError, place_text, source_frame
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.dialects import stablehlo
from ttxdsl.dialects.calls.custom import computes_unknown
from ttxdsl.dialects.calls.kernels import (
    is_kernel,
    is_product,
    kernel_flops,
    kernel_name,
)
from ttxdsl.dialects.replica_groups import devices_of
from ttxdsl.dialects.traits import Collective
from ttxdsl.insight.plan.saved import (
    SavedActivation,
    saved_activations,
    saved_values,
)
from ttxdsl.insight.why.layers import AlikeBuffers, largest_buffers
from ttxdsl.ir.tensors import element_of, is_tensor, shape_of
from ttxdsl.ir.traversal import all_ops, ops_of_type

MEMORY_ERROR = 0.2
"""The error that a plan shows, as a part of the peak; docs/evidence/plan.md says how often it is larger."""

_LARGEST = 5

_LEAST_SECONDS = 1e-9
"""The time of a step that does nothing: speeds are parts of it."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The memory of a device at its peak.

    Attributes:
        peak_bytes: of everything, arguments among it.
        limit_bytes: what the chip has for a program.
        by_category: bytes at the peak by what they are for; their sum is the peak.
        largest: the largest buffers there, those of layers together.
        position: of the op at which the peak is, inside of loops.
        saved: what layers save for their gradients, whether at the peak or not.
    """

    peak_bytes: int
    limit_bytes: int
    by_category: dict[str, int]
    largest: tuple[AlikeBuffers, ...]
    position: str | None
    saved: tuple[SavedActivation, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the peak is at most what the chip has."""
        return self.peak_bytes <= self.limit_bytes

    @property
    def error_bytes(self) -> int:
        """The possible error of the peak."""
        return int(MEMORY_ERROR * self.peak_bytes)

    @property
    def is_certain(self) -> bool:
        """Whether the limit is further from the peak than the peak may be off."""
        return abs(self.peak_bytes - self.limit_bytes) > self.error_bytes


@dataclass(frozen=True, slots=True)
class LineTime:
    """The time of the ops of one kind at one place of the source.

    Attributes:
        name: of the op.
        position: in the source; None where the program does not say it.
        bound: `compute`, `memory` or `network`.
        seconds: of a step, all iterations together.
    """

    name: str
    position: str | None
    bound: str
    seconds: float


@dataclass(frozen=True, slots=True)
class TimePlan:
    """The time of a step, and what bounds it.

    Attributes:
        step_s: seconds of a step; collectives overlap with what does not need them.
        compute_s: of ops that wait for products and convolutions.
        memory_s: of those that wait for memory to be read and written.
        network_s: of collectives.
        host_s: of what goes to the host's memory and back.
        exposed_s: of the network's, what nothing hides.
        lines: what takes longest, each with its seconds in a step.
    """

    step_s: float
    compute_s: float
    memory_s: float
    network_s: float
    exposed_s: float
    host_s: float = 0.0
    lines: tuple["LineTime", ...] = ()

    @property
    def bound(self) -> str:
        """The part that takes longest: `compute`, `memory`, `network` or `host`."""
        parts = {
            "compute": self.compute_s,
            "memory": self.memory_s,
            "network": self.network_s,
            "host": self.host_s,
        }
        return max(parts, key=lambda name: parts[name])


@dataclass(frozen=True, slots=True)
class Variant:
    """The same step with one change, planned again."""

    change: str
    peak_bytes: int
    limit_bytes: int
    step_s: float
    tokens_per_second: float | None = None

    @classmethod
    def of(
        cls,
        change: str,
        usage: DeviceUsage,
        chip: Chip,
        tokens: int | None = None,
        **changed: Any,
    ) -> "Variant":
        """Return the figures of a changed program.

        Args:
            tokens: of all devices in a step; by default those of its batch.
            changed: what else is in its memory, as of `DeviceUsage.memory_with`.
        """
        tokens = tokens or tokens_of(usage.module)
        seconds = usage.seconds_with(changed.get("offloaded", ()))
        step = max(seconds, _LEAST_SECONDS)
        return cls(
            change,
            usage.memory_with(**changed).peak_bytes,
            chip.memory_bytes,
            step,
            tokens / devices_of(usage.module) / step if tokens else None,
        )

    @property
    def fits(self) -> bool:
        """Whether the peak is at most what the chip has."""
        return self.peak_bytes <= self.limit_bytes

    def data(self) -> dict[str, Any]:
        """The variant as JSON."""
        return {"change": self.change, "fits": self.fits, **asdict(self)}


@dataclass(frozen=True)
class StepPlan(Displayed):
    """A step on chips.

    Attributes:
        chip: what each device is.
        devices: of the mesh.
        slices: with a network of chips each.
        flops: of a device in a step, two for a multiply-add; what several kernels compute
            counts in each.
        hbm_bytes: that a device reads and writes of its memory in a step, but for collectives.
        model_flops: of products and kernels alone, without what checkpoints compute again.
        bytes_sent: by a device in a step, by the ring model.
        launches: of collectives in a step.
        tokens: of all devices in a step, if the program has a batch of them.
        variants: the step with one change each.
        refused: changes that cannot be made, each with the reason.
        unmeasured: changes that were left, as they would have taken long.
        assumptions: what the figures stand on besides the program.
        functions: in which the lines are that are told, by their positions.
        remarks: of the partitioning, if it was done for the plan.
    """

    chip: Chip
    devices: int
    slices: int
    memory: MemoryPlan
    time: TimePlan
    flops: int
    hbm_bytes: int
    model_flops: int
    bytes_sent: int
    launches: int
    tokens: int | None
    variants: tuple[Variant, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    unmeasured: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    remarks: tuple[Remark, ...] = ()

    def place(self, position: str | None) -> str:
        """Return a position for people, `train.py:33 in block`."""
        return place_text(position, self.functions.get(position or ""))

    @property
    def utilization(self) -> float:
        """Floating-point operations as a part of what the chip has in the same time.

        What a checkpoint computes again counts: it is what the hardware does.
        """
        return self.flops / (self.chip.flops_per_second * self.time.step_s)

    @property
    def model_utilization(self) -> float:
        """Model FLOPs utilization, as MaxText counts: of products, each computed once."""
        available = self.chip.flops_per_second * self.time.step_s
        return self.model_flops / available

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens that one device deals with in a second."""
        if self.tokens is None:
            return None
        return self.tokens / self.devices / self.time.step_s

    def data(self) -> dict[str, Any]:
        """The plan as JSON."""
        memory, time = self.memory, self.time
        return {
            "chip": self.chip.name,
            "devices": self.devices,
            "slices": self.slices,
            "fits": memory.fits,
            "memory": {
                "peak_bytes": memory.peak_bytes,
                "error_bytes": memory.error_bytes,
                "limit_bytes": memory.limit_bytes,
                "by_category": memory.by_category,
                "position": memory.position,
                "largest": [asdict(buffers) for buffers in memory.largest],
                "saved": [activation.data() for activation in memory.saved],
            },
            "time": {"step_s": time.step_s, "bound": time.bound, **asdict(time)},
            "flops": self.flops,
            "hbm_bytes": self.hbm_bytes,
            "model_flops": self.model_flops,
            "utilization": self.utilization,
            "model_utilization": self.model_utilization,
            "bytes": self.bytes_sent,
            "launches": self.launches,
            "tokens": self.tokens,
            "tokens_per_second": self.tokens_per_second,
            "variants": [variant.data() for variant in self.variants],
            "refused": [
                {"change": change, "reason": reason} for change, reason in self.refused
            ],
            "unmeasured": list(self.unmeasured),
            "assumptions": list(self.assumptions),
        }


def plan_step(
    usage: DeviceUsage,
    chip: Chip,
    slices: int = 1,
    tokens: int | None = None,
    reasons: Iterable[str] = (),
    remarks: tuple[Remark, ...] = (),
) -> StepPlan:
    """Plan a per-device program on chips, without variants.

    Args:
        slices: parts of the mesh with a network of chips of their own.
        tokens: of all devices in a step; by default those of its batch.
        reasons: of the program, which are among the assumptions.
        remarks: as of the plan.

    Raises:
        CompileError: a shape is not static, or a collective contradicts itself.
    """
    module, trip_count = usage.module, usage.trip_count
    line, parts, profile = usage.timeline, usage.seconds_by_bound, usage.memory
    runs = usage.runs
    again = recomputed(module)
    model_work = sum(
        runs.of(op).count * flops(op)
        for op in all_ops(module)
        if op not in again and is_product(op)
    )
    time = TimePlan(
        max(usage.seconds, _LEAST_SECONDS),
        parts["compute"],
        parts["memory"],
        parts["network"],
        max(0.0, line.link_seconds - line.hidden_seconds),
        parts["host"],
        _longest(usage.bounds, module),
    )
    words = Words(trip_count)
    held = {live.value: live.bytes for live in profile.peak_values}
    memory = MemoryPlan(
        profile.peak_bytes,
        chip.memory_bytes,
        _by_category(module, profile, saved_values(module)),
        tuple(largest_buffers(profile.peak_values, words, _LARGEST)),
        profile.peak_position,
        saved_activations(module, words, held),
    )
    assumptions: list[str] = []
    if runs.unknown_loops:
        count, iterations = len(runs.unknown_loops), trip_count or 1
        assumptions.append(
            f"{count} {'loops' if count > 1 else 'loop'} whose number of iterations the program"
            f" does not say: {iterations} here (--trip-count N)"
        )
    calls = [op for op in all_ops(module) if isinstance(op, stablehlo.CustomCallOp)]
    unknown = [name for call in calls if (name := _of_unknown_work(call)) is not None]
    if unknown:
        names = ", ".join(sorted(set(unknown)))
        assumptions.append(
            f"{len(unknown)} {'calls' if len(unknown) > 1 else 'call'} of which nothing says the"
            f" work and the memory: no work here, and operands and results alone: {names}"
        )
    return StepPlan(
        *(
            chip,
            devices_of(module),
            slices,
            memory,
            time,
            usage.flops,
            usage.hbm_bytes,
            model_work,
        ),
        bytes_sent=usage.bytes_sent,
        launches=sum(collective.count for collective in usage.collectives),
        tokens=tokens or tokens_of(module),
        assumptions=(*assumptions, *reasons),
        functions={
            frame.position: frame.function
            for op in all_ops(module)
            if (frame := source_frame(op.location)) and frame.function
        },
        remarks=remarks,
    )


def _of_unknown_work(call: stablehlo.CustomCallOp) -> str | None:
    """Return the name of a call if nothing says what it computes; None if something does."""
    if is_kernel(call):
        return kernel_name(call) if kernel_flops(call) is None else None
    is_unknown = computes_unknown(call) and not flops(call)
    return call.call_target_name.data if is_unknown else None


def _longest(
    bounds: Iterable[tuple[Event, str]], module: ModuleOp
) -> tuple[LineTime, ...]:
    """Return the places of a module that take longest, by kind of op."""
    calls = callers(module)
    seconds: defaultdict[tuple[str, str | None, str], float] = defaultdict(float)
    for event, bound in bounds:
        op = event.ops[0]
        name = op.name.rpartition(".")[2]
        if isinstance(op, stablehlo.CustomCallOp):
            name = op.call_target_name.data
        frame = place_of(op, calls)
        key = name, frame.position if frame else None, bound
        seconds[key] += event.seconds * event.times
    longest = sorted(seconds.items(), key=lambda item: -item[1])[:_LARGEST]
    return tuple(LineTime(*key, spent) for key, spent in longest)


def recomputed(module: ModuleOp) -> set[Operation]:
    """Return the ops that compute again what was not saved.

    In a loop of gradients these are the ops that need no gradient of the iteration before,
    if there are products that do. Outside of loops they compute what another op does, but
    for a checkpoint's barrier.
    """
    again = _computed_twice(module)
    for op in all_ops(module):
        if isinstance(op, stablehlo.WhileOp):
            ops = list(op.body.block.ops)
            dependent = set(depends_on_carried(ops))
            if any(
                is_product(inner)
                for op_of_body in dependent
                for inner in all_ops(op_of_body)
            ):
                for other in ops:
                    if other not in dependent:
                        again.update(all_ops(other))
    return again


def _computed_twice(module: ModuleOp) -> set[Operation]:
    """Return the ops that compute the value of one before, barriers taken for nothing."""
    barriers = ops_of_type(module, stablehlo.OptimizationBarrierOp)
    again: set[Operation] = set()
    if not barriers:
        return again
    first: dict[tuple[object, ...], Operation] = {}
    same: dict[SSAValue, SSAValue] = {}
    for op in all_ops(module):
        if isinstance(op, stablehlo.OptimizationBarrierOp):
            for result, operand in zip(op.results, op.operands, strict=True):
                same[result] = same.get(operand, operand)
        elif op.results and not isinstance(op, stablehlo.WhileOp):
            facts = {**op.properties, "channel_handle": None}.items()
            key = (
                op.name,
                *(same.get(operand, operand) for operand in op.operands),
                frozenset(facts),
                *(inner.name for region in op.regions for inner in region.walk()),
                *op.result_types,
            )
            if (before := first.setdefault(key, op)) is not op:
                again.add(op)
                for result, other in zip(op.results, before.results, strict=True):
                    same[result] = same.get(other, other)
    return again


def tokens_of(module: ModuleOp) -> int | None:
    """Return the elements of the largest integer argument of two dimensions, if any."""
    sizes = [
        prod(shape_of(argument))
        for argument in entry_function(module).body.block.args
        if is_tensor(argument)
        and isinstance(element_of(argument), IntegerType)
        and len(shape_of(argument)) == 2
    ]
    return max(sizes, default=None)


# What buffers are for


def _by_category(
    module: ModuleOp, profile: MemoryProfile, saved: Collection[SSAValue]
) -> dict[str, int]:
    """Return the bytes at the peak by what they are for, the most first."""
    function = entry_function(module)
    state = results_of_arguments(function)
    try:
        arguments = Roles(function).of_arguments()
    except CompileError:  # calls that are left
        arguments = {}
    weights = {
        value.type
        for value in profile.peak_values
        if isinstance(value.value, BlockArgument) and value.value.index in state
    }
    sizes: Counter[str] = Counter()
    for buffer in profile.peak_values:
        sizes[_category(buffer, arguments, state, weights, saved)] += buffer.bytes
    if gaps := profile.peak_bytes - sum(sizes.values()):
        sizes["gaps between buffers"] = gaps
    return {kind: size for kind, size in sizes.most_common() if size}


def _category(
    buffer: LiveValue,
    arguments: Mapping[int, Role],
    state: Mapping[int, int],
    weights: Collection[str],
    saved: Collection[SSAValue],
) -> str:
    value = buffer.value
    if isinstance(value, BlockArgument):
        if (role := arguments.get(value.index)) is not None:
            return role.value
        if value.index in state:
            return "state"
        return "batch" if "xi" in buffer.type or "xui" in buffer.type else "arguments"
    if buffer.kind == "constant":
        return "constants"
    if buffer.kind == "result":
        return "results"
    owner = value.owner
    assert isinstance(owner, Operation), "values are results or arguments"
    if owner.get_trait(Collective) is not None:
        return "collectives"
    if value in saved:
        return "saved activations"
    is_carried = isinstance(owner, stablehlo.WhileOp) or any(
        isinstance(user, stablehlo.WhileOp) for user, _ in uses(value)
    )
    if buffer.type in weights or (is_carried and _is_updated(value)):
        return "gradients"
    return "temporaries"


def _is_updated(value: SSAValue) -> bool:
    """Whether a loop writes a part of a value at each iteration."""
    for user, index in uses(value):
        if isinstance(user, stablehlo.WhileOp):
            last = user.body.block.last_op
            assert last is not None, "a loop's body returns"
            end = last.operands[index].owner
            return isinstance(end, stablehlo.DynamicUpdateSliceOp)
    return False
