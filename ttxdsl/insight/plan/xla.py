"""The program that XLA's partitioner makes of a step, where shardings leave it a choice.

Where no constraint says how a step splits what it computes, a plan for a chip of XLA's is of XLA's
program (`ttxdsl.transforms.pipeline_xla`): of 45 such steps on which it needs other memory than the
stages' program, 30 are nearer to libtpu's peak with it (libtpu 0.0.52; a mean error of 1.17 instead
of 1.32). Where some do, it is if shardings contradict each other. Where both operands of a product
are split along what it sums, and its result along another dimension by the same axes, XLA sums whole
results and cuts the sum; the thirteen stages exchange an operand first, which holds a part of it.
Elsewhere XLA splits operands as results are, and the stages as most operands are. Where a computed
value is exchanged at all, XLA's propagation may have gone another way: the logits' gradient of a head
that is split by vocabulary stays split so, as its labels' part is a comparison there, and no scatter.
"""

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ttxdsl.analysis.usage.collectives import collective_ops
from ttxdsl.analysis.usage.device import DeviceUsage, known_chip, usage_on
from ttxdsl.costs.chips import Chip
from ttxdsl.costs.compilers import TT_MLIR
from ttxdsl.costs.units import bytes_text
from ttxdsl.diagnostics.errors import CompileError
from ttxdsl.dialects import sdy, stablehlo
from ttxdsl.dialects.stablehlo.elementwise import ElementwiseUnaryOp
from ttxdsl.dialects.traits import Elementwise
from ttxdsl.insight.plan.plan import StepPlan, plan_step
from ttxdsl.insight.plan.variants import Origin
from ttxdsl.ir.tensors import value_bytes
from ttxdsl.ir.traversal import ops_of_type
from ttxdsl.transforms.frontends.signs import CONSTRAINT
from ttxdsl.transforms.pipeline import DESIGN
from ttxdsl.transforms.shardy.propagation.user_priority import UserPriorityPropagatePass

VERSION = "xla"
_WORTH_A_COMPILATION = 0.05
"""The part of the peak from which on the largest value that is exchanged has XLA's program planned."""

_DIFFERS = 0.02
"""The part of the peak by which XLA's program must differ to be planned, where nothing contends."""

_SMALLEST = 16 << 20
"""The peak from which on it is asked there: what fits everywhere has the figures of `run` and `report`."""

_CONSTRAINED = 0.75
"""Constraints for each product from which on a step is planned as the stages partition it: of MaxText's
there are 0.82 to 1.77, of steps written by hand 0 to 0.6 (libtpu 0.0.52: of Qwen 3 0.6B and 1.7B without
a loop over layers the stages' program has 1.00 and 1.14 of the peak, XLA's 1.26 and 1.42)."""


def plan_as_xla(
    module: ModuleOp,
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
    usage, origin, reasons = usage_as_xla(module, origin, chip, slices, trip_count)
    return plan_step(usage, chip, slices, tokens, reasons), usage, origin


def usage_as_xla(
    module: ModuleOp,
    origin: Origin | None,
    chip: Chip,
    slices: int = 1,
    trip_count: int | None = None,
) -> tuple[DeviceUsage, Origin | None, tuple[str, ...]]:
    """Return what a step takes, on XLA's chips as XLA partitions it if shardings leave it a choice.

    Args:
        module: the per-device program.
        origin: what it was made of.
        chip: as of `usage_on`, and so are the others.

    Returns:
        That, how the program that it is of is made, and a reason if it is XLA's.

    Raises:
        CompileError: as `usage_on`, or a shape is not static.
    """
    usage = usage_on(module, chip, slices, trip_count)
    own, as_xla = usage.memory.peak_bytes, None
    if chip.compiler is not TT_MLIR:
        as_xla = origin_as_xla(module, origin, own)
    if as_xla is None:
        return usage, origin, ()
    try:
        other = usage_on(as_xla.compiled(as_xla.module), chip, slices, trip_count)
    except CompileError:  # it compiles with the optimizations of the stages alone
        return usage, origin, ()
    why = (
        "shardings contradict each other, and XLA then sums whole results or exchanges each"
        " operand"
    )
    if not _contends(module, own):
        if abs(other.memory.peak_bytes - own) < _DIFFERS * own:
            return usage, origin, ()
        why = "no constraint says how values are split, and XLA chooses otherwise"
    reason = (
        f"{why}: this is XLA's program; ttxdsl's own needs"
        f" {bytes_text(own)} and sends {bytes_text(usage.bytes_sent)}."
        " `ttxdsl doctor` says what to write instead"
    )
    return other, as_xla, (reason,)


def origin_as_xla(
    module: ModuleOp, origin: Origin | None, peak_bytes: int
) -> Origin | None:
    """Return how XLA would partition a step, if that may be another way than the stages'.

    It is not where constraints say how nearly all values are split: XLA's propagation then has no choice
    that the stages' has not. Where only some do, shardings must contend, as where none do and devices
    exchange nothing or the peak is below `_SMALLEST`.
    """
    if origin is None or not _leaves_choice(origin.module, module, peak_bytes):
        return None
    pipeline = origin.pipeline
    if (
        pipeline.version != DESIGN
        or pipeline.propagation not in (None, UserPriorityPropagatePass.name)
        or pipeline.reshards
    ):
        return None  # somebody chose
    return replace(origin, pipeline=replace(pipeline, version=VERSION))


def _leaves_choice(whole: ModuleOp, module: ModuleOp, peak_bytes: int) -> bool:
    """Whether XLA may partition a program otherwise than the stages did.

    Args:
        whole: the program.
        module: of a device, as the stages made it.
        peak_bytes: of that.
    """
    calls = ops_of_type(whole, stablehlo.CustomCallOp)
    constraints = len(ops_of_type(whole, sdy.ShardingConstraintOp))
    constraints += sum(call.call_target_name.data == CONSTRAINT for call in calls)
    is_free = not (constraints or ops_of_type(whole, sdy.ManualComputationOp))
    if is_free and peak_bytes >= _SMALLEST and collective_ops(module):
        return True
    # MaxText's layers constrain values of nearly all products
    products = len(ops_of_type(whole, stablehlo.DotGeneralOp))
    is_constrained = 0 < _CONSTRAINED * products <= constraints
    return not is_constrained and _contends(module, peak_bytes)


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
    """Return the bytes of the largest elementwise result that is exchanged behind its op."""
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
    whole //= value_bytes(op.operands[0])
    return whole if whole <= value_bytes(updates) else 0


def _is_computed(op: Operation | Block) -> bool:
    """Whether an op computes each element of a value that is more than one repeated."""
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
