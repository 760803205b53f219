"""The program that XLA's partitioner makes of a step, where shardings leave it a choice.

Where no constraint says how a step splits what it computes, a plan for a chip of XLA's is of XLA's
program (`ttxdsl.transforms.pipeline_xla`), and the stages' is not made: of 45 such steps on which
that needs other memory 30 are nearer to libtpu's peak with XLA's (libtpu 0.0.52; a mean error of 1.17
instead of 1.32), and of 12 whose devices send other bytes ten (0.54 to 1.02 of libtpu's, where the
stages' program sends 0.06 to 0.95). Where some do, it is if shardings contradict each other. Where both operands of a product
are split along what it sums, and its result along another dimension by the same axes, XLA sums whole
results and cuts the sum; the thirteen stages exchange an operand first, which holds a part of it.
Elsewhere XLA splits operands as results are, and the stages as most operands are. Where a computed
value is exchanged at all, XLA's propagation may have gone another way: the logits' gradient of a head
that is split by vocabulary stays split so, as its labels' part is a comparison there, and no scatter.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from ttxdsl.analysis.usage.collectives import collective_ops
from ttxdsl.analysis.usage.device import DeviceUsage, known_chip, usage_on
from ttxdsl.costs.chips import Chip
from ttxdsl.costs.compilers import TT_MLIR, Compiler
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.remarks import Remark
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.elementwise import ElementwiseUnaryOp
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.insight.plan.plan import StepPlan, plan_step
from ttxdsl.insight.plan.variants import Origin
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import all_ops, ops_of_type
from ttxdsl.transforms.frontends.signs import CONSTRAINT
from ttxdsl.transforms.pipeline import DESIGN
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass

VERSION = "xla"
_WORTH_A_COMPILATION = 0.05
"""The part of the peak from which on the largest value that is exchanged has XLA's program planned."""

_SMALLEST = 16 << 20
"""The peak from which on a step without constraints is XLA's: what fits everywhere has the figures of `run`."""

_LARGE = 4_000
"""Ops from which on nobody asks whether the shardings of a step without constraints contend."""

_FREE = (
    "no constraint says how computed values are split, and XLA's partitioner chooses: this is"
    " its program. `ttxdsl doctor` says where a constraint gains"
)

_CONSTRAINED = 0.75
"""Constraints for each product from which on a step is planned as the stages partition it: of MaxText's
there are 0.82 to 1.77, of steps written by hand 0 to 0.6 (libtpu 0.0.52: of Qwen 3 0.6B and 1.7B without
a loop over layers the stages' program has 1.00 and 1.14 of the peak, XLA's 1.26 and 1.42)."""


def plan_as_xla(
    module: ModuleOp | None,
    origin: Origin | None,
    chip: Chip | str,
    slices: int = 1,
    trip_count: int | None = None,
    tokens: int | None = None,
) -> tuple[StepPlan, DeviceUsage, Origin | None]:
    """Return the plan of a step, the usage that it is of, and how that program is made.

    Args:
        tokens: as of `plan_step`; the others are those of `usage_as_xla`.

    Raises:
        CompileError: as these two, or nobody knows the chip.
    """
    chip = known_chip(chip)
    used = usage_as_xla(module, origin, chip, slices, trip_count)
    plan = plan_step(used.usage, chip, slices, tokens, used.reasons, used.remarks)
    return plan, used.usage, used.origin


class UsageAsXla(NamedTuple):
    """The memory, time and traffic of a step, and the program that they are of.

    Attributes:
        origin: how the program is made.
        reasons: why it is XLA's, if it is.
        remarks: of its partitioning, if that was done for this.
    """

    usage: DeviceUsage
    origin: Origin | None
    reasons: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()


def usage_as_xla(
    module: ModuleOp | None,
    origin: Origin | None,
    chip: Chip,
    slices: int = 1,
    trip_count: int | None = None,
) -> UsageAsXla:
    """Return what a step takes, on XLA's chips as XLA partitions it if shardings leave it a choice.

    Args:
        module: the per-device program; None of one that is yet to be partitioned.
        origin: what it is made of, needed for that.
        chip: as of `usage_on`, and so are the others.

    Raises:
        CompileError: as `usage_on`, a shape is not static, or the program is refused.
    """

    def use(partitioned: ModuleOp) -> DeviceUsage:
        return usage_on(partitioned, chip, slices, trip_count)

    return used_as_xla(use, module, origin, chip.compiler)


def used_as_xla(
    use: Callable[[ModuleOp], DeviceUsage],
    module: ModuleOp | None,
    origin: Origin | None,
    compiler: Compiler | None,
) -> UsageAsXla:
    """Return the same of any machine.

    Args:
        use: gives what a per-device program takes.
        module: as of `usage_as_xla`, and so is `origin`.
        compiler: of the machine, which is XLA's if it is any but `TT_MLIR`.
    """
    asks_xla = compiler not in (None, TT_MLIR)
    if asks_xla and (free := _free_as_xla(origin)) is not None:
        # what compiles with the optimizations of the stages alone is planned so
        with suppress(DiagnosticException):
            partitioned, remarks = free.partitioned(free.module)
            usage = use(partitioned)
            if usage.memory.peak_bytes >= _SMALLEST:
                reasons = _why_free(use, usage, module, origin)
                return UsageAsXla(usage, free, reasons, remarks)
    remarks = ()
    if module is None:
        assert origin is not None, "it is partitioned here"
        module, remarks = origin.partitioned(origin.module)
    own = UsageAsXla(use(module), origin, remarks=remarks)
    try:  # a value without a size leaves it to those who ask for the memory
        contending = _contending_as_xla(own, module) if asks_xla else None
        if contending is None:
            return own
        partitioned, remarks = contending.partitioned(contending.module)
        usage = use(partitioned)
    except DiagnosticException:
        return own
    return UsageAsXla(usage, contending, (_contradiction(own.usage),), remarks)


def _contradiction(own: DeviceUsage) -> str:
    """Return why a step is planned as XLA partitions it, by what it takes as the stages do."""
    return (
        "shardings contradict each other, and XLA then sums whole results or exchanges each"
        " operand: this is XLA's program; ttxdsl's own needs"
        f" {bytes_text(own.memory.peak_bytes)} and sends {bytes_text(own.bytes_sent)}."
        " `ttxdsl doctor` says what to write instead"
    )


def _why_free(
    use: Callable[[ModuleOp], DeviceUsage],
    usage: DeviceUsage,
    module: ModuleOp | None,
    origin: Origin | None,
) -> tuple[str, ...]:
    """Return why a step without constraints is planned as XLA partitions it.

    Args:
        usage: of XLA's program.
        module: the stages' program if it is known; a small one is made to know whether shardings
            contend, as a large one takes seconds.
    """
    if not collective_ops(usage.module):
        return ()
    if module is None and origin and len(all_ops(origin.module)) < _LARGE:
        module = origin.compiled(origin.module)
    if module is not None and _contends(module, usage.memory.peak_bytes):
        return (_contradiction(use(module)),)
    return (_FREE,)


def _free_as_xla(origin: Origin | None) -> Origin | None:
    """Return how XLA partitions a step of which no constraint says how values are split.

    None where some do, or somebody chose how it is partitioned. What is manual constrains nothing
    beside it: of 16 v6e Mistral 7B with attention in `shard_map` alone has 0.94 of libtpu's peak so,
    and 0.68 as the stages partition it.
    """
    if origin is None or _constraints(origin.module):
        return None
    return _as_xla(origin)


def _contending_as_xla(own: UsageAsXla, module: ModuleOp) -> Origin | None:
    """Return how XLA would partition a step whose shardings contend; None if they do not.

    Where constraints say how nearly all values are split, XLA's propagation has no choice that the
    stages' has not.

    Args:
        own: what it takes as the stages partition it, by which it is of the module.
    """
    if own.origin is None:
        return None
    # MaxText's layers constrain values of nearly all products
    products = len(ops_of_type(own.origin.module, stablehlo.DotGeneralOp))
    if 0 < _CONSTRAINED * products <= _constraints(own.origin.module):
        return None
    is_contended = _contends(module, own.usage.memory.peak_bytes)
    return _as_xla(own.origin) if is_contended else None


def _as_xla(origin: Origin) -> Origin | None:
    """Return an origin with XLA's pipeline, None if somebody chose another."""
    pipeline = origin.pipeline
    if (
        pipeline.version != DESIGN
        or pipeline.propagation not in (None, UserPriorityPropagatePass.name)
        or pipeline.reshards
    ):
        return None
    return replace(origin, pipeline=replace(pipeline, version=VERSION))


def _constraints(whole: ModuleOp) -> int:
    calls = ops_of_type(whole, stablehlo.CustomCallOp)
    constraints = len(ops_of_type(whole, sdy.ShardingConstraintOp))
    return constraints + sum(call.call_target_name.data == CONSTRAINT for call in calls)


def _contends(module: ModuleOp, peak_bytes: int) -> bool:
    """Whether what contradicting shardings have exchanged is a part of the peak."""
    of_tables = max(
        map(held_table_bytes, ops_of_type(module, stablehlo.ScatterOp)), default=0
    )
    contended = max(whole_result_bytes(module), moved_bytes(module), of_tables)
    return contended >= _WORTH_A_COMPILATION * peak_bytes


def whole_result_bytes(module: ModuleOp) -> int:
    """Return the bytes of the largest result that a product would have without exchanges."""
    return max(
        (
            count * value_bytes(product.result)
            for product in ops_of_type(module, stablehlo.DotGeneralOp)
            if (count := _exchanged(product)) > 1
        ),
        default=0,
    )


def moved_bytes(module: ModuleOp) -> int:
    """Return the bytes of the largest elementwise or scattered result that is exchanged behind its op."""
    return max(
        (
            value_bytes(value)
            for op in ops_of_type(module, stablehlo.AllToAllOp)
            for value in op.operands
            if _is_computed(value.owner)
        ),
        default=0,
    )


def held_table_bytes(scatter: stablehlo.ScatterOp) -> int:
    """Return the bytes of the whole table that XLA adds to where no less was gathered for it; else 0."""
    updates, table = scatter.updates[0], scatter.inputs[0]
    op, _ = _source(updates, 0)
    if not isinstance(op, stablehlo.AllGatherOp):
        return 0
    whole = value_bytes(table) * value_bytes(op.results[0])
    whole //= max(1, value_bytes(op.operands[0]))
    return whole if whole <= value_bytes(updates) else 0


def _is_computed(op: Operation | Block) -> bool:
    """Whether an op computes each element of a value that is more than one repeated."""
    if isinstance(op, stablehlo.ScatterOp):
        return True  # XLA compares labels' indices in its place
    if isinstance(op, Block) or op.get_trait(Elementwise) is None:
        return False
    return not all(map(_is_repeated, op.operands))


def _is_repeated(value: SSAValue) -> bool:
    """Whether an operand has no elements of its own."""
    return isinstance(value.owner, stablehlo.BroadcastInDimOp | stablehlo.ConstantOp)


def _exchanged(product: stablehlo.DotGeneralOp) -> int:
    """Return among how many devices an operand was exchanged to have what is summed whole."""
    dims = product.dot_dimension_numbers.data
    summed = dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions
    counts = [1]
    for operand, of_operand in zip(product.operands, summed, strict=True):
        for dim in of_operand:
            op, place = _source(operand, dim)
            if (
                isinstance(op, stablehlo.AllToAllOp)
                and op.concat_dimension.value.data == place
            ):
                counts.append(op.split_count.value.data)
    return max(counts)


def _source(value: SSAValue, dim: int) -> tuple[Operation | None, int]:
    """Return what makes a value but for its type and the order of its dimensions."""
    while isinstance(op := value.owner, Operation):
        if isinstance(op, stablehlo.TransposeOp):
            dim = op.permutation.get_values()[dim]
        elif not isinstance(op, ElementwiseUnaryOp):
            return op, dim
        value = op.operands[0]
    return None, dim
